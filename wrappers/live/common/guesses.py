"""Guesses: wrong access tokens of an address. After too many it waits before it may try another.

Keys and tokens that a host has drawn are too long to be guessed, and are not counted.
"""

import asyncio
from collections import deque
from collections.abc import Callable

from .tokens import same_token

MOST_WRONG = 20
"""Wrong access tokens of one address within `SECONDS`."""
SECONDS = 60.0
MOST_ADDRESSES = 10_000
"""Addresses that are remembered; beyond, the one whose first wrong try is the oldest is forgotten."""
TOO_MANY = f"more than {MOST_WRONG} wrong access tokens in {SECONDS:g} s came from your address: wait"


class Guesses:
    """The times of the latest wrong tries by address."""

    def __init__(self) -> None:
        self._wrong: dict[str, deque[float]] = {}

    def note(self, address: str) -> None:
        """Note that an address has sent a wrong access token."""
        self._wrong.setdefault(address, deque(maxlen=MOST_WRONG)).append(asyncio.get_running_loop().time())
        if len(self._wrong) > MOST_ADDRESSES:
            del self._wrong[next(iter(self._wrong))]

    def too_many(self, address: str) -> bool:
        """Return whether an address has to wait."""
        times = self._wrong.get(address)
        return times is not None and len(times) == MOST_WRONG and asyncio.get_running_loop().time() - times[0] < SECONDS

    def admit(self, address: str, given: str | None, ask: Callable[[], str | None]) -> str | None:
        """Return why an access token is not accepted; None if it is.

        Args:
            address: of the client.
            given: its access token; "" or None without one, which is no guess.
            ask: returns why the token is refused, None if it is right. An address with too many guesses is not told.
        """
        if given and self.too_many(address):
            return TOO_MANY
        problem = ask()
        if problem is not None and given:
            self.note(address)
        return problem

    def status(self, address: str, given: str, expected: str | None) -> int | None:
        """Return the HTTP status of a request without the expected access token: 401, or 429 for too many guesses.

        None: it has the token, or none is expected.
        """
        if expected is None:
            return None
        problem = self.admit(address, given, lambda: None if same_token(given, expected) else "wrong")
        return None if problem is None else 429 if problem is TOO_MANY else 401
