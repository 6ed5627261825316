"""The function `game`: makes Leduc hold'em."""

from functools import partial

from ..core.capabilities import Capabilities, Chance, PublicView
from ..core.encoder import Encoders
from ..core.game import Game, Payoffs
from ..core.named_actions import NamedActions
from ..core.record import new_table
from ..core.rules import Rules
from ..render.renderer import Renderer
from . import actions, bots, picture, render, rules, view
from .table import ANTE, KINDS, MOST, SEATS, TABLE


def game() -> Game:
    """Return Leduc hold'em. It has no options."""
    blank = new_table(TABLE, turn=-1, card=-1, board=-1, chips=ANTE)
    played = Rules(blank=blank, num_actions=len(KINDS), reset=rules.reset, step=rules.step, legal=rules.legal)
    named = NamedActions(played, actions.MEANINGS)
    return Game(
        name="leduc",
        agents=tuple(f"player_{seat}" for seat in range(SEATS)),
        rules=played,
        encoders=Encoders(__package__, blank),
        payoffs=Payoffs(-MOST, MOST, zero_sum=True, unit_name="chips"),
        view=named.view(
            safe=actions.safe,
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
            chance=Chance(
                begin=rules.begin,
                step=rules.play,
                outcomes=rules.outcomes,
                play=rules.deal,
                probability=rules.probability,
            ),
        ),
    )
