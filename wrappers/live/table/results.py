"""What a table in the browser tells of its matches: results to a lobby, and to people the files of a match that ended.

The files are its log, its replay, and hands of hold'em as PHH. The log of a match says all: therefore nothing here is
given out before the end.
"""

import asyncio
from collections import OrderedDict
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

import msgspec
from aiohttp import web

from ...logs.match_log import Lines
from ...replay.log_reader import moments
from ...replay.page import page
from ...replay.phh_writer import phhs
from ..common.limits import Pace, client_of
from ..common.server import HEADERS

KINDS = {"replay.html": "text/html", "log.jsonl": "application/jsonl", "hands.phhs": "text/plain"}
"""The files of a match that has ended, and their content types. Only hold'em has hands."""
KEPT = 20
"""Files that are kept, so that each is made once."""
MOST_SHOWN = 100
"""The latest hands or matches of a log that its replay shows; each takes some 25 ms to draw."""
MADE, MADE_AT_ONCE = 0.1, 5
"""Files that are made for an address per second, and at once; further ones get HTTP 429."""
LOG_LIMIT = 2**22
"""The most bytes of a log; a longer one is not kept."""
REPLAY_HEADERS = {
    **HEADERS,
    # The page is one file. In a sandbox it has no part in the tokens that this site keeps in the browser.
    "Content-Security-Policy": "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; "
    "img-src data:; sandbox allow-scripts",
}


class PlayerResult(msgspec.Struct):
    """What a match brought to a player.

    Attributes:
        name: the player's name.
        program: whether the player is a program.
        payoff: the payoff, in the game's unit; chips won in hold'em.
    """

    name: str
    program: bool
    payoff: float


@dataclass(frozen=True)
class TableResult:
    """A finished match; in hold'em a hand, or in a lobby all hands of a table.

    Attributes:
        players: the players, seat by seat.
        reason: why the match ended.
        log: its log as everybody may see it now (see `EndedMatches`); empty: none.
        episodes: 1; in hold'em the number of hands.
    """

    players: tuple[PlayerResult, ...]
    reason: str
    log: bytes = b""
    episodes: int = 1


OnResult: TypeAlias = Callable[[TableResult], None]
"""Called with the result of a match."""


def ignored(result: TableResult) -> None:
    """Tell nobody of a result."""


def log_of(events: Iterable[Mapping[str, Any]]) -> bytes:
    """Return the log of these events, as `MatchLog` writes it; empty if it is too long."""
    lines = Lines()
    log = b"".join(lines.line(**event) for event in events)
    return log if len(log) <= LOG_LIMIT else b""


class EndedMatches:
    """Answers with the files of matches. A replay or hands are made once, in a thread, one at a time."""

    def __init__(self) -> None:
        self._made: OrderedDict[tuple[bytes, str], bytes] = OrderedDict()
        self._one_at_a_time = asyncio.Lock()
        self._pace = Pace(MADE, MADE_AT_ONCE)

    async def answer(self, request: web.Request, log: bytes, title: str) -> web.Response:
        """Return one of the files (`KINDS`) of a match, which the path of the request names.

        Raises:
            web.HTTPNotFound: if there is no such file, or no log.
            web.HTTPTooManyRequests: if too many had to be made for this address.
        """
        file = request.match_info["file"]
        if not log or file not in KINDS:
            raise web.HTTPNotFound(text=f"there is no {file[:40]!a} of this match\n")
        body = log if file == "log.jsonl" else await self._make(client_of(request), log, file, title)
        if not body:
            raise web.HTTPNotFound(text="hand histories are of hold'em\n")
        saved = {"Content-Disposition": f'attachment; filename="{title}-{file}"'}
        headers = REPLAY_HEADERS if file == "replay.html" else HEADERS | saved
        return web.Response(body=body, content_type=KINDS[file], charset="utf-8", headers=headers)

    async def _make(self, address: str, log: bytes, file: str, title: str) -> bytes:
        async with self._one_at_a_time:
            if (log, file) not in self._made:
                if self._pace.wait(address) is None:
                    why, wait = "too many replays of this address; try again later", {"Retry-After": f"{1 / MADE:g}"}
                    raise web.HTTPTooManyRequests(text=why, headers=wait)
                self._made[log, file] = await asyncio.to_thread(
                    _replay if file == "replay.html" else _hands, log, title
                )
            self._made.move_to_end((log, file))
            if len(self._made) > KEPT:
                self._made.popitem(last=False)
            return self._made[log, file]


def _replay(log: bytes, title: str) -> bytes:
    lines = log.splitlines(keepends=True)
    begins = [place for place, line in enumerate(lines) if line.startswith((b'{"kind":"hand"', b'{"kind":"match"'))]
    note = f"The latest {MOST_SHOWN} of {len(begins)}; the log has all." if len(begins) > MOST_SHOWN else ""
    return page(moments(b"".join(lines[begins[-MOST_SHOWN] :]) if note else log), title, lambda: note).encode()


def _hands(log: bytes, title: str) -> bytes:
    return phhs(entry for entry in map(msgspec.json.decode, log.splitlines()) if entry["kind"] == "hand").encode()
