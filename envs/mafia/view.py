"""Record ──► TurnState of a player, and back. Names are those of mafia-ai-benchmark's agent interface.

Here names equal ids; `load` also reads states of other hosts.
"""

from functools import lru_cache
from types import SimpleNamespace
from typing import Annotated, Any

from msgspec import UNSET, Struct, UnsetType, convert, field
from msgspec.structs import replace
from numpy.typing import NDArray

from ..core.turn_state import GameState, about
from .statements import act_of, sentence, to_wire
from .table import DOCTOR, MAFIA, NIGHT, PHASES, ROLES, SEATS, SHERIFF, UNKNOWN, VOTING, WINNERS


class Player(Struct, kw_only=True, rename="camel", frozen=True):
    """A player."""

    id: str
    name: Annotated[str, about("here the id")]
    role: Annotated[str | None, about("mafia, doctor, sheriff or villager; else unknown to the seat")] = "unknown"
    alive: bool = True
    eliminated_round: int | None = None


class Alive(Struct, kw_only=True, rename="camel", frozen=True):
    """A living player."""

    id: str
    name: str


class Dead(Struct, kw_only=True, rename="camel", frozen=True):
    """A dead player."""

    id: str
    name: str
    role: str | UnsetType | None = UNSET
    eliminated_round: int | None = None


class NightResult(Struct, kw_only=True, rename="camel", frozen=True):
    """Last night's result."""

    killed: Annotated[str | None, about("who died")] = None
    protected: Annotated[str | None, about("whom the observer, a doctor, saved")] = None
    prevented: Annotated[bool, about("whether a doctor saved the mafia's target")] = False


class VotingRound(Struct, kw_only=True, rename="camel", frozen=True):
    """One vote: who was eliminated, and who voted for whom; who abstained is not in ``votes``."""

    round: int
    eliminated: str | None = None
    votes: Annotated[dict[str, str | None], about("from voter to target")] = {}


class Statement(Struct, kw_only=True, rename="camel", frozen=True):
    """What was said, as an act (see `parlour.envs.mafia.statements`); one without a type is read from its content."""

    player_id: str
    round: Annotated[int, about("the day's number")]
    type: Annotated[str | None, about("defense, accusation, claim or general")] = None
    target_id: str | None = None
    role: Annotated[str | None, about("of a claim")] = None
    is_mafia: Annotated[bool | None, about("the result of a claimed sheriff")] = None
    content: Annotated[str, about("a standard sentence; the original text is in the messages")] = ""


class Investigation(Struct, kw_only=True, rename="camel", frozen=True):
    """A sheriff's result."""

    target: Player
    is_mafia: bool
    round: int


class Knowledge(Struct, kw_only=True, rename="camel"):
    """What a role knows."""

    investigation_results: Annotated[list[Investigation], about("the sheriff's")] = []
    mafia_teammates: Annotated[list[Player] | UnsetType | None, about("the mafia's")] = UNSET
    last_protected: Annotated[str | UnsetType | None, about("the doctor's last choice, by id")] = UNSET


class MafiaState(GameState, kw_only=True, rename="camel"):
    """A match as a seat sees it.

    It holds the fields of `PublicInfo`, `GameState` and `PrivateInfo` of mafia-ai-benchmark's agent interface together,
    each once, and ``statements``, ``nightActions`` and ``ownVote``. An observer does not see the private ones. After
    the end of the match all roles are shown.
    """

    game_id: Annotated[str, about("the game's id; the match's is TurnState's match_id")] = "mafia-v0"
    phase: Annotated[str, about("NIGHT_ACTIONS, DAY_DISCUSSION, DAY_VOTING or END")]
    day_number: int = 0
    round_number: Annotated[int, about("from 1")]
    players: Annotated[list[Player], about("in seat order")]
    alive_players: list[Alive] = field(default_factory=list)
    dead_players: list[Dead] = field(default_factory=list)
    mafia_count: Annotated[int, about("living mafia")]
    town_count: Annotated[int, about("living others")] = 0
    winner: Annotated[str | None, about("town or mafia")] = None
    last_night_result: NightResult | None = None
    voting_history: Annotated[list[VotingRound], about("of past days")]
    own: Annotated[Player | UnsetType | None, about("the observer")] = field(default=UNSET, name="self")
    private_knowledge: Annotated[Knowledge | UnsetType, about("what the observer's role knows")] = UNSET
    statements: Annotated[list[Statement], about("of the match so far")]
    night_actions: Annotated[
        dict[str, str] | UnsetType, about("tonight's choices by id, as far as known: the own, and the mafia's to mafia")
    ] = UNSET
    own_vote: Annotated[str | UnsetType | None, about("the own vote while the votes are sealed")] = UNSET


