"""LobbyHost: a server with the lobby's page and all its tables, on one port, and what it keeps over restarts.

Names and results are in SQLite; open tables end with the lobby. Tokens are kept as hashes only: who reads the file
cannot play under another name.
"""

import asyncio
import logging
import secrets
import sqlite3
import zlib
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from os import PathLike
from typing import Any, TypeAlias

import msgspec
from aiohttp import web
from aiohttp.typedefs import Handler

from ..common import limits
from ..common.database import IN_MEMORY, Database, SaveError
from ..common.server import HEADERS, BadBody, Server, ServerSettings, page_routes, read_struct
from ..table.host import PAGE, SHARED, EndedMatches, PlayerResult, TableHost, TableResult
from . import messages
from .messages import ListedResult, ListedTable, Lobby, NewPerson, NewTable, Offer, Opened, Person, Preset, Refused

MakeTable: TypeAlias = Callable[..., TableHost]
"""Makes a table that has not started, as ``make(game, seats, opponents, options, admit=…, on_result=…)``, in a thread.

`opponents` take the first seats. It raises ValueError for options or a number of seats that the game does not have, or
no seat for a person.
"""

SHOWN_RESULTS = 20
CHECK = 1.0
"""Seconds between two looks for tables without visitors."""
NO_PERSON = "choose a name in the lobby first"

SCHEMA = """
CREATE TABLE IF NOT EXISTS people (token_hash TEXT PRIMARY KEY, name TEXT NOT NULL, folded_name TEXT NOT NULL UNIQUE);
CREATE TABLE IF NOT EXISTS results (
    number INTEGER PRIMARY KEY, game TEXT NOT NULL, ended_at TEXT NOT NULL, reason TEXT NOT NULL, players TEXT NOT NULL
);
CREATE TABLE IF NOT EXISTS logs (number INTEGER PRIMARY KEY, log BLOB NOT NULL);
CREATE TABLE IF NOT EXISTS played (name TEXT PRIMARY KEY);
INSERT OR IGNORE INTO played SELECT json_extract(value, '$.name') FROM results, json_each(players);
DELETE FROM played WHERE name NOT IN (SELECT name FROM people);
CREATE TRIGGER IF NOT EXISTS forgotten AFTER DELETE ON people BEGIN DELETE FROM played WHERE name = old.name; END;
"""
MOST_RESULTS = 100_000
"""The most results; the oldest are forgotten."""
MOST_LOGS = 200
"""The latest results that keep their logs."""

logger = logging.getLogger(__name__)


