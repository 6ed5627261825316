"""The poker server over real sockets on this machine: calls, bad input, time, tables, restarts."""

import asyncio
import json
import signal
import sqlite3
import sys

import aiohttp
import numpy as np
import pytest
from live.event_loops import until
from live.full_disk import full_disk
from live.poker_client import CALLER, Client, action, hosting, refused, turned_away
from live.poker_options import grouped, play, rules
from live.poker_room import Room
from live.processes import command
from parlour.wrappers.live.common.database import SaveError
from parlour.wrappers.live.poker import host as hosted_table
from parlour.wrappers.live.poker import messages
from parlour.wrappers.live.poker import messages as m
from parlour.wrappers.live.poker.host import Account, PokerHost, PokerHostSession, PokerStore
from parlour.wrappers.logs.match_log import MatchLog, read

# REST.


async def test_register_join_look_leave():
    async with hosting() as (host, client):
        agent = await client.register("Ann")
        assert set(agent) == {"agent_id", "api_key", "name", "protocol_version", "skill_doc_url"}
        assert agent["agent_id"].startswith("agt_") and agent["skill_doc_url"] == f"{host.url}/skill.md"
        seat = await client.join(preferred_seat=4)
        assert seat["seat_id"] == 4 and seat["action_timeout_ms"] == 30_000
        assert seat["protocol_version"] == seat["min_supported_protocol_version"] == "0.1"
        assert seat["ws_url"] == host.ws_url
        status, tables = await client.call("GET", "/v1/tables")
        assert status == 200 and [table["id"] for table in tables["tables"]] == [client.table_id]
        status, table = await client.call("GET", f"/v1/tables/{client.table_id}")
        ann = {"seatId": 4, "agentId": client.agent_id, "agentName": "Ann", "stack": 100, "isActive": True}
        assert [seat for seat in table["seats"] if seat["agentId"] is not None] == [ann]
        assert (len(table["seats"]), table["playerCount"], table["availableSeats"]) == (6, 1, 5)
        assert table["status"] == "waiting" and table["config"]["blinds"] == {"small": 1, "big": 2}
        status, left = await client.call("POST", f"/v1/tables/{client.table_id}/leave")
        assert status == 200 and left["success"] and left["seat_id"] == 4
        await client.connect()
        assert (await client.receive())["code"] == m.INVALID_SESSION
        assert (await client.join(f"/v1/tables/{client.table_id}/join"))["seat_id"] == 0


async def test_rest_errors():
    async with hosting(seats=2) as (_, client):
        await refused(client, 401, m.UNAUTHORIZED, "POST", "/v1/tables/auto-join", {})
        await refused(client, 401, m.INVALID_API_KEY, "POST", "/v1/tables/auto-join", {}, key="wrong")
        await refused(client, 400, m.VALIDATION_ERROR, "POST", "/v1/agents", {"name": "\u202ebob"})
        await client.register()
        await refused(client, 404, m.TABLE_NOT_FOUND, "POST", "/v1/tables/nowhere/join", {})
        await refused(client, 404, m.TABLE_NOT_FOUND, "GET", "/v1/tables/nowhere")
        await client.join()
        table = f"/v1/tables/{client.table_id}"
        _, told = await client.call("POST", "/v1/tables/auto-join", {})
        assert told["error"]["details"] == {"table_id": client.table_id}
        await refused(client, 409, m.ALREADY_SEATED, "POST", f"{table}/join", {})
        other = Client(client.http, client.host)
        await other.register()
        await refused(other, 409, m.NOT_SEATED, "POST", f"{table}/leave")
        await refused(other, 400, m.VALIDATION_ERROR, "POST", f"{table}/join", {"preferred_seat": "3"})
        await refused(other, 400, m.VALIDATION_ERROR, "POST", f"{table}/join", [])
        await refused(other, 426, m.OUTDATED_CLIENT, "POST", f"{table}/join", {"client_protocol_version": "0.0.9"})
        await other.join(f"{table}/join")
        third = Client(client.http, client.host)
        await third.register()
        await refused(third, 409, m.TABLE_FULL, "POST", "/v1/tables/auto-join", {})
        await refused(third, 409, m.TABLE_FULL, "POST", f"{table}/join", {})
        await refused(third, 404, m.VALIDATION_ERROR, "GET", "/v1/nothing")
        await refused(third, 405, m.VALIDATION_ERROR, "DELETE", "/v1/tables")


