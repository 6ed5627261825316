"""The server of all hosts over real sockets, under floods, pings and resets; and its connections without a socket."""

import asyncio
import gc
import gzip
import logging
import socket
import ssl
import struct
import time
import weakref
from contextlib import suppress
from types import SimpleNamespace

import aiohttp
import msgspec
import pytest
from aiohttp import WSMsgType, web
from floods.floods import watching
from live.poker_client import Client, hosting
from parlour.envs import Action, AgentResponse
from parlour.wrappers.live.common import clock, limits
from parlour.wrappers.live.common import server as server_module
from parlour.wrappers.live.common.client import next_message, open_websocket, receive
from parlour.wrappers.live.common.clock import Room
from parlour.wrappers.live.common.limits import Pace, Places, bearer_token, client_of
from parlour.wrappers.live.common.player import read_response
from parlour.wrappers.live.common.server import (
    Connection,
    ConnectionLimits,
    Server,
    ServerSettings,
    local_url,
    read_body,
    server_tls,
)
from parlour.wrappers.live.poker.host import PokerHost, PokerRules
from parlour.wrappers.logs.match_log import describe_error, escaped


class Echo(Server):
    """Sends back what comes, and notes it; `life` is what its life brought, and `over` the end of a connection."""

    def __init__(self, **options):
        super().__init__(**options)
        self.life, self.heard, self.over = [], [], asyncio.Event()

    def routes(self):
        gets = {"/ws": self._websocket, "/deaf": deaf, "/client": self._client}
        return [web.post("/body", self._body), *(web.get(*one) for one in gets.items())]

    async def opening(self):
        self.life.append("opening")

    async def closing(self):
        self.life.append(f"closing with {self.connections} connections")

    async def _websocket(self, request):
        return await self.upgrade(request, self._serve)

    async def _serve(self, connection):
        async for data in connection.messages():
            self.keep(connection, data == "sit down")
            self.heard.append(data)
            connection.send(data)
        self.over.set()

    async def _client(self, request):
        return web.Response(text=client_of(request))

    async def _body(self, request):
        try:
            return web.Response(text=f"{len(await read_body(request, 0.05))}")
        except ValueError as error:
            return web.Response(status=400, text=str(error))


async def test_it_opens_listens_and_ends_with_a_goodbye():
    async with Echo() as server, aiohttp.ClientSession() as http:
        assert server.url.startswith("http://127.0.0.1:")
        socket = await http.ws_connect(f"{server.url}/ws")
        await socket.send_str("hello")
        assert await socket.receive_str() == "hello"
        stopping = asyncio.create_task(server.stop())
        assert (await socket.receive()).type == aiohttp.WSMsgType.CLOSE
        assert socket.close_code == 1001
        await stopping
        with pytest.raises(aiohttp.ClientConnectorError):
            await http.get(server.url)
    assert server.life == ["opening", "closing with 1 connections", "closing with 0 connections"]


async def test_names_in_the_settings_are_the_only_ones():
    settings = ServerSettings(names=["play.example"])
    async with Echo() as server, Echo(settings=settings) as named, aiohttp.ClientSession() as http:
        for url, name, status in (
            (server.url, "elsewhere.example", 200),
            (named.url, "play.example", 200),
            (named.url, "elsewhere.example", 403),
        ):
            async with http.post(f"{url}/body", data=b"x", headers={"Host": name}) as reply:
                assert reply.status == status


async def test_limits_in_the_settings_take_the_place_of_the_servers_own():
    settings = ServerSettings(limits=ConnectionLimits(frame=10))
    async with Echo(settings=settings, connection_limits=ConnectionLimits()) as server, aiohttp.ClientSession() as http:
        socket = await http.ws_connect(f"{server.url}/ws")
        await socket.send_str("01234")
        assert await socket.receive_str() == "01234"
        await socket.send_str("0123456789a")
        assert (await socket.receive(timeout=5)).type == aiohttp.WSMsgType.CLOSE and socket.close_code == 1009


async def test_a_port_that_is_taken_closes_what_was_opened():
    async with Echo() as server:
        other = Echo(settings=ServerSettings(port=int(server.url.rpartition(":")[2])))
        with pytest.raises(OSError):
            await other.start()
        assert other.life == ["opening", "closing with 0 connections"]


async def test_a_server_can_be_started_again():
    server = Echo()
    for _ in range(2):
        async with server, aiohttp.ClientSession() as http, http.ws_connect(f"{server.url}/ws") as socket:
            await socket.send_str("hello")
            assert await socket.receive_str() == "hello"


