"""What a poker server keeps, over restarts too: agents, tables and the tokens of seats, in SQLite.

Keys and tokens are kept as hashes only: who reads the file cannot play for anybody.
"""

import secrets
import time
from collections.abc import Set
from dataclasses import dataclass
from os import PathLike
from typing import NamedTuple

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


class Account(NamedTuple):
    """An agent as registered."""

    agent_id: str
    name: str | None


@dataclass
class SeatToken:
    """What a session token stands for. It expires when it has not been in use for a while; in use: never."""

    table_id: str
    seat: int
    agent_id: str
    expires: float


class PokerStore(Database):
    """One server's file. Every change raises `SaveError` if it cannot be saved.

    Args:
        path: of the file, which is made if need be; `IN_MEMORY`: none.
        lifetime: seconds for which a token lives while no connection uses it.

    Raises:
        ValueError: if the file cannot be used, or another server uses it.
    """

    def __init__(self, path: str | PathLike[str] = IN_MEMORY, lifetime: float = 3600.0) -> None:
        self.lasting, self._lifetime = path != IN_MEMORY, lifetime
        self._tokens: dict[str, SeatToken] = {}  # by their hashes
        super().__init__(path, SCHEMA, "tables")

    # Tables.

    def save_table(self, table_id: str, snapshot: TableSnapshot) -> None:
        """Keep a table as it is now."""
        row = table_id, msgspec.json.encode(snapshot)
        self.write(
            "INSERT INTO tables VALUES (?, ?) ON CONFLICT (table_id) DO UPDATE SET snapshot = excluded.snapshot", row
        )

    def drop_table(self, table_id: str) -> None:
        """Forget a table and its tokens at the next start: who comes now is told that it has ended."""
        with self.changes():
            self.write("DELETE FROM tables WHERE table_id = ?", (table_id,))
            self.write("DELETE FROM tokens WHERE table_id = ?", (table_id,))

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

    # Agents.

    def register(self, name: str | None, seated: Set[str]) -> tuple[str, Account]:
        """Register an agent and return its API key. Agents that are `seated`, by their ids, are not forgotten."""
        account, api_key = Account(f"agt_{secrets.token_hex(8)}", name), f"key_{secrets.token_urlsafe(24)}"
        with self.changes():
            self.write("INSERT INTO agents VALUES (?, ?, ?)", (hashed(api_key), account.agent_id, name))
            if self.read("SELECT COUNT(*) FROM agents").fetchone()[0] > MOST_AGENTS:
                rows = self.read("SELECT agent_id FROM agents ORDER BY rowid")
                oldest = next((agent_id for (agent_id,) in rows if agent_id not in seated), None)
                self.write("DELETE FROM agents WHERE agent_id = ?", (oldest,))
        return api_key, account

    def agent_of(self, api_key: str) -> Account:
        """Return the agent with this key.

        Raises:
            Refusal: UNAUTHORIZED, INVALID_API_KEY.
        """
        if not api_key:
            raise Refusal(messages.UNAUTHORIZED, "this call needs the header Authorization: Bearer <api_key>")
        row = self.read("SELECT agent_id, name FROM agents WHERE key_hash = ?", (hashed(api_key),)).fetchone()
        if row is None:
            raise Refusal(messages.INVALID_API_KEY, "no agent has this API key; POST /v1/agents gives one")
        return Account(*row)

    # Tokens of seats.

    def restore_tokens(self) -> None:
        """Take up the tokens that the file has kept."""
        rows = self.read("SELECT token_hash, table_id, seat, agent_id FROM tokens")
        self._tokens = {key: SeatToken(table, seat, agent, self.expiry()) for key, table, seat, agent in rows}

    def expiry(self) -> float:
        """Return when a token expires that is not used from now on."""
        return time.monotonic() + self._lifetime

    def issue(self, table_id: str, seat: int, agent_id: str) -> str:
        """Return a new token of a seat, in place of those that the agent has there."""
        self.revoke(table_id, agent_id)
        token = secrets.token_urlsafe(24)
        self.write("INSERT INTO tokens VALUES (?, ?, ?, ?)", (hashed(token), table_id, seat, agent_id))
        self._tokens[hashed(token)] = SeatToken(table_id, seat, agent_id, self.expiry())
        return token

    def seat_of(self, token: str) -> SeatToken:
        """Return what a token stands for.

        Raises:
            Refusal: UNAUTHORIZED, INVALID_SESSION, SESSION_EXPIRED.
        """
        if not token:
            raise Refusal(messages.UNAUTHORIZED, "connect to …/v1/ws?token=<session_token>&format=agent")
        seat_token = self._tokens.get(hashed(token))
        if seat_token is None:
            raise Refusal(messages.INVALID_SESSION, "no seat has this session token; join a table to get one")
        if seat_token.expires < time.monotonic():
            raise Refusal(messages.SESSION_EXPIRED, "this session token has expired; join a table to get a new one")
        return seat_token

    def revoke(self, table_id: str, agent_id: str | None = None) -> None:
        """Forget the tokens of a table, or those that one agent has there."""
        for key, token in list(self._tokens.items()):
            if token.table_id == table_id and agent_id in (None, token.agent_id):
                del self._tokens[key]
        self.write("DELETE FROM tokens WHERE table_id = ?1 AND agent_id = IFNULL(?2, agent_id)", (table_id, agent_id))
