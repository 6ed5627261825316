"""A page for browsers: its files, the headers with which they go out, and which pages may speak to a server.

A browser lets every page that its user opens speak to servers on the user's machine, WebSockets included. It tells
them the page's origin; `Origins` holds it against the server's own name.
"""

from collections.abc import Awaitable, Callable, Iterable, Mapping
from importlib.resources.abc import Traversable
from ipaddress import ip_address
from typing import Any

import msgspec
from aiohttp import web
from yarl import URL

HEADERS = {
    "Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; "
    "img-src 'self' data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "Cache-Control": "no-cache",
}
"""What every file of a page goes out with: scripts, styles and connections of its own only, and in nobody's frame."""

TYPES = {
    ".html": "text/html",
    ".js": "text/javascript",
    ".css": "text/css",
    ".svg": "image/svg+xml",
}
"""The files that are served, by their endings; others in the folder are not."""

Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]


def routes(folder: Traversable, facts: Mapping[str, Any]) -> list[web.RouteDef]:
    """Return the routes of a page: ``index.html`` as ``/``, every file by its path, and ``facts.json``.

    Args:
        folder: the files, read once.
        facts: what the page must know of its server.
    """
    found = [_get("/facts.json", msgspec.json.encode(facts), "application/json")]
    for path, file in _files(folder, "/"):
        kind = TYPES.get(path[path.rfind(".") :])
        if kind is not None:
            found.append(_get("/" if path == "/index.html" else path, file.read_bytes(), kind))
    return found


def _files(folder: Traversable, at: str) -> Iterable[tuple[str, Traversable]]:
    for entry in folder.iterdir():
        if entry.is_dir():
            yield from _files(entry, f"{at}{entry.name}/")
        else:
            yield at + entry.name, entry


def _get(path: str, body: bytes, kind: str) -> web.RouteDef:
    async def answer(request: web.Request) -> web.Response:
        return web.Response(body=body, content_type=kind, charset="utf-8", headers=HEADERS)

    return web.get(path, answer)


class Origins:
    """Which pages may speak to a server: its own. Programs, which send no origin, always may.

    Args:
        names: host names under which the server is reached; None: any. A page of others can give its own name this
            machine's address (DNS rebinding); a server that knows its names is not fooled.
    """

    def __init__(self, names: Iterable[str] | None = None) -> None:
        self._names = None if names is None else {name.lower() for name in names}

    @classmethod
    def of(cls, address: str, names: Iterable[str] = ()) -> "Origins":
        """Return those of a server that listens at `address`: this machine's names if it is this machine's own."""
        if _own(address):
            return cls({"localhost", "127.0.0.1", "::1", address, *names})
        return cls([address, *names] if names else None)

    @web.middleware
    async def check(self, request: web.Request, handler: Handler) -> web.StreamResponse:
        """Answer pages of others with HTTP 403."""
        origin = request.headers.get("Origin")
        if self._names is not None and _host(f"//{request.host}") not in self._names:
            raise web.HTTPForbidden(reason="this server has another name")
        if origin is not None and origin.partition("://")[2].lower() != request.host.lower():
            raise web.HTTPForbidden(reason="a page of another site may not speak to this server")
        return await handler(request)


def _host(url: str) -> str | None:
    try:
        return (URL(url).host or "").lower()
    except ValueError:
        return None


def _own(address: str) -> bool:
    try:
        return ip_address(address).is_loopback
    except ValueError:
        return address == "localhost"
