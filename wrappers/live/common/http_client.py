"""Requests to a server that nobody trusts. Answers are bounded, and never unpacked."""

import json
from collections.abc import Mapping
from typing import Any

import aiohttp
from yarl import URL

from .reconnecting import Backoff, LiveError, TryAgain, retry

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
