"""Pages of a long match log: its matches by their results, and each match drawn when its page is asked for.

`PageServer` on this machine draws a page when a browser asks for it.
"""

from collections.abc import Mapping
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from os import PathLike
from secrets import token_urlsafe
from threading import Lock
from types import MappingProxyType
from typing import Any

import msgspec

from ..logs.match_log import read
from .log_reader import agents_of, moments
from .moment import game_of
from .page import document, page, payoffs
from .poker_hands import currency_of, hand_title, names_of, unit_of, winners


class MatchPages:
    """The pages of a log. Nothing is played or drawn before `match`.

    Args:
        path: the file: matches from their seed, or hands of a poker table.
        title: the title of the pages.
        about: facts of how the pages were made, by name.

    Attributes:
        matches: the lines of each match.

    Raises:
        OSError: if the file cannot be read.
        ValueError: if it is not a log, or has no match that can be played again.
    """

    def __init__(self, path: str | PathLike[str], title: str, about: Mapping[str, Any] = MappingProxyType({})) -> None:
        self.title, self.about = title, about
        self.matches: list[bytearray] = []
        self._rows: list[list[object]] = []
        self._results: list[dict[str, float]] = []
        self._ends: list[str] = []
        self._units: list[str] = []
        self._names: list[str] = []  # of the latest match
        for number, entry in enumerate(read(path), 1):
            try:
                self._add(entry)
            except (KeyError, TypeError, ValueError, AttributeError) as error:
                problem = f"{path}, line {number}: a {entry['kind']!r} line that is not read: {error!r}"
                raise ValueError(problem) from error
        if not self.matches:
            raise ValueError(f"{path} has no match or hand with all its players; a live agent's log has one page")

    def _add(self, entry: Mapping[str, Any]) -> None:
        kind = entry["kind"]
        if kind == "match" or (kind == "hand" and "players" in entry):
            title = hand_title(entry) if kind == "hand" else str(entry.get("match_id", ""))
            self._rows.append([len(self.matches), 0, title])
            self._results.append(_won(entry) if kind == "hand" else {})
            self._ends.append(winners(entry, names_of(entry)) if kind == "hand" else "")
            self._units.append(currency_of(entry) if kind == "hand" else game_of(entry["game"]).payoffs.reward_name)
            self.matches.append(bytearray())
            self._names = agents_of(entry)[1]
        elif kind == "end" and self.matches:
            rows = payoffs(entry.get("outcome"))
            names = self._names or [row["agent_id"] for row in rows]
            if len(names) == len(rows):  # else the match has no result
                self._results[-1] = dict(zip(names, (row["utility"] for row in rows), strict=True))
        if self.matches:
            self.matches[-1] += msgspec.json.encode(entry) + b"\n"

    def contents(self) -> str:
        """Return the page with all matches; the link to match n, counted from 0, is the relative address ``n``."""
        data = {"matches": self._rows, "results": self._results, "ends": self._ends, "units": self._units}
        return document(self.title, self.about, data)

    def match(self, number: int) -> str:
        """Draw the page of a match.

        Raises:
            ValueError: if it does not replay.
        """
        place = number, len(self.matches)
        told = moments(bytes(self.matches[number]))
        return page(told, f"{self.title}, match {number + 1}", about=self.about, place=place)


def _won(entry: Mapping[str, Any]) -> dict[str, float]:
    """Return what each player of a logged hand has won, by name, if the log tells the stacks after it."""
    after = {row["seat"]: row["stack"] for row in entry["results"] if "stack" in row}
    before = {row["seat"]: row["stack"] for row in entry["players"]}
    return {
        name: (after[seat] - before[seat]) / unit_of(entry) for seat, name in names_of(entry).items() if seat in after
    }


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
                problem = f"there is no such page; matches are 0 to {len(pages.matches) - 1}\n"
                self._send(HTTPStatus.NOT_FOUND, "text/plain", problem)
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
