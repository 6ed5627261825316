"""Registered agents and the tokens of their seats, without I/O. Times are seconds of the caller's clock."""

import secrets
from collections.abc import Set
from dataclasses import dataclass
from typing import Generic, TypeVar

from . import messages
from .seats import Refusal

MOST_AGENTS = 10_000
"""Agents that are remembered; beyond, the oldest without a seat is forgotten."""

Table = TypeVar("Table")


@dataclass(frozen=True)
class Account:
    """An agent as registered."""

    agent_id: str
    name: str | None


class Accounts:
    """Agents by their API keys."""

    def __init__(self) -> None:
        self._by_key: dict[str, Account] = {}

    def register(self, name: str | None, seated: Set[str]) -> tuple[str, Account]:
        """Register an agent and return its API key.

        Args:
            name: its name.
            seated: ids of agents that sit at a table, which are not forgotten.
        """
        account = Account(f"agt_{secrets.token_hex(8)}", name)
        api_key = f"key_{secrets.token_urlsafe(24)}"
        self._by_key[api_key] = account
        if len(self._by_key) > MOST_AGENTS:
            oldest = next((key for key, one in self._by_key.items() if one.agent_id not in seated), None)
            if oldest is not None:
                del self._by_key[oldest]
        return api_key, account

    def find(self, api_key: str) -> Account:
        """Return the agent with this key.

        Raises:
            Refusal: UNAUTHORIZED, INVALID_API_KEY.
        """
        if not api_key:
            raise Refusal(messages.UNAUTHORIZED, "this call needs the header Authorization: Bearer <api_key>")
        if api_key not in self._by_key:
            raise Refusal(messages.INVALID_API_KEY, "no agent has this API key; POST /v1/agents gives one")
        return self._by_key[api_key]


@dataclass
class SeatToken(Generic[Table]):
    """What a session token stands for. It expires when it has not been in use for a while."""

    table: Table
    seat: int
    agent_id: str
    expires: float


class SeatTokens(Generic[Table]):
    """The session tokens of all seats.

    Args:
        lifetime: seconds for which a token lives while no connection uses it.
    """

    def __init__(self, lifetime: float) -> None:
        self.lifetime = lifetime
        self._tokens: dict[str, SeatToken[Table]] = {}

    def issue(self, table: Table, seat: int, agent_id: str, now: float) -> str:
        """Return a new token of a seat."""
        token = secrets.token_urlsafe(24)
        self._tokens[token] = SeatToken(table, seat, agent_id, now + self.lifetime)
        return token

    def find(self, token: str, now: float) -> SeatToken[Table]:
        """Return what a token stands for.

        Raises:
            Refusal: UNAUTHORIZED, INVALID_SESSION, SESSION_EXPIRED.
        """
        if not token:
            raise Refusal(messages.UNAUTHORIZED, "connect to …/v1/ws?token=<session_token>&format=agent")
        found = self._tokens.get(token)
        if found is None:
            raise Refusal(messages.INVALID_SESSION, "no seat has this session token; join a table to get one")
        if found.expires < now:
            raise Refusal(messages.SESSION_EXPIRED, "this session token has expired; join a table to get a new one")
        return found

    def hold(self, token: SeatToken[Table]) -> None:
        """Let a token live while it is in use."""
        token.expires = float("inf")

    def release(self, token: SeatToken[Table], now: float) -> None:
        """Let a token expire, which is no longer in use."""
        token.expires = now + self.lifetime

    def revoke(self, table: Table, agent_id: str | None = None) -> None:
        """Forget the tokens of a table, or those that one agent has there."""
        self._tokens = {
            key: one
            for key, one in self._tokens.items()
            if one.table is not table or agent_id not in (None, one.agent_id)
        }
