"""Origins: a check of the web pages that may send requests to a server.

A browser lets every page that its user opens send requests to servers on the user's machine, WebSockets included. It
sends the page's origin with the request. `Origins` compares the origin with the server's own name.
"""

from collections.abc import Awaitable, Callable, Iterable
from ipaddress import ip_address

from aiohttp import web
from yarl import URL

Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]


class Origins:
    """The pages that may send requests to a server: only its own. Programs send no origin and are always allowed.

    Args:
        names: host names under which the server is reached; None: any. A page of another site can give its own name the
            address of this machine (DNS rebinding). A server that knows its names refuses such a page.
    """

    def __init__(self, names: Iterable[str] | None = None) -> None:
        self._names = None if names is None else {name.lower() for name in names}

    @classmethod
    def of(cls, address: str, names: Iterable[str] = ()) -> "Origins":
        """Return those of a server that listens at `address`: this machine's names if only this machine reaches it."""
        if _is_loopback(address):
            return cls({"localhost", "127.0.0.1", "::1", address, *names})
        return cls([address, *names] if names else None)

    @web.middleware
    async def check(self, request: web.Request, handler: Handler) -> web.StreamResponse:
        """Answer pages of other sites with HTTP 403."""
        origin = request.headers.get("Origin")
        if self._names is not None and _host_name(f"//{request.host}") not in self._names:
            raise web.HTTPForbidden(reason="this server has another name")
        if origin is not None and origin.partition("://")[2].lower() != request.host.lower():
            raise web.HTTPForbidden(reason="a page of another site may not use this server")
        return await handler(request)


def _host_name(url: str) -> str | None:
    try:
        return (URL(url).host or "").lower()
    except ValueError:
        return None


def _is_loopback(address: str) -> bool:
    try:
        return ip_address(address).is_loopback
    except ValueError:
        return address == "localhost"
