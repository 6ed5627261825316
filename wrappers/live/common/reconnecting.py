"""Connecting to a server, and trying again."""

import asyncio
import logging
from collections.abc import Awaitable, Callable
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
        tries: tries in a row, after which it is given up.
        first_tries: the same while the server has never been reached, since its address may be wrong; None: `tries`.
        growth: how many times as long as the first wait the longest is; 1: all are equally long.

    Attributes:
        failures: tries in a row that failed.
        reached: whether the server was reached at any time.
        longest: seconds of the longest wait.
    """

    def __init__(self, wait: float, tries: int, *, first_tries: int | None = None, growth: int = 10) -> None:
        self.failures = 0
        self.reached = False
        self.longest = wait * growth
        self._wait = wait
        self._tries = tries
        self._first_tries = tries if first_tries is None else min(tries, first_tries)

    @property
    def tries(self) -> int:
        """After how many tries in a row it is given up, as things stand."""
        return self._tries if self.reached else self._first_tries

    def succeeded(self) -> None:
        """Begin to count anew."""
        self.failures = 0
        self.reached = True

    def failed(self) -> float | None:
        """Count a failure; return the seconds to wait before the next try, or None if it is time to give up."""
        self.failures += 1
        return None if self.failures >= self.tries else min(self._wait * self.failures, self.longest)


async def retry(attempt: Callable[[], Awaitable[Result]], backoff: Backoff) -> Result:
    """Return the result of the first attempt that does not fail; wait between attempts.

    An attempt fails by `TryAgain`, `aiohttp.ClientError`, `OSError` or `TimeoutError`. A `LiveError` ends the tries.

    Raises:
        LiveError: `UNREACHABLE` when the backoff gives up; or the attempt's own.
    """
    while True:
        try:
            return await attempt()
        except LiveError:
            raise
        except TryAgain as error:
            backoff.reached = True
            problem = str(error)
        except CONNECTION_ERRORS as error:
            backoff.reached = backoff.reached or not isinstance(error, aiohttp.ClientConnectorError)
            problem = describe_connection_error(error)
        wait = backoff.failed()
        if wait is None:
            raise LiveError(UNREACHABLE, f"{problem}; gave up after {backoff.failures} tries")
        logger.warning("%s; trying again in %.1f s (%d of %d)", problem, wait, backoff.failures, backoff.tries)
        await asyncio.sleep(wait)


def describe_connection_error(error: BaseException) -> str:
    """Return what happened in words, without the URL: it may hold a token."""
    if isinstance(error, aiohttp.WSServerHandshakeError):
        return f"the server answered the handshake with HTTP {error.status}"
    if isinstance(error, aiohttp.ClientConnectorError):
        return f"cannot connect to {error.host}:{error.port}"
    return f"{type(error).__name__} while connecting"


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
