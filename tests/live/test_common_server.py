"""The life of a server, over real sockets on this machine."""

import asyncio
import time

import aiohttp
import pytest
from aiohttp import web
from live.event_loops import on_loop
from parlour.wrappers.live.common.connection import ConnectionLimits
from parlour.wrappers.live.common.server import Server, local_url, read_body, url_of


class Echo(Server):
    """Sends back what comes; `life` is what its life brought."""

    def __init__(self, **options):
        super().__init__(**{"address": "127.0.0.1", "port": 0, **options})
        self.life = []

    def routes(self):
        return [web.get("/ws", self._websocket), web.post("/body", self._body)]

    async def opening(self):
        self.life.append("opening")

    async def closing(self):
        self.life.append(f"closing with {self.connections} connections")

    async def _websocket(self, request):
        return await self.upgrade(request, self._serve)

    async def _serve(self, connection):
        async for data in connection.messages():
            connection.send(data)

    async def _body(self, request):
        try:
            return web.Response(text=f"{len(await read_body(request, 0.05))}")
        except ValueError as error:
            return web.Response(status=400, text=str(error))


@on_loop
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


@on_loop
async def test_peers_that_answer_no_close_are_waited_for_so_long_only():
    async with Echo(connection_limits=ConnectionLimits(closing=0.3)) as server, aiohttp.ClientSession() as http:
        sockets = [await http.ws_connect(f"{server.url}/ws") for _ in range(5)]
        began = time.monotonic()
        await server.stop()
        assert time.monotonic() - began < 2
        assert server.connections == 0
        for socket in sockets:
            await socket.close()


@on_loop
async def test_a_port_that_is_taken_closes_what_was_opened():
    async with Echo() as server:
        other = Echo(port=int(server.url.rpartition(":")[2]))
        with pytest.raises(OSError):
            await other.start()
        assert other.life == ["opening", "closing with 0 connections"]


@on_loop
async def test_a_server_can_be_started_again():
    server = Echo()
    for _ in range(2):
        async with server, aiohttp.ClientSession() as http, http.ws_connect(f"{server.url}/ws") as socket:
            await socket.send_str("hello")
            assert await socket.receive_str() == "hello"


@on_loop
async def test_only_so_many_connections_are_open_at_once():
    async with Echo(most_connections=1) as server, aiohttp.ClientSession() as http:
        async with http.ws_connect(f"{server.url}/ws"):
            with pytest.raises(aiohttp.WSServerHandshakeError, match="503"):
                await http.ws_connect(f"{server.url}/ws")
        while server.connections:
            await asyncio.sleep(0.01)
        await (await http.ws_connect(f"{server.url}/ws")).close()


@on_loop
async def test_connections_that_come_at_once_are_counted_too():
    async with Echo(most_connections=3) as server, aiohttp.ClientSession() as http:
        coming = [http.ws_connect(f"{server.url}/ws") for _ in range(10)]
        came = await asyncio.gather(*coming, return_exceptions=True)
        sockets = [one for one in came if not isinstance(one, Exception)]
        assert len(sockets) == server.connections == 3
        for socket in sockets:
            await socket.close()


@on_loop
async def test_a_request_that_is_no_websocket_gets_426():
    async with Echo() as server, aiohttp.ClientSession() as http, http.get(f"{server.url}/ws") as reply:
        assert reply.status == 426
        assert "WebSocket" in await reply.text()


@on_loop
async def test_bodies_are_bounded_in_length_and_time():
    async with Echo(body_limit=100) as server, aiohttp.ClientSession() as http:
        for body, status in ((b"x" * 100, 200), (b"x" * 101, 413)):
            async with http.post(f"{server.url}/body", data=body) as reply:
                assert reply.status == status
        reader, writer = await asyncio.open_connection("127.0.0.1", int(server.url.rpartition(":")[2]))
        writer.write(b"POST /body HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 10\r\n\r\n{")
        assert b" 400 " in await asyncio.wait_for(reader.readline(), 5)
        writer.close()


def test_addresses():
    assert url_of("127.0.0.1", 80) == "http://127.0.0.1:80"
    assert local_url(url_of("::", 80)) == "http://[::1]:80"
    assert local_url(url_of("0.0.0.0", 80)) == "http://127.0.0.1:80"
    assert local_url(url_of("10.0.0.1", 80)) == "http://10.0.0.1:80"
