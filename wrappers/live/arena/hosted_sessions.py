"""The sessions of the arena host, without I/O: seats, tokens, invite codes and states.

A session is one match of agents that poll. The host plays it when all seats are taken.
"""

import secrets
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Literal

from .players import WaitingPlayer

WAITING_SECONDS = 300.0
"""Seconds for which a session waits for players."""
MOST_SESSIONS = 1_000
"""Most sessions that wait or run at the same time; the same number of ended sessions is remembered."""

Status = Literal["waiting", "running", "finished", "error"]


class SessionRefused(ValueError):
    """A refused call. Its text is a sentence for the caller.

    Args:
        text: the sentence.
        status: the HTTP status.
    """

    def __init__(self, text: str, status: int = 400) -> None:
        super().__init__(text)
        self.status = status


@dataclass
class HostedSession:
    """A session.

    Attributes:
        session_id: the session's id.
        game_id: the game's id that its creator used.
        seats: players by id, in the order of the seats, which is the order of joining.
        codes: unused invite codes.
        most_actions: limit of game actions in the match; None: the arena's limit.
        created: time of creation on the event loop's clock, in seconds.
        status: the status.
        outcome: the match's outcome; None before its end.
        error: the error that ended the session; None without one.
    """

    session_id: str
    game_id: str
    seats: dict[str, WaitingPlayer]
    codes: list[str]
    most_actions: int | None
    created: float
    status: Status = "waiting"
    outcome: dict[str, Any] | None = None
    error: str | None = None

    @property
    def names(self) -> list[str]:
        """The agents' ids."""
        return [player.agent_id for player in self.seats.values()]

    def listed(self) -> dict[str, Any]:
        """Return the session's entry in the public list; while it waits, with its invite codes."""
        return {
            "session_id": self.session_id,
            "game_id": self.game_id,
            "status": self.status,
            "num_players": len(self.seats),
            "slots_remaining": len(self.codes),
            "players": [{"player_id": key, "display_name": one.agent_id} for key, one in self.seats.items()],
            **({"invite_codes": list(self.codes)} if self.status == "waiting" else {}),
        }


