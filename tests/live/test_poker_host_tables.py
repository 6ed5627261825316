"""The poker server over real sockets on this machine: time, whole tables, and stopping."""

import asyncio
import socket

import aiohttp
import pytest
from live.poker_client import Client, hosting, refused, turned_away, whose_turn
from live.poker_options import grouped
from parlour.wrappers.live.poker import hosted_table
from parlour.wrappers.live.poker import messages as m
from parlour.wrappers.live.poker.host import PokerHost
from parlour.wrappers.live.poker.table_data import Account
from parlour.wrappers.logs.match_log import MatchLog, read

# Time.


async def test_a_silent_player_is_played_for_and_the_hands_go_on():
    async with hosting(2, timeout=0.05) as (_, one, two):
        state = await two.until("game_state", hand=2)
        assert state["last"]["kind"] == "fold" if "last" in state else True
        await one.until("game_state", hand=3)


async def test_the_next_hand_waits_its_delay():
    async with hosting(2, hand_delay=0.3) as (_, one, _two):
        await one.act(await one.my_turn(), "fold")
        await one.until("hand_complete")
        start = asyncio.get_running_loop().time()
        await one.until("game_state", hand=2)
        assert asyncio.get_running_loop().time() - start > 0.2


async def test_a_table_without_connections_is_abandoned_and_replaced():
    events = []
    on_event = lambda kind, **fields: events.append((kind, fields.get("reason")))  # noqa: E731
    async with hosting(2, abandoned_after=1, on_event=on_event) as (host, one, two):
        await one.my_turn()
        await one.ws.close()
        await asyncio.sleep(0.2)
        assert host.tables[one.table_id].session.status == "running"  # one is still there
        await two.ws.close()
        while host.tables[one.table_id].ended_at is None:
            await asyncio.sleep(0.02)
        assert host.tables[one.table_id].session.reason == "abandoned"
        assert events[-1] == ("ended", "abandoned")
        _, tables = await one.call("GET", "/v1/tables")
        assert len(tables["tables"]) == 1 and tables["tables"][0]["id"] != one.table_id
        await refused(one, 410, m.TABLE_ENDED, "POST", f"/v1/tables/{one.table_id}/join", {})
        await one.connect()
        assert (await one.receive())["status"] == "ended"
        assert await one.closed() == 1000
        await one.join()


async def test_coming_back_in_time_saves_the_table():
    async with hosting(2, abandoned_after=1) as (host, one, two):
        await one.ws.close()
        await two.ws.close()
        await asyncio.sleep(0.1)
        await one.connect()
        await asyncio.sleep(1.2)
        assert host.tables[one.table_id].session.status == "running"


# Whole tables.


async def test_a_table_plays_to_its_last_hand_and_closes_with_1000(tmp_path):
    log = MatchLog(tmp_path / "log.jsonl")
    async with hosting(3, max_hands=10, on_event=log.write) as (host, *clients):
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


async def test_several_tables_play_side_by_side_and_know_nothing_of_each_other():
    async with hosting(tables=3, seats=2, max_hands=5) as (host, first):
        clients = [first] + [Client(first.http, host) for _ in range(5)]
        for client in clients:
            await client.sit_down()
        assert len({client.table_id for client in clients}) == 3
        assert await asyncio.gather(*(client.play() for client in clients)) == [1000] * 6
        await asyncio.wait_for(host.finished(), 5)


async def test_finished_counts_no_abandoned_table_but_the_one_that_replaced_it():
    async with hosting(tables=2, seats=2, max_hands=2, abandoned_after=1) as (host, one):
        clients = [one] + [Client(one.http, host) for _ in range(5)]
        finished = asyncio.create_task(host.finished())
        for client in clients[:4]:
            await client.sit_down()
        left = clients[2].table_id
        assert left == clients[3].table_id != one.table_id
        for client in clients[2:4]:
            await client.ws.close()
        while host.tables[left].ended_at is None:
            await asyncio.sleep(0.02)
        await asyncio.gather(*(client.play() for client in clients[:2]))
        # One has ended for good; what replaced it does not count, and what replaced the abandoned one does.
        first, second = [key for key, table in host.tables.items() if table.ended_at is None]
        host.tables[second].end("insufficient_players")
        await asyncio.sleep(0.05)
        assert not finished.done()
        for client in clients[4:]:
            await client.sit_down()
        assert clients[4].table_id == clients[5].table_id == first
        await asyncio.gather(*(client.play() for client in clients[4:]))
        await asyncio.wait_for(finished, 5)