@pytest.mark.parametrize("body", [b"{", b"\xff", b"17", b"[" * 10_000, b'"x"'])
async def test_bad_bodies(body):
    async with hosting() as (host, client), client.http.post(host.url + "/v1/agents", data=body) as answer:
        assert answer.status == 400 and (await answer.json())["error"]["code"] == m.VALIDATION_ERROR


async def test_wrong_tokens_lock_out_nobody_else_at_their_address():
    async with hosting(access_token="secret") as (host, one):
        for client in (one, Client(one.http, host)):
            await client.register(key="secret")
            await client.join()
            await client.connect()
        await refused(one, 401, m.UNAUTHORIZED, "POST", "/v1/agents", {"name": "eve"}, key="wrong")
        for _ in range(30):
            await refused(one, 401, m.UNAUTHORIZED, "POST", "/v1/agents", {"name": "eve"}, key="wrong")
        assert (await one.call("POST", "/v1/agents", {"name": "bob"}, key="secret"))[0] == 201  # who shares the address
        assert (await one.call("POST", f"/v1/tables/{one.table_id}/join", {}))[0] == 409  # a key of the host goes on
        await one.connect()
        await one.act(await one.my_turn())
        await one.until("ack")


# Connecting.


async def test_a_bad_token_is_told_and_closed_with_1008():
    async with hosting() as (host, client):
        client.ws_url = host.ws_url
        for client.token, code in (("", m.UNAUTHORIZED), ("made-up", m.INVALID_SESSION)):
            await client.connect()
            await turned_away(client, code)


@pytest.mark.slow
async def test_a_session_expires_only_while_nobody_uses_it():
    async with hosting(2, session_lifetime=0.8) as (_, one, two):
        await asyncio.sleep(1)
        await one.ws.close()
        await one.connect()
        await one.until("welcome")
        await one.ws.close()
        await asyncio.sleep(1)
        await one.connect()
        await turned_away(one, m.SESSION_EXPIRED)
        await two.send({"type": "ping"})
        await two.until("pong")


async def test_of_two_connections_with_one_token_the_newest_wins():
    async with hosting(2) as (host, one, two):
        state = await one.my_turn()
        older = one.ws
        await one.connect()
        assert (await one.receive())["type"] == "welcome"
        assert (await one.receive())["turn_token"] == state["turn_token"]
        one.ws, newer = older, one.ws
        assert await one.closed() == 1000
        one.ws = newer
        await one.act(state)
        await one.until("ack")
        assert host.tables[one.table_id].session.seats[one.seat].connected
        await two.my_turn()


# Bad input: always the documented error, and the hand goes on.


BAD = {
    "not JSON": ("hello", m.VALIDATION_ERROR),
    "too long": ('{"type": "ping", "x": "' + "x" * 20_000 + '"}', m.VALIDATION_ERROR),
    "an error of ours": ("ours", m.INTERNAL_ERROR),
    "below the minimum": (lambda state: action(state, "raiseTo", 3), m.INVALID_ACTION),
}
"""One of each kind: what else is refused, `test_poker_host_session.py` has without sockets."""


@pytest.mark.parametrize("name", BAD)
async def test_bad_input_gets_its_error_and_the_hand_goes_on(name, monkeypatch):
    bad, code = BAD[name]
    receive = PokerHostSession.receive
    monkeypatch.setattr(PokerHostSession, "receive", lambda *args: 1 / 0 if args[2] == "ours" else receive(*args))
    async with hosting(2) as (_, one, two):
        state = await one.my_turn()
        await one.send(bad(state) if callable(bad) else bad)
        error = await one.receive()
        assert error["type"] == "error" and error["code"] == code and error["message"]
        await one.act(state)
        await one.until("ack")
        await two.act(await two.my_turn())
        await two.until("ack")


async def test_a_message_beyond_all_bounds_ends_only_its_own_connection():
    async with hosting(2) as (_, one, two):
        state = await one.my_turn()
        await two.send("x" * (2**20 + 1))
        assert await two.closed() == 1009
        await two.connect()
        await two.until("welcome")
        await one.act(state)
        await two.act(await two.my_turn())
        await two.until("ack")


@pytest.mark.slow
async def test_the_rate_limit_spares_play_and_tells_the_rest():
    async with hosting(2, rate=5) as (_, one, two):
        other = asyncio.create_task(two.play())
        for _ in range(40):  # far more than ten actions at once
            await one.act(await one.my_turn())
        for _ in range(30):
            await one.send({"type": "ping"})
        assert (await one.until("error"))["code"] == m.RATE_LIMIT_EXCEEDED
        await one.until("pong")
        other.cancel()


# Time.


