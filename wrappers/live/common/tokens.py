"""Access tokens, compared in constant time; who is admitted to a seat; and the wrong tokens of an address."""

import asyncio
import hashlib
from collections import deque
from collections.abc import Callable
from hmac import compare_digest
from typing import Annotated

from aiohttp import web
from msgspec import Meta

Admit = Callable[[str | None, str | None], str | None]
"""Called with the name and the access token of a player who wants a seat. It returns why the player gets none, or None
if the player is admitted."""

ChosenToken = Annotated[str, Meta(min_length=22, max_length=100)]
"""A token of random characters that a client chooses: who sends it again, as the answer was lost, gets the same."""


def bearer_token(request: web.Request) -> str:
    """Return the token of the header ``Authorization: Bearer …``; "" without one."""
    kind, _, value = request.headers.get("Authorization", "").partition(" ")
    return value.strip() if kind.lower() == "bearer" else ""


def same_token(given: str | None, expected: str) -> bool:
    """Return whether two tokens are equal, in constant time."""
    return compare_digest((given or "").encode(errors="surrogatepass"), expected.encode(errors="surrogatepass"))


def admit_by_token(access_token: str | None, refusal: str) -> Admit:
    """Return an `Admit` that answers another access token with `refusal`. With None everybody is admitted."""

    def admit(name: str | None, given: str | None) -> str | None:
        return None if access_token is None or same_token(given, access_token) else refusal

    return admit


def hashed(secret: str) -> str:
    """Return what is kept of a key or token: secrets as random as ours need no salt."""
    return hashlib.sha256(secret.encode(errors="surrogatepass")).hexdigest()


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

    def admit(self, address: str, given: str | None, ask: Callable[[], str | None]) -> str | None:
        """Return why an access token is not accepted; None if it is. The right one always is: guesses may be others'.

        Args:
            address: of the client.
            given: its access token; "" or None without one, which is no guess.
            ask: returns why the token is refused, None if it is right.
        """
        problem = ask()
        if problem is None or not given:
            return problem
        now, times = asyncio.get_running_loop().time(), self._wrong.setdefault(address, deque(maxlen=MOST_WRONG))
        if len(times) == MOST_WRONG and now - times[0] < SECONDS:
            return TOO_MANY
        times.append(now)
        if len(self._wrong) > MOST_ADDRESSES:
            del self._wrong[next(iter(self._wrong))]
        return problem

    def status(self, address: str, given: str, expected: str | None) -> int | None:
        """Return the HTTP status of a request without the expected access token: 401, or 429 for too many guesses.

        None: it has the token, or none is expected.
        """
        if expected is None:
            return None
        problem = self.admit(address, given, lambda: None if same_token(given, expected) else "wrong")
        return None if problem is None else 429 if problem is TOO_MANY else 401
