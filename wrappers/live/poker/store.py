"""What a poker server keeps, over restarts too: agents, tables and the tokens of seats, in SQLite.

Keys and tokens are kept as hashes only: who reads the file cannot play for anybody. Times are seconds of the caller's
clock.
"""

import secrets
from collections.abc import Set
from dataclasses import dataclass
from os import PathLike

import msgspec

from ..common.database import IN_MEMORY, Database
from ..common.limits import hashed
from . import messages
from .host_session import Refusal, TableSnapshot

SCHEMA = """
CREATE TABLE IF NOT EXISTS agents (key_hash TEXT PRIMARY KEY, agent_id TEXT NOT NULL, name TEXT);
CREATE TABLE IF NOT EXISTS tables (table_id TEXT PRIMARY KEY, snapshot BLOB NOT NULL);
CREATE TABLE IF NOT EXISTS tokens (
    token_hash TEXT PRIMARY KEY, table_id TEXT NOT NULL, seat INTEGER NOT NULL, agent_id TEXT NOT NULL
);
"""
MOST_AGENTS = 10_000
"""Agents that are remembered; beyond, the oldest without a seat is forgotten."""


class PokerStore(Database):
    """One server's file. Every change raises `SaveError` if it cannot be saved.

    Args:
        path: of the file, which is made if need be; `IN_MEMORY`: none.

    Raises:
        ValueError: if the file cannot be used, or another server uses it.
    """

    def __init__(self, path: str | PathLike[str] = IN_MEMORY) -> None:
        self.lasting = path != IN_MEMORY
        super().__init__(path, SCHEMA, "tables")

    def save_table(self, table_id: str, snapshot: TableSnapshot) -> None:
        """Keep a table as it is now."""
        row = table_id, msgspec.json.encode(snapshot)
        self.write(
            "INSERT INTO tables VALUES (?, ?) ON CONFLICT (table_id) DO UPDATE SET snapshot = excluded.snapshot", row
        )

    def drop_table(self, table_id: str) -> None:
        """Forget a table and its tokens."""
        with self.changes():
            self.write("DELETE FROM tables WHERE table_id = ?", (table_id,))
            self.drop_tokens(table_id)

    def tables(self) -> list[tuple[str, TableSnapshot]]:
        """Return the tables, oldest first.

        Raises:
            ValueError: if one cannot be read.
        """
        rows = self.read("SELECT table_id, snapshot FROM tables ORDER BY rowid")
        try:
            return [(table_id, msgspec.json.decode(data, type=TableSnapshot)) for table_id, data in rows]
        except msgspec.MsgspecError as error:
            raise ValueError(f"cannot read a saved table: {error}") from None

    def drop_tokens(self, table_id: str, agent_id: str | None = None) -> None:
        """Forget the tokens of a table, or those that one agent has there."""
        if agent_id is None:
            self.write("DELETE FROM tokens WHERE table_id = ?", (table_id,))
        else:
            self.write("DELETE FROM tokens WHERE table_id = ? AND agent_id = ?", (table_id, agent_id))


@dataclass(frozen=True)
class Account:
    """An agent as registered."""

    agent_id: str
    name: str | None


class Accounts:
    """Agents by the hashes of their API keys.

    Args:
        store: keeps them; those that it has are known.
    """

    def __init__(self, store: PokerStore) -> None:
        self._store = store
        rows = store.read("SELECT key_hash, agent_id, name FROM agents ORDER BY rowid")  # the oldest first
        self._by_key = {key_hash: Account(agent_id, name) for key_hash, agent_id, name in rows}

    def register(self, name: str | None, seated: Set[str]) -> tuple[str, Account]:
        """Register an agent and return its API key.

        Args:
            name: its name.
            seated: ids of agents that sit at a table, which are not forgotten.
        """
        account = Account(f"agt_{secrets.token_hex(8)}", name)
        api_key = f"key_{secrets.token_urlsafe(24)}"
        row = hashed(api_key), account.agent_id, name
        self._store.write("INSERT OR REPLACE INTO agents VALUES (?, ?, ?)", row)
        self._by_key[hashed(api_key)] = account
        if len(self._by_key) > MOST_AGENTS:
            oldest = next((key for key, one in self._by_key.items() if one.agent_id not in seated), None)
            if oldest is not None:
                self._store.write("DELETE FROM agents WHERE key_hash = ?", (oldest,))
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
    """What a session token stands for. It expires when it has not been in use for a while; in use: never."""

    table_id: str
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

    def restore(self, now: float) -> None:
        """Take up the tokens that the store has kept."""
        for key, table_id, seat, agent_id in self._store.read(
            "SELECT token_hash, table_id, seat, agent_id FROM tokens"
        ):
            self._tokens[key] = SeatToken(table_id, seat, agent_id, now + self.lifetime)

    def issue(self, table_id: str, seat: int, agent_id: str, now: float) -> str:
        """Return a new token of a seat, in place of those that the agent has there; raises `SaveError`."""
        self.revoke(table_id, agent_id)
        token = secrets.token_urlsafe(24)
        self._store.write("INSERT INTO tokens VALUES (?, ?, ?, ?)", (hashed(token), table_id, seat, agent_id))
        self._tokens[hashed(token)] = SeatToken(table_id, seat, agent_id, now + self.lifetime)
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

    def revoke(self, table_id: str, agent_id: str | None = None) -> None:
        """Forget the tokens of a table, or those that one agent has there."""
        try:
            self._store.drop_tokens(table_id, agent_id)
        finally:
            self._tokens = {
                key: one
                for key, one in self._tokens.items()
                if one.table_id != table_id or agent_id not in (None, one.agent_id)
            }
