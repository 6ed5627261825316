"""Connecting to a server, with retries."""

import asyncio
import logging
from collections.abc import Awaitable, Callable
from typing import Any, TypeVar

import aiohttp
from yarl import URL

logger = logging.getLogger(__name__)

CONNECT_SECONDS = 30.0
"""The timeout of a handshake in seconds."""
HEARTBEAT = 30.0
"""Seconds between WebSocket pings, which detect a lost peer."""
CLOSE_SECONDS = 2.0
"""Seconds to wait for the answer to a close."""
UNREACHABLE = "UNREACHABLE"
"""The code of a `LiveError` after the last retry failed."""

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
        tries: the most failed attempts in a row.
        first_tries: the same before the first success, when the address may be wrong; None: `tries`.
        growth: the longest wait as a multiple of the first; 1: all waits are equal.

    Attributes:
        failures: number of failed attempts in a row.
        reached: whether an attempt has ever succeeded.
        longest: the longest wait in seconds.
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
        """The current limit of failed attempts in a row."""
        return self._tries if self.reached else self._first_tries

    def succeeded(self) -> None:
        """Reset the count of failures."""
        self.failures = 0
        self.reached = True

    def failed(self) -> float | None:
        """Count a failure; return the seconds to wait before the next try, or None after the last attempt."""
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
    """Return a description of the error, without the URL, which may contain a token."""
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
        http: the HTTP session.
        url: ``ws://…`` or ``wss://…``.
        most_bytes: the most bytes of a message; a longer one ends the connection.
        seconds: the timeout of the handshake.

    Raises:
        aiohttp.ClientError, OSError, TimeoutError: if it cannot be reached, or refuses.
    """
    closing = aiohttp.ClientWSTimeout(ws_close=CLOSE_SECONDS)
    async with asyncio.timeout(seconds):
        return await http.ws_connect(url, heartbeat=HEARTBEAT, max_msg_size=most_bytes, timeout=closing)
