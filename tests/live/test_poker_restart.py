"""A poker host that is killed or stopped goes on where it was: agents, tables, seats, chips and tokens."""

import asyncio
import json
import signal
import sqlite3
import sys

import aiohttp
import numpy as np
import pytest
from live.full_disk import full_disk
from live.poker_client import Client, hosting, refused
from live.poker_options import play, rules
from live.poker_room import Room
from live.poker_server import CALLER
from live.test_poker_stop import command
from parlour.wrappers.live.common.database import SaveError
from parlour.wrappers.live.common.tokens import hashed
from parlour.wrappers.live.poker import messages
from parlour.wrappers.live.poker.host_session import PokerHostSession
from parlour.wrappers.live.poker.store import PokerStore
from parlour.wrappers.logs.match_log import read

pytestmark = pytest.mark.usefixtures("compiled_poker")


@pytest.mark.parametrize("seed", range(5))
def test_at_every_moment_the_snapshot_holds_all_chips_and_can_be_gone_on_from(seed):
    room, rng = Room(4, seed=seed, stack=30), np.random.default_rng(seed)
    left = False
    while room.table.hand < 8 and room.table.status == "running":
        if room.table.due.what == "hand":
            room.deal()
            continue
        saved = room.table.snapshot()
        assert sum(seat.chips for seat in saved.seats.values()) + sum(saved.left.values()) == 120
        if room.table.hand == 4 and not left:
            left = True
            room.take(room.table.leave(max(room.table.seats)))
            continue
        table = room.table.table
        kinds = ["fold", *["call" if table.to_call else "check"] * 6, *(["raiseTo"] * 2 if table.raise_max > 0 else [])]
        kind = str(rng.choice(kinds))
        room.act(kind, int(table.raise_min) if kind == "raiseTo" else None)
    again = PokerHostSession(**rules(seats=6, stack=30))
    again.restore(saved)
    assert again.status == "waiting" and again.hand == saved.hand and again.seq > saved.seq
    assert {number: again.stack(number) for number in again.seats} == {n: one.chips for n, one in saved.seats.items()}
    for number in again.seats:
        again.connect(number)
    assert again.status in ("running", "ended")
    if again.status == "running":
        again.next_hand()  # where the first two to connect could not play alone
        assert again.hand == saved.hand + 1


def test_a_saved_table_is_not_taken_up_with_other_rules():
    saved = Room(2).table.snapshot()
    with pytest.raises(ValueError, match="other rules"):
        PokerHostSession(**rules(seats=6, big_blind=4)).restore(saved)


def test_a_file_has_one_server_and_no_secrets(tmp_path):
    path = tmp_path / "state.sqlite"
    store = PokerStore(path)
    store.save_agent(hashed("key"), "agt_1", "ann")
    with pytest.raises(ValueError, match="locked"):
        PokerStore(path)
    store.close()
    assert list(PokerStore(path).agents()) == [(hashed("key"), "agt_1", "ann")]
    (tmp_path / "text").write_text("no database, and long enough to look like one" * 100)
    with pytest.raises(ValueError, match="cannot keep tables"):
        PokerStore(tmp_path / "text")


