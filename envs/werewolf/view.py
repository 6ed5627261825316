"""Record ──► TurnState of a player. `game_state` has the fields of strategic-agent-games.

It also has ``statements``, ``{agent_id, day, action, target, role, is_werewolf}`` of the match so far, and
``voting_history``, the votes of past days from voter to target. Words that others wrote are in the messages.

A player knows its own role, those of the dead and, as a werewolf, its fellow; the seer also knows what it has found.
Votes are open. At night only the player whose turn it is knows so. `day_announce` has no decision and is passed over.
"""

from typing import Any

from ..mafia.rules import Choice
from ..mafia.statements import READY, act_of, to_wire
from ..mafia.table import MAFIA, NIGHT, SHERIFF, VOTING
from ..mafia.table import ROLES as MAFIA_ROLES
from ..mafia.view import log, name
from .words import DISCUSSION, NIGHT_OF_SEER, NIGHT_OF_WOLVES, ROLES, TEAMS, VOTE

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


def game_state(table: Any, seat: int) -> dict[str, Any]:
    """Return the match as `seat` may see it."""
    role = ROLES[MAFIA_ROLES[int(table.role[seat])]]
    own: dict[str, Any] = {"my_role": role, "my_team": TEAMS[int(table.role[seat] == MAFIA)]}
    if table.role[seat] == MAFIA:
        own["fellow_werewolves"] = [name(other) for other in _pack(table) if other != seat]
        chosen = log(table, "night")[int(table.round_number) - 1]
        nominations = {name(other): name(int(chosen[other])) for other in _pack(table) if chosen[other] >= 0}
        own["pending_kill"] = list(nominations.values())[-1] if nominations and table.phase == NIGHT else None
        own["werewolf_nominations"] = nominations
    if table.role[seat] == SHERIFF:
        own["my_inspections"] = [
            {"day": row + 1, "target": name(target), "is_werewolf": bool(table.role[target] == MAFIA)}
            for row, target in enumerate(log(table, "night")[: table.round_number, seat].tolist())
            if target >= 0
        ]
    return {**public(table), **own}


def public(table: Any) -> dict[str, Any]:
    """Return what everybody sees."""
    seats, gone = range(int(table.players)), table.eliminated_round.tolist()
    shown: dict[str, Any] = {
        "num_players": len(seats),
        "agent_ids": [name(seat) for seat in seats],
        "alive_players": [name(seat) for seat in seats if not gone[seat]],
        "dead_players": [name(seat) for seat in seats if gone[seat]],
        "day": int(table.round_number),
        "phase": phase(table),
        "event_log": events(table),
        "last_killed": _dead(table, int(table.killed)) if table.killed >= 0 else None,
        "last_lynched": next((_dead(table, seat) for seat in seats if _lynched_last(table, seat)), None),
        "role_counts": {"werewolf": 2, "seer": 1, "villager": len(seats) - 3},
    }
    votes = [
        {name(voter): name(target) for voter, target in enumerate(row) if target >= 0}
        for row in log(table, "votes")[: int(table.round_number)].tolist()
    ]
    if table.phase == VOTING:
        shown["votes_so_far"] = votes[-1]
    if shown["phase"] == DISCUSSION:
        today = _today(table)
        shown["players_ready_to_vote"] = [name(seat) for seat in seats if READY in log(table, "said")[today, seat]]
    return {**shown, "voting_history": votes[: int(table.votings)], "statements": _statements(table)}


def _pack(table: Any) -> list[int]:
    return [seat for seat in range(int(table.seats)) if table.role[seat] == MAFIA]


def _dead(table: Any, seat: int) -> dict[str, str]:
    return {"agent_id": name(seat), "role": ROLES[MAFIA_ROLES[int(table.role[seat])]]}


def _lynched_last(table: Any, seat: int) -> bool:
    return bool(table.voted_out[seat]) and int(table.eliminated_round[seat]) == int(table.votings)


def _today(table: Any) -> slice:
    rounds = int(table.discussion_rounds)
    return slice((int(table.round_number) - 1) * rounds, int(table.round_number) * rounds)


def events(table: Any) -> list[dict[str, Any]]:
    """Return the deaths and votes of the match so far, in order."""
    rows: list[dict[str, Any]] = []
    gone, out = table.eliminated_round.tolist(), table.voted_out.tolist()
    for day in range(1, int(table.round_number) + 1):
        fallen = [seat for seat in range(int(table.seats)) if gone[seat] == day]
        rows += [{"day": day, "type": "killed", **_dead(table, seat)} for seat in fallen if not out[seat]]
        if day <= table.votings:
            votes = [target for target in log(table, "votes")[day - 1].tolist() if target >= 0]
            tally = {name(target): votes.count(target) for target in dict.fromkeys(votes)}
            lynched = [{"type": "lynched", **_dead(table, seat)} for seat in fallen if out[seat]]
            rows.append({"day": day, **(lynched or [{"type": "no_lynch"}])[0], "votes": tally})
    return rows


def _statements(table: Any) -> list[dict[str, Any]]:
    ids, rounds = [name(seat) for seat in range(int(table.seats))], int(table.discussion_rounds)
    days = int(table.round_number) - int(table.phase == NIGHT)
    return [
        {"agent_id": ids[seat], "day": row // rounds + 1, **_told(code, ids)}
        for row, codes in enumerate(log(table, "said")[: days * rounds].tolist())
        for seat, code in enumerate(codes)
        if code
    ]


def _told(code: int, ids: list[str]) -> dict[str, Any]:
    wire = to_wire(act_of(code), ids)
    return {
        "action": "ready_to_vote" if code == READY else wire["type"],
        "target": wire["targetId"],
        "role": ROLES.get(wire["role"], wire["role"]),
        "is_werewolf": wire["isMafia"],
    }


def outcome(table: Any, seat: int) -> dict[str, Any]:
    """Return the outcome: every seat's utility, who won, all roles, and the events of the match."""
    rewards, winner = table.rewards[: int(table.seats)].tolist(), TEAMS[int(table.winner) - 1]
    return {
        "payoffs": [{"agent_id": name(other), "utility": reward} for other, reward in enumerate(rewards)],
        "winner": winner,
        "reason": f"{winner}_win",
        "roles": {name(other): ROLES[MAFIA_ROLES[int(table.role[other])]] for other in range(int(table.players))},
        "event_log": events(table),
    }
