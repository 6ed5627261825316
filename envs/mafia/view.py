"""Record ──► TurnState of a player, and back. Names are those of mafia-ai-benchmark's agent interface.

`game_state` holds the fields of `PublicInfo`, `GameState` and `PrivateInfo` together, each once: `phase`,
`dayNumber`, `roundNumber`, `players` (in seat order; the role of a living other that the seat may not know is
``"unknown"``), `alivePlayers`, `deadPlayers`, `mafiaCount`, `townCount`, `winner`, `lastNightResult`, `votingHistory`
(`round`, `eliminated`, `votes` from voter to target, without abstentions), `self` and `privateKnowledge`.
It also has:

- ``statements``: ``{playerId, round, type, targetId, role, isMafia, content}`` of the match so far (`round` is the
  day's number; `content` is a standard sentence; the original text is in the messages);
- ``nightActions``: from id to target's id, tonight: the own choice, and for living mafia the teammates' choices so far;
- ``ownVote``: the target's id of the own vote while the votes are sealed, else None.

`gameId` is the game's id; the match's id is `TurnState.match_id`. Here names equal ids; `load` also reads states of
other hosts. After the end of the match all roles are shown.
"""

from collections.abc import Mapping
from functools import lru_cache
from types import SimpleNamespace
from typing import Any

from numpy.typing import NDArray

from .statements import act_of, sentence, to_wire
from .table import DOCTOR, MAFIA, NIGHT, PHASES, ROLES, SEATS, SHERIFF, UNKNOWN, VOTING, WINNERS

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


def game_state(table: Any, seat: int) -> dict[str, Any]:
    """Return the match as `seat` may see it."""
    players, shared = _players(table, seat), dict(_shared(table))
    last, statements = shared["lastNightResult"], shared.pop("statements")
    return {
        **shared,
        "players": players,
        "lastNightResult": last and {**last, "protected": _saved(table, seat)},
        "self": players[seat] if seat < len(players) else None,
        "privateKnowledge": _private(table, seat, players),
        "statements": statements,
        "nightActions": _tonight(table, seat),
        "ownVote": _name(log(table, "votes")[table.round_number - 1, seat]) if table.phase == VOTING else None,
    }


def public(table: Any) -> dict[str, Any]:
    """Return the public view of the match: until the end it shows only the roles of the dead."""
    return {**_shared(table), "players": _players(table, -1)}


def _shared(table: Any) -> Mapping[str, Any]:
    """Return the part that all seats share. For a plain copy it is computed once."""
    shared: dict[str, Any] | None = getattr(table, "shared", None)
    if shared is None:
        shared = _common(table)
        if isinstance(table, SimpleNamespace):
            table.shared = shared
    return shared


def _common(table: Any) -> dict[str, Any]:
    killed, count = int(table.killed), int(table.players)
    roles, gone = table.role.tolist(), table.eliminated_round.tolist()
    return {
        "gameId": "mafia-v0",
        "phase": PHASES[table.phase],
        "dayNumber": table.round_number - (table.phase == NIGHT),
        "roundNumber": int(table.round_number),
        "players": [],
        "alivePlayers": [{"id": NAMES[seat], "name": NAMES[seat]} for seat in range(count) if not gone[seat]],
        "deadPlayers": [
            {"id": NAMES[seat], "name": NAMES[seat], "role": ROLES[roles[seat]], "eliminatedRound": gone[seat]}
            for seat in range(count)
            if gone[seat]
        ],
        "mafiaCount": int(table.living_mafia),
        "townCount": int(table.living - table.living_mafia),
        "winner": WINNERS[table.winner],
        "lastNightResult": {"killed": _name(killed), "protected": None, "prevented": bool(table.prevented)}
        if killed >= 0 or table.prevented
        else None,
        "votingHistory": _history(table),
        "statements": _statements(table),
    }


def _name(seat: int) -> str | None:
    return name(int(seat)) if seat >= 0 else None


def _players(table: Any, seat: int) -> list[dict[str, Any]]:
    roles, eliminated = table.role.tolist(), table.eliminated_round.tolist()
    return [
        {
            "id": NAMES[other],
            "name": NAMES[other],
            "role": ROLES[roles[other] if known else UNKNOWN],
            "alive": eliminated[other] == 0,
            "eliminatedRound": eliminated[other] or None,
        }
        for other, known in enumerate(_known(table, seat))
    ]


def _known(table: Any, seat: int) -> list[bool]:
    """Return for every seat whether `seat` may know its role: its own, a teammate's, a revealed or an investigated one.

    Seat −1 is an observer.
    """
    count, done, roles, alive = int(table.players), bool(table.done), table.role.tolist(), table.alive.tolist()
    own = roles[seat] if seat >= 0 else UNKNOWN
    found = log(table, "night")[: table.round_number, seat].tolist() if own == SHERIFF else ()
    return [
        other == seat or done or not alive[other] or (roles[other] == MAFIA and (own == MAFIA or other in found))
        for other in range(count)
    ]


def knows(table: Any, seat: int, other: int) -> bool:
    """Return whether `seat` (−1: an observer) may know the role of `other`."""
    return _known(table, seat)[other]


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
    rounds = table.eliminated_round.tolist()
    eliminated = {rounds[seat]: NAMES[seat] for seat, out in enumerate(table.voted_out.tolist()) if out}
    return [
        {
            "round": row + 1,
            "eliminated": eliminated.get(row + 1),
            "votes": {NAMES[voter]: NAMES[target] for voter, target in enumerate(votes) if target >= 0},
        }
        for row, votes in enumerate(log(table, "votes")[: table.votings].tolist())
    ]


def _statements(table: Any) -> list[dict[str, Any]]:
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
                entries.append(dict(_entry(codes[speaker], speaker, day)))
    return entries


@lru_cache(maxsize=8192)
def _entry(code: int, speaker: int, day: int) -> Mapping[str, Any]:
    """Return the entry of a code in `said`; it is cached, because every view contains all entries."""
    act, ids = act_of(code), [name(seat) for seat in range(SEATS)]
    return {"playerId": ids[speaker], "round": day, **to_wire(act, ids), "content": sentence(act, speaker, ids)}


def _tonight(table: Any, seat: int) -> dict[str, str]:
    if table.phase != NIGHT:
        return {}
    shown = [seat]
    if table.role[seat] == MAFIA and table.alive[seat]:
        shown = [other for other in range(table.seats) if table.role[other] == MAFIA]
    row = log(table, "night")[table.round_number - 1].tolist()
    return {name(other): name(row[other]) for other in shown if row[other] >= 0}


def outcome(table: Any, seat: int) -> dict[str, Any]:
    """Return the outcome: every seat's utility, the reason (who won, or the limit of days), the winner, all roles."""
    players, rewards = range(int(table.players)), table.rewards[: int(table.seats)].tolist()
    return {
        "payoffs": [{"agent_id": name(seat), "utility": utility} for seat, utility in enumerate(rewards)],
        "reason": "max_days_exceeded" if table.truncated else f"{WINNERS[int(table.winner)]}_wins",
        "winner": WINNERS[int(table.winner)],
        "roles": {name(other): ROLES[int(table.role[other])] for other in players},
    }
