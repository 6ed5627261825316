"""A server on this machine that draws a page of `MatchPages` when a browser asks for it."""

from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from secrets import token_urlsafe
from threading import Lock

from .match_pages import MatchPages


class PageServer(ThreadingHTTPServer):
    """Serves the pages at a free port of 127.0.0.1, below a secret path: they show hidden information.

    Attributes:
        url: the address of the page with all matches.
    """

    daemon_threads = True

    def __init__(self, pages: MatchPages) -> None:
        super().__init__(("127.0.0.1", 0), _Request)
        self.pages = pages
        self.path = f"/{token_urlsafe()}/"
        self.url = f"http://127.0.0.1:{self.server_port}{self.path}"
        self.one_at_a_time = Lock()


class _Request(BaseHTTPRequestHandler):
    server: PageServer

    def do_GET(self) -> None:
        """Answer with a page; with the error as text if its match does not replay."""
        pages, name = self.server.pages, self.path.removeprefix(self.server.path)
        try:
            if not self.path.startswith(self.server.path):
                self._send(HTTPStatus.NOT_FOUND, "text/plain", "there is no such page\n")
            elif name == "":
                self._send(HTTPStatus.OK, "text/html", pages.contents())
            elif name in map(str, range(len(pages.matches))):
                with self.server.one_at_a_time:
                    text = pages.match(int(name))
                self._send(HTTPStatus.OK, "text/html", text)
            else:
                self._send(
                    HTTPStatus.NOT_FOUND,
                    "text/plain",
                    f"there is no such page; matches are 0 to {len(pages.matches) - 1}\n",
                )
        except ValueError as error:
            self._send(HTTPStatus.INTERNAL_SERVER_ERROR, "text/plain", f"match {name}: {error}\n")

    def _send(self, status: HTTPStatus, kind: str, text: str) -> None:
        body = text.encode()
        self.send_response(status)
        self.send_header("Content-Type", f"{kind}; charset=utf-8")
        self.send_header("Content-Length", str(len(body)))
        self.send_header("Referrer-Policy", "no-referrer")
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:
        """Write nothing to the terminal."""
