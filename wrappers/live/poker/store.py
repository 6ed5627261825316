"""Where a poker server keeps what must survive a restart: agents, tables and seat tokens, in SQLite.

Keys and tokens are kept as hashes only: who reads the file cannot play for anybody.
"""

from collections.abc import Iterator
from os import PathLike

import msgspec

from ..common.database import IN_MEMORY, Database
from .table_data import TableSnapshot

SCHEMA = """
CREATE TABLE IF NOT EXISTS agents (key_hash TEXT PRIMARY KEY, agent_id TEXT NOT NULL, name TEXT);
CREATE TABLE IF NOT EXISTS tables (table_id TEXT PRIMARY KEY, snapshot BLOB NOT NULL);
CREATE TABLE IF NOT EXISTS tokens (
    token_hash TEXT PRIMARY KEY, table_id TEXT NOT NULL, seat INTEGER NOT NULL, agent_id TEXT NOT NULL
);
"""


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

    # Agents.

    def save_agent(self, key_hash: str, agent_id: str, name: str | None) -> None:
        """Keep an agent."""
        self.write("INSERT OR REPLACE INTO agents VALUES (?, ?, ?)", (key_hash, agent_id, name))

    def drop_agent(self, key_hash: str) -> None:
        """Forget an agent."""
        self.write("DELETE FROM agents WHERE key_hash = ?", (key_hash,))

    def agents(self) -> Iterator[tuple[str, str, str | None]]:
        """Return the agents, oldest first: hash of the key, id, name."""
        yield from self.read("SELECT key_hash, agent_id, name FROM agents ORDER BY rowid")

    # Tables.

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

    # Tokens of seats.

    def save_token(self, token_hash: str, table_id: str, seat: int, agent_id: str) -> None:
        """Keep a seat's token."""
        self.write("INSERT INTO tokens VALUES (?, ?, ?, ?)", (token_hash, table_id, seat, agent_id))

    def drop_tokens(self, table_id: str, agent_id: str | None = None) -> None:
        """Forget the tokens of a table, or those that one agent has there."""
        if agent_id is None:
            self.write("DELETE FROM tokens WHERE table_id = ?", (table_id,))
        else:
            self.write("DELETE FROM tokens WHERE table_id = ? AND agent_id = ?", (table_id, agent_id))

    def tokens(self) -> Iterator[tuple[str, str, int, str]]:
        """Return the tokens: hash, table, seat, agent."""
        yield from self.read("SELECT token_hash, table_id, seat, agent_id FROM tokens")
