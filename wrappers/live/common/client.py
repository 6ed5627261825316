"""Requests and connections to a server that nobody trusts: bounded, never unpacked, with retries."""

import asyncio
import json
import logging
import ssl
from collections.abc import Awaitable, Callable, Mapping
from os import PathLike
from typing import Any, TypeVar

import aiohttp
from yarl import URL

from .activity import Link

logger = logging.getLogger(__name__)

CONNECT_SECONDS = 30.0
"""The timeout of a handshake in seconds."""
CLOSE_SECONDS = 2.0
"""Seconds to wait for the answer to a close."""
UNREACHABLE = "UNREACHABLE"
"""The code of a `LiveError` after the last retry failed."""
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
    """An attempt failed, and a retry may work. The message is a sentence for the log, without secrets."""


class Backoff:
    """The waits between attempts to connect, and the number of attempts. It has no clock.

    Args:
        wait: seconds between the first attempt and the second. The n-th wait is n times this, at most `growth` times.
        tries: the most failed attempts in a row; None: no limit.
        first_tries: the same before the first success, when the address may be wrong; None: `tries`.
        growth: the longest wait as a multiple of the first; 1: all waits are equal.
        link: gets every failure as the end of a connection; None: nobody does.

    Attributes:
        failures: number of failed attempts in a row.
        reached: whether an attempt has ever succeeded.
        longest: the longest wait in seconds.
    """

    def __init__(
        self,
        wait: float,
        tries: int | None,
        *,
        first_tries: int | None = None,
        growth: int = 10,
        link: Link | None = None,
    ) -> None:
        self.failures = 0
        self.reached = False
        self.longest = wait * growth
        self._wait = wait
        self._link = link
        self._tries = tries
        self._first_tries = min((limit for limit in (tries, first_tries) if limit is not None), default=None)

    @property
    def tries(self) -> int | None:
        """The current limit of failed attempts in a row; None: no limit."""
        return self._tries if self.reached else self._first_tries

    def succeeded(self) -> None:
        """Reset the count of failures."""
        self.failures = 0
        self.reached = True

    def failed(self) -> float | None:
        """Count a failure; return the seconds to wait before the next try, or None after the last attempt."""
        self.failures += 1
        if self._link is not None:
            self._link.down()
        if self.tries is not None and self.failures >= self.tries:
            return None
        return min(self._wait * self.failures, self.longest)


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
            backoff.reached = True
            problem = str(error)
        except aiohttp.ClientConnectorCertificateError as error:
            problem = describe_connection_error(error)
            if not backoff.reached:
                raise LiveError(UNTRUSTED_CERTIFICATE, problem) from None
        except CONNECTION_ERRORS as error:
            backoff.reached = backoff.reached or not isinstance(error, aiohttp.ClientConnectorError)
            problem = describe_connection_error(error)
        wait = backoff.failed()
        if wait is None:
            raise LiveError(UNREACHABLE, f"{problem}; gave up after {backoff.failures} tries")
        of = "" if backoff.tries is None else f" of {backoff.tries}"
        logger.warning("%s; trying again in %.1f s (%d%s)", problem, wait, backoff.failures, of)
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


def tls_context(ca_file: str | PathLike[str] | None) -> ssl.SSLContext | bool:
    """Return how servers' certificates are checked: as aiohttp does, or with more authorities (PEM) than the system's.

    Raises:
        ValueError: if the file cannot be read, or holds no certificate.
    """
    if ca_file is None:
        return True
    context = ssl.create_default_context()
    try:
        context.load_verify_locations(cafile=ca_file)
    except (OSError, ssl.SSLError) as error:
        raise ValueError(f"cannot read certificates from {ca_file}: {error}") from None
    return context


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


ANSWER_LIMIT = 2**20
"""Most bytes of a JSON answer."""


def http_client(
    headers: Mapping[str, str] | None = None, *, connector: aiohttp.BaseConnector | None = None, seconds: float = 60.0
) -> aiohttp.ClientSession:
    """Return a client that asks for answers as they are, unpacks nothing and keeps no cookies.

    Args:
        headers: of every request.
        connector: see aiohttp.
        seconds: the timeout of a request, where it has none of its own.
    """
    return aiohttp.ClientSession(
        connector=connector,
        timeout=aiohttp.ClientTimeout(total=seconds),
        headers={"Accept-Encoding": "identity", **(headers or {})},
        auto_decompress=False,
        cookie_jar=aiohttp.DummyCookieJar(),
    )


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
