"""Moments as one HTML file that needs no network and no other file, or as a film.

The pictures are stored by lines: every line of SVG once, and for every view and moment the changed lines. A view on
the page shows only what this seat may see. The file contains all hidden information, so share it with care.

A film is a GIF or an MP4, one frame per moment; it needs the extra ``render``.
"""

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from importlib.resources import files
from io import BytesIO
from itertools import chain, zip_longest
from os import PathLike
from pathlib import Path
from secrets import token_urlsafe
from threading import Lock
from types import MappingProxyType
from typing import Any

import msgspec

from ...envs.core.turn_state import MessageScope
from ...envs.render.svg import HEIGHT, WIDTH, escape
from ...envs.render.window import pixels, png
from ..logs.match_log import read
from .log_reader import (
    ALL,
    Moment,
    agents_of,
    currency_of,
    game_of,
    hand_title,
    in_words,
    moments,
    names_of,
    picture,
    unit_of,
    winners,
)

ABSENT = -1
"""In place of a number of lines: this moment has no picture of the view."""


def page(
    moments: Iterable[Moment],
    title: str,
    note: Callable[[], str] = str,
    about: Mapping[str, Any] = MappingProxyType({}),
    place: tuple[int, int] | None = None,
) -> str:
    """Return the HTML of these moments. With several matches it opens on an overview: results, and their sums so far.

    Args:
        moments: the moments, match by match.
        title: the title of the page.
        note: returns more text for the overview; called when all moments have been read.
        about: facts of how the page was made, by name.
        place: the number of the match, from 0, and how many there are, if each match has a page of its own (see
            `MatchPages`); None: the page has all.

    Raises:
        ValueError: if there are no moments, or one cannot be drawn.
    """
    builder = PageBuilder()
    for moment in moments:
        builder.add(moment)
    if not builder.moments:
        raise ValueError("there is nothing to show")
    placed = {} if place is None else {"place": place}
    return document(title, about, {**builder.data(), "note": note(), **placed})


def document(title: str, about: Mapping[str, Any], data: Mapping[str, object]) -> str:
    """Return the HTML of data that `viewer.js` describes."""
    texts = {"title": title, "about": {name: str(value) for name, value in about.items()}}
    text = json.dumps({**texts, **data}, ensure_ascii=False, separators=(",", ":"))
    source = files(__package__)

    def joined(ending: str, *names: str) -> str:
        return "".join(source.joinpath(f"{name}.{ending}").read_text("utf-8") for name in names)

    parts = {
        "title": escape(title),
        "style": joined("css", "palette", "viewer", "pictures"),
        # One script without modules: a page on a disk has no files to import.
        "script": re.sub(r"(?m)^(import .*\n|export )", "", joined("js", "dom", "legible", "viewer")),
        # A script ends at the first closing tag, also inside a string.
        "data": text.replace("<", "\\u003c").encode("utf-8", "replace").decode(),
    }
    return re.sub(r"\{\{(\w+)\}\}", lambda mark: parts[mark[1]], joined("html", "viewer"))


def rounded(text: str) -> str:
    """Return a text with at most two decimals in its numbers.

    >>> rounded("play Blue [41.156122493545624, 52.50078124725483] 180")
    'play Blue [41.16, 52.5] 180'
    """
    return re.sub(r"\d+\.\d{3,}", lambda number: f"{float(number[0]):.2f}".rstrip("0").rstrip("."), text)


