"""Pings: both ends of a WebSocket find out whether a silent peer is still there.

aiohttp's `heartbeat` does this too, but its timer keeps a closed WebSocket in memory for up to the time of a heartbeat.
A program that connects often for weeks grows by it.
"""

import logging

import aiohttp
from aiohttp import WSMsgType, web

logger = logging.getLogger(__name__)

HEARTBEAT = 30.0
"""Seconds of silence after which a peer is pinged. One that is silent for as long again is lost."""


async def receive(
    socket: web.WebSocketResponse | aiohttp.ClientWebSocketResponse, seconds: float | None = None
) -> aiohttp.WSMessage:
    """Return the next message of a WebSocket that was opened with ``autoping=False``, pings and pongs included.

    Args:
        socket: the WebSocket.
        seconds: seconds of silence before a ping, and after it; None: `HEARTBEAT`.

    Raises:
        ConnectionError: if the peer does not answer the ping, or cannot be pinged.
    """
    seconds = HEARTBEAT if seconds is None else seconds
    try:
        return await socket.receive(timeout=seconds)
    except TimeoutError:
        await socket.ping()
    try:
        return await socket.receive(timeout=seconds)
    except TimeoutError:
        raise ConnectionError(f"the peer has not answered a ping for {seconds:g} s") from None


async def next_message(socket: aiohttp.ClientWebSocketResponse, seconds: float | None = None) -> str | bytes | None:
    """Return a server's next text or bytes; None when the connection has ended, or the server is lost.

    It answers the server's pings. The arguments are those of `receive`.
    """
    try:
        while True:
            message = await receive(socket, seconds)
            if message.type is WSMsgType.PING:
                await socket.pong(message.data)
            elif message.type in (WSMsgType.TEXT, WSMsgType.BINARY):
                return message.data  # type: ignore[no-any-return]
            elif message.type is not WSMsgType.PONG:
                return None
    except ConnectionError as error:
        logger.info("the connection is lost: %s", error)
        return None
