"""Access tokens, compared in constant time, and who is admitted to a seat."""

import hashlib
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


def lacks_token(request: web.Request, expected: str | None, given: str | None = None) -> bool:
    """Return whether a request lacks the expected access token (None: none is expected).

    It is `given`, or in the header. Wrong ones are not counted: guesses may be others', behind the same address.
    """
    return expected is not None and not same_token(bearer_token(request) or given, expected)


def hashed(secret: str) -> str:
    """Return what is kept of a key or token: secrets as random as ours need no salt."""
    return hashlib.sha256(secret.encode(errors="surrogatepass")).hexdigest()