class HostedSessions:
    """All sessions of an arena."""

    def __init__(self) -> None:
        self._sessions: dict[str, HostedSession] = {}
        self._by_token: dict[str, tuple[HostedSession, str]] = {}
        self._by_code: dict[str, HostedSession] = {}

    def create(
        self, game_id: str, name: str, players: int, most_actions: int | None, now: float
    ) -> tuple[HostedSession, dict[str, Any]]:
        """Create a session; return the session and the creator's seat. With too many, the oldest waiting one ends.

        Raises:
            SessionRefused: if too many are running.
        """
        self.expire(now)
        waiting = [one for one in self._sessions.values() if one.status == "waiting"]
        if len(waiting) + sum(one.status == "running" for one in self._sessions.values()) >= MOST_SESSIONS:
            if not waiting:
                raise SessionRefused(f"{MOST_SESSIONS} sessions are running", 409)
            self._give_up(waiting[0], "the session was ended: too many sessions waited for players")
        codes = [f"inv_{secrets.token_urlsafe(16)}" for _ in range(players - 1)]
        session = HostedSession(f"sess_{secrets.token_urlsafe(8)}", game_id, {}, codes, most_actions, now)
        self._sessions[session.session_id] = session
        self._by_code |= dict.fromkeys(codes, session)
        return session, self._seat(session, name) | {"invite_codes": list(codes)}

    def join(self, code: str, name: str, now: float) -> tuple[HostedSession, dict[str, Any]]:
        """Take a seat in a waiting session; return the session and the seat.

        Raises:
            SessionRefused: if the code is unknown or used, or another player of the session has the name.
        """
        self.expire(now)
        session = self._by_code.get(code)
        if session is None:
            raise SessionRefused("the invite code is not known, was used, or has expired")
        if name in session.names:
            raise SessionRefused(f"an agent is called {name!r} in this session already", 409)
        del self._by_code[code]
        session.codes.remove(code)
        if not session.codes:
            session.status = "running"
        return session, self._seat(session, name) | {"players_joined": len(session.seats)}

    def _seat(self, session: HostedSession, name: str) -> dict[str, Any]:
        player_id, token = f"player_{secrets.token_urlsafe(6)}", f"pt_{secrets.token_urlsafe(24)}"
        session.seats[player_id] = WaitingPlayer(name or player_id, session.game_id)
        self._by_token[token] = session, player_id
        return {
            "session_id": session.session_id,
            "player_id": player_id,
            "token": token,
            "game_id": session.game_id,
            "status": session.status,
        }

    def seat(self, token: str, now: float) -> tuple[HostedSession, str]:
        """Return the session and the player's id of a token.

        Raises:
            SessionRefused: if there is none.
        """
        self.expire(now)
        if token not in self._by_token:
            raise SessionRefused("the token is not known", 401)
        return self._by_token[token]

    def state(self, token: str, now: float) -> dict[str, Any]:
        """Return the state of a player: waiting, its turn, or the end.

        ``player_id`` is the agent's id in the match: clients of strategic-agent-games look for their payoff by it.
        """
        session, player_id = self.seat(token, now)
        return {"player_id": session.seats[player_id].agent_id, **self._state(session, player_id)}

    def _state(self, session: HostedSession, player_id: str) -> dict[str, Any]:
        if session.status == "waiting":
            seats = {"players_joined": len(session.seats), "slots_remaining": len(session.codes)}
            return {"status": "waiting", **seats}
        if session.status != "running":
            end = {"game_over": True, "outcome": session.outcome, "error": session.error}
            return {"status": session.status, **end}
        state = session.seats[player_id].state
        if state is None:
            return {"status": "running", "is_my_turn": False, "waiting": True}
        return {"status": "running", "waiting": False, "agent_ids": session.names, **state.to_dict()}

    def act(self, token: str, answer: Any, now: float) -> None:
        """Take a player's answer to its turn. If the match rejects it, the player gets the turn again.

        Raises:
            SessionRefused: if it is not the player's turn.
        """
        session, player_id = self.seat(token, now)
        if session.status != "running":
            raise SessionRefused(f"the session is {session.status}, not running")
        if not session.seats[player_id].submit(answer):
            raise SessionRefused("it is not your turn")

    def listed(self, status: str | None, game_id: str | None, now: float) -> list[dict[str, Any]]:
        """Return the sessions with a status and a game (None: any), the oldest first."""
        self.expire(now)
        sessions: Iterable[HostedSession] = self._sessions.values()
        return [one.listed() for one in sessions if status in (None, one.status) and game_id in (None, one.game_id)]

    def ended(self, session: HostedSession, outcome: dict[str, Any] | None, error: str | None) -> None:
        """Record the end of a session's match."""
        session.outcome, session.error = outcome, error
        session.status = "finished" if outcome is not None else "error"
        self._forget()

    def expire(self, now: float) -> None:
        """End the sessions that have waited too long."""
        for session in list(self._sessions.values()):
            if session.status == "waiting" and now - session.created > WAITING_SECONDS:
                self._give_up(session, "the session expired: not all players came")

    def _give_up(self, session: HostedSession, why: str) -> None:
        """End a session that waits for players."""
        session.status, session.error = "finished", why
        for code in session.codes:
            del self._by_code[code]
        session.codes.clear()
        self._forget()

    def _forget(self) -> None:
        """Remove the oldest ended sessions if there are too many."""
        over = [one for one in self._sessions.values() if one.status in ("finished", "error")]
        for session in over[: max(0, len(over) - MOST_SESSIONS)]:
            del self._sessions[session.session_id]
            gone = [token for token, (one, _) in self._by_token.items() if one is session]
            for token in gone:
                del self._by_token[token]
