"""Registered agents and the tokens of their seats; a `PokerStore` keeps both.

Times are seconds of the caller's clock.
"""

import secrets
from collections.abc import Mapping, Set
from dataclasses import dataclass

from ..common.tokens import hashed
from . import messages
from .hosted_table import HostedTable
from .store import PokerStore
from .table_data import Account, Refusal

MOST_AGENTS = 10_000
"""Agents that are remembered; beyond, the oldest without a seat is forgotten."""


class Accounts:
    """Agents by the hashes of their API keys.

    Args:
        store: keeps them; those that it has are known.
    """

    def __init__(self, store: PokerStore) -> None:
        self._store = store
        self._by_key = {key_hash: Account(agent_id, name) for key_hash, agent_id, name in store.agents()}

    def register(self, name: str | None, seated: Set[str]) -> tuple[str, Account]:
        """Register an agent and return its API key.

        Args:
            name: its name.
            seated: ids of agents that sit at a table, which are not forgotten.
        """
        account = Account(f"agt_{secrets.token_hex(8)}", name)
        api_key = f"key_{secrets.token_urlsafe(24)}"
        self._store.save_agent(hashed(api_key), account.agent_id, name)
        self._by_key[hashed(api_key)] = account
        if len(self._by_key) > MOST_AGENTS:
            oldest = next((key for key, one in self._by_key.items() if one.agent_id not in seated), None)
            if oldest is not None:
                self._store.drop_agent(oldest)
                del self._by_key[oldest]
        return api_key, account

    def find(self, api_key: str) -> Account:
        """Return the agent with this key.

        Raises:
            Refusal: UNAUTHORIZED, INVALID_API_KEY.
        """
        if not api_key:
            raise Refusal(messages.UNAUTHORIZED, "this call needs the header Authorization: Bearer <api_key>")
        account = self._by_key.get(hashed(api_key))
        if account is None:
            raise Refusal(messages.INVALID_API_KEY, "no agent has this API key; POST /v1/agents gives one")
        return account


@dataclass
class SeatToken:
    """What a session token stands for. It expires when it has not been in use for a while."""

    table: HostedTable
    seat: int
    agent_id: str
    expires: float


class SeatTokens:
    """The session tokens of all seats.

    Args:
        lifetime: seconds for which a token lives while no connection uses it.
        store: keeps them.
    """

    def __init__(self, lifetime: float, store: PokerStore) -> None:
        self.lifetime = lifetime
        self._store = store
        self._tokens: dict[str, SeatToken] = {}  # by their hashes

    def restore(self, tables: Mapping[str, HostedTable], now: float) -> None:
        """Take up the tokens that the store has kept, of these tables."""
        for token_hash, table_id, seat, agent_id in self._store.tokens():
            if table_id in tables:
                self._tokens[token_hash] = SeatToken(tables[table_id], seat, agent_id, now + self.lifetime)

    def issue(self, table: HostedTable, seat: int, agent_id: str, now: float) -> str:
        """Return a new token of a seat, in place of those that the agent has there; raises `SaveError`."""
        self.revoke(table, agent_id)
        token = secrets.token_urlsafe(24)
        self._store.save_token(hashed(token), table.table_id, seat, agent_id)
        self._tokens[hashed(token)] = SeatToken(table, seat, agent_id, now + self.lifetime)
        return token

    def find(self, token: str, now: float) -> SeatToken:
        """Return what a token stands for.

        Raises:
            Refusal: UNAUTHORIZED, INVALID_SESSION, SESSION_EXPIRED.
        """
        if not token:
            raise Refusal(messages.UNAUTHORIZED, "connect to …/v1/ws?token=<session_token>&format=agent")
        seat_token = self._tokens.get(hashed(token))
        if seat_token is None:
            raise Refusal(messages.INVALID_SESSION, "no seat has this session token; join a table to get one")
        if seat_token.expires < now:
            raise Refusal(messages.SESSION_EXPIRED, "this session token has expired; join a table to get a new one")
        return seat_token

    def hold(self, token: SeatToken) -> None:
        """Let a token live while it is in use."""
        token.expires = float("inf")

    def release(self, token: SeatToken, now: float) -> None:
        """Let a token expire, which is no longer in use."""
        token.expires = now + self.lifetime

    def revoke(self, table: HostedTable, agent_id: str | None = None) -> None:
        """Forget the tokens of a table, or those that one agent has there."""
        try:
            self._store.drop_tokens(table.table_id, agent_id)
        finally:
            self._tokens = {
                key: one
                for key, one in self._tokens.items()
                if one.table is not table or agent_id not in (None, one.agent_id)
            }
