"""The function `game`: makes werewolf from its options."""

from functools import partial

from ..core.capabilities import Capabilities, Chance, HiddenTurn, PublicView, Symmetry, Talk, Teams
from ..core.encoder import Encoders
from ..core.game import Game, Payoffs
from ..core.options import whole
from ..core.rules import Rules
from ..core.view import View
from ..mafia import encoders, moves, rules
from ..mafia.game import blank_table
from ..mafia.resample import resample
from ..mafia.symmetry import relabelling
from ..mafia.view import name, visible_turn
from ..render.renderer import Renderer
from . import actions, bots, picture, render, view
from .load import load
from .words import TEAMS


def game(*, seats: int = 6, fewest: int | None = None) -> Game:
    """Return werewolf with these options.

    Args:
        seats: number of players, 6 to 10: two werewolves, one seer, and villagers.
        fewest: the fewest players of a match. Their number is drawn for each match, from here to `seats`, and the last
            seats stay empty: nobody acts there, and their reward is 0. None: always `seats`.

    Raises:
        ValueError: naming the option, its value and its range.
    """
    seats = whole("seats", seats, 6, 10)
    fewest = None if fewest is None else whole("fewest", fewest, 6, seats)
    blank = blank_table(
        seats=seats,
        fewest=fewest,
        mafia=2,
        doctors=0,
        sheriffs=1,
        max_days=10,
        discussion_rounds=2,
        tie="none",
        talk=True,
    )
    blank[0].werewolf = True
    return Game(
        name="werewolf",
        platform_id="werewolf",
        agents=tuple(name(seat) for seat in range(seats)),
        options={"seats": seats, "fewest": fewest},
        rules=Rules(
            blank=blank,
            num_actions=6 * seats + 2,
            reset=rules.reset,
            step=rules.step,
            decode=moves.decode,
            legal=moves.legal,
        ),
        encoders=Encoders(encoders.__package__.rpartition(".")[0], blank),
        payoffs=Payoffs(-1.0, 1.0),  # not zero-sum: the teams have different sizes
        view=View(
            action_spaces=actions.action_spaces(blank[0]),
            action_ranges=actions.action_ranges(seats),
            encode=actions.encode,
            parse=actions.parse,
            nearest=actions.nearest,
            safe=actions.safe,
            allowed=actions.allowed,
            phase=view.phase,
            game_state=view.game_state,
            outcome=view.outcome,
            load=partial(load, blank),
            resample=resample,
        ),
        renderer=Renderer(render.render, picture.picture),
        bots=bots.BOTS,
        capabilities=Capabilities(
            talk=Talk(
                action_messages=actions.action_messages,
                message_violation=actions.message_violation,
                statements=range(2 * seats + 1, 6 * seats + 2),  # all but “say nothing more”
            ),
            teams=Teams(TEAMS, rules.teams),
            hidden_turn=HiddenTurn(visible_turn),
            public_view=PublicView(view.public),
            chance=Chance(begin=rules.begin, step=rules.advance, outcomes=rules.outcomes, play=rules.play_outcome),
            symmetry=Symmetry(relabelling),
        ),
    )
