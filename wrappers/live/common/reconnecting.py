"""Connecting to a server, and trying again."""

import asyncio
import logging
import ssl
from collections.abc import Awaitable, Callable
from os import PathLike
from typing import Any, TypeVar

import aiohttp
from yarl import URL

logger = logging.getLogger(__name__)

CONNECT_SECONDS = 30.0
"""Seconds for a handshake."""
HEARTBEAT = 30.0
"""Seconds between WebSocket's own pings, which find out that a peer is gone."""
CLOSE_SECONDS = 2.0
"""Seconds that a server has to answer a close."""
UNREACHABLE = "UNREACHABLE"
"""The code of a `LiveError` where the server did not answer, however often it was tried."""
UNTRUSTED_CERTIFICATE = "UNTRUSTED_CERTIFICATE"
"""The code of a `LiveError` where the server's certificate is not trusted."""

CONNECTION_ERRORS = (aiohttp.ClientError, OSError, TimeoutError)
"""What connecting, sending and receiving may raise."""

Result = TypeVar("Result")


class LiveError(ConnectionError):
    """The platform cannot be played on, or not any longer. Another try is of no use.

    Args:
        code: the protocol's, or `UNREACHABLE`.
        message: a sentence.
        details: what a program can use of it.
    """

    def __init__(self, code: str, message: str, details: Any = None) -> None:
        super().__init__(f"{code}: {message}")
        self.code = code
        self.details: dict[str, Any] = details if isinstance(details, dict) else {}


class TryAgain(Exception):
    """An attempt failed, and another one may work. Its text is a sentence for the log, without secrets."""


class Backoff:
    """How long to wait between tries to connect, and when to give up. It has no clock.

    Args:
        wait: seconds between the first try and the second. The n-th wait is n times as long, at most `growth` times.
        tries: tries in a row, after which it is given up; None: never.
        first_tries: the same while the server has never been reached, since its address may be wrong; None: `tries`.
        growth: how many times as long as the first wait the longest is; 1: all are equally long.

    Attributes:
        failures: tries in a row that failed.
        reached: whether the server was reached at any time.
        longest: seconds of the longest wait.
    """

    def __init__(self, wait: float, tries: int | None, *, first_tries: int | None = None, growth: int = 10) -> None:
        self.failures = 0
        self.reached = False
        self.longest = wait * growth
        self._wait = wait
        self._tries = tries
        self._first_tries = min((limit for limit in (tries, first_tries) if limit is not None), default=None)

    @property
    def tries(self) -> int | None:
        """After how many tries in a row it is given up, as things stand; None: never."""
        return self._tries if self.reached else self._first_tries

    def succeeded(self) -> None:
        """Begin to count anew."""
        self.failures = 0
        self.reached = True

    def failed(self) -> float | None:
        """Count a failure; return the seconds to wait before the next try, or None if it is time to give up."""
        self.failures += 1
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
    """Return what happened in words, without the URL: it may hold a token."""
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
    """Connect to a server's WebSocket.

    Args:
        http: what connects.
        url: ``ws://…`` or ``wss://…``.
        most_bytes: of a message; a longer one ends the connection.
        seconds: for the handshake.

    Raises:
        aiohttp.ClientError, OSError, TimeoutError: if it cannot be reached, or refuses.
    """
    closing = aiohttp.ClientWSTimeout(ws_close=CLOSE_SECONDS)
    async with asyncio.timeout(seconds):
        return await http.ws_connect(url, heartbeat=HEARTBEAT, max_msg_size=most_bytes, timeout=closing)
