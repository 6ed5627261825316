"""Server: base class of our HTTP and WebSocket servers. It starts, listens, limits clients, and stops gracefully.

Every host, and every agent that platforms connect to, is a `Server`. A browser lets every page that its user opens send
requests to servers on the user's machine, WebSockets included. It sends the page's origin with the request, and
`Origins` compares that with the server's own name. There are no more sockets than the
process can open (`Sockets`). A `Connection` is the server's side of a WebSocket: it has a bounded queue of outgoing
messages, and limits for incoming ones.
"""

import asyncio
import logging
import ssl
import sys
import time
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from importlib.resources.abc import Traversable
from ipaddress import ip_address
from os import PathLike
from pathlib import Path
from socket import SO_RCVBUF, SOL_SOCKET
from types import TracebackType
from typing import Any, Self, TypeVar

import msgspec
from aiohttp import WSCloseCode, WSMsgType, web
from aiohttp.http_exceptions import HttpProcessingError
from aiohttp.typedefs import Middleware
from yarl import URL

from ....envs.core.options import whole
from . import limits
from .client import OPENED
from .clock import receive
from .database import Database
from .limits import PROXIES, ConnectionLimits, Pace, Places, client_of, peer_of

logger = logging.getLogger(__name__)


RATE_LIMIT_EXCEEDED, VALIDATION_ERROR = "RATE_LIMIT_EXCEEDED", "VALIDATION_ERROR"
"""The codes of messages that are too many, or too long."""
UNLIMITED = 2.0**30
"""Messages a second."""
PEER = "peer"


class Connection:
    """One WebSocket with a bounded outgoing queue, so that a slow peer does not delay others. An async context manager.

    Args:
        socket: the prepared WebSocket, with ``autoping=False``: this class sends and answers pings.
        transport: its transport; None if it is already closed.
        limits: the limits of the connection.

    Attributes:
        closing: whether it closes after the queue is sent.
        transport: as given.
    """

    def __init__(
        self, socket: web.WebSocketResponse, transport: asyncio.Transport | None, limits: ConnectionLimits | None = None
    ) -> None:
        self.closing = self._aborted = False
        self.transport, self._socket, self.address = transport, socket, ""
        self._limits = limits or ConnectionLimits()
        self._queue: asyncio.Queue[str | tuple[int, bytes]] = asyncio.Queue(self._limits.queue)
        rate = UNLIMITED if self._limits.rate is None else self._limits.rate
        self._rate, self._controls = Pace(rate, 2 * rate), Pace(self._limits.controls, 2 * self._limits.controls)
        self._writer: asyncio.Task[None] | None = None

    async def __aenter__(self) -> Self:
        self._writer = asyncio.create_task(self._write())
        return self

    async def __aexit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType) -> None:
        assert self._writer is not None
        try:
            if self.closing:
                await asyncio.wait({self._writer}, timeout=self._limits.closing)
        finally:
            self._writer.cancel()

    # Outgoing.

    def send(self, item: str | tuple[int, bytes]) -> None:
        """Queue a message, or the code and the reason of a close. A peer that is too slow is dropped."""
        if self._aborted:
            return
        try:
            self._queue.put_nowait(item)
        except asyncio.QueueFull:
            logger.warning("dropping a connection that is %d messages behind", self._limits.queue)
            self.abort()

    def close(self, code: int = WSCloseCode.OK, reason: bytes = b"") -> None:
        """Close the connection after the queue is sent."""
        if not self.closing:
            self.closing = True
            self.send((code, reason))

    async def room(self) -> None:
        """Wait until less than half of the queue is on its way, or the connection has ended.

        For a sender that has much to send and may wait for the peer, such as one that passes a stream on.
        """
        while 2 * self._queue.qsize() >= self._limits.queue and not self._aborted:
            if self._writer is None or self._writer.done():
                return
            await asyncio.sleep(0.01)

    def abort(self) -> None:
        """End the connection at once."""
        self._aborted = True
        if self.transport is not None:
            self.transport.abort()

    async def _write(self) -> None:
        while True:
            item = await self._queue.get()
            try:
                if isinstance(item, str):
                    await self._socket.send_str(item)
                else:
                    await self._socket.close(code=item[0], message=item[1])
                    return
            except ConnectionError:  # the reader sees the end too, and does the clean-up
                return

    # Incoming.

    async def messages(self, refuse: Callable[[str, str], None] | None = None) -> AsyncIterator[str | bytes]:
        """Yield the peer's messages, text or bytes, until the connection ends.

        Args:
            refuse: called with a code and a sentence for the peer. Such a message is left out. None:
                messages beyond the rate come later, and long ones are left out.
        """
        limits, rate = self._limits, self._limits.rate or UNLIMITED
        try:
            while True:
                message = await receive(self._socket)
                if self._aborted:  # earlier messages are not read any more
                    return
                if message.type in (WSMsgType.PING, WSMsgType.PONG):
                    if not self._controls.take(PEER):
                        await asyncio.sleep(1 / limits.controls)  # the rest waits on the peer's side of the wire
                    elif message.type is WSMsgType.PING:
                        await self._socket.pong(message.data)
                    continue
                if message.type not in (WSMsgType.TEXT, WSMsgType.BINARY):
                    return
                fits, kept = limits.message is None or len(message.data) <= limits.message, True
                while kept and not self._rate.take(PEER):  # what cannot be refused waits
                    if refuse is not None:
                        refuse(RATE_LIMIT_EXCEEDED, f"more than {rate:g} messages a second")
                        kept = False
                    await asyncio.sleep(1 / rate)  # the rest waits on the peer's side of the wire
                if kept and fits:
                    yield message.data
                elif not fits and refuse is not None:
                    refuse(VALIDATION_ERROR, f"a message of {len(message.data)} bytes; at most {limits.message}")
                if 2 * self._queue.qsize() > limits.queue:
                    await asyncio.sleep(0)  # messages that came at once are answered at once; let the answers go out
        except ConnectionError as error:
            logger.info("a peer is lost: %s", error)

    def spare(self) -> None:
        """Take the latest message out of the rate's count."""
        self._rate.spare(PEER)


