"""The table server over real sockets on this machine."""

import asyncio
import json
import socket
from contextlib import asynccontextmanager
from functools import wraps

import aiohttp
import pytest
from parlour.wrappers.live.common.connection import ConnectionLimits
from parlour.wrappers.live.poker import messages as m
from parlour.wrappers.live.poker.host import FRAME_LIMIT, PokerHost
from parlour.wrappers.logs.match_log import MatchLog, read


def on_loop(test):
    """Run an async test in a loop of its own; nothing here may take longer than two minutes, compiling included."""

    @wraps(test)
    def run(*args, **kwargs):
        asyncio.run(asyncio.wait_for(test(*args, **kwargs), 120))

    return run


class Client:
    """A plain client of the document: REST calls, and one WebSocket."""

    def __init__(self, http, host):
        self.http, self.host = http, host
        self.key = self.token = self.table_id = self.ws = None
        self.seat = None
        self.got = []

    async def call(self, method, path, body=None, key=None, **kwargs):
        headers = {"Authorization": f"Bearer {key or self.key}"} if key or self.key else {}
        async with self.http.request(method, self.host.url + path, json=body, headers=headers, **kwargs) as answer:
            return answer.status, await answer.json()

    async def register(self, name="someone", **kwargs):
        status, agent = await self.call("POST", "/v1/agents", {"name": name}, **kwargs)
        assert status == 201
        self.key, self.agent_id = agent["api_key"], agent["agent_id"]
        return agent

    async def join(self, path="/v1/tables/auto-join", **body):
        status, seat = await self.call("POST", path, {"client_protocol_version": "0.1", **body})
        assert status == 200, seat
        self.token, self.table_id, self.seat, self.ws_url = (
            seat["session_token"],
            seat["table_id"],
            seat["seat_id"],
            seat["ws_url"],
        )
        return seat

    async def connect(self, **kwargs):
        self.ws = await self.http.ws_connect(f"{self.ws_url}?token={self.token}&format=agent", **kwargs)
        return self

    async def sit_down(self, name="someone"):
        await self.register(name)
        await self.join()
        return await self.connect()

    async def receive(self):
        message = await self.ws.receive(timeout=10)
        assert message.type is aiohttp.WSMsgType.TEXT, message
        self.got.append(json.loads(message.data))
        return self.got[-1]

    async def until(self, kind, **fields):
        """Read on to a message of this type and these fields."""
        while True:
            message = await self.receive()
            if message["type"] == kind and all(message.get(key) == value for key, value in fields.items()):
                return message

    async def my_turn(self):
        while True:
            state = await self.until("game_state")
            if state["turn"] == self.seat:
                return state

    async def send(self, message):
        await self.ws.send_str(message if isinstance(message, str) else json.dumps(message))

    async def act(self, state, kind=None, amount=None, **changes):
        await self.send(action(state, kind, amount, **changes))

    async def closed(self):
        """Read to the end and return the close code."""
        while True:
            message = await self.ws.receive(timeout=10)
            if message.type is not aiohttp.WSMsgType.TEXT:
                assert message.type in (aiohttp.WSMsgType.CLOSE, aiohttp.WSMsgType.CLOSED, aiohttp.WSMsgType.CLOSING)
                return self.ws.close_code
            self.got.append(json.loads(message.data))

    async def play(self):
        """Check and call until the table ends; returns the close code."""
        while True:
            message = await self.ws.receive(timeout=10)
            if message.type is not aiohttp.WSMsgType.TEXT:
                return self.ws.close_code
            self.got.append(json.loads(message.data))
            if self.got[-1]["type"] == "game_state" and self.got[-1]["turn"] == self.seat:
                await self.act(self.got[-1])


def action(state, kind=None, amount=None, **changes):
    choice = {"turn_token": state["turn_token"], "kind": kind or state["actions"][1]["kind"]}
    if amount is not None:
        choice["amount"] = amount
    return {"type": "action", "action": choice, "expected_seq": state["seq"], **changes}


