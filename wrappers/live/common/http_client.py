"""HttpClient: requests to a server that nobody trusts. Answers are bounded, and never unpacked."""

import json
from collections.abc import Mapping
from typing import Any

import aiohttp

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
