"""What a lobby keeps: names and their tokens, results."""

import sqlite3

import pytest
from parlour.wrappers.live.common.database import SaveError
from parlour.wrappers.live.lobby import host as stores
from parlour.wrappers.live.lobby.host import LobbyStore
from parlour.wrappers.live.table.results import PlayerResult


def player(name, payoff, program=False):
    return PlayerResult(name, program, payoff)


def test_a_name_has_one_token_in_capitals_and_small_letters():
    store = LobbyStore()
    assert store.add_person("Ann", "t1")
    assert not store.add_person("ANN", "t2")
    assert store.add_person("Bob", "t3")
    assert [store.name_of(token) for token in ("t1", "t2", "t3", "", "\ud800")] == ["Ann", None, "Bob", None, None]


def test_a_file_keeps_everything_but_no_token(tmp_path):
    path = tmp_path / "lobby.sqlite"
    store = LobbyStore(path)
    store.add_person("Ann", "secret-token")
    store.add_result("kuhn", "2026-01-02T03:04:05+00:00", "fold", [player("Ann", 1), player("honest", -1, True)])
    before = store.results(5)
    with pytest.raises(ValueError, match="locked; another server uses it"):
        LobbyStore(path)
    store.close()
    again = LobbyStore(path)
    assert again.results(5) == before
    assert again.name_of("secret-token") == "Ann"
    again.close()
    assert b"secret-token" not in b"".join(file.read_bytes() for file in tmp_path.iterdir())


def test_a_file_that_is_no_database_is_named(tmp_path):
    (tmp_path / "text").write_text("no database, and long enough to look like one" * 100)
    with pytest.raises(ValueError, match=r"cannot keep the lobby's results in .*text"):
        LobbyStore(tmp_path / "text")


def test_the_latest_results_come_first():
    store = LobbyStore()
    for number in range(5):
        store.add_result(f"game {number}", "2026-01-01T00:00:00+00:00", "over", [player(f"p{number}", number)])
    assert [one.game for one in store.results(3)] == ["game 4", "game 3", "game 2"]
    assert store.results(1)[0].players[0].payoff == 4


def test_the_store_stays_bounded(monkeypatch):
    monkeypatch.setattr(stores, "MOST_PEOPLE", 3)
    monkeypatch.setattr(stores, "MOST_RESULTS", 2)
    store = LobbyStore()
    store.add_person("Ann", "ann")
    for number in range(4):
        store.add_result("kuhn", "2026-01-01T00:00:00+00:00", str(number), [player("Ann", 1), player("x", 0, True)])
        store.add_person(f"p{number}", f"t{number}")
    assert [one.reason for one in store.results(9)] == ["3", "2"]
    known = [store.name_of(token) is not None for token in ("ann", "t0", "t1", "t2", "t3")]
    assert sum(known) == 3 and known[-1]
    assert known[0]  # who has played is kept


def test_a_result_that_cannot_be_kept_leaves_nothing_behind(monkeypatch):
    store = LobbyStore()

    def full(log):
        raise sqlite3.OperationalError("database or disk is full")

    monkeypatch.setattr(stores.zlib, "compress", full)
    with pytest.raises(SaveError):
        store.add_result("kuhn", "2026-01-01T00:00:00+00:00", "", [player("Ann", 1), player("Bob", 0)], b"log")
    monkeypatch.undo()
    assert store.results(5) == []
    store.add_result("kuhn", "2026-01-01T00:00:00+00:00", "", [player("Ann", 1), player("Bob", 0)])
    assert len(store.results(5)) == 1
