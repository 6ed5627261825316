"""The function `game`: makes mafia from its options."""

from functools import partial
from typing import Any

from ..core.capabilities import Capabilities, Chance, HiddenTurn, PublicView, Symmetry, Talk, Teams
from ..core.encoder import Encoders
from ..core.game import Game, Payoffs
from ..core.options import switch, whole
from ..core.record import Tables, new_table
from ..core.rules import Rules
from ..core.view import View
from ..render.renderer import Renderer
from . import actions, bots, moves, picture, render, rules, view
from .habits import facts, habits
from .load import load
from .resample import resample
from .symmetry import relabelling
from .table import DAYS, SEATS, SPEECHES, TABLE, TIES, USUAL_MAFIA


def game(
    *,
    seats: int = 10,
    fewest: int | None = None,
    mafia: int | None = None,
    doctors: int = 1,
    sheriffs: int = 1,
    max_days: int = 20,
    discussion_rounds: int = 1,
    tie: str = "random",
    talk: bool = True,
) -> Game:
    """Return mafia with these options.

    Args:
        seats: number of players, 5 to 20; their names are p1, p2, …
        fewest: the fewest players of a match. Their number is drawn for each match, from here to `seats`, and the last
            seats stay empty: nobody acts there, and their reward is 0. None: always `seats`.
        mafia: number of mafia, at least 1 and fewer than half; None: 3 in 10, rounded down, and at least 1.
        doctors: number of doctors, from 0 up.
        sheriffs: number of sheriffs, from 0 up. All others are villagers.
        max_days: number of days, 1 to 40, after which the match ends; without a winner all rewards are 0.
        discussion_rounds: number of statements of each living player per day, 1 to 8; `max_days` times this number is
            at most 80.
        tie: the result of a tied vote: ``"random"`` eliminates one of the tied players, ``"none"`` nobody.
        talk: whether there is a discussion. Without it a day has only the vote; shapes do not change.

    Raises:
        ValueError: naming the option, its value and its range.
    """
    seats = whole("seats", seats, 5, SEATS)
    least = seats if fewest is None else whole("fewest", fewest, 5, seats)
    if least < seats and mafia is not None:
        raise ValueError(f"mafia={mafia!r}: with fewest={least} it follows from the number of players; leave it out")
    mafia = int(USUAL_MAFIA[least]) if mafia is None else whole("mafia", mafia, 1, (seats - 1) // 2)
    if tie not in TIES:
        raise ValueError(f"tie={tie!r}: choose from {', '.join(map(repr, TIES))}")
    options = {
        "seats": seats,
        "fewest": fewest,
        "mafia": mafia if least == seats else None,
        "doctors": whole("doctors", doctors, 0, least - mafia),
        "sheriffs": whole("sheriffs", sheriffs, 0, least - mafia),
        "max_days": whole("max_days", max_days, 1, DAYS),
        "discussion_rounds": whole("discussion_rounds", discussion_rounds, 1, 8),
        "tie": tie,
        "talk": switch("talk", talk),
    }
    if mafia + doctors + sheriffs > least:
        raise ValueError(
            f"mafia={mafia}, doctors={doctors} and sheriffs={sheriffs} are more than "
            f"{'seats' if fewest is None else 'fewest'}={least} together"
        )
    if max_days * discussion_rounds > SPEECHES:
        raise ValueError(
            f"max_days={max_days} with discussion_rounds={discussion_rounds}: their product may be at most {SPEECHES}"
        )
    return _made(options)


def blank_table(**options: Any) -> Tables:
    """Return one table with the options of `game`, all of them, checked."""
    blank = new_table(TABLE)
    table = blank[0]
    table.fewest = options["seats"] if options["fewest"] is None else options["fewest"]
    table.mafia = options["mafia"] or 0  # 0: it is set with the number of players
    for name in ("seats", "doctors", "sheriffs", "max_days", "discussion_rounds", "talk"):
        table[name] = options[name]
    table.tie = TIES.index(options["tie"])
    table.per_seat, table.per_day = 1 / options["seats"], 1 / options["max_days"]
    table.killed, table.saved = -1, -1
    table.night, table.votes = -1, -1
    return blank


def _made(options: dict[str, Any]) -> Game:
    seats, blank = options["seats"], blank_table(**options)
    return Game(
        name="mafia",
        agents=tuple(view.name(seat) for seat in range(seats)),
        options=options,
        rules=Rules(
            blank=blank,
            num_actions=6 * seats + 2,
            reset=rules.reset,
            step=rules.step,
            decode=moves.decode,
            legal=moves.legal,
        ),
        encoders=Encoders(__package__, blank),
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
                interpret=actions.interpret,
                message_violation=actions.message_violation,
                statements=range(2 * seats + 1, 6 * seats + 2),  # all but “nothing of note”
            ),
            teams=Teams(("town", "mafia"), rules.teams, facts, habits),
            hidden_turn=HiddenTurn(view.visible_turn),
            public_view=PublicView(view.public),
            chance=Chance(begin=rules.begin, step=rules.advance, outcomes=rules.outcomes, play=rules.play_outcome),
            symmetry=Symmetry(relabelling),
        ),
    )
