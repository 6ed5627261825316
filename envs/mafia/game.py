"""The function `game`: makes mafia from its options."""

from collections.abc import Callable, Mapping
from functools import partial
from types import ModuleType
from typing import Annotated, Any, NamedTuple

from msgspec.structs import asdict

from ..core.capabilities import Capabilities, Chance, HiddenTurn, PublicView, Symmetry, Talk, Teams
from ..core.encoder import Encoders
from ..core.game import Game, Payoffs, made_of
from ..core.options import Options, Rule, from_options, one_of, whole, within
from ..core.record import Tables, new_table
from ..core.rules import Rules
from ..core.turn_state import GameState, TurnState
from ..core.view import View
from ..render.renderer import Renderer
from . import actions, bots, picture, rules, view
from .encoders import ENCODERS
from .habits import facts, habits, relabelling
from .load_state import load, resample
from .table import DAYS, SEATS, SPEECHES, TABLE, TIES, USUAL_MAFIA
from .view import MafiaState


def _mafia(option: str, value: Any, seats: int, fewest: int | None) -> int | None:
    if fewest is not None and fewest < seats:
        if value is not None:
            what = f"{option}={value!r}: with fewest={fewest} it follows from the number of players; leave it out"
            raise ValueError(what)
        return None
    return int(USUAL_MAFIA[seats]) if value is None else whole(option, value, 1, (seats - 1) // 2)


def _special(option: str, value: Any, seats: int, fewest: int | None, mafia: int | None) -> int:
    least = seats if fewest is None else fewest
    return whole(option, value, 0, least - (int(USUAL_MAFIA[least]) if mafia is None else mafia))


SPECIAL = Rule(_special, ("seats", "fewest", "mafia"))


class MafiaOptions(Options, frozen=True, kw_only=True):
    """The options of mafia."""

    seats: Annotated[int, within(5, SEATS)] = 10
    """number of players, {}; their names are p1, p2, …"""
    fewest: Annotated[int | None, within(5, "seats")] = None
    """the fewest players of a match. Their number is drawn for each match, from here to `seats`, and the last seats
    stay empty: nobody acts there, and their reward is 0. None: always `seats`."""
    mafia: Annotated[int | None, Rule(_mafia, ("seats", "fewest"))] = None
    """number of mafia, at least 1 and fewer than half; None: 3 in 10, rounded down, and at least 1."""
    doctors: Annotated[int, SPECIAL] = 1
    """number of doctors, from 0 up."""
    sheriffs: Annotated[int, SPECIAL] = 1
    """number of sheriffs, from 0 up. All others are villagers."""
    max_days: Annotated[int, within(1, DAYS)] = 20
    """number of days, {}, after which the match ends; without a winner all rewards are 0."""
    discussion_rounds: Annotated[int, within(1, 8)] = 1
    """number of statements of each living player per day, {}; `max_days` times this number is at most 80."""
    tie: Annotated[str, one_of(TIES)] = "random"
    """the result of a tied vote: ``"random"`` eliminates one of the tied players, ``"none"`` nobody."""
    talk: bool = True
    """whether there is a discussion. Without it a day has only the vote; shapes do not change."""

    def check_together(self) -> None:
        """Check that the roles fit the players, and the statements the record."""
        least = self.seats if self.fewest is None else self.fewest
        mafia = int(USUAL_MAFIA[least]) if self.mafia is None else self.mafia
        if mafia + self.doctors + self.sheriffs > least:
            raise ValueError(
                f"mafia={mafia}, doctors={self.doctors} and sheriffs={self.sheriffs} are more than "
                f"{'seats' if self.fewest is None else 'fewest'}={least} together"
            )
        if self.max_days * self.discussion_rounds > SPEECHES:
            raise ValueError(
                f"max_days={self.max_days} with discussion_rounds={self.discussion_rounds}: "
                f"their product may be at most {SPEECHES}"
            )


@from_options(MafiaOptions)
def game(given: MafiaOptions) -> Game:
    """Return mafia with these options."""
    return assemble("mafia", blank_table(**asdict(given)), MAFIA)


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
        picture: the module that draws the table.
        bots: the scripted players.
        teams: town and mafia.
    """

    actions: ModuleType
    view: ModuleType
    load: Callable[[Tables, TurnState], tuple[Tables, int]]
    state_type: type[GameState]
    picture: ModuleType
    bots: Mapping[str, Callable[..., Any]]
    teams: Teams


TEAMS = Teams(("town", "mafia"), rules.teams, facts, habits)
MAFIA = Skin(actions, view, load, MafiaState, picture, bots.BOTS, TEAMS)


def assemble(name: str, blank: Tables, skin: Skin) -> Game:
    """Return a game with the rules of mafia.

    Args:
        name: its name.
        blank: one table with its options.
        skin: its words.
    """
    seats, shown, words = int(blank[0].seats), skin.view, skin.actions
    return Game(
        name=name,
        agents=tuple(map(view.name, range(seats))),
        rules=made_of(Rules, rules, blank=blank, num_actions=6 * seats + 2),
        encoders=Encoders(ENCODERS, blank),
        payoffs=Payoffs(-1.0, 1.0),  # not zero-sum: the teams have different sizes
        view=made_of(
            View,
            words,
            action_spaces=words.action_spaces(blank[0]),
            action_ranges=words.action_ranges(seats),
            phase=shown.phase,
            game_state=shown.game_state,
            outcome=shown.outcome,
            load=partial(skin.load, blank),
            state_type=skin.state_type,
            resample=resample,
        ),
        renderer=Renderer(partial(skin.picture.render, int(blank[0].max_days)), skin.picture.picture),
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
