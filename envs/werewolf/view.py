"""Record ──► TurnState of a player."""

from typing import Any

from msgspec import to_builtins

from ..mafia.rules import Choice
from ..mafia.statements import READY, act_of, to_wire
from ..mafia.table import MAFIA, NIGHT, SHERIFF, VOTING
from ..mafia.table import ROLES as MAFIA_ROLES
from ..mafia.view import log, name
from .mafia_terms import DISCUSSION, NIGHT_OF_SEER, NIGHT_OF_WOLVES, ROLES, TEAMS, VOTE
from .state import Death, Event, Inspection, Statement, WerewolfState

SPOKE = 20
"""The code in the record of a statement in which nothing was found: a general one of no seat."""
SILENT = SPOKE - READY
"""The target of the move that has this code; it is no seat."""


def is_ready(move: Choice) -> bool:
    """Return whether a general statement is `ready_to_vote`."""
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
    """Return what everybody sees."""
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
