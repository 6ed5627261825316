"""Requests and connections to a server that nobody trusts: bounded, never unpacked, with retries and pings.

aiohttp's `heartbeat` pings too, but its timer keeps a closed WebSocket in memory for up to the time of a heartbeat. A
program that connects often for weeks grows by it.
"""

import asyncio
import json
import logging
import time
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any, Protocol, TypeVar

import aiohttp
from aiohttp import WSMsgType
from yarl import URL

from .clock import receive

logger = logging.getLogger(__name__)

CONNECT_SECONDS = 30.0
"""The timeout of a handshake in seconds."""
CLOSE_SECONDS = 2.0
"""Seconds to wait for the answer to a close."""
UNREACHABLE = "UNREACHABLE"
"""The code of a `LiveError` after the last retry failed."""
REDIRECTED = "REDIRECTED"
"""The code of a `LiveError` if the server redirects us to another one."""
UNTRUSTED_CERTIFICATE = "UNTRUSTED_CERTIFICATE"
"""The code of a `LiveError` if the server's certificate is not trusted."""

CONNECTION_ERRORS = (aiohttp.ClientError, OSError, TimeoutError)
"""The errors of connecting, sending and receiving."""

Result = TypeVar("Result")


class LiveError(ConnectionError):
    """Play on the platform is not possible, or has ended. A retry does not help.

    Args:
        code: the protocol's error code, or `UNREACHABLE`.
        message: a sentence.
        details: data for programs.
    """

    def __init__(self, code: str, message: str, details: Any = None) -> None:
        super().__init__(f"{code}: {message}")
        self.code = code
        self.details: dict[str, Any] = details if isinstance(details, dict) else {}


class TryAgain(Exception):
    """An attempt failed, and a retry may work. `text` is a sentence for the log, without secrets."""

    def __init__(self, text: str, level: int = logging.WARNING) -> None:
        super().__init__(text)
        self.level = level


class Link:
    """The state of an agent's connection to a platform."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self.connected, self.reconnects = False, 0
        self._clock, self._since, self._lost = clock, clock(), False

    def up(self) -> None:
        """Note that there is a connection."""
        self.reconnects += self._lost and not self.connected
        self._lost, self.connected = False, True

    def down(self, lost: bool = True) -> None:
        """Note that there is no connection; not `lost`: it ended as planned, and the next one is no reconnect."""
        if self.connected:
            self.connected, self._lost = False, lost
            self._since = self._clock()

    @property
    def away(self) -> float:
        """Seconds without a connection; 0 with one."""
        return 0.0 if self.connected else self._clock() - self._since


@dataclass
class Backoff:
    """The waits between attempts to connect, and the number of attempts. It has no clock.

    Attributes:
        wait: seconds between the first attempt and the second. The n-th wait is n times this, up to `growth` times.
        most: the most failed attempts in a row; None: no limit.
        first_tries: the same before the first success, when the address may be wrong; None: `most`.
        growth: the longest wait as a multiple of the first; 1: all waits are equal.
        link: gets every failure as the end of a connection; None: nobody does.
        failures: number of failed attempts in a row.
        reached: whether an attempt has ever succeeded.
    """

    wait: float
    most: int | None
    first_tries: int | None = None
    growth: int = 10
    link: Link | None = None
    failures: int = 0
    reached: bool = False

    @property
    def tries(self) -> int | None:
        """The current limit of failed attempts in a row; None: no limit."""
        limits = [self.most] if self.reached else [self.most, self.first_tries]
        return min((limit for limit in limits if limit is not None), default=None)

    def succeeded(self) -> None:
        """Reset the count of failures."""
        self.failures, self.reached = 0, True

    def failed(self) -> float | None:
        """Count a failure; return the seconds to wait before the next try, or None after the last attempt."""
        self.failures += 1
        if self.link is not None:
            self.link.down()
        if self.tries is not None and self.failures >= self.tries:
            return None
        return self.wait * min(self.failures, self.growth)


async def retry(attempt: Callable[[], Awaitable[Result]], backoff: Backoff) -> Result:
    """Return the result of the first attempt that does not fail; wait between attempts.

    An attempt fails by `TryAgain`, `aiohttp.ClientError`, `OSError` or `TimeoutError`. A `LiveError` ends the tries. So
    does a certificate that is not trusted, unless the server was reached before.

    Raises:
        LiveError: `UNREACHABLE` when the backoff gives up; `UNTRUSTED_CERTIFICATE`; or the attempt's own.
    """
    while True:
        try:
            return await attempt()
        except LiveError:
            raise
        except TryAgain as error:
            backoff.reached, problem, level = True, str(error), error.level
        except CONNECTION_ERRORS as error:
            problem, level = describe_connection_error(error), logging.WARNING
            if isinstance(error, aiohttp.ClientConnectorCertificateError) and not backoff.reached:
                raise LiveError(UNTRUSTED_CERTIFICATE, problem) from None
            backoff.reached = backoff.reached or not isinstance(error, aiohttp.ClientConnectorError)
        if (wait := backoff.failed()) is None:
            raise LiveError(UNREACHABLE, f"{problem}; gave up after {backoff.failures} tries")
        of = "" if backoff.tries is None else f" of {backoff.tries}"
        logger.log(level, "%s; trying again in %.1f s (%d%s)", problem, wait, backoff.failures, of)
        await asyncio.sleep(wait)


def describe_connection_error(error: BaseException) -> str:
    """Return a description of the error, without the URL, which may contain a token."""
    if isinstance(error, aiohttp.WSServerHandshakeError):
        return f"the server answered the handshake with HTTP {error.status}"
    if isinstance(error, aiohttp.ClientConnectorCertificateError):
        reason = getattr(error.certificate_error, "verify_message", "") or type(error.certificate_error).__name__
        return f"the certificate of {error.host}:{error.port} is not trusted: {reason} (is there a CA file for it?)"
    if isinstance(error, aiohttp.ClientConnectorError):
        return f"cannot connect to {error.host}:{error.port}"
    return f"{type(error).__name__} while connecting"


async def open_websocket(
    http: aiohttp.ClientSession, url: URL | str, *, most_bytes: int = 2**20, seconds: float = CONNECT_SECONDS
) -> aiohttp.ClientWebSocketResponse:
    """Connect to a server's WebSocket. Read it with `next_message`, which pings the server and answers its pings.

    Args:
        http: the HTTP session.
        url: ``ws://…`` or ``wss://…``.
        most_bytes: the most bytes of a message; a longer one ends the connection.
        seconds: the timeout of the handshake.

    Raises:
        aiohttp.ClientError, OSError, TimeoutError: if it cannot be reached, or refuses.
    """
    closing = aiohttp.ClientWSTimeout(ws_close=CLOSE_SECONDS)
    async with asyncio.timeout(seconds):
        return await http.ws_connect(url, autoping=False, max_msg_size=most_bytes, timeout=closing)


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


class Port(Protocol):
    """Where a codec's data comes from and its messages go to, as long as it stays open."""

    def incoming(self) -> AsyncGenerator[Any, None]:
        """Yield what comes in, and `OPENED` first on every new connection, until the port is closed."""

    async def send(self, message: Any) -> None:
        """Send a message, if there is a connection. A lost connection is no error here."""

    async def redial(self, reason: str, level: int) -> None:
        """End this connection; the next one follows. The reason is logged with this level."""