class Served:
    """A connection of a peer to us, as a `Port`."""

    def __init__(self, connection: Connection, encode: Callable[[Any], str]) -> None:
        self._connection, self._encode = connection, encode

    async def incoming(self) -> AsyncGenerator[Any, None]:
        """See `Port`."""
        yield OPENED
        async for data in self._connection.messages():
            yield data

    async def send(self, message: Any) -> None:
        """See `Port`."""
        self._connection.send(self._encode(message))

    async def redial(self, reason: str, level: int) -> None:
        """Close the connection: the peer comes back."""
        logger.log(level, "%s", reason)
        self._connection.close()


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


class Sockets(Places["HttpProtocol"]):
    """The open sockets of a server, each in a place of its address; the addresses of proxies have no share.

    They are at most half of the files that this process may open.
    """

    def __init__(self, proxies: Collection[str]) -> None:
        (most, each), files = limits.SOCKETS, -1
        if sys.platform != "win32":  # it has no such limit
            import resource

            files = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
        most = most if files < 0 else max(8, min(most, (files - RESERVED_FILES) // 2))
        super().__init__(most, min(each, most // 4))
        self._proxies, self._pace, self._warned = proxies, Pace(*limits.NEW_SOCKETS), float("-inf")

    def admits(self, protocol: "HttpProtocol", transport: asyncio.BaseTransport) -> bool:
        """Return True if a new socket gets a place: one is free, and its address has not too many."""
        peer = peer_of(transport, self._proxies)
        if not self._pace.take(peer):
            return False
        admitted, victim = self.take(protocol, peer)
        if victim is not None and victim.transport is not None:
            victim.transport.abort()
        if (victim is not None or not admitted) and time.monotonic() - self._warned > WARNING_SECONDS:
            self._warned = time.monotonic()
            http_log.warning("all %d sockets, or all of an address, are taken: idle ones give way", self.most)
        return admitted


class HttpProtocol(web.RequestHandler):
    """aiohttp's protocol of a socket. It ends where there is no place for it, or it says nothing for long."""

    def __init__(self, sockets: Sockets, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self._sockets = sockets
        self._silent: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """See aiohttp."""
        super().connection_made(transport)
        assert isinstance(transport, asyncio.Transport)
        if self._sockets.admits(self, transport):
            self._silent = asyncio.get_running_loop().call_later(limits.SILENT_SECONDS, transport.abort)
        else:
            transport.abort()

    def connection_lost(self, exc: BaseException | None) -> None:
        """See aiohttp."""
        self.keep(False)
        self._sockets.free(self)
        super().connection_lost(exc)

    def keep(self, kept: bool = True) -> None:
        """Let the socket keep its place, or no longer: while a request is answered, or a player sits. It has spoken."""
        self._sockets.keep(self, kept)
        if self._silent is not None:
            self._silent.cancel()

    def handle_error(self, *args: Any, **kwargs: Any) -> web.StreamResponse:
        """See aiohttp. What follows a request that cannot be read is not parsed."""
        if self.transport is not None:
            self.transport.pause_reading()
        return super().handle_error(*args, **kwargs)

    def log_exception(self, *args: Any, **kwargs: Any) -> None:
        """See aiohttp. A request that cannot be read is the client's fault: a line, without a traceback."""
        if isinstance(error := kwargs.get("exc_info"), HttpProcessingError | web.RequestPayloadError):
            http_log.info("%s: %s", args[0] % args[1:], ascii(str(error)[:200]))
        else:
            super().log_exception(*args, **kwargs)


BODY_SECONDS = 10.0
"""The timeout of a request's body in seconds."""
IDLE_SECONDS = 60.0
"""Seconds that a socket may take for the headers of a further request."""

Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]
Body = TypeVar("Body", bound=msgspec.Struct)

Live = Callable[[Connection], Awaitable[None]]
"""A function that serves a connection until it ends."""


class Origins:
    """The pages that may send requests to a server: only its own. Programs send no origin and are always allowed.

    A page of another site can give its own name the address of this machine (DNS rebinding). A server that knows its
    names, as one that only this machine reaches does, refuses such a page.
    """

    def __init__(self, address: str, names: Iterable[str] = (), strict: bool = True) -> None:
        known, here = {name.lower() for name in names}, address == "localhost"
        with suppress(ValueError):
            here = ip_address(address).is_loopback
        if strict and here:
            known |= {"localhost", "127.0.0.1", "::1"}
        self._names = known | {address.lower()} if known else None

    def refusal(self, host: str, origin: str | None) -> str | None:
        """Return why a request that names this host, of a page with this origin, is refused; None: it is not."""
        name = ""
        with suppress(ValueError):
            name = (URL(f"//{host}").host or "").lower()
        if self._names is not None and name not in self._names:
            return "this server has another name"
        if origin is not None and origin.partition("://")[2].lower() != host.lower():
            return "a page of another site may not use this server"
        return None

    @web.middleware
    async def check(self, request: web.Request, handler: Handler) -> web.StreamResponse:
        """Answer pages of other sites with HTTP 403."""
        if (refusal := self.refusal(request.host, request.headers.get("Origin"))) is not None:
            raise web.HTTPForbidden(reason=refusal)
        return await handler(request)


@dataclass(frozen=True, kw_only=True)
class ServerSettings:
    """Where a server listens, and who may use it.

    Attributes:
        address, port: the address to listen on; port 0 chooses a free one.
        names: further host names under which browsers may reach the server, such as a proxy's.
        proxies: addresses of proxies in front of it, whose ``X-Forwarded-For`` is believed; without them all clients of
            a proxy share its limits.
        access_token: the token that clients must send; the server says for what. None: no token.
        tls: the certificate that the server shows (see `server_tls`); None: it speaks plain HTTP.
        limits: the limits of a WebSocket; None: the server's own.

    Raises:
        ValueError: if the port is none, the names are one string or the access token is empty.
    """

    address: str = "127.0.0.1"
    port: int = 0
    names: Sequence[str] = ()
    proxies: Sequence[str] = ()
    access_token: str | None = field(default=None, repr=False)
    tls: ssl.SSLContext | None = None
    limits: ConnectionLimits | None = None

    def __post_init__(self) -> None:
        """Check the values."""
        whole("port", self.port, 0, 2**16 - 1)
        for name in ("names", "proxies"):
            if isinstance(given := getattr(self, name), str):
                raise ValueError(f"{name}={given!r}: need a list of {name}, such as [{given!r}]")
        if self.access_token == "":
            raise ValueError("access_token is empty: everybody would have it; None means that none is needed")


class Server:
    """An HTTP and WebSocket server. Use it as an async context manager, or call `start` and `stop`.

    A subclass defines `routes`, and may override `opening` (called before it listens) and `closing` (called when it
    stops).

    Args:
        settings: where it listens, and who may use it.
        check_host: whether requests must name the server, as `Origins` says; with names in the settings they always
            must.
        body_limit: the most bytes of a request's body; a longer one gets HTTP 413.
        connection_limits: the limits of a WebSocket, if the settings have none.
        most_connections: the most open WebSockets, half of them of one address and some left for those who were here
            before (see `Places`). One more takes the place of one that is not kept, or gets HTTP 503. None: no limit.

    Attributes:
        url: ``http://address:port`` (``https://…`` with a certificate); "" before the start.
        settings: where it listens, and who may use it.
        middlewares: of every request; a subclass names its own.
        store: what it keeps; None: nothing.
    """

    middlewares: Sequence[Middleware] = ()
    store: Database | None = None

    def __init__(
        self,
        settings: ServerSettings | None = None,
        *,
        check_host: bool = False,
        body_limit: int = 2**20,
        connection_limits: ConnectionLimits | None = None,
        most_connections: int | None = None,
    ) -> None:
        self.url = ""
        self.settings = settings = settings or ServerSettings()
        self._origins = Origins(settings.address, settings.names, check_host or bool(settings.names))
        self._body_limit = body_limit
        self._connection_limits = settings.limits or connection_limits or ConnectionLimits()
        self._connections: dict[Connection, asyncio.Task[Any] | None] = {}
        most = most_connections or sys.maxsize
        self._places: Places[Connection] = Places(most, max(1, most // 2), most // 8)
        self._pace = Pace(*limits.REQUESTS)
        self._listening: asyncio.Server | None = None
        self._runner: web.AppRunner | None = None
        self._stopping = False

    # Overridden by subclasses.

    def routes(self) -> Iterable[web.RouteDef]:
        """Return the routes."""
        raise NotImplementedError

    @property
    def problem(self) -> str | None:
        """Why the server is not healthy: what it cannot save; None: it is."""
        return None if self.store is None else self.store.problem

    async def opening(self) -> None:
        """Called before the server listens."""

    async def closing(self) -> None:
        """Called when the server stops, while its connections are still open. It may be called twice."""

    # Start and stop.

    async def start(self) -> None:
        """Start to listen.

        Raises:
            OSError: if the port is taken.
        """
        self._stopping = False
        try:
            await self.opening()
            middlewares = [self._origins.check, self._mark_busy, *self.middlewares]
            app = web.Application(client_max_size=self._body_limit, middlewares=middlewares)
            app[PROXIES] = self.settings.proxies
            app.add_routes(self.routes())
            self._runner = web.AppRunner(app, access_log=None, shutdown_timeout=1.0, logger=http_log)
            await self._runner.setup()
            settings, loop = self.settings, asyncio.get_running_loop()
            # Nothing is decompressed: a small body could expand to gigabytes.
            options: dict[str, Any] = {"keepalive_timeout": IDLE_SECONDS, "auto_decompress": False, "logger": http_log}
            sockets = Sockets(settings.proxies)
            http = partial(HttpProtocol, sockets, self._runner.server, loop=loop, access_log=None, **options)
            handshake = None if settings.tls is None else HANDSHAKE_SECONDS
            self._listening = await loop.create_server(
                http, settings.address, settings.port, backlog=128, ssl=settings.tls, ssl_handshake_timeout=handshake
            )
            if max(self._body_limit, self._connection_limits.frame) <= LONG_MESSAGE:
                for socket in self._listening.sockets:
                    socket.setsockopt(SOL_SOCKET, SO_RCVBUF, RECEIVED_BYTES)
            address, port = self._listening.sockets[0].getsockname()[:2]
            self.url = url_of(address, port, secure=settings.tls is not None)
        except BaseException:
            await self.stop()
            raise

    @web.middleware
    async def _mark_busy(self, request: web.Request, handler: Handler) -> web.StreamResponse:
        """Let a request of an address that sends many wait. The socket of one that is answered keeps its place."""
        protocol = request.protocol
        assert isinstance(protocol, HttpProtocol)
        if (wait := self._pace.wait(client_of(request))) is None:
            raise web.HTTPTooManyRequests(text="too many requests of this address", headers={"Retry-After": "1"})
        protocol.keep()
        try:
            await asyncio.sleep(wait)
            return await handler(request)
        finally:
            protocol.keep(False)

    async def stop(self) -> None:
        """Call `closing`, close the connections and stop listening."""
        self._stopping = True
        await self.closing()
        for connection in self._connections:
            connection.close(WSCloseCode.GOING_AWAY, b"the server is going away")
        serving = {task for task in self._connections.values() if task is not None} - {asyncio.current_task()}
        if serving:
            await asyncio.wait(serving, timeout=self._connection_limits.closing)
        for connection in list(self._connections):
            connection.abort()
        if self._listening is not None:
            self._listening.close()
        runner, self._runner = self._runner, None
        if runner is not None:
            await runner.cleanup()

    async def __aenter__(self) -> Self:
        await self.start()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.stop()

    # Connections and requests.

    @property
    def connections(self) -> int:
        """The number of open WebSockets."""
        return len(self._connections)

    async def upgrade(self, request: web.Request, live: Live) -> web.WebSocketResponse:
        """Upgrade a request to a WebSocket, and serve it with `live` until it ends.

        Raises:
            web.HTTPException: 426 if the request is not a WebSocket request, 503 if too many are open.
        """
        limits = self._connection_limits
        # No compression: a small frame could expand to gigabytes. No automatic pings: `Connection` sends and answers
        # them, and limits those of the peer.
        ws = web.WebSocketResponse(max_msg_size=limits.frame, compress=False, timeout=limits.closing, autoping=False)
        if not ws.can_prepare(request).ok:
            raise web.HTTPUpgradeRequired(text="this is a WebSocket: connect to it as one\n")
        if self._stopping:
            raise web.HTTPServiceUnavailable(text="the server is going away\n")
        connection = Connection(ws, request.transport, limits)
        connection.address = client_of(request)
        admitted, victim = self._places.take(connection, connection.address)
        if victim is not None:
            victim.abort()
        if not admitted:
            raise web.HTTPServiceUnavailable(text="too many connections are open\n")
        try:
            try:
                await ws.prepare(request)
            except ConnectionError:
                logger.info("a peer was gone before its WebSocket was open")
                raise web.HTTPBadRequest(text="gone\n") from None  # nobody reads it
            assert isinstance(request.protocol, HttpProtocol)
            request.protocol.keep(False)  # it may be that of one who only looks on
            self._connections[connection] = asyncio.current_task()
            async with connection:
                await live(connection)
        finally:
            self._connections.pop(connection, None)
            self._places.free(connection)
        return ws

    def keep(self, connection: Connection, kept: bool = True) -> None:
        """Let a connection keep its place when others want to connect, or no longer: that of a player in a seat."""
        self._places.keep(connection, kept)
        protocol = connection.transport and connection.transport.get_protocol()
        if isinstance(protocol, HttpProtocol):
            protocol.keep(kept)


def server_tls(cert: str | PathLike[str], key: str | PathLike[str] | None = None) -> ssl.SSLContext:
    """Return the TLS settings of a server.

    Args:
        cert: file with its certificate and those of its authorities (PEM).
        key: file with the certificate's key; None: the certificate's file.

    Raises:
        ValueError: if a file cannot be read, or the key does not belong to the certificate.
    """
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    try:
        context.load_cert_chain(cert, key)
    except (OSError, ssl.SSLError) as error:
        raise ValueError(f"cannot use the certificate {cert}: {error}") from None
    return context


def url_of(address: str, port: int, secure: bool = False) -> str:
    """Return the HTTP address of a server.

    >>> url_of("::1", 80)
    'http://[::1]:80'
    """
    return f"http{'s' * secure}://" + (f"[{address}]:{port}" if ":" in address else f"{address}:{port}")


def local_url(url: str) -> str:
    """Return a server's URL for clients on this machine, also if the server listens on all addresses.

    >>> local_url("http://0.0.0.0:80")
    'http://127.0.0.1:80'
    """
    return url.replace("//0.0.0.0:", "//127.0.0.1:").replace("//[::]:", "//[::1]:")


class BadBody(ValueError):
    """A request's body that cannot be read, with a sentence for the client."""


async def read_struct(request: web.Request, kind: type[Body]) -> Body:
    """Return a request's JSON body; an empty one is ``{}``.

    Raises:
        BadBody: if it cannot be read.
    """
    try:
        return msgspec.json.decode(await read_body(request) or b"{}", type=kind)
    except (ValueError, RecursionError) as error:  # msgspec's errors are ValueErrors
        raise BadBody(f"cannot read the body: {str(error)[:200]}") from None


async def read_body(request: web.Request, seconds: float | None = None) -> bytes:
    """Return a request's body, which comes within so many seconds (None: `BODY_SECONDS`).

    Raises:
        ValueError: if it is late, incomplete, or not coded as its headers say.
    """
    try:
        async with asyncio.timeout(seconds := BODY_SECONDS if seconds is None else seconds):
            return await request.read()
    except TimeoutError:
        raise ValueError(f"the body did not come within {seconds:g} seconds") from None
    except web.RequestPayloadError as error:
        raise ValueError(f"the body cannot be read: {str(error)[:200]!a}") from None
    except ConnectionError:  # the client is gone
        raise ValueError("the body broke off") from None


# A page: its files and their HTTP headers.

HEADERS = {
    "Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; "
    "img-src 'self' data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "Cache-Control": "no-cache",
}
"""The headers of every file: they allow only the server's own scripts, styles and connections, and no frame."""

TYPES = {".html": "text/html", ".js": "text/javascript", ".css": "text/css", ".svg": "image/svg+xml"}
"""The content types of the served files, by extension. Other files in the folder are not served."""


def page_routes(
    folder: Traversable, facts: Mapping[str, Any], index: str = "index.html", more: Iterable[Traversable] = ()
) -> list[web.RouteDef]:
    """Return the routes of a page: the file `index` as ``/``, every file by its path, and ``facts.json``.

    Args:
        folder: the files, read once.
        facts: what the page must know of its server.
        index: the file that is the page; the folder's other ``.html`` files are not served.
        more: files of other folders, served beside those.
    """
    routes = [_file_route("/facts.json", msgspec.json.encode(facts), "application/json")]
    top = Path(str(folder))
    inside = ((f"/{file.relative_to(top).as_posix()}", file) for file in sorted(top.rglob("*")))
    for path, file in [*inside, *((f"/{one.name}", one) for one in more)]:
        kind = TYPES.get(path[path.rfind(".") :])
        if kind is not None and (path == f"/{index}" or not path.endswith(".html")):
            routes.append(_file_route("/" if path == f"/{index}" else path, file.read_bytes(), kind))
    return routes


def _file_route(path: str, body: bytes, kind: str) -> web.RouteDef:
    async def answer(request: web.Request) -> web.Response:
        return web.Response(body=body, content_type=kind, charset="utf-8", headers=HEADERS)

    return web.get(path, answer)