async def seated(http, server):
    socket = await http.ws_connect(f"{server.url}/ws")
    await socket.send_str("sit down")
    assert await socket.receive_str() == "sit down"
    return socket


async def test_players_keep_their_places_and_the_next_is_refused():
    async with Echo(most_connections=1) as server, aiohttp.ClientSession() as http:
        async with await seated(http, server):
            with pytest.raises(aiohttp.WSServerHandshakeError, match="503"):
                await http.ws_connect(f"{server.url}/ws")
        while server.connections:
            await asyncio.sleep(0.01)
        await (await http.ws_connect(f"{server.url}/ws")).close()


async def test_silent_watchers_give_way_the_oldest_first_and_no_player_does():
    async with Echo(most_connections=3) as server, aiohttp.ClientSession() as http:
        player = await seated(http, server)
        watchers = [await http.ws_connect(f"{server.url}/ws") for _ in range(5)]
        for gone in watchers[:3]:
            assert (await gone.receive()).type in (aiohttp.WSMsgType.CLOSED, aiohttp.WSMsgType.ERROR)
        for socket in (player, *watchers[3:]):
            await socket.send_str("hello")
            assert await socket.receive_str() == "hello"
            await socket.close()


async def test_a_flooder_takes_places_from_itself_alone():
    """The flooder comes from 127.0.0.2, the honest watcher from 127.0.0.1."""
    async with (
        Echo(settings=ServerSettings(address="0.0.0.0"), most_connections=4) as server,
        aiohttp.ClientSession() as http,
    ):
        url = f"{local_url(server.url)}/ws"
        honest = await http.ws_connect(url)
        elsewhere = aiohttp.TCPConnector(local_addr=("127.0.0.2", 0))
        async with aiohttp.ClientSession(connector=elsewhere) as flooding:
            for _ in range(10):
                await flooding.ws_connect(url)
            late = await http.ws_connect(url)
            for socket in (honest, late):
                await socket.send_str("hello")
                assert await socket.receive_str() == "hello"
                await socket.close()


@pytest.mark.virtual_time
async def test_an_address_that_sends_much_waits_for_its_turn_and_others_do_not():
    pace = Pace(10.0, 3)
    assert [round(pace.wait("a"), 6) for _ in range(6)] == [0, 0, 0, 0.1, 0.2, 0.3]
    assert pace.wait("b") == pace.wait("") == 0.0
    await asyncio.sleep(0.25)
    assert round(pace.wait("a"), 6) == 0.15 and not pace.take("a")
    await asyncio.sleep(100)
    assert [pace.take("a") for _ in range(4)] == [True, True, True, False]


async def test_too_many_sockets_of_a_stranger_are_refused_and_too_many_requests_wait(monkeypatch):
    """The stranger comes from 127.0.0.2; programs of the machine, from the server's own address, never wait."""
    monkeypatch.setattr(limits, "NEW_SOCKETS", (4.0, 8))
    monkeypatch.setattr(limits, "REQUESTS", (20.0, 5))
    async with Echo() as server:

        async def seconds(count, address, force_close):
            elsewhere = aiohttp.TCPConnector(local_addr=(address, 0), force_close=force_close)
            async with aiohttp.ClientSession(connector=elsewhere) as http:
                began = time.monotonic()
                for _ in range(count):
                    async with http.post(f"{server.url}/body", data=b"abc") as answer:
                        assert await answer.text() == "3"
                return time.monotonic() - began

        with pytest.raises(aiohttp.ClientConnectionError):
            await seconds(20, "127.0.0.2", force_close=True)
        assert await seconds(20, "127.0.0.3", force_close=False) > 0.6
        assert await seconds(50, "127.0.0.1", force_close=True) < 10.0


async def test_a_stranger_who_asks_far_too_much_gets_429(monkeypatch):
    monkeypatch.setattr(limits, "REQUESTS", (4.0, 1))
    async with Echo() as server:
        elsewhere = aiohttp.TCPConnector(local_addr=("127.0.0.2", 0), limit=0)
        async with aiohttp.ClientSession(connector=elsewhere) as http:

            async def asked():
                async with http.post(f"{server.url}/body", data=b"abc") as answer:
                    return answer.status

            statuses = await asyncio.gather(*(asked() for _ in range(20)))
            assert 200 in statuses and 429 in statuses