async def test_a_table_does_not_wait_for_ever_for_a_seat_that_is_connected_and_silent(monkeypatch):
    async with hosting(2, seats=2, timeout=0.02, away_after=300) as (host, one, silent):
        session, fails = host.tables[one.table_id].session, [False, True] * 99  # every first try
        timeout = session.timeout
        monkeypatch.setattr(session, "timeout", lambda *turn: 1 / 0 if fails.pop() else timeout(*turn))
        await asyncio.wait_for(one.play(), 10)
        assert one.got[-1]["reason"] == "insufficient_players"
        assert await silent.closed() == 1000


async def test_a_strangers_address_has_a_third_of_the_seats_and_this_machine_all():
    async with (
        hosting(seats=3) as (host, here),
        aiohttp.ClientSession(connector=aiohttp.TCPConnector(local_addr=("127.0.0.2", 0))) as elsewhere,
    ):
        one, two = Client(elsewhere, host), Client(elsewhere, host)
        await one.register()
        await one.join()
        await two.register()
        await refused(two, 409, m.TABLE_FULL, "POST", "/v1/tables/auto-join", {})
        await here.register()
        await here.join()


async def test_what_players_leave_behind_is_forgotten(monkeypatch):
    monkeypatch.setattr(hosted_table, "RESERVED_SECONDS", 0.3)
    async with hosting() as (host, client):
        (table,) = host.tables.values()
        seat = table.join(Account("agt_1", "ann"), 0)
        await asyncio.sleep(0.2)
        table.leave(seat)
        await client.register()
        await client.join()  # and it never connects
        await asyncio.sleep(0.2)
        assert seat in table.session.seats  # the newcomer has its seat for as long as the one before it had
        await asyncio.sleep(0.2)
        assert not host.store._tokens and not list(host.store.read("SELECT * FROM tokens"))


async def test_a_table_without_connections_is_abandoned_and_replaced():
    events = []
    on_event = lambda kind, **fields: events.append((kind, fields.get("reason")))  # noqa: E731
    async with hosting(2, abandoned_after=1, on_event=on_event) as (host, one, two):
        await one.my_turn()
        await one.ws.close()
        await asyncio.sleep(0.2)
        assert host.tables[one.table_id].session.status == "running"  # one is still there
        await two.ws.close()
        await until(lambda: host.tables[one.table_id].ended_at is not None)
        assert host.tables[one.table_id].session.reason == "abandoned"
        assert events[-1] == ("ended", "abandoned")
        _, tables = await one.call("GET", "/v1/tables")
        assert len(tables["tables"]) == 1 and tables["tables"][0]["id"] != one.table_id
        await refused(one, 410, m.TABLE_ENDED, "POST", f"/v1/tables/{one.table_id}/join", {})
        await one.connect()
        assert (await one.receive())["status"] == "ended"
        assert await one.closed() == 1000
        await one.join()


# Whole tables.


async def test_a_table_plays_to_its_last_hand_and_closes_with_1000(tmp_path):
    log = MatchLog(tmp_path / "log.jsonl")
    async with hosting(3, hands=10, on_event=log.write) as (host, *clients):
        assert await asyncio.gather(*(client.play() for client in clients)) == [1000] * 3
        await asyncio.wait_for(host.finished(), 5)
        for client in clients:
            ended = client.got[-1]
            assert (ended["status"], ended["reason"]) == ("ended", "admin_stopped")
            assert sum(row["stack"] for row in ended["final_stacks"]) == 300
            assert not [message for message in client.got if message["type"] == "error"]
            assert [row["hand"] for row in client.got if row["type"] == "hand_complete"] == list(range(1, 11))
    log.close()
    events = list(read(log.path))
    assert [event["kind"] for event in events] == ["joined"] * 3 + ["hand"] * 10 + ["ended"]
    assert {event["table_id"] for event in events} == {clients[0].table_id}
    assert len(events[3]["players"]) == 3 and len(events[3]["board"]) == 5


async def test_an_absent_seat_stops_nobody_and_sits_out_after_two_turns():
    """A seat without a connection when its turn begins is acted for at once; the clock of 30 s is not waited for."""
    async with hosting(3, stack=1000) as (host, *clients):
        others = [asyncio.create_task(client.play()) for client in clients[:2]]
        await clients[2].ws.close()
        session = host.tables[clients[2].table_id].session
        await until(lambda: session.hand >= 20)
        assert session.stack(2) >= 996  # two turns at most, and a blind before each
        assert not session.table.seated[2]
        await clients[2].connect()
        async with asyncio.timeout(10):
            while "cards" not in (await clients[2].until("game_state"))["players"][2]:
                pass
        for other in others:
            other.cancel()


