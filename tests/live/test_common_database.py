"""The database of a server: whole changes, and a disk that is full."""

import logging

import pytest
from live.full_disk import full_disk
from parlour.wrappers.live.common import database as module
from parlour.wrappers.live.common.database import Database, SaveError

SCHEMA = "CREATE TABLE IF NOT EXISTS words (word TEXT PRIMARY KEY);"
LONG = "x" * 100_000


@pytest.fixture
def database(tmp_path):
    made = Database(tmp_path / "file", SCHEMA, "words")
    yield made
    made.close()


def words(database):
    return [word for (word,) in database.read("SELECT word FROM words ORDER BY word")]


def test_a_full_disk_changes_nothing_warns_once_a_minute_and_is_told(database, caplog, monkeypatch):
    database.write("INSERT INTO words VALUES (?)", ("a",))
    with full_disk(database):
        for _ in range(5):
            with pytest.raises(SaveError, match="cannot save words: database or disk is full"):
                database.write("INSERT INTO words VALUES (?)", (LONG,))
            with pytest.raises(SaveError), database.changes():
                database.write("DELETE FROM words")
                database.write("INSERT INTO words VALUES (?)", (LONG,))
        assert words(database) == ["a"]
        assert database.problem == "cannot save words: database or disk is full"
    assert [(record.levelno, record.exc_info) for record in caplog.records] == [(logging.WARNING, None)]
    database.write("INSERT INTO words VALUES (?)", ("b",))
    assert words(database) == ["a", "b"] and database.problem is not None
    monkeypatch.setattr(module, "FAILING_SECONDS", 0.0)
    assert database.problem is None


def test_a_file_has_one_server(tmp_path, database):
    with pytest.raises(ValueError, match=r"cannot keep words in .*locked; another server uses it"):
        Database(tmp_path / "file", SCHEMA, "words")