async def test_keys_and_tokens_are_good_after_a_restart_and_stopping_ends_no_table(tmp_path):
    state = tmp_path / "state.sqlite"
    async with hosting(2, state=state, hand_delay=0) as (host, one, two):
        await one.my_turn() if one.seat == 0 else None
        port, table_id = int(host.url.rsplit(":", 1)[1]), one.table_id
        await two.until("game_state")
    raw = state.read_bytes()
    assert one.key.encode() not in raw and one.token.encode() not in raw
    async with hosting(state=state, port=port) as (host, _):
        assert list(host.tables) == [table_id]
        assert [host.tables[table_id].session.stack(seat) for seat in (0, 1)] == [100, 100]
        async with aiohttp.ClientSession() as http:
            for client in (one, two):
                client.http, client.host = http, host
                await client.connect()
            state_again = await one.until("game_state")
            assert state_again["hand"] == 2
            status, answer = await one.call("POST", "/v1/tables/auto-join", {})
            assert (status, answer["error"]["code"]) == (409, messages.ALREADY_SEATED)


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such signals")
@pytest.mark.parametrize("sig", [signal.SIGKILL, signal.SIGTERM], ids=["killed", "stopped"])
async def test_a_host_that_is_killed_in_the_middle_of_a_hand_goes_on(sig, tmp_path):
    state, log = tmp_path / "state.sqlite", tmp_path / "log.jsonl"
    args = ["host", "poker", "--seats", "3", "--min-players", "3", "--stack", "1000", "--hand-delay", "0.02"]
    args += ["--state", str(state), "--log", str(log)]
    port, playing, kept = "0", [], []
    for start in range(3):
        async with command(*args, "--port", port, *(["--hands", "60"] if start == 2 else [])) as process:
            first = (await process.stdout.readline()).decode()
            url = next(word for word in first.split() if word.startswith("http://"))
            port = url.rsplit(":", 1)[1]
            if not playing:
                playing = [asyncio.create_task(play(url, CALLER, retry_after=0.05, retries=200)) for _ in range(3)]
            if start == 2:
                await asyncio.wait_for(process.wait(), 60)
                break
            hands = 0
            while hands < 8:  # a line for each hand
                hands += b"hand" in await process.stdout.readline()
            process.send_signal(sig)
            await process.wait()
            kept.append(saved_chips(state))
    results = await asyncio.wait_for(asyncio.gather(*playing), 20)
    assert kept == [3000, 3000]
    lines = list(read(log))
    hands = [line for line in lines if line["kind"] == "hand"]
    for line in hands:
        assert sum(player["stack"] for player in line["players"]) == 3000
    assert sum(line["kind"] == "joined" for line in lines) == 3
    assert [result.reason for result in results] == ["admin_stopped"] * 3
    assert {result.reconnects for result in results} == {2}
    assert sum(result.net for result in results) == 0
    assert all(result.rejected == result.replaced == 0 for result in results)
    numbers = [line["hand"] for line in hands]
    assert numbers == sorted(set(numbers)) and numbers[-1] == 60


async def test_a_full_disk_refuses_newcomers_changes_nothing_and_stops_no_hand(tmp_path, caplog):
    async with hosting(2, state=tmp_path / "state") as (host, one, two):
        late, store = Client(one.http, host), host._store
        await late.register()
        with full_disk(store):
            for fill in (store.save_agent, store.save_token):  # every table of the file has room in its last page
                with pytest.raises(SaveError):
                    for number in range(10_000):
                        fill(f"hash {number}", "nobody", *((0, "nobody") if fill == store.save_token else ("",)))
            await refused(late, 503, messages.INTERNAL_ERROR, "POST", "/v1/agents", {"name": "eve"})
            await refused(late, 503, messages.INTERNAL_ERROR, "POST", "/v1/tables/auto-join", {})
            assert sorted(host.tables[one.table_id].session.seats) == [0, 1]
            assert "disk is full" in host.problem
            for client in (one, two):
                await client.act(await client.my_turn())
        assert [record.levelname for record in caplog.records] == ["WARNING"]
        await late.join()


def saved_chips(path):
    """All chips in a file that no server has open."""
    database = sqlite3.connect(path)
    [(snapshot,)] = database.execute("SELECT snapshot FROM tables").fetchall()
    database.close()
    saved = json.loads(snapshot)
    return sum(seat["chips"] for seat in saved["seats"].values()) + sum(saved["left"].values())


async def test_a_host_that_was_stopped_is_started_again_with_its_tables(tmp_path):
    async with hosting(seats=2, state=tmp_path / "state", min_players=2) as (host, one):
        two = Client(one.http, host)
        for client, name in ((one, "ann"), (two, "bob")):
            await client.sit_down(name)
        await two.until("game_state")
        (table_id,) = host.tables
        await host.stop()
        await host.start()
        assert list(host.tables) == [table_id] and len(host.tables[table_id].session.seats) == 2
        one.ws_url = two.ws_url = host.ws_url
        await one.connect()
        await two.connect()
        assert (await one.until("game_state"))["type"] == "game_state"
