"""Record ──► what a player may see, and back. Names are those of mafia.md.

`game_state` holds the fields of `PublicInfo`, `GameState` and `PrivateInfo` side by side, each once: `phase`,
`dayNumber`, `roundNumber`, `players` (in seat order; the role of a living other that the seat may not know is
``"unknown"``), `alivePlayers`, `deadPlayers`, `mafiaCount`, `townCount`, `winner`, `lastNightResult`, `votingHistory`
(`round`, `eliminated`, `votes` from voter to target; who abstained is not in it), `self` and `privateKnowledge`.
Besides these:

- ``statements``: ``{playerId, round, type, targetId, role, isMafia, content}`` of the match so far (`round` is the
  day's number; `content` says the act, the very words are in the messages);
- ``nightActions``: from id to target's id, tonight: one's own, and for living mafia the teammates' so far;
- ``ownVote``: the target's id of one's own vote while the votes are sealed, else None.

`gameId` is the game's; the match has `TurnState.match_id`. Names are ids here; `load` also reads those of other hosts.
When the match is over all roles are shown.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np

from ..core.game import Tables
from ..core.turn_state import TurnState
from .rules import note
from .statements import act_of, from_wire, read, sentence, to_wire
from .table import (
    DISCUSSION,
    DOCTOR,
    END,
    MAFIA,
    MAFIA_WINS,
    NIGHT,
    PHASES,
    ROLES,
    SHERIFF,
    SPEECHES,
    TOWN_WINS,
    UNKNOWN,
    VOTING,
    WINNERS,
)


def name(seat: int) -> str:
    """Return a seat's id, which is its name too: ``p1`` for seat 0."""
    return f"p{seat + 1}"


def phase(table: Any) -> str:
    """Return the phase's name."""
    return PHASES[int(table.phase)]


def turn(table: Any, seat: int) -> int:
    """Return whose turn it is, as far as `seat` may know: at night only its own, for it would tell roles; else −1."""
    return -1 if table.phase == NIGHT and table.turn != seat else int(table.turn)


# Record ──► game_state.


def game_state(table: Any, seat: int) -> dict[str, Any]:
    """Return the match as `seat` may see it."""
    seats = int(table.seats)
    players = [_player(table, seat, other) for other in range(seats)]
    killed = int(table.killed)
    history = _history(table)
    return {
        "gameId": "mafia-v0",
        "phase": PHASES[table.phase],
        "dayNumber": table.round_number - (table.phase == NIGHT),
        "roundNumber": int(table.round_number),
        "players": players,
        "alivePlayers": [{"id": one["id"], "name": one["name"]} for one in players if one["alive"]],
        "deadPlayers": [
            {key: one[key] for key in ("id", "name", "role", "eliminatedRound")} for one in players if not one["alive"]
        ],
        "mafiaCount": int(table.living_mafia),
        "townCount": int(table.living - table.living_mafia),
        "winner": WINNERS[table.winner],
        "lastNightResult": {
            "killed": None if killed < 0 else name(killed),
            "protected": _saved(table, seat),
            "prevented": bool(table.prevented),
        }
        if killed >= 0 or table.prevented
        else None,
        "votingHistory": history,
        "self": players[seat],
        "privateKnowledge": _private(table, seat, players),
        "statements": _statements(table),
        "nightActions": _tonight(table, seat),
        "ownVote": _name(table.votes[table.round_number - 1, seat]) if table.phase == VOTING else None,
    }


def _name(seat: int) -> str | None:
    return name(int(seat)) if seat >= 0 else None


def _player(table: Any, seat: int, other: int) -> dict[str, Any]:
    gone = int(table.eliminated_round[other])
    return {
        "id": name(other),
        "name": name(other),
        "role": ROLES[table.role[other] if knows(table, seat, other) else UNKNOWN],
        "alive": gone == 0,
        "eliminatedRound": gone or None,
    }