@pytest.mark.parametrize(
    ("proxies", "forwarded", "client"),
    [
        ([], ["1.2.3.4"], "127.0.0.2"),
        (["127.0.0.2"], ["6.6.6.6, 1.2.3.4"], "1.2.3.4"),  # what a client claims comes first
        (["127.0.0.2", "10.0.0.9"], ["6.6.6.6", "1.2.3.4, 10.0.0.9"], "1.2.3.4"),
        (["127.0.0.2"], ["2001:db8:1:2:3::4"], "2001:0db8:0001:0002"),
        (["127.0.0.2"], [], ""),
        (["127.0.0.2"], ["::ffff:1.2.3.4"], "1.2.3.4"),
    ],
)
async def test_a_client_of_a_proxy_that_is_named_is_known_by_what_the_proxy_forwards(proxies, forwarded, client):
    elsewhere = aiohttp.TCPConnector(local_addr=("127.0.0.2", 0))
    async with (
        Echo(settings=ServerSettings(proxies=proxies)) as server,
        aiohttp.ClientSession(connector=elsewhere) as http,
        http.get(f"{server.url}/client", headers=[("X-Forwarded-For", hop) for hop in forwarded]) as answer,
    ):
        assert await answer.text() == client


def test_places_are_shared_and_some_are_left_for_those_who_were_here_before():
    places = Places(8, each=4, reserved=2)
    assert all(places.take(f"a{n}", "a")[0] for n in range(4))
    assert places.take("a4", "a") == (True, "a0")  # one that has its share takes from itself
    places.keep("a1")
    assert [places.take(f"b{n}", "b") for n in range(3)] == [(True, None), (True, None), (True, "a2")]
    for item in list(places):
        places.keep(item)
    assert places.take("c0", "c") == (False, None)  # two are free
    assert places.take("a5", "a")[0] and places.take("b3", "b")[0]  # for who was here
    assert len(places) == 8 and places.take("b4", "b") == (True, "b3")
    places.keep("b4")
    assert places.take("b5", "b") == (False, None)
    for item in list(places):
        places.free(item)
    assert not places._counts and not places._kept


async def test_idle_sockets_never_use_up_the_files_of_the_process(monkeypatch, caplog):
    monkeypatch.setattr(limits, "SOCKETS", (10, 10))
    async with Echo() as server, aiohttp.ClientSession() as http:
        player = await seated(http, server)
        port = int(server.url.rpartition(":")[2])
        idle = [await asyncio.open_connection("127.0.0.1", port) for _ in range(50)]
        async with http.post(f"{server.url}/body", data=b"abc") as answer:
            assert await answer.text() == "3"
        await player.send_str("hello")
        assert await player.receive_str() == "hello"
        ended = await asyncio.wait_for(asyncio.gather(*(ends(reader) for reader, _ in idle[:40])), 5)
        assert all(ended)
        for _, writer in idle:
            writer.close()
    assert [(record.levelname, record.exc_info) for record in caplog.records] == [("WARNING", None)]


async def ends(reader):
    """Wait until the other side closes; return whether it sent nothing before."""
    try:
        return await reader.read() == b""
    except ConnectionError:
        return True


@pytest.mark.parametrize(
    "sent", [b"", b"GET / HTTP/1.1\r\nHost: x\r\nX: ", b"GET /nothing HTTP/1.1\r\nHost: x\r\n\r\n"]
)
async def test_silence_half_headers_and_idle_keep_alives_end(monkeypatch, sent):
    monkeypatch.setattr(limits, "SILENT_SECONDS", 0.2)
    monkeypatch.setattr(server_module, "IDLE_SECONDS", 0.2)
    async with Echo() as server:
        reader, writer = await asyncio.open_connection("127.0.0.1", int(server.url.rpartition(":")[2]))
        writer.write(sent)
        await asyncio.wait_for(ends(reader), 5)
        writer.close()


async def test_a_body_is_not_unpacked_and_a_broken_one_is_the_clients_fault(caplog):
    async with Echo() as server, aiohttp.ClientSession() as http:
        packed = gzip.compress(b"x" * 10_000_000)
        async with http.post(f"{server.url}/body", data=packed, headers={"Content-Encoding": "gzip"}) as answer:
            assert await answer.text() == f"{len(packed)}"
        reader, writer = await asyncio.open_connection("127.0.0.1", int(server.url.rpartition(":")[2]))
        writer.write(b"POST /body HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\nnonsense\r\n")
        assert (await reader.readline()).endswith(b" 400 Bad Request\r\n")
        writer.close()
    assert not any(record.exc_info for record in caplog.records)