@asynccontextmanager
async def hosting(clients=0, **options):
    """A host, and so many clients connected to it."""
    options = {"seats": 6, "seed": 3, "hand_delay": 0, "min_players": max(2, clients), "rate": None, **options}
    async with PokerHost(**options) as host, aiohttp.ClientSession() as http:
        seated = [await Client(http, host).sit_down(f"client-{i}") for i in range(clients)]
        yield (host, *seated) if clients else (host, Client(http, host))


# REST.


@on_loop
async def test_register_join_look_leave():
    async with hosting() as (host, client):
        agent = await client.register("Ann")
        assert set(agent) == {"agent_id", "api_key", "name"} and agent["agent_id"].startswith("agt_")
        seat = await client.join(preferred_seat=4)
        assert seat["seat_id"] == 4 and seat["action_timeout_ms"] == 30_000
        assert seat["protocol_version"] == seat["min_supported_protocol_version"] == "0.1"
        assert seat["ws_url"] == host.ws_url
        status, tables = await client.call("GET", "/v1/tables")
        assert status == 200 and [table["table_id"] for table in tables["tables"]] == [client.table_id]
        status, table = await client.call("GET", f"/v1/tables/{client.table_id}")
        assert table["seats"] == [{"seat_id": 4, "agent_id": client.agent_id, "agent_name": "Ann", "stack": 100}]
        assert table["status"] == "waiting"
        assert await client.call("POST", f"/v1/tables/{client.table_id}/leave") == (
            200,
            {"table_id": client.table_id, "seat_id": 4},
        )
        await client.connect()
        assert (await client.receive())["code"] == m.INVALID_SESSION
        assert (await client.join(f"/v1/tables/{client.table_id}/join"))["seat_id"] == 0


async def refused(client, status, code, *call, **kwargs):
    got, body = await client.call(*call, **kwargs)
    assert (got, body["error"]["code"]) == (status, code)
    assert body["error"]["message"]


@on_loop
async def test_rest_errors():
    async with hosting(seats=2) as (_, client):
        await refused(client, 401, m.UNAUTHORIZED, "POST", "/v1/tables/auto-join", {})
        await refused(client, 401, m.INVALID_API_KEY, "POST", "/v1/tables/auto-join", {}, key="wrong")
        await client.register()
        await refused(client, 404, m.TABLE_NOT_FOUND, "POST", "/v1/tables/nowhere/join", {})
        await refused(client, 404, m.TABLE_NOT_FOUND, "GET", "/v1/tables/nowhere")
        await client.join()
        table = f"/v1/tables/{client.table_id}"
        await refused(client, 409, m.ALREADY_SEATED, "POST", "/v1/tables/auto-join", {})
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


@on_loop
@pytest.mark.parametrize("body", [b"{", b"\xff", b"17", b"[" * 10_000, b'{"name": 5}', b'{"name": "\\u0007"}', b'"x"'])
async def test_bad_bodies(body):
    async with hosting() as (host, client), client.http.post(host.url + "/v1/agents", data=body) as answer:
        assert answer.status == 400 and (await answer.json())["error"]["code"] == m.VALIDATION_ERROR


@on_loop
async def test_a_huge_body_is_refused():
    async with hosting() as (host, client), client.http.post(host.url + "/v1/agents", data=b" " * 100_000) as answer:
        assert answer.status == 413 and (await answer.json())["error"]["code"] == m.VALIDATION_ERROR


@on_loop
async def test_a_body_may_be_missing():
    async with hosting() as (host, client), client.http.post(host.url + "/v1/agents") as answer:
        assert answer.status == 201


@on_loop
async def test_registering_may_need_an_access_token():
    async with hosting(access_token="sésame") as (_, client):
        await refused(client, 401, m.UNAUTHORIZED, "POST", "/v1/agents", {})
        await refused(client, 401, m.UNAUTHORIZED, "POST", "/v1/agents", {}, key="wrong")
        await client.register(key="sésame")
        await client.join()


# Connecting.


