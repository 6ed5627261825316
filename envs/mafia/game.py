"""The function `game`: makes mafia from its options."""

from collections.abc import Callable, Mapping
from functools import partial
from types import ModuleType
from typing import Any, NamedTuple

from ..core.capabilities import Capabilities, Chance, HiddenTurn, PublicView, Symmetry, Talk, Teams
from ..core.encoder import Encoders
from ..core.game import Game, Payoffs
from ..core.game_state import GameState
from ..core.options import switch, whole
from ..core.record import Tables, new_table
from ..core.rules import Rules
from ..core.turn_state import TurnState
from ..core.view import View
from ..render.renderer import Renderer
from . import actions, bots, moves, picture, render, rules, view
from .habits import facts, habits
from .load_state import load
from .resample import resample
from .state import MafiaState
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
    return assemble("mafia", options, blank_table(**options), MAFIA)


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


class Skin(NamedTuple):
    """What differs between mafia and a game with its record and rules in other words.

    Attributes:
        actions: the module with the functions of payloads and messages.
        view: the module that shows the record.
        load: see `View.load`; it takes a table with the options first.
        state_type: the type of `game_state`.
        renderer: draws the table.
        bots: the scripted players.
        teams: town and mafia.
    """

    actions: ModuleType
    view: ModuleType
    load: Callable[[Tables, TurnState], tuple[Tables, int]]
    state_type: type[GameState]
    renderer: Renderer
    bots: Mapping[str, Callable[..., Any]]
    teams: Teams


TEAMS = Teams(("town", "mafia"), rules.teams, facts, habits)
MAFIA = Skin(actions, view, load, MafiaState, Renderer(render.render, picture.picture), bots.BOTS, TEAMS)


def assemble(name: str, options: Mapping[str, Any], blank: Tables, skin: Skin) -> Game:
    """Return a game with the rules of mafia.

    Args:
        name: its name.
        options: its options.
        blank: one table with them.
        skin: its words.
    """
    seats, shown, words = int(blank[0].seats), skin.view, skin.actions
    return Game(
        name=name,
        agents=tuple(map(view.name, range(seats))),
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
            action_spaces=words.action_spaces(blank[0]),
            action_ranges=words.action_ranges(seats),
            encode=words.encode,
            parse=words.parse,
            nearest=words.nearest,
            safe=words.safe,
            allowed=words.allowed,
            phase=shown.phase,
            game_state=shown.game_state,
            outcome=shown.outcome,
            load=partial(skin.load, blank),
            state_type=skin.state_type,
            resample=resample,
        ),
        renderer=skin.renderer,
        bots=skin.bots,
        capabilities=Capabilities(
            talk=Talk(
                action_messages=words.action_messages,
                interpret=getattr(words, "interpret", None),
                message_violation=words.message_violation,
                statements=range(2 * seats + 1, 6 * seats + 2),  # all but “nothing of note”, “say nothing more”
            ),
            teams=skin.teams,
            hidden_turn=HiddenTurn(view.visible_turn),
            public_view=PublicView(shown.public),
            chance=Chance(begin=rules.begin, step=rules.advance, outcomes=rules.outcomes, play=rules.play_outcome),
            symmetry=Symmetry(relabelling),
        ),
    )