async def test_a_request_that_cannot_be_read_is_answered_and_logged_in_a_line(caplog):
    caplog.set_level("INFO")
    async with Echo() as server:
        for request in (b"GET / HTTP/1.1\r\nX: " + b"x" * 1_000_000, b"GET / HTTP/1.1\r\nnonsense\r\n\r\n"):
            reader, writer = await asyncio.open_connection("127.0.0.1", int(server.url.rpartition(":")[2]))
            writer.write(request)
            with suppress(ConnectionError):  # it may be closed while the rest is sent
                assert (await asyncio.wait_for(reader.read(), 5))[8:].startswith(b" 400")
            writer.close()
    assert [record.levelname for record in caplog.records] == ["INFO", "INFO"]
    assert not any(record.exc_info for record in caplog.records)


async def test_a_request_that_is_no_websocket_gets_426():
    async with Echo() as server, aiohttp.ClientSession() as http, http.get(f"{server.url}/ws") as reply:
        assert reply.status == 426
        assert "WebSocket" in await reply.text()


async def test_bodies_are_bounded_in_length_and_time():
    async with Echo(body_limit=100) as server, aiohttp.ClientSession() as http:
        for body, status in ((b"x" * 100, 200), (b"x" * 101, 413)):
            async with http.post(f"{server.url}/body", data=body) as reply:
                assert reply.status == status
        reader, writer = await asyncio.open_connection("127.0.0.1", int(server.url.rpartition(":")[2]))
        writer.write(b"POST /body HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 10\r\n\r\n{")
        assert b" 400 " in await asyncio.wait_for(reader.readline(), 5)
        writer.close()


def test_settings_keep_their_token_to_themselves_and_refuse_one_text_as_names():
    assert "secret" not in repr(ServerSettings(access_token="secret"))
    with pytest.raises(ValueError, match="need a list of names"):
        ServerSettings(names="proxy.example")


PING = b"\x89\x80" + bytes(4)
"""A masked ping without a payload."""


def reset(writer):
    """End a connection by a reset, without a goodbye."""
    linger = struct.pack("ii", 1, 0)
    writer.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)
    writer.transport.abort()


@pytest.mark.parametrize("when", ["before-the-answer", "after-it", "in-a-frame", "after-pings"])
async def test_a_reset_logs_no_traceback(when, caplog):
    caplog.set_level(logging.INFO)
    async with hosting() as (host, client):
        for _ in range(5):
            await client.register()
            await client.join()
            path = f"/v1/ws?token={client.token}&format=agent"
            _, writer = await watching(host.url, path, read=when != "before-the-answer")
            if when == "in-a-frame":
                writer.write(b"\x81\xfe\x01\x00")
            elif when == "after-pings":
                writer.write(PING * 15)
            await writer.drain()
            reset(writer)
            await asyncio.sleep(0.05)
        await client.register("honest")
        await client.join()
        await client.connect()
        assert (await client.receive())["type"] in ("table_status", "welcome")
    assert not any(record.exc_info for record in caplog.records)
    assert len([record for record in caplog.records if "reset" in record.message]) <= 5


async def test_a_host_with_a_certificate_speaks_tls(certificate, monkeypatch, caplog):
    monkeypatch.setattr(server_module, "HANDSHAKE_SECONDS", 0.5)
    host = PokerHost(PokerRules(seats=2), server=ServerSettings(tls=server_tls(*certificate)))
    trusting = aiohttp.TCPConnector(ssl=ssl.create_default_context(cafile=certificate[0]))
    async with host, aiohttp.ClientSession(connector=trusting) as http:
        assert host.url.startswith("https://") and host.ws_url.startswith("wss://")
        client = await Client(http, host).sit_down()
        assert (await client.receive())["type"] == "table_status"
        assert client.ws_url == host.ws_url
        reader, _ = await asyncio.open_connection("127.0.0.1", int(host.url.rpartition(":")[2]))
        assert await asyncio.wait_for(reader.read(), 5) == b""  # it is closed, and the seat is not
        await client.send({"type": "ping", "payload": {"timestamp": 1}})
        await client.until("pong")
        await client.ws.close()
    assert not any(record.exc_info for record in caplog.records)


def test_a_wrong_certificate_is_named(certificate, tmp_path):
    cert, _ = certificate
    with pytest.raises(ValueError, match=r"cannot use the certificate .*cert\.pem"):
        server_tls(cert)
    with pytest.raises(ValueError, match="nothing"):
        server_tls(tmp_path / "nothing.pem")


