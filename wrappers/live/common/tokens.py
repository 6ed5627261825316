"""Secrets that clients bear, compared in constant time."""

from hmac import compare_digest

from aiohttp import web


def bearer_token(request: web.Request) -> str:
    """Return the token of the header ``Authorization: Bearer …``; "" where there is none."""
    kind, _, value = request.headers.get("Authorization", "").partition(" ")
    return value.strip() if kind.lower() == "bearer" else ""


def same_token(given: str | None, expected: str) -> bool:
    """Return whether two tokens are the same; the time that it takes does not depend on where they differ."""
    return compare_digest((given or "").encode(errors="surrogateescape"), expected.encode(errors="surrogateescape"))