async def turned_away(client, code):
    assert (await client.receive())["code"] == code
    assert await client.closed() == 1008


@on_loop
async def test_a_bad_token_is_told_and_closed_with_1008():
    async with hosting() as (host, client):
        client.ws_url = host.ws_url
        for client.token, code in (("", m.UNAUTHORIZED), ("made-up", m.INVALID_SESSION)):
            await client.connect()
            await turned_away(client, code)


@pytest.mark.slow
@on_loop
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


@on_loop
async def test_waiting_then_welcome_then_state():
    async with hosting(2) as (_, one, two):
        for client in (one, two):
            await client.until("game_state")
        assert [message["type"] for message in one.got] == ["table_status", "player_joined", "welcome", "game_state"]
        assert [message["type"] for message in two.got] == ["welcome", "game_state"]
        assert one.got[2] == {"type": "welcome", "seat": 0, "agent_id": one.agent_id, "timeout": 30_000}


@on_loop
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


@on_loop
async def test_ping_pong():
    async with hosting(2) as (_, one, _two):
        await one.send({"type": "ping", "payload": {"timestamp": 1706835000000}})
        assert await one.until("pong") == {"type": "pong", "payload": {"timestamp": 1706835000000}}


@on_loop
async def test_a_message_may_come_as_binary():
    async with hosting(2) as (_, one, _two):
        await one.ws.send_bytes(b'{"type": "ping"}')
        await one.until("pong")


# Bad input: always the documented error, and the hand goes on.

BAD = {
    "not JSON": ("hello", m.VALIDATION_ERROR),
    "wrong shape": ([1, 2], m.VALIDATION_ERROR),
    "no action": ({"type": "action"}, m.VALIDATION_ERROR),
    "unknown type": ({"type": "dance"}, m.VALIDATION_ERROR),
    "too long": ('{"type": "ping", "x": "' + "x" * 20_000 + '"}', m.VALIDATION_ERROR),
    "deep": ("[" * 16_000, m.VALIDATION_ERROR),
    "stale seq": (lambda state: action(state, expected_seq=state["seq"] - 1), m.STALE_SEQ),
    "future seq": (lambda state: action(state, expected_seq=state["seq"] + 1), m.STALE_SEQ),
    "wrong token": (lambda state: action({**state, "turn_token": "made-up"}), m.INVALID_ACTION),
    "below the minimum": (lambda state: action(state, "raiseTo", 3), m.INVALID_ACTION),
    "above the stack": (lambda state: action(state, "raiseTo", 101), m.INVALID_ACTION),
    "fractional": (lambda state: action(state, "raiseTo", 5.5), m.VALIDATION_ERROR),
    "negative": (lambda state: action(state, "raiseTo", -5), m.VALIDATION_ERROR),
    "NaN": (lambda state: action(state, "raiseTo", float("nan")), m.VALIDATION_ERROR),
    "string": (lambda state: action(state, "raiseTo", "10"), m.VALIDATION_ERROR),
    "not offered": (lambda state: action(state, "check"), m.INVALID_ACTION),
    "unknown kind": (lambda state: action(state, "allIn"), m.VALIDATION_ERROR),
}


@on_loop
@pytest.mark.parametrize("name", BAD)
async def test_bad_input_gets_its_error_and_the_hand_goes_on(name):
    bad, code = BAD[name]
    async with hosting(2) as (_, one, two):
        state = await one.my_turn()
        await one.send(bad(state) if callable(bad) else bad)
        error = await one.receive()
        assert error["type"] == "error" and error["code"] == code and error["message"]
        await one.act(state)
        await one.until("ack")
        await two.act(await two.my_turn())
        await two.until("ack")


@on_loop
async def test_out_of_turn():
    async with hosting(2) as (_, one, two):
        state = await one.my_turn()
        await two.until("game_state")
        await two.act({**state, "turn_token": "mine"})
        assert (await two.receive())["code"] == m.NOT_YOUR_TURN
        await one.act(state)
        await one.until("ack")


