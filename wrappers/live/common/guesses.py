"""Guesses: wrong keys and tokens of an address. After too many it waits, whatever it sends."""

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable

from aiohttp import web

MOST_WRONG = 20
"""Wrong keys or tokens of one address within `SECONDS`."""
SECONDS = 60.0
MOST_ADDRESSES = 10_000
"""Addresses that are remembered; beyond, the one whose first wrong try is the oldest is forgotten."""

Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]


class Guesses:
    """The times of the latest wrong tries by address."""

    def __init__(self) -> None:
        self._wrong: dict[str, deque[float]] = {}

    def note(self, address: str) -> None:
        """Note that an address has sent a wrong key or token."""
        self._wrong.setdefault(address, deque(maxlen=MOST_WRONG)).append(asyncio.get_running_loop().time())
        if len(self._wrong) > MOST_ADDRESSES:
            del self._wrong[next(iter(self._wrong))]

    def too_many(self, address: str) -> bool:
        """Return whether an address has to wait."""
        times = self._wrong.get(address)
        return times is not None and len(times) == MOST_WRONG and asyncio.get_running_loop().time() - times[0] < SECONDS

    @web.middleware
    async def count(self, request: web.Request, handler: Handler) -> web.StreamResponse:
        """Note what is answered with HTTP 401; outside of the host's own middlewares, which make the answer."""
        answer = await handler(request)
        if answer.status == 401 and _has_token(request):
            self.note(request.remote or "")
        return answer

    @web.middleware
    async def check(self, request: web.Request, handler: Handler) -> web.StreamResponse:
        """Answer a request that has a token with HTTP 429, if its address has sent too many wrong ones; inside of the
        host's own middlewares, which give the answer its form."""
        if _has_token(request) and self.too_many(request.remote or ""):
            raise web.HTTPTooManyRequests(reason=f"more than {MOST_WRONG} wrong tokens in {SECONDS:g} s: wait")
        return await handler(request)


def _has_token(request: web.Request) -> bool:
    return "Authorization" in request.headers or "token" in request.query