class Socket:
    """A WebSocket that sends nothing while it is blocked."""

    def __init__(self, *incoming):
        self.incoming = list(incoming)
        self.sent = []
        self.free = asyncio.Event()
        self.free.set()

    async def send_str(self, text):
        await self.free.wait()
        self.sent.append(text)

    async def pong(self, payload):
        await self.send_str(("pong", payload))

    async def close(self, *, code, message):
        await self.send_str((code, message))

    async def receive(self, timeout):
        if not self.incoming:
            return SimpleNamespace(type=WSMsgType.CLOSED, data=None)
        item = self.incoming.pop(0)
        if isinstance(item, float):
            await asyncio.sleep(item)
            return await self.receive(timeout)
        kind = WSMsgType.TEXT if isinstance(item, str) else WSMsgType.BINARY
        return SimpleNamespace(type=WSMsgType.PING if item is None else kind, data=item)


class Transport:
    aborted = False

    def abort(self):
        self.aborted = True


@pytest.mark.virtual_time
async def test_messages_go_out_in_order_and_the_close_comes_last():
    socket = Socket()
    async with Connection(socket, Transport()) as connection:
        for text in "abc":
            connection.send(text)
        connection.close(1001, b"bye")
        connection.close(1000)  # it closes already
    assert socket.sent == ["a", "b", "c", (1001, b"bye")]


@pytest.mark.virtual_time
async def test_a_peer_that_does_not_read_is_dropped_when_the_queue_is_full(caplog):
    socket, transport = Socket(*"xyz"), Transport()
    socket.free.clear()
    async with Connection(socket, transport, ConnectionLimits(queue=4)) as connection:
        for number in range(20):
            connection.send(f"{number}")
        assert transport.aborted
        assert [data async for data in connection.messages()] == []  # nothing of it is read any longer
    assert caplog.messages == ["dropping a connection that is 4 messages behind"]


@pytest.mark.virtual_time
async def test_a_peer_that_does_not_answer_a_close_is_waited_for_so_long_only():
    socket = Socket()
    socket.free.clear()
    async with Connection(socket, Transport(), ConnectionLimits(closing=2.0)) as connection:
        connection.close()
    assert asyncio.get_running_loop().time() == 2.0


@pytest.mark.virtual_time
async def test_a_burst_of_messages_is_answered_though_it_is_longer_than_the_queue():
    socket, transport = Socket(*["ping"] * 1_000), Transport()
    async with Connection(socket, transport, ConnectionLimits(queue=16)) as connection:
        async for data in connection.messages():
            connection.send(data)
        connection.close()
    assert len(socket.sent) == 1_001
    assert not transport.aborted


@pytest.mark.virtual_time
async def test_long_messages_are_refused_and_other_frames_are_left_out():
    refused = []
    connection = Connection(Socket("short", "x" * 11, None, b"bytes"), Transport(), ConnectionLimits(message=10))
    taken = [data async for data in connection.messages(lambda *why: refused.append(why))]
    assert taken == ["short", b"bytes"]
    assert refused == [("VALIDATION_ERROR", "a message of 11 bytes; at most 10")]


@pytest.mark.virtual_time
async def test_pings_are_answered_up_to_their_limit_and_then_read_more_slowly():
    socket = Socket(*[None] * 7, "text")
    connection = Connection(socket, Transport(), ConnectionLimits(controls=2.0))
    assert [data async for data in connection.messages()] == ["text"]
    assert socket.sent == [("pong", None)] * 5
    assert asyncio.get_running_loop().time() == 1.0


@pytest.mark.virtual_time
async def test_too_many_messages_are_refused_and_read_more_slowly():
    refused = []
    connection = Connection(Socket(*"abcdef"), Transport(), ConnectionLimits(rate=2.0))
    taken = [data async for data in connection.messages(lambda *why: refused.append(why))]
    assert taken == ["a", "b", "c", "d", "f"]
    assert refused == [("RATE_LIMIT_EXCEEDED", "more than 2 messages a second")]
    assert asyncio.get_running_loop().time() == 0.5


# A host's room.