@on_loop
async def test_a_replayed_token_is_acknowledged_again():
    async with hosting(2) as (_, one, two):
        state = await one.my_turn()
        for _ in range(3):
            await one.act(state)
        acks = [await one.until("ack") for _ in range(3)]
        assert acks[0] == acks[1] == acks[2] == {"type": "ack", "turn_token": state["turn_token"], "seq": 2}
        assert (await two.my_turn())["seq"] == 2


@on_loop
async def test_a_message_beyond_all_bounds_ends_only_its_own_connection():
    async with hosting(2) as (_, one, two):
        state = await one.my_turn()
        await two.send("x" * (FRAME_LIMIT + 1))
        assert await two.closed() == 1009
        await two.connect()
        await two.until("welcome")
        await one.act(state)
        await two.act(await two.my_turn())
        await two.until("ack")


@pytest.mark.slow
@on_loop
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


@on_loop
async def test_a_silent_player_is_played_for_and_the_hands_go_on():
    async with hosting(2, timeout=0.05) as (_, one, two):
        state = await two.until("game_state", hand=2)
        assert state["last"]["kind"] == "fold" if "last" in state else True
        await one.until("game_state", hand=3)


@on_loop
async def test_a_refused_action_does_not_restart_the_clock():
    async with hosting(2, timeout=0.5) as (_, one, two):
        state = await one.my_turn()
        loop = asyncio.get_running_loop()
        start = loop.time()
        refusing = asyncio.create_task(keep_on(one, action(state, "raiseTo", 1), 0.1))
        await two.until("hand_complete")
        refusing.cancel()
        assert loop.time() - start > 0.4


async def keep_on(client, message, every):
    while True:
        await client.send(message)
        await asyncio.sleep(every)


@on_loop
async def test_the_next_hand_waits_its_delay():
    async with hosting(2, hand_delay=0.3) as (_, one, _two):
        await one.act(await one.my_turn(), "fold")
        await one.until("hand_complete")
        start = asyncio.get_running_loop().time()
        await one.until("game_state", hand=2)
        assert asyncio.get_running_loop().time() - start > 0.2


@on_loop
async def test_a_table_without_connections_is_abandoned_and_replaced():
    events = []
    on_event = lambda kind, **fields: events.append((kind, fields.get("reason")))  # noqa: E731
    async with hosting(2, abandoned_after=0.1, on_event=on_event) as (host, one, two):
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
        assert len(tables["tables"]) == 1 and tables["tables"][0]["table_id"] != one.table_id
        await refused(one, 410, m.TABLE_ENDED, "POST", f"/v1/tables/{one.table_id}/join", {})
        await one.connect()
        assert (await one.receive())["status"] == "ended"
        assert await one.closed() == 1000
        await one.join()


@on_loop
async def test_coming_back_in_time_saves_the_table():
    async with hosting(2, abandoned_after=1) as (host, one, two):
        await one.ws.close()
        await two.ws.close()
        await asyncio.sleep(0.1)
        await one.connect()
        await asyncio.sleep(1.2)
        assert host.tables[one.table_id].session.status == "running"


# Whole tables.


@on_loop
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


@on_loop
async def test_several_tables_play_side_by_side_and_know_nothing_of_each_other():
    async with hosting(tables=3, seats=2, max_hands=5) as (host, first):
        clients = [first] + [Client(first.http, host) for _ in range(5)]
        for client in clients:
            await client.sit_down()
        assert len({client.table_id for client in clients}) == 3
        assert await asyncio.gather(*(client.play() for client in clients)) == [1000] * 6
        await asyncio.wait_for(host.finished(), 5)


@on_loop
async def test_finished_counts_no_abandoned_table_but_the_one_that_replaced_it():
    async with hosting(tables=2, seats=2, max_hands=2, abandoned_after=0.05) as (host, one):
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


