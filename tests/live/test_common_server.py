"""The life of a server, over real sockets on this machine."""

import asyncio
import gzip
import time
from contextlib import suppress

import aiohttp
import pytest
from aiohttp import web
from live.event_loops import in_virtual_time
from parlour.wrappers.live.common import limits
from parlour.wrappers.live.common import server as server_module
from parlour.wrappers.live.common.connection import ConnectionLimits
from parlour.wrappers.live.common.limits import Limit, Pace, Places, Rate, client_of
from parlour.wrappers.live.common.server import Server, ServerSettings, local_url, read_body


class Echo(Server):
    """Sends back what comes; `life` is what its life brought."""

    def __init__(self, **options):
        super().__init__(**options)
        self.life = []

    def routes(self):
        return [web.get("/ws", self._websocket), web.post("/body", self._body), web.get("/client", self._client)]

    async def opening(self):
        self.life.append("opening")

    async def closing(self):
        self.life.append(f"closing with {self.connections} connections")

    async def _websocket(self, request):
        return await self.upgrade(request, self._serve)

    async def _serve(self, connection):
        async for data in connection.messages():
            self.keep(connection, data == "sit down")
            connection.send(data)

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


async def test_peers_that_answer_no_close_are_waited_for_so_long_only():
    async with Echo(connection_limits=ConnectionLimits(closing=0.3)) as server, aiohttp.ClientSession() as http:
        sockets = [await http.ws_connect(f"{server.url}/ws") for _ in range(5)]
        began = time.monotonic()
        await server.stop()
        assert time.monotonic() - began < 2
        assert server.connections == 0
        for socket in sockets:
            await socket.close()


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


@in_virtual_time
async def test_an_address_that_sends_much_waits_for_its_turn_and_others_do_not():
    pace = Pace(10.0, 3)
    assert [round(pace.wait("a"), 6) for _ in range(6)] == [0, 0, 0, 0, 0.1, 0.2]
    assert pace.wait("b") == pace.wait("") == 0.0
    await asyncio.sleep(0.25)
    assert round(pace.wait("a"), 6) == 0.05
    await asyncio.sleep(100)
    assert [pace.wait("a") for _ in range(4)] == [0, 0, 0, 0]


async def test_too_many_sockets_of_a_stranger_are_refused_and_too_many_requests_wait(monkeypatch):
    """The stranger comes from 127.0.0.2; programs of the machine, from the server's own address, never wait."""
    monkeypatch.setattr(limits, "NEW_SOCKETS", Rate(4.0, 8))
    monkeypatch.setattr(limits, "REQUESTS", Rate(20.0, 5))
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
    monkeypatch.setattr(limits, "REQUESTS", Rate(4.0, 1))
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
    monkeypatch.setattr(limits, "SOCKETS", Limit(10, 10))
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