async def test_the_only_other_player_is_waited_for_and_the_table_goes_on_when_it_is_back():
    async with hosting(2, stack=1000) as (host, one, two):
        playing = asyncio.create_task(one.play())
        await two.ws.close()
        table = host.tables[one.table_id]
        await until(lambda: table.session.due is None)
        hand = table.session.hand
        await two.connect()
        assert (await two.until("game_state", hand=hand + 1))["players"][1]["stack"] > 900
        playing.cancel()


async def test_leaving_closes_the_connection_and_the_others_play_on():
    async with hosting(3) as (host, one, two, three):
        await one.my_turn()
        assert (await one.call("POST", f"/v1/tables/{one.table_id}/leave"))[0] == 200
        assert await one.closed() == 1000
        await two.until("player_left", seatId=0, agentId=one.agent_id)
        await two.act(await two.my_turn())
        await three.act(await three.my_turn(), "raiseTo", 4)
        await two.act(await two.my_turn(), "fold")
        await two.until("hand_complete")
        assert (await two.until("game_state", hand=2))["players"][0]["seat"] == 1
        assert list(host.tables[two.table_id].session.seats) == [1, 2]


async def test_stopping_ends_the_tables_and_says_so():
    async with hosting(2) as (host, one, two):
        await one.my_turn()
        assert await asyncio.gather(one.closed(), two.closed(), host.stop()) == [1000, 1000, None]
        for client in (one, two):
            assert client.got[-1]["reason"] == "admin_stopped"
            assert [row["stack"] for row in client.got[-1]["final_stacks"]] == [100, 100]
        with pytest.raises(aiohttp.ClientConnectorError):
            await one.call("GET", "/v1/tables")


@pytest.mark.parametrize(
    "option, value",
    [
        *(("tables", 0), ("timeout", 0), ("rate", 0), ("message_limit", 0), ("seats", 11), ("hand_delay", -1)),
        *(("min_players", 1), ("hands", 0), ("seats_per_address", 0)),
    ],
)
def test_wrong_options_are_named(option, value):
    name = {"timeout": "act", "hand_delay": "hand", "message_limit": "message"}.get(option, option)
    with pytest.raises(ValueError, match=f"{name}={value}"):
        PokerHost(**grouped(**{option: value}))


async def test_of_the_tables_that_ended_only_so_many_are_remembered(monkeypatch):
    monkeypatch.setattr("parlour.wrappers.live.poker.host.MOST_ENDED", 3)
    async with hosting() as (host, _):
        for _ in range(6):
            newest = list(host.tables)[-1]
            host.tables[newest].end("admin_stopped")
        assert len(host.tables) == 3 + 1
        assert newest in host.tables


async def test_behind_a_proxy_with_tls_the_websocket_is_told_as_wss():
    async with hosting() as (host, client):
        await client.register()
        headers = {"Authorization": f"Bearer {client.key}", "X-Forwarded-Proto": "https", "Host": "poker.example"}
        async with client.http.post(f"{host.url}/v1/tables/auto-join", json={}, headers=headers) as answer:
            assert (await answer.json())["ws_url"] == "wss://poker.example/v1/ws"


pytestmark = pytest.mark.usefixtures("compiled_poker")


async def test_tables_are_listed_by_status_and_page():
    async with hosting(tables=3) as (_, client):
        _, all_of_them = await client.call("GET", "/v1/tables")
        _, two = await client.call("GET", "/v1/tables?limit=2")
        _, none = await client.call("GET", "/v1/tables?status=ended")
    assert (len(all_of_them["tables"]), len(two["tables"]), len(none["tables"])) == (3, 2, 0)
    assert (all_of_them["hasMore"], two["hasMore"]) == (False, True)


@pytest.mark.parametrize("seed", range(3))
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


def test_a_file_keeps_the_agents_and_another_kind_is_refused(tmp_path):
    path = tmp_path / "state.sqlite"
    store = PokerStore(path)
    key, agent = store.register("ann", set())
    store.close()
    assert PokerStore(path).agent_of(key) == agent
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
        late, store = Client(one.http, host), host.store
        await late.register()
        with full_disk(store):
            for row in (("agents", "nobody", ""), ("tokens", "nobody", 0, "nobody")):  # each has room in its last page
                with pytest.raises(SaveError):
                    for number in range(10_000):
                        places = ", ".join("?" * len(row))
                        store.write(f"INSERT INTO {row[0]} VALUES ({places})", (f"hash {number}", *row[1:]))
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