NAMES = tuple(f"p{seat + 1}" for seat in range(SEATS))


def name(seat: int) -> str:
    """Return a seat's id, which is also its name: ``p1`` for seat 0."""
    return NAMES[seat]


def log(table: Any, field: str) -> NDArray[Any]:
    """Return `night` or `votes` as [round − 1, seat], `said` as [row, seat]: the record's own memory."""
    flat, seats = getattr(table, field), int(table.seats)
    matrix: NDArray[Any] = flat[: len(flat) // seats * seats].reshape(-1, seats)
    return matrix


def phase(table: Any) -> str:
    """Return the phase's name."""
    return PHASES[int(table.phase)]


def visible_turn(table: Any, seat: int) -> int:
    """Return the seat whose turn it is, if `seat` may know it, else −1. At night a seat knows only its own turn."""
    return -1 if table.phase == NIGHT and table.turn != seat else int(table.turn)


# Record ──► game_state.


def game_state(table: Any, seat: int) -> MafiaState:
    """Return the match as `seat` may see it."""
    players, shared = _players(table, seat), _shared(table)
    last = shared.last_night_result
    return replace(
        shared,
        players=players,
        last_night_result=last and replace(last, protected=_saved(table, seat)),
        own=players[seat] if seat < len(players) else None,
        private_knowledge=_private(table, seat, players),
        night_actions=_tonight(table, seat),
        own_vote=_name(log(table, "votes")[table.round_number - 1, seat]) if table.phase == VOTING else None,
    )


def public(table: Any) -> MafiaState:
    """Return the public view of the match: until the end it shows only the roles of the dead."""
    return replace(_shared(table), players=_players(table, -1))


def _shared(table: Any) -> MafiaState:
    """Return the part that all seats share. For a plain copy it is computed once."""
    shared: MafiaState | None = getattr(table, "shared", None)
    if shared is None:
        shared = _common(table)
        if isinstance(table, SimpleNamespace):
            table.shared = shared
    return shared


def _common(table: Any) -> MafiaState:
    killed, count = int(table.killed), int(table.players)
    roles, gone = table.role.tolist(), table.eliminated_round.tolist()
    return MafiaState(
        phase=PHASES[table.phase],
        day_number=int(table.round_number - (table.phase == NIGHT)),
        round_number=int(table.round_number),
        players=[],
        alive_players=[Alive(id=NAMES[seat], name=NAMES[seat]) for seat in range(count) if not gone[seat]],
        dead_players=[
            Dead(id=NAMES[seat], name=NAMES[seat], role=ROLES[roles[seat]], eliminated_round=gone[seat])
            for seat in range(count)
            if gone[seat]
        ],
        mafia_count=int(table.living_mafia),
        town_count=int(table.living - table.living_mafia),
        winner=WINNERS[table.winner],
        last_night_result=NightResult(killed=_name(killed), prevented=bool(table.prevented))
        if killed >= 0 or table.prevented
        else None,
        voting_history=_history(table),
        statements=_statements(table),
    )


def _name(seat: int) -> str | None:
    return name(int(seat)) if seat >= 0 else None


def _players(table: Any, seat: int) -> list[Player]:
    roles, eliminated = table.role.tolist(), table.eliminated_round.tolist()
    return [
        Player(
            id=NAMES[other],
            name=NAMES[other],
            role=ROLES[roles[other] if shown else UNKNOWN],
            alive=eliminated[other] == 0,
            eliminated_round=eliminated[other] or None,
        )
        for other, shown in enumerate(known(table, seat))
    ]


def known(table: Any, seat: int) -> list[bool]:
    """Return for every seat whether `seat` may know its role: its own, a teammate's, a revealed or an investigated one.

    Seat −1 is an observer.
    """
    count, done, roles, alive = int(table.players), bool(table.done), table.role.tolist(), table.alive.tolist()
    own = roles[seat] if seat >= 0 else UNKNOWN
    checked = log(table, "night")[: table.round_number, seat].tolist() if own == SHERIFF else ()
    return [
        other == seat or done or not alive[other] or (roles[other] == MAFIA and (own == MAFIA or other in checked))
        for other in range(count)
    ]


def last_night(table: Any) -> int:
    """Return the row of the last night that is over; −1: none."""
    return int(table.round_number) - 1 - (table.phase == NIGHT)


def _saved(table: Any, seat: int) -> str | None:
    """Return the id of the player whom `seat` saved last night: the mafia's target, if `seat` is a doctor who protected
    it."""
    row = last_night(table)
    if table.saved < 0 or table.role[seat] != DOCTOR or log(table, "night")[row, seat] != table.saved:
        return None
    return name(int(table.saved))


def _private(table: Any, seat: int, players: list[Player]) -> Knowledge:
    role, private = table.role[seat], Knowledge()
    if role == MAFIA:
        private.mafia_teammates = [
            one for other, one in enumerate(players) if other != seat and table.role[other] == MAFIA
        ]
    elif role == DOCTOR:
        row = last_night(table)
        private.last_protected = (_name(log(table, "night")[row, seat]) if row >= 0 else None) or UNSET
    elif role == SHERIFF:
        private.investigation_results = [
            Investigation(target=players[target], is_mafia=bool(table.role[target] == MAFIA), round=row + 1)
            for row, target in enumerate(log(table, "night")[: table.round_number, seat].tolist())
            if target >= 0
        ]
    return private


def _history(table: Any) -> list[VotingRound]:
    rounds = table.eliminated_round.tolist()
    eliminated = {rounds[seat]: NAMES[seat] for seat, out in enumerate(table.voted_out.tolist()) if out}
    return [
        VotingRound(
            round=row + 1,
            eliminated=eliminated.get(row + 1),
            votes={NAMES[voter]: NAMES[target] for voter, target in enumerate(votes) if target >= 0},
        )
        for row, votes in enumerate(log(table, "votes")[: table.votings].tolist())
    ]


def _statements(table: Any) -> list[Statement]:
    """Return the statements in order."""
    if not table.talk:
        return []
    players, rounds = int(table.players), int(table.discussion_rounds)
    days = int(table.round_number) - int(table.phase == NIGHT)
    entries = []
    for row, codes in enumerate(log(table, "said")[: days * rounds].tolist()):
        day = row // rounds + 1
        opener = 2 * (day - 1) % players
        for speaker in (*range(opener, players), *range(opener)):
            if codes[speaker]:
                entries.append(_entry(codes[speaker], speaker, day))
    return entries


@lru_cache(maxsize=8192)
def _entry(code: int, speaker: int, day: int) -> Statement:
    """Return the entry of a code in `said`; it is cached, because every view contains all entries."""
    act = act_of(code)
    said = {"playerId": NAMES[speaker], "round": day, **to_wire(act, NAMES), "content": sentence(act, speaker, NAMES)}
    return convert(said, Statement)


def _tonight(table: Any, seat: int) -> dict[str, str]:
    if table.phase != NIGHT:
        return {}
    visible = [seat]
    if table.role[seat] == MAFIA and table.alive[seat]:
        visible = [other for other in range(table.seats) if table.role[other] == MAFIA]
    row = log(table, "night")[table.round_number - 1].tolist()
    return {name(other): name(row[other]) for other in visible if row[other] >= 0}


def outcome(table: Any, seat: int) -> dict[str, Any]:
    """Return the outcome: every seat's utility, the reason (who won, or the limit of days), the winner, all roles."""
    players, rewards = range(int(table.players)), table.rewards[: int(table.seats)].tolist()
    return {
        "payoffs": [{"agent_id": name(seat), "utility": utility} for seat, utility in enumerate(rewards)],
        "reason": "max_days_exceeded" if WINNERS[int(table.winner)] is None else f"{WINNERS[int(table.winner)]}_wins",
        "winner": WINNERS[int(table.winner)],
        "roles": {name(other): ROLES[int(table.role[other])] for other in players},
    }
