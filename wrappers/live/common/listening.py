"""The sockets of a server: no more than the process can open, so many fragments, one line for a broken request."""

import asyncio
import logging
import ssl
import sys
from collections.abc import Callable, Collection
from socket import SO_RCVBUF, SOL_SOCKET
from typing import Any

from aiohttp import web
from aiohttp.http_exceptions import HttpProcessingError

from . import limits
from .limits import Pace, Places, RateLimit, peer_of


class FrameLimit:
    """Reads the frames of a WebSocket before aiohttp's parser does, and counts those that are no whole message.

    Args:
        parser: aiohttp's parser.
        exceeded: called once, when there are too many. Nothing is parsed any longer.
    """

    def __init__(self, parser: Any, exceeded: Callable[[], None]) -> None:
        self._parser = parser
        self._exceeded = exceeded
        self._limit = RateLimit(limits.FRAGMENTS, asyncio.get_running_loop().time())
        self._ended = False
        self._header = b""  # the beginning of a header
        self._ahead = 0  # bytes of a payload that are still to come

    def feed_data(self, data: bytes) -> tuple[bool, bytes]:
        """Pass received bytes on; see aiohttp's `WebSocketReader`."""
        if not self._ended and not self._admits(data):
            self._ended = True
            self._exceeded()
        result: tuple[bool, bytes] = (False, b"") if self._ended else self._parser.feed_data(data)
        return result

    def feed_eof(self) -> None:
        """Pass the end on."""
        self._parser.feed_eof()

    def _admits(self, data: bytes) -> bool:
        now = asyncio.get_running_loop().time()
        data, self._header = self._header + data, b""
        at = self._ahead
        while at < len(data):
            length, mask = data[at + 1] & 0x7F if at + 1 < len(data) else 0, 4 * (data[at + 1 : at + 2] > b"\x7f")
            more = {126: 2, 127: 8}.get(length, 0)
            start = at + 2 + more + mask
            if start > len(data):
                self._header = data[at:]
                break
            fragment = data[at] < 0x80 or not data[at] & 0x0F  # not the last frame, or a continuation
            if fragment and not self._limit.take(now):
                return False
            at = start + (int.from_bytes(data[at + 2 : at + 2 + more]) if more else length)
        self._ahead = max(0, at - len(data))
        return True


class HttpProtocol(web.RequestHandler):
    """aiohttp's protocol of a socket, with a `FrameLimit` once it is a WebSocket.

    Attributes:
        exceeded: called when there are too many fragments; None: the socket is closed.
    """

    exceeded: Callable[[], None] | None = None

    def handle_error(self, *args: Any, **kwargs: Any) -> web.StreamResponse:
        """See aiohttp. What follows a request that cannot be read is not parsed."""
        if self.transport is not None:
            self.transport.pause_reading()
        return super().handle_error(*args, **kwargs)

    def set_parser(self, parser: Any, *args: Any, **kwargs: Any) -> None:
        """See aiohttp."""
        super().set_parser(FrameLimit(parser, self.exceeded or self.force_close), *args, **kwargs)  # type: ignore[arg-type]


RESERVED_FILES = 64
"""Open files that are left for all else of the process."""
HANDSHAKE_SECONDS = 10.0
"""Seconds that a socket may take for the handshake of TLS."""
WARNING_SECONDS = 60.0
"""Seconds between two warnings that all sockets are taken."""

LONG_MESSAGE = 2**20
"""Bytes of a message; a server of longer ones does not bound what the system holds: they would take long."""
RECEIVED_BYTES = 2**16
"""Bytes that the system holds of what a client has sent and nobody has read. To read and free megabytes takes time."""

http_log = logging.getLogger("parlour.http")


def broken_request_in_one_line(record: logging.LogRecord) -> bool:
    """Log a request that cannot be read as one line without a traceback: it is the client's fault. A logging filter."""
    error = record.exc_info[1] if record.exc_info else None
    if isinstance(error, HttpProcessingError | web.RequestPayloadError):
        record.msg, record.args = f"{record.getMessage()}: {str(error)[:200]!a}", ()
        record.exc_info = record.exc_text = None
        record.levelno, record.levelname = logging.INFO, "INFO"
        return http_log.isEnabledFor(logging.INFO)
    return True


http_log.addFilter(broken_request_in_one_line)