@pytest.mark.parametrize("actions", [0, 5])
async def test_who_disconnects_in_its_turn_is_played_for_and_comes_back(actions):
    """After so many actions the seat to act goes away; it is played for, and dealt in again when it is back."""
    async with hosting(3) as (host, *clients):
        for _ in range(actions):
            client = await whose_turn(clients)
            await client.act(client.got[-1])
            await client.until("ack")
        client = await whose_turn(clients)
        await client.ws.close()
        hand = client.got[-1]["hand"]
        table = host.tables[client.table_id]
        others = [asyncio.create_task(other.play()) for other in clients if other is not client]
        for other in clients:
            if other is not client and other.got[-1].get("turn") == other.seat and "turn_token" in other.got[-1]:
                await other.act(other.got[-1])
        while table.session.hand < hand + 2:
            due = table.session.due
            if due.what == "act" and due.seat == client.seat:
                table.ring(due)  # its time is over
            await asyncio.sleep(0.005)
        await client.connect()
        await client.until("welcome")
        while "cards" not in (state := await client.until("game_state"))["players"][client.seat]:
            assert state["hand"] > hand
        assert sum(player["stack"] for player in state["players"]) + state["pot"] == 300
        for other in others:
            other.cancel()


async def test_an_absent_seat_stops_nobody_and_sits_out_after_two_turns():
    """A seat without a connection when its turn begins is acted for at once; the clock of 30 s is not waited for."""
    async with hosting(3, stack=1000) as (host, *clients):
        others = [asyncio.create_task(client.play()) for client in clients[:2]]
        await clients[2].ws.close()
        session = host.tables[clients[2].table_id].session
        async with asyncio.timeout(20):
            while session.hand < 20:
                await asyncio.sleep(0.01)
        assert session.stack(2) >= 996  # two turns at most, and a blind before each
        assert not session.table.seated[2]
        await clients[2].connect()
        async with asyncio.timeout(10):
            while "cards" not in (await clients[2].until("game_state"))["players"][2]:
                pass
        for other in others:
            other.cancel()


async def test_a_newcomer_has_its_seat_for_as_long_as_one_before_it_had():
    """The clock of the one before must not free the newcomer's seat."""
    async with hosting() as (host, _):
        (table,) = host.tables.values()
        seat = table.join(Account("agt_1", "ann"), 0)
        clock = table._away[seat]
        table.leave(seat)
        assert clock.due is None and table.join(Account("agt_2", "bob"), 0) == seat
        clock = table._away[seat]
        table.wake()  # a restart of the clocks
        assert clock.due is None
        table._expect(seat, 0.05)
        await asyncio.sleep(0.2)
        assert seat not in table.session.seats


async def test_two_who_never_connect_stop_no_table_and_lose_their_seats(monkeypatch):
    monkeypatch.setattr(hosted_table, "RESERVED_SECONDS", 0.3)
    async with hosting(2, stack=1000) as (host, *clients):
        absent = [Client(clients[0].http, host) for _ in range(2)]
        for client in absent:
            await client.register()
            await client.join()
        session = host.tables[clients[0].table_id].session
        assert sorted(session.seats) == [0, 1, 2, 3]
        others = [asyncio.create_task(client.play()) for client in clients]
        async with asyncio.timeout(10):
            while session.hand < 10 or len(session.seats) > 2:
                await asyncio.sleep(0.01)
        await absent[0].connect()
        await turned_away(absent[0], m.INVALID_SESSION)
        for other in others:
            other.cancel()


async def test_the_only_other_player_is_waited_for_and_the_table_goes_on_when_it_is_back():
    async with hosting(2, stack=1000) as (host, one, two):
        playing = asyncio.create_task(one.play())
        await two.ws.close()
        table = host.tables[one.table_id]
        async with asyncio.timeout(10):
            while table.session.due is not None:
                await asyncio.sleep(0.01)
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


