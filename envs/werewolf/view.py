"""Record ──► TurnState of a player."""

import re
from typing import Annotated, Any

from msgspec import UNSET, Struct, UnsetType, field, to_builtins

from ..core.turn_state import GameState, about
from ..mafia.rules import Choice
from ..mafia.statements import READY, act_of, to_wire
from ..mafia.table import MAFIA, NIGHT, SHERIFF, VOTING
from ..mafia.table import ROLES as MAFIA_ROLES
from ..mafia.view import log, name

ROLES = {"mafia": "werewolf", "sheriff": "seer", "villager": "villager", "unknown": "unknown"}
"""The roles by their names in mafia."""
OF_MAFIA = {word: role for role, word in ROLES.items()}
TEAMS = ("village", "werewolves")
"""The teams: town and mafia."""

NIGHT_OF_WOLVES, NIGHT_OF_SEER, DISCUSSION, VOTE = "night_werewolf", "night_seer", "day_discuss", "day_vote"
PHASES = {NIGHT_OF_WOLVES: "NIGHT_ACTIONS", NIGHT_OF_SEER: "NIGHT_ACTIONS", VOTE: "DAY_VOTING"}
"""Mafia's phases by those of werewolf; all others are its discussion, in which `day_announce` gives no choice."""

_WOLF = re.compile(r"\b(?:an?\s+|the\s+)?(?:were)?wol(?:f|ves)\b", re.IGNORECASE)
_SEER = re.compile(r"\bseer\b", re.IGNORECASE)


def in_werewolf(text: str) -> str:
    """Return a text about mafia as one about werewolf."""
    text = re.sub(r"\b[Tt]he mafia\b", "the werewolves", text)
    text = re.sub(r"\b[Tt]he town\b", "the village", text)
    return re.sub(r"\bmafia\b", "a werewolf", re.sub(r"\bsheriff\b", "seer", text))


def labelled(text: str) -> str:
    """Return the labels of mafia's picture or text in the words of werewolf: its roles and teams, without articles."""
    text = re.sub(r"\bmafia (?=\d)", "werewolves ", re.sub(r"\bmafia wins\b", "werewolves win", text))
    text = re.sub(r"\b([Tt])he mafia\b", r"\1he werewolves", text)
    text = re.sub(r"\btown\b", "village", re.sub(r"\bsheriff\b", "seer", text))
    return re.sub(r"\bmafia\b", "werewolf", text)


def in_mafia(text: str) -> str:
    """Return a text about werewolf as one about mafia, whose statements can be read."""
    return _SEER.sub("sheriff", _WOLF.sub("mafia", text))


def role_of(word: Any) -> str:
    """Return mafia's name of a role.

    Raises:
        ValueError: if werewolf has no such role.
    """
    if word not in OF_MAFIA:
        raise ValueError(f"role {word!r:.40} is not one of {', '.join(OF_MAFIA)}")
    return OF_MAFIA[word]


class Death(Struct):
    """A dead player."""

    agent_id: str
    role: str


class Event(Struct, kw_only=True):
    """A death or a vote."""

    day: int
    type: Annotated[str, about("killed, lynched or no_lynch")]
    agent_id: Annotated[str | UnsetType | None, about("who died")] = UNSET
    role: Annotated[str | UnsetType | None, about("of who died")] = UNSET
    votes: Annotated[dict[str, int] | UnsetType | None, about("of a vote: how many each player got")] = UNSET


class Inspection(Struct):
    """What the seer has found."""

    day: int
    target: str
    is_werewolf: bool


class Statement(Struct):
    """What was said, as an act; the words are in the messages."""

    agent_id: str
    day: int
    action: Annotated[str, about("defense, accusation, claim, general or ready_to_vote")]
    target: str | None = None
    role: Annotated[str | None, about("of a claim")] = None
    is_werewolf: Annotated[bool | None, about("the result of a claimed seer")] = None