def most_sockets() -> int:
    """Return how many sockets a server may have: half of the files that this process may open."""
    if sys.platform == "win32":  # it has no such limit
        return limits.SOCKETS.most
    import resource

    files = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
    return limits.SOCKETS.most if files < 0 else max(8, min(limits.SOCKETS.most, (files - RESERVED_FILES) // 2))


class Sockets:
    """The open sockets of a server, each in a place of its address. It takes it before the handshake of TLS.

    Args:
        handlers: makes the protocol of a socket that has a place.
        longest: the most bytes of a message or body that the server takes.
        proxies: addresses that no share limits.
    """

    def __init__(
        self, handlers: Callable[[], asyncio.BaseProtocol], longest: int, proxies: Collection[str] = ()
    ) -> None:
        self._handlers = handlers
        self._bounded = longest <= LONG_MESSAGE
        self._proxies = proxies
        self._places: Places[Any] = Places(most := most_sockets(), min(limits.SOCKETS.each, most // 4))
        self._transports: dict[Any, asyncio.Transport] = {}  # by what asyncio calls socket, which TLS has too
        self._silent: dict[Any, asyncio.TimerHandle] = {}
        self._servers: list[asyncio.Server] = []
        self._handshakes: set[asyncio.Task[None]] = set()
        self._warned = float("-inf")
        self._pace = Pace(*limits.NEW_SOCKETS)

    async def listen(self, address: str, port: int, tls: ssl.SSLContext | None = None) -> tuple[str, int]:
        """Listen at an address; return it with its port.

        Raises:
            OSError: if the port is taken.
        """
        loop = asyncio.get_running_loop()
        server = await loop.create_server(lambda: _Arrival(self, tls), address, port, backlog=128)
        for listening in server.sockets if self._bounded else ():
            listening.setsockopt(SOL_SOCKET, SO_RCVBUF, RECEIVED_BYTES)
        self._servers.append(server)
        host, number = server.sockets[0].getsockname()[:2]
        return host, number

    def close(self) -> None:
        """Listen no longer. Open sockets stay."""
        for server in self._servers:
            server.close()
        self._servers.clear()

    def keep(self, transport: asyncio.BaseTransport | None, kept: bool = True) -> None:
        """Let a socket keep its place, or no longer: while a request is answered, or a player sits. It has spoken."""
        if transport is not None and not transport.is_closing():  # a closed one of TLS does not tell its socket
            socket = transport.get_extra_info("socket")
            self._places.keep(socket, kept)
            self._has_spoken(socket)

    def arrived(self, transport: asyncio.Transport, tls: ssl.SSLContext | None) -> None:
        """Give a new socket its protocol, or close it: all places are taken, or its address opens too many."""
        loop = asyncio.get_running_loop()
        for closed in [socket for socket, other in self._transports.items() if other.is_closing()]:
            self._free(closed)
        socket, peer = transport.get_extra_info("socket"), peer_of(transport, self._proxies)
        if self._pace.wait(peer) != 0:
            return transport.abort()
        admitted, victim = self._places.take(socket, peer)
        if victim is not None:
            self._transports[victim].abort()
            self._free(victim)
        if (victim is not None or not admitted) and loop.time() - self._warned > WARNING_SECONDS:
            self._warned = loop.time()
            http_log.warning("all %d sockets, or all of an address, are taken: idle ones give way", self._places.most)
        if not admitted:
            return transport.abort()
        self._transports[socket] = transport
        self._silent[socket] = loop.call_later(limits.SILENT_SECONDS, transport.abort)
        handler = self._handlers()
        if tls is None:
            transport.set_protocol(handler)
            handler.connection_made(transport)
        else:
            task = loop.create_task(_shake_hands(transport, handler, tls))
            self._handshakes.add(task)
            task.add_done_callback(self._handshakes.discard)

    def _free(self, socket: Any) -> None:
        self._places.free(socket)
        self._transports.pop(socket, None)
        self._has_spoken(socket)

    def _has_spoken(self, socket: Any) -> None:
        if (timer := self._silent.pop(socket, None)) is not None:
            timer.cancel()


async def _shake_hands(transport: asyncio.Transport, handler: asyncio.BaseProtocol, tls: ssl.SSLContext) -> None:
    try:
        secured = await asyncio.get_running_loop().start_tls(
            transport, handler, tls, server_side=True, ssl_handshake_timeout=HANDSHAKE_SECONDS
        )
    except OSError as error:  # those of TLS and of time are OSErrors
        http_log.info("no TLS with a client: %s", error)
        transport.abort()
    else:
        if secured is not None:
            handler.connection_made(secured)


class _Arrival(asyncio.Protocol):
    """The protocol of a socket until it has a place."""

    def __init__(self, sockets: Sockets, tls: ssl.SSLContext | None) -> None:
        self._sockets = sockets
        self._tls = tls

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._sockets.arrived(transport, self._tls)
