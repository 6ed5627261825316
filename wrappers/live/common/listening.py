"""Listening: the sockets of a server, no more than the process can open, and what is logged of broken requests."""

import asyncio
import logging
import ssl
import sys
from collections.abc import Callable

from aiohttp import web
from aiohttp.http_exceptions import HttpProcessingError

from .places import Places

MOST_SOCKETS = 4096
"""Most open sockets of a server, where the process may open more files."""
RESERVED_FILES = 64
"""Open files that are left for all else of the process."""
LISTENERS = 4
"""Servers that share the open files of a process."""
IDLE_SECONDS = 60.0
"""Seconds that a socket may take for the headers of a request, its first and any further one."""

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
    """Return how many sockets a server may have: a share of the files that this process may open."""
    if sys.platform == "win32":  # it has no such limit
        return MOST_SOCKETS
    import resource

    files = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
    return MOST_SOCKETS if files < 0 else max(8, min(MOST_SOCKETS, (files - RESERVED_FILES) // LISTENERS))


class Sockets:
    """The open sockets of a server. When all are taken, the address with the most gives way (see `Places`).

    Args:
        handlers: makes the protocol of a socket that has a place.
    """

    def __init__(self, handlers: Callable[[], asyncio.BaseProtocol]) -> None:
        self._handlers = handlers
        self._places: Places[asyncio.Transport] = Places(most_sockets())
        self._servers: list[asyncio.Server] = []

    async def listen(self, address: str, port: int, tls: ssl.SSLContext | None = None) -> tuple[str, int]:
        """Listen at an address; return it with its port.

        Raises:
            OSError: if the port is taken.
        """
        loop = asyncio.get_running_loop()
        server = await loop.create_server(lambda: _Arrival(self), address, port, ssl=tls, backlog=128)
        self._servers.append(server)
        host, number = server.sockets[0].getsockname()[:2]
        return host, number

    def close(self) -> None:
        """Listen no longer. Open sockets stay."""
        for server in self._servers:
            server.close()
        self._servers.clear()

    def keep(self, transport: asyncio.BaseTransport | None) -> None:
        """Let a socket keep its place, as a WebSocket that was admitted does."""
        if isinstance(transport, asyncio.Transport):
            self._places.keep(transport)

    def arrived(self, transport: asyncio.Transport) -> None:
        """Give a new socket its protocol, or close it if all places are taken."""
        for closed in [known for known in self._places if known.is_closing()]:
            self._places.free(closed)
        peer = transport.get_extra_info("peername")
        admitted, victim = self._places.take(transport, str(peer[0]) if peer else "")
        if victim is not None:
            victim.abort()
        if not admitted:
            transport.abort()
            return
        handler = self._handlers()
        transport.set_protocol(handler)
        handler.connection_made(transport)


class _Arrival(asyncio.Protocol):
    """The protocol of a socket until it has a place."""

    def __init__(self, sockets: Sockets) -> None:
        self._sockets = sockets

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._sockets.arrived(transport)
