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
from functools import cache
from typing import Any

from numpy.typing import NDArray

from .statements import act_of, sentence, to_wire
from .table import DOCTOR, MAFIA, NIGHT, PHASES, ROLES, SEATS, SHERIFF, UNKNOWN, VOTING, WINNERS

NAMES = tuple(f"p{seat + 1}" for seat in range(SEATS))


def name(seat: int) -> str:
    """Return a seat's id, which is its name too: ``p1`` for seat 0."""
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
    """Return whose turn it is, as far as `seat` may know: at night only its own, for it would tell roles; else −1."""
    return -1 if table.phase == NIGHT and table.turn != seat else int(table.turn)


# Record ──► game_state.


def game_state(table: Any, seat: int) -> dict[str, Any]:
    """Return the match as `seat` may see it."""
    players = [_player(table, other, knows(table, seat, other)) for other in range(table.seats)]
    return {
        **_common(table, players, _saved(table, seat)),
        "self": players[seat],
        "privateKnowledge": _private(table, seat, players),
        "statements": _statements(table),
        "nightActions": _tonight(table, seat),
        "ownVote": _name(log(table, "votes")[table.round_number - 1, seat]) if table.phase == VOTING else None,
    }


def public(table: Any) -> dict[str, Any]:
    """Return the match as everybody may see it: the roles of the dead only, until it is over."""
    players = [_player(table, other, knows(table, -1, other)) for other in range(table.seats)]
    return {**_common(table, players, None), "statements": _statements(table)}


def _common(table: Any, players: list[dict[str, Any]], saved: str | None) -> dict[str, Any]:
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
            "protected": saved,
            "prevented": bool(table.prevented),
        }
        if killed >= 0 or table.prevented
        else None,
        "votingHistory": history,
    }


def _name(seat: int) -> str | None:
    return name(int(seat)) if seat >= 0 else None


def _player(table: Any, other: int, known: bool) -> dict[str, Any]:
    gone = int(table.eliminated_round[other])
    return {
        "id": name(other),
        "name": name(other),
        "role": ROLES[table.role[other] if known else UNKNOWN],
        "alive": gone == 0,
        "eliminatedRound": gone or None,
    }


def knows(table: Any, seat: int, other: int) -> bool:
    """Tell whether `seat` may know the role of `other`: its own, a teammate's, one revealed, or found to be mafia.

    Seat −1 stands for those who only look on.
    """
    if other == seat or not table.alive[other] or table.done:
        return True
    if seat < 0:
        return False
    mafia = table.role[other] == MAFIA
    if table.role[seat] == SHERIFF:
        return mafia and other in log(table, "night")[: table.round_number, seat]
    return mafia and table.role[seat] == MAFIA


def last_night(table: Any) -> int:
    """Return the row of the last night that is over; −1: none."""
    return int(table.round_number) - 1 - (table.phase == NIGHT)


def _saved(table: Any, seat: int) -> str | None:
    """Return whom the doctor `seat` saved last night."""
    row = last_night(table)
    if not table.prevented or table.role[seat] != DOCTOR or row < 0:
        return None
    return _name(log(table, "night")[row, seat])


def _private(table: Any, seat: int, players: list[dict[str, Any]]) -> dict[str, Any]:
    role = table.role[seat]
    private: dict[str, Any] = {"investigationResults": []}
    if role == MAFIA:
        private["mafiaTeammates"] = [
            one for other, one in enumerate(players) if other != seat and table.role[other] == MAFIA
        ]
    elif role == DOCTOR:
        row = last_night(table)
        protected = _name(log(table, "night")[row, seat]) if row >= 0 else None
        if protected is not None:
            private["lastProtected"] = protected
    elif role == SHERIFF:
        private["investigationResults"] = [
            {"target": players[target], "isMafia": bool(table.role[target] == MAFIA), "round": row + 1}
            for row, target in enumerate(log(table, "night")[: table.round_number, seat].tolist())
            if target >= 0
        ]
    return private


def _history(table: Any) -> list[dict[str, Any]]:
    eliminated = {int(table.eliminated_round[seat]): name(seat) for seat in range(table.seats) if table.voted_out[seat]}
    return [
        {
            "round": row + 1,
            "eliminated": eliminated.get(row + 1),
            "votes": {name(voter): name(target) for voter, target in enumerate(votes) if target >= 0},
        }
        for row, votes in enumerate(log(table, "votes")[: table.votings].tolist())
    ]


def _statements(table: Any) -> list[dict[str, Any]]:
    """Return what was said, in the order in which it was."""
    seats, rounds = int(table.seats), int(table.discussion_rounds)
    days = int(table.round_number) - (table.phase == NIGHT)
    entries = []
    for row, codes in enumerate(log(table, "said")[: days * rounds].tolist() if table.talk else ()):
        day = row // rounds + 1
        for turn in range(seats):
            speaker = (2 * (day - 1) + turn) % seats
            if codes[speaker]:
                entries.append({"playerId": name(speaker), "round": day, **_said(codes[speaker], speaker)})
    return entries


@cache
def _said(code: int, speaker: int) -> Mapping[str, Any]:
    """Return what a code of the record's `said` means: always the same, and every view tells it again."""
    act, ids = act_of(code), [name(seat) for seat in range(SEATS)]
    return {**to_wire(act, ids), "content": sentence(act, speaker, ids)}


def _tonight(table: Any, seat: int) -> dict[str, str]:
    if table.phase != NIGHT:
        return {}
    shown = [seat]
    if table.role[seat] == MAFIA and table.alive[seat]:
        shown = [other for other in range(table.seats) if table.role[other] == MAFIA]
    row = log(table, "night")[table.round_number - 1].tolist()
    return {name(other): name(row[other]) for other in shown if row[other] >= 0}


def outcome(table: Any, seat: int) -> dict[str, Any]:
    """Return the end: every seat's utility, the reason (who won, or the limit of days), the winner, all roles."""
    seats = range(int(table.seats))
    return {
        "payoffs": [{"agent_id": name(other), "utility": float(table.rewards[other])} for other in seats],
        "reason": "max_days_exceeded" if table.truncated else f"{WINNERS[int(table.winner)]}_wins",
        "winner": WINNERS[int(table.winner)],
        "roles": {name(other): ROLES[int(table.role[other])] for other in seats},
    }