def knows(table: Any, seat: int, other: int) -> bool:
    """Tell whether `seat` may know the role of `other`: its own, a teammate's, one revealed, or found to be mafia."""
    if other == seat or not table.alive[other] or table.done:
        return True
    mafia = table.role[other] == MAFIA
    if table.role[seat] == SHERIFF:
        return mafia and other in table.night[: table.round_number, seat]
    return mafia and table.role[seat] == MAFIA


def _last_night(table: Any) -> int:
    """Return the row of the last night that is over; −1: none."""
    return int(table.round_number) - 1 - (table.phase == NIGHT)


def _saved(table: Any, seat: int) -> str | None:
    """Return whom the doctor `seat` saved last night."""
    row = _last_night(table)
    if not table.prevented or table.role[seat] != DOCTOR or row < 0:
        return None
    return _name(table.night[row, seat])


def _private(table: Any, seat: int, players: list[dict[str, Any]]) -> dict[str, Any]:
    role = table.role[seat]
    private: dict[str, Any] = {"investigationResults": []}
    if role == MAFIA:
        private["mafiaTeammates"] = [
            one for other, one in enumerate(players) if other != seat and table.role[other] == MAFIA
        ]
    elif role == DOCTOR:
        row = _last_night(table)
        protected = _name(table.night[row, seat]) if row >= 0 else None
        if protected is not None:
            private["lastProtected"] = protected
    elif role == SHERIFF:
        private["investigationResults"] = [
            {"target": players[target], "isMafia": bool(table.role[target] == MAFIA), "round": row + 1}
            for row, target in enumerate(table.night[: table.round_number, seat].tolist())
            if target >= 0
        ]
    return private


def _history(table: Any) -> list[dict[str, Any]]:
    eliminated = {
        int(table.eliminated_round[seat]): name(seat) for seat in range(table.seats) if table.voted_out[seat]
    }
    return [
        {
            "round": row + 1,
            "eliminated": eliminated.get(row + 1),
            "votes": {name(voter): name(target) for voter, target in enumerate(votes) if target >= 0},
        }
        for row, votes in enumerate(table.votes[: table.votings, : table.seats].tolist())
    ]


def _statements(table: Any) -> list[dict[str, Any]]:
    """Return what was said, in the order in which it was."""
    seats, rounds = int(table.seats), int(table.discussion_rounds)
    ids = [name(seat) for seat in range(seats)]
    days = int(table.round_number) - (table.phase == NIGHT)
    entries = []
    for row, codes in enumerate(table.said[: days * rounds, :seats].tolist() if table.talk else ()):
        day = row // rounds + 1
        for turn in range(seats):
            speaker = (2 * (day - 1) + turn) % seats
            if codes[speaker]:
                act = act_of(codes[speaker])
                said = {"playerId": ids[speaker], "round": day, **to_wire(act, ids)}
                entries.append(said | {"content": sentence(act, speaker, ids)})
    return entries


def _tonight(table: Any, seat: int) -> dict[str, str]:
    if table.phase != NIGHT:
        return {}
    shown = [seat]
    if table.role[seat] == MAFIA and table.alive[seat]:
        shown = [other for other in range(table.seats) if table.role[other] == MAFIA]
    row = table.night[table.round_number - 1]
    return {name(other): name(int(row[other])) for other in shown if row[other] >= 0}


def outcome(table: Any, seat: int) -> dict[str, Any]:
    """Return the end: every seat's utility, the reason (who won, or the limit of days), the winner, all roles."""
    seats = range(int(table.seats))
    return {
        "payoffs": [{"agent_id": name(other), "utility": float(table.rewards[other])} for other in seats],
        "reason": "max_days_exceeded" if table.truncated else f"{WINNERS[int(table.winner)]}_wins",
        "winner": WINNERS[int(table.winner)],
        "roles": {name(other): ROLES[int(table.role[other])] for other in seats},
    }