class WerewolfState(GameState, kw_only=True):
    """A match as a seat sees it.

    It has the fields of strategic-agent-games, and ``statements`` and ``voting_history``. A player knows its own role,
    those of the dead and, as a werewolf, its fellow; the seer also knows what it has found. Votes are open. At night
    only the player whose turn it is knows so. `day_announce` has no decision and is passed over.
    """

    num_players: int = 0
    agent_ids: Annotated[list[str], about("in seat order")]
    alive_players: list[str] = field(default_factory=list)
    dead_players: list[str] = field(default_factory=list)
    day: Annotated[int, about("from 1")]
    phase: Annotated[str, about("night_werewolf, night_seer, day_discuss or day_vote")] = ""
    event_log: Annotated[list[Event], about("deaths and votes in order")]
    last_killed: Death | None = None
    last_lynched: Death | None = None
    role_counts: dict[str, int] = field(default_factory=dict)
    votes_so_far: Annotated[dict[str, str] | UnsetType, about("during the vote: from voter to target")] = UNSET
    players_ready_to_vote: Annotated[list[str] | UnsetType, about("during the discussion")] = UNSET
    voting_history: Annotated[list[dict[str, str]], about("of past days, from voter to target")] = field(
        default_factory=list
    )
    statements: Annotated[list[Statement] | None, about("of the match so far")] = None
    my_role: Annotated[str | UnsetType, about("werewolf, seer or villager")] = UNSET
    my_team: Annotated[str | UnsetType, about("village or werewolves")] = UNSET
    fellow_werewolves: Annotated[list[str] | UnsetType, about("to werewolves")] = UNSET
    pending_kill: Annotated[str | UnsetType | None, about("to werewolves: the latest nomination")] = UNSET
    werewolf_nominations: Annotated[dict[str, str] | UnsetType, about("to werewolves: tonight's")] = UNSET
    my_inspections: Annotated[list[Inspection] | UnsetType, about("to the seer")] = UNSET


SPOKE = 20
"""The code in the record of a statement in which nothing was found: a general one of no seat."""
SILENT = SPOKE - READY
"""The target of the move that has this code; it is no seat."""


def is_ready(move: Choice) -> bool:
    """Return True if a general statement is `ready_to_vote`."""
    return int(move.target) != SILENT


def phase(table: Any) -> str:
    """Return the phase's name; after the end, that of the last one."""
    if table.done:
        return VOTE if table.votings == table.round_number else NIGHT_OF_SEER
    if table.phase == NIGHT:
        seer = table.turn >= 0 and table.role[int(table.turn)] == SHERIFF
        return NIGHT_OF_SEER if seer else NIGHT_OF_WOLVES
    return VOTE if table.phase == VOTING else DISCUSSION


def game_state(table: Any, seat: int) -> WerewolfState:
    """Return the match as `seat` may see it."""
    seen = public(table)
    seen.my_role = ROLES[MAFIA_ROLES[int(table.role[seat])]]
    seen.my_team = TEAMS[int(table.role[seat] == MAFIA)]
    if table.role[seat] == MAFIA:
        seen.fellow_werewolves = [name(other) for other in _pack(table) if other != seat]
        chosen = log(table, "night")[int(table.round_number) - 1]
        nominations = {name(other): name(int(chosen[other])) for other in _pack(table) if chosen[other] >= 0}
        seen.pending_kill = list(nominations.values())[-1] if nominations and table.phase == NIGHT else None
        seen.werewolf_nominations = nominations
    if table.role[seat] == SHERIFF:
        seen.my_inspections = [
            Inspection(row + 1, name(target), bool(table.role[target] == MAFIA))
            for row, target in enumerate(log(table, "night")[: table.round_number, seat].tolist())
            if target >= 0
        ]
    return seen


