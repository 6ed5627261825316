"""Database: the SQLite file of one server. What is written survives the death of the process at any time."""

import logging
import sqlite3
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from os import PathLike
from typing import Any

logger = logging.getLogger(__name__)

IN_MEMORY = ":memory:"
"""The path of a database that ends with the process."""
FAILING_SECONDS = 60.0
"""Seconds for which a database counts as failing after a change could not be saved, and between two warnings."""


class SaveError(Exception):
    """What cannot be saved now, as on a full disk. Nothing of it has been written."""


class Database:
    """One server's file. No two servers may share one.

    Raises:
        ValueError: if the file cannot be used, or another server uses it.
    """

    def __init__(self, path: str | PathLike[str], schema: str, what: str) -> None:
        self._what = what
        self._problem = ""
        self._changing = False
        self._failed = self._warned = float("-inf")
        self._path, self._schema, self._closed = path, schema, True
        self.open()

    def open(self) -> None:
        """Open the file again, after `close`; raises the errors of `Database`."""
        if not self._closed:
            return
        try:
            # It may be made in another thread than the one that uses it, but never used by two.
            self._database = sqlite3.connect(self._path, isolation_level=None, timeout=1.0, check_same_thread=False)
            self._database.execute("PRAGMA locking_mode = EXCLUSIVE")
            self._database.execute("PRAGMA journal_mode = WAL")
            self._database.execute("PRAGMA synchronous = NORMAL")
            self._database.executescript(self._schema)
        except sqlite3.Error as error:
            used = "; another server uses it" if "locked" in str(error) else ""
            raise ValueError(f"cannot keep {self._what} in {self._path}: {error}{used}") from None
        self._closed = False

    @property
    def problem(self) -> str | None:
        """Why a change of the last minute could not be saved; None: all could."""
        return self._problem if time.monotonic() - self._failed < FAILING_SECONDS else None

    def close(self) -> None:
        """Close the file."""
        self._database.close()
        self._closed = True

    def read(self, query: str, values: Sequence[Any] = ()) -> sqlite3.Cursor:
        """Return the rows of a query."""
        return self._database.execute(query, values)

    def write(self, statement: str, values: Sequence[Any] = ()) -> None:
        """Make a change.

        Raises:
            SaveError: if it cannot be saved.
            sqlite3.IntegrityError: if the schema forbids it.
        """
        with self.changes():
            self._database.execute(statement, values)

    @contextmanager
    def changes(self) -> Iterator[None]:
        """Make all changes of a block, or none.

        Raises:
            SaveError: if they cannot be saved.
            sqlite3.IntegrityError: if the schema forbids one.
        """
        if self._changing:
            yield
            return
        try:
            self._database.execute("BEGIN")
            self._changing = True
            with self._database:
                yield
        except sqlite3.IntegrityError:
            raise
        except sqlite3.Error as error:
            self._problem, self._failed = f"cannot save {self._what}: {error}", time.monotonic()
            if self._failed - self._warned > FAILING_SECONDS:
                self._warned = self._failed
                logger.warning("%s", self._problem)
            raise SaveError(self._problem) from error
        finally:
            self._changing = False
