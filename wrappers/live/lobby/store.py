"""What a lobby keeps over restarts: names and results, in SQLite. Open tables end with the lobby.

Tokens are kept as hashes only: who reads the file cannot play under another name.
"""

import sqlite3
import zlib
from collections.abc import Sequence
from os import PathLike

import msgspec

from ..common.database import IN_MEMORY, Database
from ..common.names import folded
from ..common.tokens import hashed
from ..table.table_result import PlayerResult
from .messages import ListedPlayer, ListedResult

SCHEMA = """
CREATE TABLE IF NOT EXISTS people (token_hash TEXT PRIMARY KEY, name TEXT NOT NULL, folded_name TEXT NOT NULL UNIQUE);
CREATE TABLE IF NOT EXISTS results (
    number INTEGER PRIMARY KEY, game TEXT NOT NULL, ended_at TEXT NOT NULL, reason TEXT NOT NULL, players TEXT NOT NULL
);
CREATE TABLE IF NOT EXISTS logs (number INTEGER PRIMARY KEY, log BLOB NOT NULL);
CREATE TABLE IF NOT EXISTS played (name TEXT PRIMARY KEY);
INSERT OR IGNORE INTO played SELECT json_extract(value, '$.name') FROM results, json_each(players);
"""
MOST_PEOPLE = 10_000
"""The most names. Then the oldest one that has not played is forgotten."""
MOST_RESULTS = 100_000
"""The most results; the oldest are forgotten."""
MOST_LOGS = 200
"""The latest results that keep their logs."""


class LobbyStore(Database):
    """One lobby's file. Every change raises `SaveError` if it cannot be saved.

    Args:
        path: of the file, which is made if need be; `IN_MEMORY`: none.

    Raises:
        ValueError: if the file cannot be used, or another lobby uses it.
    """

    def __init__(self, path: str | PathLike[str] = IN_MEMORY) -> None:
        super().__init__(path, SCHEMA, "the lobby's results")

    # People.

    def add_person(self, name: str, token: str) -> bool:
        """Keep a name and its token; return False if somebody has it, or one that looks the same (`folded`)."""
        try:
            self.write("INSERT INTO people VALUES (?, ?, ?)", (hashed(token), name, folded(name)))
        except sqlite3.IntegrityError:
            return False
        self.write(
            "DELETE FROM people WHERE rowid IN (SELECT rowid FROM people WHERE name NOT IN (SELECT name FROM played) "
            "ORDER BY rowid LIMIT max(0, (SELECT count(*) FROM people) - ?))",
            (MOST_PEOPLE,),
        )
        return True

    def name_of(self, token: str) -> str | None:
        """Return the name that a token proves; None for an unknown one."""
        row = self.read("SELECT name FROM people WHERE token_hash = ?", (hashed(token),)).fetchone()
        return None if row is None else row[0]

    # Results.

    def add_result(
        self, game: str, ended_at: str, reason: str, players: Sequence[PlayerResult], log: bytes = b""
    ) -> None:
        """Keep the result of a match with its log (empty: none)."""
        rows = [ListedPlayer(name=one.name, program=one.program, payoff=one.payoff) for one in players]
        with self.changes():
            self.write(
                "INSERT INTO results (game, ended_at, reason, players) VALUES (?, ?, ?, ?)",
                (game, ended_at, reason, msgspec.json.encode(rows).decode()),
            )
            for one in players:
                self.write("INSERT OR IGNORE INTO played VALUES (?)", (one.name,))
            self.write("DELETE FROM results WHERE number <= (SELECT max(number) FROM results) - ?", (MOST_RESULTS,))
            if log:
                self.write("INSERT INTO logs SELECT max(number), ? FROM results", (zlib.compress(log),))
                self.write("DELETE FROM logs WHERE number <= (SELECT max(number) FROM logs) - ?", (MOST_LOGS,))

    def log(self, number: int) -> tuple[str, bytes]:
        """Return the game and the log of a result; empty ones for a result that has none."""
        row = self.read("SELECT game, log FROM logs JOIN results USING (number) WHERE number = ?", (number,)).fetchone()
        return ("", b"") if row is None else (row[0], zlib.decompress(row[1]))

    def results(self, most: int) -> list[ListedResult]:
        """Return the latest results, the newest first."""
        rows = self.read(
            "SELECT number, log IS NOT NULL, game, ended_at, reason, players "
            "FROM results LEFT JOIN logs USING (number) ORDER BY number DESC LIMIT ?",
            (most,),
        )
        return [
            ListedResult(
                number=number,
                log=bool(log),
                game=game,
                ended_at=ended_at,
                reason=reason,
                players=msgspec.json.decode(players, type=list[ListedPlayer]),
            )
            for number, log, game, ended_at, reason, players in rows
        ]