@on_loop
@pytest.mark.parametrize("actions", range(10))
async def test_disconnecting_at_every_point_of_a_hand(actions):
    """After so many actions the seat to act goes away; it is played for, and sees all when it is back."""
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
        state = await client.until("game_state")
        assert state["hand"] > hand and "cards" in state["players"][client.seat]
        assert sum(player["stack"] for player in state["players"]) + state["pot"] == 300
        for other in others:
            other.cancel()


async def whose_turn(clients):
    """Read on with everybody; return the client whose turn it is."""
    turns = {asyncio.create_task(client.my_turn()): client for client in clients}
    done, rest = await asyncio.wait(turns, return_when=asyncio.FIRST_COMPLETED)
    for task in rest:
        task.cancel()
    await asyncio.gather(*rest, return_exceptions=True)
    return turns[done.pop()]


@on_loop
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


@on_loop
async def test_a_client_that_never_reads_is_dropped_and_holds_up_nobody():
    async with hosting(2, timeout=5) as (host, one, two):
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


@on_loop
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
    "options",
    [{"tables": 0}, {"timeout": 0}, {"rate": 0}, {"message_limit": 0}, {"seats": 11}, {"hand_delay": -1}],
)
def test_wrong_options_are_named(options):
    with pytest.raises(ValueError, match=next(iter(options))):
        PokerHost(**options)


@on_loop
async def test_nothing_hidden_goes_out_on_the_wire():
    """Of every seat's traffic over whole hands: others' cards come only in a showdown's results."""
    async with hosting(3, max_hands=10) as (_, *clients):
        await asyncio.gather(*(client.play() for client in clients))
        for client in clients:
            for message in client.got:
                if message["type"] == "game_state":
                    assert all("cards" not in player for player in message["players"] if player["seat"] != client.seat)


def test_the_queue_is_bounded():
    assert 0 < ConnectionLimits().queue <= 1024


@on_loop
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


@on_loop
async def test_a_body_that_never_comes_is_not_waited_for(monkeypatch):
    monkeypatch.setattr("parlour.wrappers.live.poker.rest.BODY_SECONDS", 0.05)
    async with hosting() as (host, _):
        reader, writer = await asyncio.open_connection("127.0.0.1", int(host.url.rsplit(":", 1)[1]))
        writer.write(b"POST /v1/agents HTTP/1.1\r\nHost: x\r\nContent-Length: 10\r\n\r\n{")
        assert b" 400 " in await asyncio.wait_for(reader.readline(), 5)
        writer.transport.abort()


@pytest.mark.parametrize("name", ["a\nb", "\x1b[31m", "\x9b31m", ""])
@on_loop
async def test_a_name_cannot_steer_a_terminal(name):
    async with hosting() as (_, client):
        assert (await client.call("POST", "/v1/agents", {"name": name}))[0] == 400


@on_loop
async def test_of_the_tables_that_ended_only_so_many_are_remembered(monkeypatch):
    monkeypatch.setattr("parlour.wrappers.live.poker.table_pool.MOST_ENDED", 3)
    async with hosting() as (host, _):
        for _ in range(6):
            newest = list(host.tables)[-1]
            host.tables[newest].end("admin_stopped")
        assert len(host.tables) == 3 + 1
        assert newest in host.tables


@on_loop
async def test_who_sits_already_is_told_where():
    async with hosting() as (_, client):
        await client.register()
        seat = await client.join()
        status, answer = await client.call("POST", "/v1/tables/auto-join", {})
        assert (status, answer["error"]["code"]) == (409, "ALREADY_SEATED")
        assert answer["error"]["details"] == {"table_id": seat["table_id"]}


@on_loop
async def test_behind_a_proxy_with_tls_the_websocket_is_told_as_wss():
    async with hosting() as (host, client):
        await client.register()
        headers = {"Authorization": f"Bearer {client.key}", "X-Forwarded-Proto": "https", "Host": "poker.example"}
        async with client.http.post(f"{host.url}/v1/tables/auto-join", json={}, headers=headers) as answer:
            assert (await answer.json())["ws_url"] == "wss://poker.example/v1/ws"
