"""Access tokens, compared in constant time."""

from hmac import compare_digest

from aiohttp import web


def bearer_token(request: web.Request) -> str:
    """Return the token of the header ``Authorization: Bearer …``; "" without one."""
    kind, _, value = request.headers.get("Authorization", "").partition(" ")
    return value.strip() if kind.lower() == "bearer" else ""


def same_token(given: str | None, expected: str) -> bool:
    """Return whether two tokens are equal, in constant time."""
    return compare_digest((given or "").encode(errors="surrogateescape"), expected.encode(errors="surrogateescape"))
