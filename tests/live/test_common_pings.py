"""Pings over real sockets: a silent peer stays, a lost one does not; a closed WebSocket is not kept in memory."""

import asyncio
import gc
import weakref

import aiohttp
import pytest
from aiohttp import WSMsgType, web
from parlour.wrappers.live.common import client
from parlour.wrappers.live.common.client import next_message, open_websocket, receive
from parlour.wrappers.live.common.server import Server

SILENCE = 0.1


class Listener(Server):
    """Notes what comes, and when a connection is over."""

    def __init__(self):
        super().__init__()
        self.heard = []
        self.over = asyncio.Event()

    def routes(self):
        return [web.get("/ws", self._websocket), web.get("/deaf", deaf)]

    async def _websocket(self, request):
        return await self.upgrade(request, self._serve)

    async def _serve(self, connection):
        async for data in connection.messages():
            self.heard.append(data)
            connection.send(data)
        self.over.set()


@pytest.fixture(autouse=True)
def short_silence(monkeypatch):
    monkeypatch.setattr(client, "HEARTBEAT", SILENCE)


async def test_a_silent_client_that_answers_pings_keeps_its_connection():
    async with Listener() as server, aiohttp.ClientSession() as http:
        socket = await open_websocket(http, f"{server.url}/ws")
        reading = asyncio.create_task(next_message(socket))
        await asyncio.sleep(6 * SILENCE)
        assert not server.over.is_set()
        assert not reading.done()
        await socket.send_str("still here")
        assert await reading == "still here"
        await socket.close()


async def test_a_client_that_answers_no_ping_loses_its_connection():
    async with Listener() as server, aiohttp.ClientSession() as http:
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


async def test_a_server_that_answers_no_ping_is_lost():
    async with Listener() as server, aiohttp.ClientSession() as http:
        socket = await open_websocket(http, f"{server.url}/deaf")
        assert await next_message(socket) is None
        await socket.close()
        socket = await open_websocket(http, f"{server.url}/deaf")
        with pytest.raises(ConnectionError, match=r"not answered a ping for 0\.05 s"):
            await receive(socket, 0.05)
        await socket.close()


async def test_a_closed_connection_is_freed_at_once():
    async with Listener() as server, aiohttp.ClientSession() as http:
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