class LobbyRefusal(Exception):
    """A call is refused."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code


@dataclass
class OpenTable:
    """A table."""

    game: str
    options: Mapping[str, str]
    table: TableHost
    answers: Mapping[str, Any]
    opened_by: str
    address: str
    listed: bool
    empty_since: float | None = None

    @property
    def people(self) -> set[str]:
        """Who opened it, and who sits there."""
        return {self.opened_by, *(seat.name for seat in self.table.session.seats if seat.name is not None)}


class LobbyStore(Database):
    """One lobby's file. Every change raises `SaveError` if it cannot be saved.

    Raises:
        ValueError: if the file cannot be used, or another lobby uses it.
    """

    def __init__(self, path: str | PathLike[str] = IN_MEMORY) -> None:
        super().__init__(path, SCHEMA, "the lobby's results")

    # People.

    def add_person(self, name: str, token: str, used: Collection[str] = ()) -> bool:
        """Keep a name and its token; return False if somebody has it, or one that looks the same (`folded`).

        Names that are `used` are not forgotten for it.
        """
        try:
            self.write("INSERT INTO people VALUES (?, ?, ?)", (limits.hashed(token), name, limits.folded(name)))
        except sqlite3.IntegrityError:
            return False
        self.write(
            "DELETE FROM people WHERE rowid IN (SELECT rowid FROM people "
            "WHERE name NOT IN (SELECT value FROM json_each(?)) ORDER BY name IN (SELECT name FROM played), rowid "
            "LIMIT max(0, (SELECT count(*) FROM people) - ?))",
            (msgspec.json.encode([name, *used]).decode(), limits.ACCOUNTS),
        )
        return True

    def name_of(self, token: str) -> str | None:
        """Return the name that a token proves; None for an unknown one."""
        row = self.read("SELECT name FROM people WHERE token_hash = ?", (limits.hashed(token),)).fetchone()
        return None if row is None else row[0]

    # Results.

    def add_result(
        self, game: str, ended_at: str, reason: str, players: Sequence[PlayerResult], log: bytes = b""
    ) -> None:
        """Keep the result of a match with its log (empty: none)."""
        with self.changes():
            self.write(
                "INSERT INTO results (game, ended_at, reason, players) VALUES (?, ?, ?, ?)",
                (game, ended_at, reason, msgspec.json.encode(list(players)).decode()),
            )
            for one in players:
                self.write("INSERT OR IGNORE INTO played SELECT name FROM people WHERE name = ?", (one.name,))
            self.write("DELETE FROM results WHERE number <= (SELECT max(number) FROM results) - ?", (MOST_RESULTS,))
            if log:
                self.write("INSERT INTO logs SELECT max(number), ? FROM results", (zlib.compress(log),))
                self.write("DELETE FROM logs WHERE number <= (SELECT max(number) FROM logs) - ?", (MOST_LOGS,))

    def log(self, number: int) -> tuple[str, bytes]:
        """Return the game and the log of a result; empty ones for a result that has none."""
        row = self.read("SELECT game, log FROM logs JOIN results USING (number) WHERE number = ?", (number,)).fetchone()
        return ("", b"") if row is None else (row[0], zlib.decompress(row[1]))

    def results(self, most: int) -> list[ListedResult]:
        """Return the latest results, the newest first."""
        rows = self.read(
            "SELECT number, log IS NOT NULL, game, ended_at, reason, players "
            "FROM results LEFT JOIN logs USING (number) ORDER BY number DESC LIMIT ?",
            (most,),
        )
        return [
            ListedResult(
                number=number,
                log=bool(log),
                game=game,
                ended_at=ended_at,
                reason=reason,
                players=msgspec.json.decode(players, type=list[PlayerResult]),
            )
            for number, log, game, ended_at, reason, players in rows
        ]


@web.middleware
async def _answer_refusals(request: web.Request, handler: Handler) -> web.StreamResponse:
    try:
        return await handler(request)
    except (LobbyRefusal, BadBody) as refusal:
        code = refusal.code if isinstance(refusal, LobbyRefusal) else messages.VALIDATION_ERROR
        return _answer(Refused(code=code, message=str(refusal)), messages.STATUS[code])


class LobbyHost(Server):
    """A lobby. Use it as an async context manager, or call `start` and `stop`.

    People choose a name, open tables with programs and other people, and play. Results are kept.

    Raises:
        ValueError: if the file cannot be used.
    """

    middlewares = (_answer_refusals,)
    store: LobbyStore

    def __init__(
        self,
        offers: Sequence[Offer],
        make: MakeTable,
        *,
        presets: Sequence[Preset] = (),
        state: str | PathLike[str] | None = None,
        empty_after: float = 300.0,
        server: ServerSettings | None = None,
    ) -> None:
        super().__init__(server, check_host=True, body_limit=limits.LOBBY_BODY)
        self.store = LobbyStore(IN_MEMORY if state is None else state)
        self._offers, self._presets = offers, presets
        self._programs = {
            offer.game: {name: one.name for one in offer.opponents for name in (one.name, limits.short_name(one.name))}
            for offer in offers
        }
        self._reserved = {limits.folded(name) for named in self._programs.values() for name in named}
        self._make, self._empty_after = make, empty_after
        self._open: dict[str, OpenTable] = {}
        self._one_at_a_time = asyncio.Lock()  # a table may compile its rules first
        self._history: list[ListedResult] | None = None  # None: there is a new result
        self._files = EndedMatches()
        self._new_names = limits.Pace(*limits.NAMES)
        self._sweeping: asyncio.Task[None] | None = None

    @property
    def tables(self) -> int:
        """The number of open tables."""
        return len(self._open)

    def routes(self) -> list[web.RouteDef]:
        """See `Server`."""
        names = {one.name: limits.short_name(one.name) for offer in self._offers for one in offer.opponents}
        locked = self.settings.access_token is not None
        facts = {"offers": self._offers, "presets": self._presets, "names": names, "locked": locked}
        return [
            web.post("/people", self._new_person),
            web.get("/lobby", self._lobby),
            web.post("/tables", self._new_table),
            web.delete("/tables/{table_id}", self._close_table),
            web.get("/tables/{table_id}/ended/{file}", self._at_table),
            web.get("/tables/{table_id}/{path:.*}", self._at_table),
            web.get(r"/results/{number:\d{1,15}}/{file}", self._result_file),
            *page_routes(PAGE, facts, index="lobby.html", more=SHARED),
        ]

    async def opening(self) -> None:
        """Begin to end tables without visitors."""
        self.store.open()  # after a `stop` it is closed
        self._history = None
        self._sweeping = asyncio.create_task(self._end_empty())

    async def closing(self) -> None:
        """End all tables."""
        if self._sweeping is not None:
            self._sweeping.cancel()
            await asyncio.wait([self._sweeping])
        for table_id in list(self._open):
            await self._end(table_id)

    async def stop(self) -> None:
        """See `Server`."""
        await super().stop()
        self.store.close()

    # Calls.

    async def _new_person(self, request: web.Request) -> web.Response:
        if limits.lacks_token(request, self.settings.access_token):
            raise LobbyRefusal(messages.UNAUTHORIZED, "choosing a name needs the link that holds this lobby's key")
        wish = await read_struct(request, NewPerson)
        token = wish.token or secrets.token_urlsafe(24)
        if (before := self.store.name_of(token)) is not None:
            return _answer(Person(name=before, token=token))
        if (problem := limits.problem_of(wish.name)) is not None:
            raise LobbyRefusal(messages.VALIDATION_ERROR, problem)
        if not self._new_names.take(limits.account_of(request)):
            raise LobbyRefusal(messages.LIMIT_REACHED, "too many new names of your address; try again in a minute")
        program = _without_number(limits.folded(wish.name), self._reserved) in self._reserved
        try:
            used = {name for one in self._open.values() for name in one.people}
            taken = program or not self.store.add_person(wish.name, token, used)
        except SaveError:
            raise LobbyRefusal(messages.STATE_FAILED, "the lobby cannot save names now") from None
        if taken:
            raise LobbyRefusal(messages.NAME_TAKEN, f"somebody here is called {wish.name} already")
        return _answer(Person(name=wish.name, token=token), 201)

    async def _lobby(self, request: web.Request) -> web.Response:
        person = self.store.name_of(limits.bearer_token(request))
        if self._history is None:
            self._history = self.store.results(SHOWN_RESULTS)
        return _answer(Lobby(you=person, tables=self._listed(person), results=self._history))

    async def _new_table(self, request: web.Request) -> web.Response:
        if (person := self.store.name_of(limits.bearer_token(request))) is None:
            raise LobbyRefusal(messages.UNAUTHORIZED, NO_PERSON)
        table_id = await self._open_table(await read_struct(request, NewTable), person, limits.account_of(request))
        if request.transport is None or request.transport.is_closing():  # who asked has cancelled it meanwhile
            await self._end(table_id)
        return _answer(Opened(table_id=table_id), 201)

    async def _close_table(self, request: web.Request) -> web.Response:
        table_id, person = request.match_info["table_id"], self.store.name_of(limits.bearer_token(request))
        if table_id not in self._open or self._open[table_id].opened_by != person:
            raise LobbyRefusal(messages.UNAUTHORIZED, "only who opened a table can close it")
        await self._end(table_id)
        return _answer(None)

    async def _at_table(self, request: web.Request) -> web.StreamResponse:
        """Answer a request to a table as the table does."""
        names = request.match_info
        open_table = self._open.get(names["table_id"])
        path = "/ended/{file}" if "file" in names else f"/{names['path']}"
        if open_table is None or path not in open_table.answers:
            raise web.HTTPNotFound()
        answer: web.StreamResponse = await open_table.answers[path](request)
        return answer

    async def _result_file(self, request: web.Request) -> web.Response:
        """Answer with a file of a result, as everybody who has played or watched could have it."""
        game, log = self.store.log(int(request.match_info["number"]))
        return await self._files.answer(request, log, game)

    # The tables.

    async def _open_table(self, wish: NewTable, person: str, address: str) -> str:
        """Open a table and return its id.

        Raises:
            LobbyRefusal: for an unknown game or opponent, a wrong number of seats, too many tables, or a table that
                fails.
        """
        offer = next((one for one in self._offers if one.game == wish.game), None)
        if offer is None:
            raise LobbyRefusal(messages.VALIDATION_ERROR, f"this lobby has no game {wish.game!r}")
        unknown = set(wish.opponents) - {one.name for one in offer.opponents}
        if unknown:
            raise LobbyRefusal(messages.VALIDATION_ERROR, f"{wish.game} has no opponent {min(unknown)!r} here")
        async with self._one_at_a_time:
            if len(self._open) >= limits.TABLES[0]:
                raise LobbyRefusal(messages.LIMIT_REACHED, f"{limits.TABLES[0]} tables are open: join one of them")
            if sum(one.opened_by == person for one in self._open.values()) >= limits.TABLES_OF_ONE:
                raise LobbyRefusal(
                    messages.LIMIT_REACHED, f"you have opened {limits.TABLES_OF_ONE} tables: close one of them"
                )
            if sum(one.address == address for one in self._open.values()) >= limits.TABLES[1]:
                raise LobbyRefusal(messages.LIMIT_REACHED, "your address has opened too many tables: join one of them")
            on_result = partial(self._keep, wish.game) if wish.listed else lambda result: None
            make_table = partial(self._make, admit=self._admit, on_result=on_result)
            try:
                table = await asyncio.to_thread(make_table, wish.game, wish.seats, wish.opponents, wish.options)
                await table.start()
            except ValueError as error:
                raise LobbyRefusal(messages.VALIDATION_ERROR, str(error)) from None
            except Exception:  # such as a policy's file that is gone: one table must not stop the lobby
                logger.exception("a table of %s did not open", wish.game)
                raise LobbyRefusal(messages.TABLE_FAILED, f"the table of {wish.game} could not be opened") from None
            table_id = secrets.token_urlsafe(9)
            now, answers = asyncio.get_running_loop().time(), {one.path: one.handler for one in table.routes()}
            self._open[table_id] = OpenTable(wish.game, wish.options, table, answers, person, address, wish.listed, now)
            return table_id

    def _listed(self, person: str | None) -> list[ListedTable]:
        """Return the tables that a person sees, the newest first."""
        return [
            ListedTable(
                table_id=table_id,
                game=one.game,
                options=dict(one.options),
                status=one.table.session.status,
                seats=[messages.SeatTaken(seat.name, seat.program, seat.here) for seat in one.table.session.seats],
                listed=one.listed,
                yours=one.opened_by == person,
                watchers=one.table.session.watchers,
            )
            for table_id, one in reversed(self._open.items())
            if one.listed or person in one.people
        ]

    async def _end_empty(self) -> None:
        """End tables without visitors, for ever."""
        while True:
            await asyncio.sleep(min(CHECK, self._empty_after))
            now = asyncio.get_running_loop().time()
            for table_id, open_table in list(self._open.items()):
                if open_table.table.connections:
                    open_table.empty_since = None
                elif open_table.empty_since is None:
                    open_table.empty_since = now
                elif now - open_table.empty_since >= self._empty_after:
                    await self._end(table_id)

    async def _end(self, table_id: str) -> None:
        """End a table, if it is open."""
        if (open_table := self._open.pop(table_id, None)) is None:
            return  # it was closed while another one ended
        try:
            await open_table.table.stop()
        except Exception:  # one table must not stop the others
            logger.exception("table %s of %s did not end in order", table_id, open_table.game)

    def _admit(self, name: str | None, token: str | None) -> str | None:
        person = None if token is None else self.store.name_of(token)
        if person is None:
            return NO_PERSON
        return None if name == person else f"you are called {person} in this lobby"

    def _keep(self, game: str, result: TableResult) -> None:
        programs = self._programs[game]
        players = [
            msgspec.structs.replace(one, name=programs.get(kind := _without_number(one.name, programs), kind))
            if one.program
            else one
            for one in result.players
        ]
        with suppress(SaveError):  # a full disk must not stop the game; the database has warned
            ended_at = datetime.now(UTC).isoformat(timespec="seconds")
            self.store.add_result(game, ended_at, result.reason, players, result.log)
        self._history = None


def _without_number(name: str, programs: Collection[str]) -> str:
    """Return the name of a program without its number among those of its kind at a table, as in "Tight 2"."""
    kind, _, number = name.rpartition(" ")
    return kind if kind in programs and number.isdecimal() else name


def _answer(body: Any, status: int = 200) -> web.Response:
    text = msgspec.json.encode(body)
    return web.Response(body=text, status=status, content_type="application/json", headers=HEADERS)