async def test_a_client_that_never_reads_is_dropped_and_holds_up_nobody():
    async with hosting(2, timeout=60) as (host, one, two):
        address = host.url.removeprefix("http://").split(":")
        state = await one.my_turn()
        raw = socket.socket()
        raw.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 2048)
        raw.connect((address[0], int(address[1])))
        raw.setblocking(False)
        loop = asyncio.get_running_loop()
        request = (
            f"GET /v1/ws?token={two.token}&format=agent HTTP/1.1",
            *("Host: x", "Connection: Upgrade", "Upgrade: websocket", "Sec-WebSocket-Version: 13"),
            "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n",
        )
        await loop.sock_sendall(raw, "\r\n".join(request).encode())
        assert await two.closed() == 1000  # the newest connection has won
        frame = bytes([0x81, 0x80 | 4]) + b"\0\0\0\0" + b"junk"
        with pytest.raises(ConnectionError):
            for _ in range(100_000):
                await loop.sock_sendall(raw, frame * 50)
        raw.close()
        assert two.seat not in host.tables[two.table_id]._connections
        await one.act(state)
        assert await one.until("ack")


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
    [("tables", 0), ("timeout", 0), ("rate", 0), ("message_limit", 0), ("seats", 11), ("hand_delay", -1)],
)
def test_wrong_options_are_named(option, value):
    name = {"timeout": "act", "hand_delay": "hand", "message_limit": "message"}.get(option, option)
    with pytest.raises(ValueError, match=f"{name}={value}"):
        PokerHost(**grouped(**{option: value}))


async def test_a_body_that_breaks_off_leaves_nothing_in_the_log(caplog):
    async with hosting() as (host, client):
        port = int(host.url.rsplit(":", 1)[1])
        for _ in range(5):
            _, writer = await asyncio.open_connection("127.0.0.1", port)
            writer.write(b"POST /v1/agents HTTP/1.1\r\nHost: x\r\nContent-Length: 10\r\n\r\n{")
            await writer.drain()
            await asyncio.sleep(0.02)
            writer.transport.abort()
        await client.register()
        await asyncio.sleep(0.05)
    assert caplog.text == ""


async def test_a_body_that_never_comes_is_not_waited_for(monkeypatch):
    monkeypatch.setattr("parlour.wrappers.live.common.server.BODY_SECONDS", 0.05)
    async with hosting() as (host, _):
        reader, writer = await asyncio.open_connection("127.0.0.1", int(host.url.rsplit(":", 1)[1]))
        writer.write(b"POST /v1/agents HTTP/1.1\r\nHost: x\r\nContent-Length: 10\r\n\r\n{")
        assert b" 400 " in await asyncio.wait_for(reader.readline(), 5)
        writer.transport.abort()


@pytest.mark.parametrize("name", ["a\nb", "\x1b[31m", "\x9b31m", ""])
async def test_a_name_cannot_steer_a_terminal(name):
    async with hosting() as (_, client):
        assert (await client.call("POST", "/v1/agents", {"name": name}))[0] == 400


async def test_of_the_tables_that_ended_only_so_many_are_remembered(monkeypatch):
    monkeypatch.setattr("parlour.wrappers.live.poker.table_pool.MOST_ENDED", 3)
    async with hosting() as (host, _):
        for _ in range(6):
            newest = list(host.tables)[-1]
            host.tables[newest].end("admin_stopped")
        assert len(host.tables) == 3 + 1
        assert newest in host.tables


async def test_who_sits_already_is_told_where():
    async with hosting() as (_, client):
        await client.register()
        seat = await client.join()
        status, answer = await client.call("POST", "/v1/tables/auto-join", {})
        assert (status, answer["error"]["code"]) == (409, "ALREADY_SEATED")
        assert answer["error"]["details"] == {"table_id": seat["table_id"]}


async def test_behind_a_proxy_with_tls_the_websocket_is_told_as_wss():
    async with hosting() as (host, client):
        await client.register()
        headers = {"Authorization": f"Bearer {client.key}", "X-Forwarded-Proto": "https", "Host": "poker.example"}
        async with client.http.post(f"{host.url}/v1/tables/auto-join", json={}, headers=headers) as answer:
            assert (await answer.json())["ws_url"] == "wss://poker.example/v1/ws"
