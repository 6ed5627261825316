"""The function `game`: makes liar's dice from its options."""

from functools import partial

from ..core.capabilities import Capabilities, Chance, PublicView
from ..core.encoder import Encoders
from ..core.game import Game, Payoffs
from ..core.options import switch, whole
from ..core.record import new_table
from ..core.rules import Rules
from ..core.view import View
from ..render.renderer import Renderer
from . import actions, bots, picture, render, rules, view
from .table import DICE, FACES, SEATS, TABLE


def game(*, dice: int = 1, faces: int = 6, wild: bool = True) -> Game:
    """Return liar's dice for two with these options.

    Args:
        dice: of each player, 1 to 5.
        faces: of a die, 2 to 6.
        wild: whether the highest face counts as every face.

    Raises:
        ValueError: naming the option, its value and its range.
    """
    dice, faces, wild = whole("dice", dice, 1, DICE), whole("faces", faces, 2, FACES), switch("wild", wild)
    blank = new_table(TABLE, turn=-1, dice=dice, faces=faces, wild=wild)
    return Game(
        name="liars_dice",
        agents=tuple(f"player_{seat}" for seat in range(SEATS)),
        options={"dice": dice, "faces": faces, "wild": wild},
        rules=Rules(
            blank=blank, num_actions=SEATS * dice * faces + 1, reset=rules.reset, step=rules.step, legal=rules.legal
        ),
        encoders=Encoders(__package__, blank),
        payoffs=Payoffs(-1, 1, zero_sum=True),
        view=View(
            action_spaces=actions.action_spaces(dice, faces),
            action_ranges=actions.action_ranges(dice, faces),
            encode=actions.encode,
            parse=actions.parse,
            nearest=actions.nearest,
            safe=actions.safe,
            allowed=actions.allowed,
            phase=view.phase,
            game_state=view.game_state,
            outcome=view.outcome,
            load=partial(view.load, blank),
            resample=view.resample,
        ),
        renderer=Renderer(render.render, picture.picture),
        bots=bots.BOTS,
        capabilities=Capabilities(
            public_view=PublicView(view.public),
            chance=Chance(begin=rules.begin, step=rules.step, outcomes=rules.outcomes, play=rules.roll),
        ),
    )