OPENED = object()


ANSWER_LIMIT = 2**20
"""Most bytes of a JSON answer."""


def http_client(
    headers: Mapping[str, str] | None = None, *, connector: aiohttp.BaseConnector | None = None, seconds: float = 60.0
) -> aiohttp.ClientSession:
    """Return a client that asks for answers as they are, unpacks nothing and keeps no cookies.

    It follows a redirection within the server only: elsewhere nobody is to get keys, tokens and states.

    Args:
        headers: of every request.
        connector: see aiohttp.
        seconds: the timeout of a request, where it has none of its own.
    """
    trace = aiohttp.TraceConfig()
    trace.on_request_redirect.append(_stay)
    return aiohttp.ClientSession(
        connector=connector,
        trace_configs=[trace],
        timeout=aiohttp.ClientTimeout(total=seconds),
        headers={"Accept-Encoding": "identity", **(headers or {})},
        auto_decompress=False,
        cookie_jar=aiohttp.DummyCookieJar(),
    )


async def _stay(http: aiohttp.ClientSession, context: SimpleNamespace, of: aiohttp.TraceRequestRedirectParams) -> None:
    target = of.url.join(URL(of.response.headers.get("Location") or of.response.headers.get("URI") or ""))
    if target.origin() != of.url.origin():
        raise LiveError(REDIRECTED, f"{of.url.origin()} sends us to {target.origin()}")


async def read_json(reply: aiohttp.ClientResponse, most: int = ANSWER_LIMIT) -> Any:
    """Return a JSON answer of at most so many bytes; None for an empty one.

    Raises:
        ValueError: if it is longer, or no JSON.
        RecursionError: if it is nested too deeply.
    """
    body = bytearray()
    async for part in reply.content.iter_any():
        body += part
        if len(body) > most:
            reply.close()
            raise ValueError(f"an answer of more than {most} bytes")
    return json.loads(body) if body.strip() else None


async def request_json(
    http: aiohttp.ClientSession, method: str, url: URL | str, backoff: Backoff, most: int = ANSWER_LIMIT, **options: Any
) -> Any:
    """Return the JSON of a server's answer. Repeats the request if the server cannot be reached, or answers 429 or 5xx.

    Args:
        http: the client.
        method, url: of the request.
        backoff: number of tries and waits.
        most: bytes of an answer.
        options: of `aiohttp.ClientSession.request`.

    Raises:
        LiveError: ``HTTP 4xx`` with the server's text, or `UNREACHABLE` after the last try.
    """

    async def attempt() -> Any:
        async with http.request(method, url, **options) as reply:
            if reply.status >= 500 or reply.status == 429:
                raise TryAgain(f"the server answered with HTTP {reply.status}")
            if not reply.ok:
                raise LiveError(f"HTTP {reply.status}", (await reply.content.read(300)).decode(errors="replace"))
            try:
                return await read_json(reply, most)
            except (ValueError, RecursionError) as error:
                raise TryAgain(f"the server's answer cannot be read: {str(error)[:100]}") from None

    return await retry(attempt, backoff)