class PageBuilder:
    """Collects the data of the page; `viewer.js` describes the lists."""

    def __init__(self) -> None:
        self.lines: dict[str, int] = {}
        self.views: list[str] = []
        self.frames: dict[str, list[int]] = {}
        self.moments: list[dict[str, object]] = []
        self.messages: list[list[object]] = []
        self.matches: list[list[object]] = []
        self.results: list[dict[str, float]] = []
        self.units: list[str] = []
        self.details: list[dict[str, str]] = []
        self._shown: dict[str, list[str]] = {}
        self._heard: dict[str, set[tuple[str, str]]] = {}

    def data(self) -> dict[str, object]:
        """Return the collected data for `viewer.js`; it can be written as JSON."""
        kept = {name: part for name, part in vars(self).items() if not name.startswith("_")}
        return kept | {"lines": list(self.lines), "frames": [self.frames[view] for view in self.views]}

    def add(self, moment: Moment) -> None:
        """Add the next moment."""
        if not self.matches or self.matches[-1][0] != moment.match:
            self.matches.append([moment.match, len(self.moments), moment.title])
            self.results.append({})
            self.units.append("")
            self.details.append(moment.details)
            self._heard.clear()
        if moment.agent is None:
            last = next(iter(moment.states.values()))
            won = {row["agent_id"]: row["utility"] for row in payoffs(last.outcome)}
            self.results[-1] = moment.results or won
            self.units[-1] = moment.unit or (moment.game or game_of(last.game_id)).payoffs.reward_name
        self._draw(moment)
        self._add_messages(moment)
        state = next(iter(moment.states.values())) if moment.agent is None else moment.states.get(moment.agent)
        fields = {
            "agent": moment.agent,
            "action": in_words(rounded(moment.action), state),
            "said": [intent.content for intent in moment.said],
            "think": moment.think,
            "chances": [(in_words(rounded(action), state), chance) for action, chance in moment.probabilities.items()],
            "value": moment.value,
            "note": moment.note,
        }
        self.moments.append({name: part for name, part in fields.items() if part not in ("", None, [])})

    def _draw(self, moment: Moment) -> None:
        views = moment.views
        for view in views:
            if view not in self.frames:
                self.views = [ALL] * (view == ALL) + self.views + [view] * (view != ALL)
                self.frames[view] = [ABSENT] * len(self.moments)
                self._shown[view] = []
        for view, frames in self.frames.items():
            if view not in views:
                frames.append(ABSENT)
                continue
            now = picture(views[view], moment.names, moment.game).split("\n")
            changed = [
                part
                for place, (line, before) in enumerate(zip_longest(now, self._shown[view]))
                if line != before and line is not None
                for part in (place, self.lines.setdefault(line, len(self.lines)))
            ]
            frames += [len(now), len(changed) // 2, *changed]
            self._shown[view] = now

    def _add_messages(self, moment: Moment) -> None:
        new: dict[tuple[str, str], list[object]] = {}
        for agent, state in moment.states.items():
            heard = self._heard.setdefault(agent, set())
            for message in reversed(state.messages):
                key = message.message_id, message.sender_id
                if key in heard:
                    break
                heard.add(key)
                private = message.scope == MessageScope.PRIVATE
                line = new.setdefault(key, [len(self.moments), message.sender_id, message.content, int(private), []])
                line[4].append(agent)  # type: ignore[attr-defined]
        self.messages += reversed(new.values())


def payoffs(outcome: Mapping[str, Any] | None) -> list[dict[str, Any]]:
    """Return the rows of an outcome that hold an agent's utility."""
    rows = (outcome or {}).get("payoffs", ())
    return [row for row in rows if "agent_id" in row and isinstance(row.get("utility"), (int, float))]


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
        self._told: dict[str, list[Any]] = {"matches": [], "results": [], "ends": [], "units": []}  # match by match
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
            if kind == "hand":
                about = hand_title(entry), _won(entry), winners(entry, names_of(entry)), currency_of(entry)
            else:
                about = str(entry.get("match_id", "")), {}, "", game_of(entry["game"]).payoffs.reward_name
            for column, fact in zip(self._told.values(), ([len(self.matches), 0, about[0]], *about[1:]), strict=True):
                column.append(fact)
            self.matches.append(bytearray())
            self._names = agents_of(entry)[1]
        elif kind == "end" and self.matches:
            rows = payoffs(entry.get("outcome"))
            names = self._names or [row["agent_id"] for row in rows]
            if len(names) == len(rows):  # else the match has no result
                self._told["results"][-1] = dict(zip(names, (row["utility"] for row in rows), strict=True))
        if self.matches:
            self.matches[-1] += msgspec.json.encode(entry) + b"\n"

    def contents(self) -> str:
        """Return the page with all matches; the link to match n, counted from 0, is the relative address ``n``."""
        return document(self.title, self.about, self._told)

    def match(self, number: int) -> str:
        """Draw the page of a match.

        Raises:
            ValueError: if it does not replay.
        """
        place = number, len(self.matches)
        steps = moments(bytes(self.matches[number]))
        return page(steps, f"{self.title}, match {number + 1}", about=self.about, place=place)


def _won(entry: Mapping[str, Any]) -> dict[str, float]:
    after = {row["seat"]: row["stack"] for row in entry["results"] if "stack" in row}
    won = {row["seat"]: (after[row["seat"]] - row["stack"]) for row in entry["players"] if row["seat"] in after}
    return {name: won[seat] / unit_of(entry) for seat, name in names_of(entry).items() if seat in won}


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
        status, text = HTTPStatus.OK, ""
        try:
            if not self.path.startswith(self.server.path):
                status, text = HTTPStatus.NOT_FOUND, "there is no such page\n"
            elif name == "":
                text = pages.contents()
            elif name in map(str, range(len(pages.matches))):
                with self.server.one_at_a_time:
                    text = pages.match(int(name))
            else:
                text = f"there is no such page; matches are 0 to {len(pages.matches) - 1}\n"
                status = HTTPStatus.NOT_FOUND
        except ValueError as error:
            status, text = HTTPStatus.INTERNAL_SERVER_ERROR, f"match {name}: {error}\n"
        body, kind = text.encode(), "text/html" if status == HTTPStatus.OK else "text/plain"
        self.send_response(status)
        self.send_header("Content-Type", f"{kind}; charset=utf-8")
        self.send_header("Content-Length", str(len(body)))
        self.send_header("Referrer-Policy", "no-referrer")
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:
        """Write nothing to the terminal."""


STILL = 3
"""The number of frames of the end of a match."""


def frames(moments: Iterable[Moment], view: str) -> Iterator[str]:
    """Yield the pictures of a view, as SVG. Moments without this view are left out.

    Raises:
        ValueError: if no moment has this view.
    """
    seen: dict[str, None] = {}
    for moment in moments:
        views = moment.views
        seen |= dict.fromkeys(views)
        if view in views:
            for _ in range(1 if moment.agent else STILL):
                yield picture(views[view], moment.names, moment.game)
    if view not in seen:
        raise ValueError(f"there is no view {view!r}; there are {', '.join(map(repr, seen))}")


def film(moments: Iterable[Moment], out: Path, view: str, fps: float) -> int:
    """Write the film of a view to `out`, and return the number of frames.

    Args:
        moments: see `moments`.
        out: ``.gif`` or ``.mp4``.
        view: an agent's name, or ``"all"``.
        fps: moments per second, 0.1 to 60.

    Raises:
        ValueError: for another file name extension, a wrong `fps`, or a view that the moments do not have.
        ImportError: if a package of the extra ``render`` is missing.
    """
    if not 0.1 <= fps <= 60:
        raise ValueError(f"fps={fps}: need a number from 0.1 to 60")
    if out.suffix not in (".gif", ".mp4"):
        raise ValueError(f"{out.name}: the file name of a film ends in .gif or .mp4")
    drawings = frames(moments, view)
    drawings = chain([next(drawings)], drawings)  # a wrong view is an error before anything is written
    return _gif(drawings, out, fps) if out.suffix == ".gif" else _mp4(drawings, out, fps)


def _gif(drawings: Iterable[str], out: Path, fps: float) -> int:
    from PIL import Image

    count = 0

    def images() -> Iterator[Any]:
        nonlocal count
        for drawing in drawings:
            count += 1
            yield Image.open(BytesIO(png(drawing))).convert("RGB").quantize(128, dither=Image.Dither.NONE)

    drawn = images()
    next(drawn).save(out, save_all=True, append_images=drawn, duration=round(1000 / fps), loop=0)
    return count


def _mp4(drawings: Iterable[str], out: Path, fps: float) -> int:
    import imageio_ffmpeg

    writer = imageio_ffmpeg.write_frames(str(out), (WIDTH, HEIGHT), fps=fps, quality=8, macro_block_size=16)
    writer.send(None)
    count = 0
    try:
        for drawing in drawings:
            writer.send(pixels(drawing).tobytes())
            count += 1
    finally:
        writer.close()
    return count