def public(table: Any) -> WerewolfState:
    """Return the public state."""
    seats, gone = range(int(table.players)), table.eliminated_round.tolist()
    votes = [
        {name(voter): name(target) for voter, target in enumerate(row) if target >= 0}
        for row in log(table, "votes")[: int(table.round_number)].tolist()
    ]
    seen = WerewolfState(
        num_players=len(seats),
        agent_ids=[name(seat) for seat in seats],
        alive_players=[name(seat) for seat in seats if not gone[seat]],
        dead_players=[name(seat) for seat in seats if gone[seat]],
        day=int(table.round_number),
        phase=phase(table),
        event_log=events(table),
        last_killed=_dead(table, int(table.killed)) if table.killed >= 0 else None,
        last_lynched=next((_dead(table, seat) for seat in seats if _lynched_last(table, seat)), None),
        role_counts={"werewolf": 2, "seer": 1, "villager": len(seats) - 3},
        voting_history=votes[: int(table.votings)],
        statements=_statements(table),
    )
    if table.phase == VOTING:
        seen.votes_so_far = votes[-1]
    if seen.phase == DISCUSSION:
        today = _today(table)
        seen.players_ready_to_vote = [name(seat) for seat in seats if READY in log(table, "said")[today, seat]]
    return seen


def _pack(table: Any) -> list[int]:
    return [seat for seat in range(int(table.seats)) if table.role[seat] == MAFIA]


def _dead(table: Any, seat: int) -> Death:
    return Death(name(seat), ROLES[MAFIA_ROLES[int(table.role[seat])]])


def _lynched_last(table: Any, seat: int) -> bool:
    return bool(table.voted_out[seat]) and int(table.eliminated_round[seat]) == int(table.votings)


def _today(table: Any) -> slice:
    rounds = int(table.discussion_rounds)
    return slice((int(table.round_number) - 1) * rounds, int(table.round_number) * rounds)


def events(table: Any) -> list[Event]:
    """Return the deaths and votes of the match so far, in order."""
    rows: list[Event] = []
    gone, out = table.eliminated_round.tolist(), table.voted_out.tolist()
    for day in range(1, int(table.round_number) + 1):
        fallen = [seat for seat in range(int(table.seats)) if gone[seat] == day]
        rows += [_death(table, day, "killed", seat) for seat in fallen if not out[seat]]
        if day <= table.votings:
            votes = [target for target in log(table, "votes")[day - 1].tolist() if target >= 0]
            lynched = [_death(table, day, "lynched", seat) for seat in fallen if out[seat]]
            rows.append((lynched or [Event(day=day, type="no_lynch")])[0])
            rows[-1].votes = {name(target): votes.count(target) for target in dict.fromkeys(votes)}
    return rows


def _death(table: Any, day: int, kind: str, seat: int) -> Event:
    dead = _dead(table, seat)
    return Event(day=day, type=kind, agent_id=dead.agent_id, role=dead.role)


def _statements(table: Any) -> list[Statement]:
    ids, rounds = [name(seat) for seat in range(int(table.seats))], int(table.discussion_rounds)
    days = int(table.round_number) - int(table.phase == NIGHT)
    return [
        _statement(ids, seat, row // rounds + 1, code)
        for row, codes in enumerate(log(table, "said")[: days * rounds].tolist())
        for seat, code in enumerate(codes)
        if code
    ]


def _statement(ids: list[str], seat: int, day: int, code: int) -> Statement:
    wire = to_wire(act_of(code), ids)
    action, role = "ready_to_vote" if code == READY else wire["type"], ROLES.get(wire["role"], wire["role"])
    return Statement(ids[seat], day, action, wire["targetId"], role, wire["isMafia"])


def outcome(table: Any, seat: int) -> dict[str, Any]:
    """Return the outcome: every seat's utility, who won, all roles, and the events of the match."""
    rewards, winner = table.rewards[: int(table.seats)].tolist(), TEAMS[int(table.winner) - 1]
    return {
        "payoffs": [{"agent_id": name(other), "utility": reward} for other, reward in enumerate(rewards)],
        "winner": winner,
        "reason": f"{winner}_win",
        "roles": {name(other): ROLES[MAFIA_ROLES[int(table.role[other])]] for other in range(int(table.players))},
        "event_log": to_builtins(events(table)),
    }
