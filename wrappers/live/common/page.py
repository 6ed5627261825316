"""The files of a server's web page, and their HTTP headers."""

from collections.abc import Iterable, Mapping
from importlib.resources.abc import Traversable
from typing import Any

import msgspec
from aiohttp import web

HEADERS = {
    "Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; "
    "img-src 'self' data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "Cache-Control": "no-cache",
}
"""The headers of every file: they allow only the server's own scripts, styles and connections, and no frame."""

TYPES = {
    ".html": "text/html",
    ".js": "text/javascript",
    ".css": "text/css",
    ".svg": "image/svg+xml",
}
"""The content types of the served files, by extension. Other files in the folder are not served."""


def page_routes(
    folder: Traversable, facts: Mapping[str, Any], index: str = "index.html", more: Iterable[Traversable] = ()
) -> list[web.RouteDef]:
    """Return the routes of a page: the file `index` as ``/``, every file by its path, and ``facts.json``.

    Args:
        folder: the files, read once.
        facts: what the page must know of its server.
        index: the file that is the page; the folder's other ``.html`` files are not served.
        more: files of other folders, served beside those.
    """
    routes = [_file_route("/facts.json", msgspec.json.encode(facts), "application/json")]
    for path, file in [*_files(folder, "/"), *((f"/{one.name}", one) for one in more)]:
        kind = TYPES.get(path[path.rfind(".") :])
        if kind is not None and (path == f"/{index}" or not path.endswith(".html")):
            routes.append(_file_route("/" if path == f"/{index}" else path, file.read_bytes(), kind))
    return routes


def _files(folder: Traversable, at: str) -> Iterable[tuple[str, Traversable]]:
    for entry in folder.iterdir():
        if entry.is_dir():
            yield from _files(entry, f"{at}{entry.name}/")
        else:
            yield at + entry.name, entry


def _file_route(path: str, body: bytes, kind: str) -> web.RouteDef:
    async def answer(request: web.Request) -> web.Response:
        return web.Response(body=body, content_type=kind, charset="utf-8", headers=HEADERS)

    return web.get(path, answer)