@pytest.mark.virtual_time
async def test_a_room_attends_to_each_value_until_it_is_answered_or_late_or_due_no_longer_or_one_fails():
    told, ended, due = [], [], {"ann": 10.0, "bob": 10.0, "eve": 10.0, "zoe": 60.0, "nobody": None}

    async def attend(one, deadline):
        await asyncio.sleep(4 if one == "ann" else deadline.left)
        told.append((one, asyncio.get_running_loop().time()))
        if one == "dan" or told.count(("bob", 10.0)) == 1:  # Bob's second try does not fail
            raise ValueError("an error of ours")
        del due[one]
        if one == "ann":  # another one goes, and one comes; Bob's clock goes on
            due["dan"] = due.pop("eve")

    before, room = asyncio.all_tasks(), Room(lambda: due, due.get, attend, lambda one, left: ended.append((one, left)))
    with pytest.raises(ValueError, match="an error of ours"):
        await room.play()
    assert told == [("ann", 4.0), *[("bob", 10.0)] * 2, *[("dan", 14.0)] * 2] and "dan" not in room.open
    assert asyncio.all_tasks() == before
    assert ended == [("ann", 6.0), ("eve", 6.0), ("bob", 0.0)]


# Tokens and texts.


@pytest.mark.parametrize(
    ("header", "token"),
    [(None, ""), ("Bearer abc", "abc"), ("bearer  abc ", "abc"), ("Basic abc", ""), ("abc", ""), ("Bearer", "")],
)
def test_the_bearer_token_of_a_request(header, token):
    assert bearer_token(SimpleNamespace(headers={} if header is None else {"Authorization": header})) == token


def test_texts_of_others_are_one_line_without_what_steers_a_terminal():
    assert escaped("a\nb\x1b[2J\u202e", 100) == "a\\nb\\x1b[2J\\u202e"
    assert escaped("x" * 1_000) == "x" * 300

    class Broken(Exception):
        def __str__(self):
            raise ValueError

    assert describe_error(Broken()) == "Broken: (no text)"
    assert len(describe_error(ValueError("\x00" * 1_000))) == 300


# Answers.


@pytest.mark.parametrize("response", [None, 3, {}, {"action": 3}, AgentResponse(action=None), Action(3), object()])
def test_what_is_no_answer_is_refused(response):
    with pytest.raises(ValueError, match="this is not an AgentResponse: ") as caught:
        read_response(response)
    assert not isinstance(caught.value, msgspec.ValidationError)


SILENCE = 0.1


@pytest.fixture
def short_silence(monkeypatch):
    monkeypatch.setattr(clock, "HEARTBEAT", SILENCE)


async def test_a_silent_client_that_answers_pings_keeps_its_connection(short_silence):
    async with Echo() as server, aiohttp.ClientSession() as http:
        socket = await open_websocket(http, f"{server.url}/ws")
        reading = asyncio.create_task(next_message(socket))
        await asyncio.sleep(6 * SILENCE)
        assert not server.over.is_set()
        assert not reading.done()
        await socket.send_str("still here")
        assert await reading == "still here"
        await socket.close()


async def test_a_client_that_answers_no_ping_loses_its_connection(short_silence):
    async with Echo() as server, aiohttp.ClientSession() as http:
        socket = await http.ws_connect(f"{server.url}/ws", autoping=False)
        assert (await socket.receive()).type is WSMsgType.PING
        await asyncio.wait_for(server.over.wait(), 20 * SILENCE)
        assert server.heard == []
        assert (await socket.receive()).type is WSMsgType.CLOSE
        await socket.close()


async def deaf(request):
    """A server that answers nothing for a second."""
    socket = web.WebSocketResponse(autoping=False)
    await socket.prepare(request)
    await asyncio.sleep(1)
    return socket


async def test_a_server_that_answers_no_ping_is_lost(short_silence):
    async with Echo() as server, aiohttp.ClientSession() as http:
        socket = await open_websocket(http, f"{server.url}/deaf")
        assert await next_message(socket) is None
        await socket.close()
        socket = await open_websocket(http, f"{server.url}/deaf")
        with pytest.raises(ConnectionError, match=r"not answered a ping for 0\.05 s"):
            await receive(socket, 0.05)
        await socket.close()


async def test_a_closed_connection_is_freed_at_once():
    async with Echo() as server, aiohttp.ClientSession() as http:
        socket = await open_websocket(http, f"{server.url}/ws")
        await socket.send_str("hello")
        assert await next_message(socket) == "hello"
        await socket.close()
        await asyncio.wait_for(server.over.wait(), 5)
        gone = weakref.ref(socket)
        del socket
        await asyncio.sleep(0.05)
        gc.collect()
        assert gone() is None
