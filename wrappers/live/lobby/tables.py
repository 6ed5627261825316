"""What a lobby offers, and its open tables below a path of the server. A table that nobody looks at ends."""

import asyncio
import logging
import secrets
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, NoReturn, Protocol

from aiohttp import web

from ..common.server import Server
from ..common.tokens import Admit
from ..table.results import LobbyCallbacks, SeatTaken, TableResult, ignored
from . import messages
from .messages import ListedSeat, ListedTable, NewTable

logger = logging.getLogger(__name__)


class Mounts(web.AbstractResource):
    """Applications by name: ``/tables/NAME/…`` is served by the application NAME.

    aiohttp's own sub-applications cannot be added to a server that has started. Register this resource at a router
    before the start; applications may change at any time.

    Args:
        path: the path above the names, such as ``/tables``.

    Attributes:
        applications: by name. The routes of an application begin with the path and its name.
    """

    def __init__(self, path: str) -> None:
        super().__init__()
        self._path = path
        self.applications: dict[str, web.Application] = {}

    def below(self, name: str) -> str:
        """Return the path of an application."""
        return f"{self._path}/{name}"

    async def resolve(self, request: web.Request) -> tuple[Any, set[str]]:
        """See aiohttp's `AbstractResource`."""
        name, *_ = request.rel_url.path_safe.removeprefix(f"{self._path}/").split("/", 1)
        app = self.applications.get(name)
        if app is None:
            return None, set()
        match = await app.router.resolve(request)
        match.add_app(app)
        return match, set()

    @property
    def canonical(self) -> str:
        """The path above the names."""
        return self._path

    def raw_match(self, path: str) -> bool:
        """Return whether a path is the one above the names."""
        return path == self._path

    def get_info(self) -> Any:
        """See aiohttp's `AbstractResource`."""
        return {"path": self._path}

    def add_prefix(self, prefix: str) -> NoReturn:
        """See aiohttp's `AbstractResource`."""
        raise NotImplementedError("mounts are at the top of a server")

    def url_for(self, **_: str) -> NoReturn:
        """See aiohttp's `AbstractResource`."""
        raise NotImplementedError("mounts have no address of their own")

    def __len__(self) -> int:
        return 0

    def __iter__(self) -> Iterator[Any]:
        return iter(())


@dataclass(frozen=True)
class Opponent:
    """A program.

    Attributes:
        name: how people name it.
        trained: whether it is a trained policy; the others are bots.
        seats: the numbers of seats at which it plays.
    """

    name: str
    trained: bool
    seats: tuple[int, ...]


@dataclass(frozen=True)
class Offer:
    """A game.

    Attributes:
        game: the game's name.
        seats: the usual number of seats.
        any_seats: whether a table may have another number.
        opponents: the programs that play it.
        title: the game's name in words; "": `game`.
        kind: the kind of game under which people look for it.
        sentence: what one does in it.
        unit: what its results are counted in, plural.
        minutes: about how long a match takes people, in hold'em all hands of a table; 0: not known.
        options: what people may choose of the game, by name, with the usual values as text.
    """

    game: str
    seats: int
    any_seats: bool
    opponents: tuple[Opponent, ...]
    title: str = ""
    kind: str = "Games"
    sentence: str = ""
    unit: str = "points"
    minutes: int = 0
    options: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Preset:
    """A table that people open with one click.

    Attributes:
        title: what it is, in a few words.
        game: the game's name.
        seats: the number of seats; None: the usual one.
        opponents: the programs by name.
        options: options of the game, by name.
    """

    title: str
    game: str
    seats: int | None
    opponents: tuple[str, ...]
    options: Mapping[str, str] = field(default_factory=dict)


class LobbyTable(Protocol):
    """A table in the browser, as the lobby uses it: `TableHost` or `PokerTable`."""

    @property
    def status(self) -> str:
        """What the table is doing, in a word."""
        ...

    @property
    def taken(self) -> list[SeatTaken | None]:
        """Who sits there, seat by seat."""
        ...

    @property
    def visitors(self) -> int:
        """The number of open pages."""
        ...

    @property
    def watchers(self) -> int:
        """The number of those who look on."""
        ...

    def application(self, prefix: str, outer: Server) -> web.Application:
        """See `common.server.Server`."""
        ...

    async def start(self) -> None:
        """Start the table."""
        ...

    async def stop(self) -> None:
        """End the table."""
        ...


class MakeTable(Protocol):
    """Makes a table, which has not started. It runs in a thread."""

    def __call__(
        self,
        game: str,
        seats: int | None,
        opponents: Sequence[str],
        options: Mapping[str, str],
        *,
        lobby: LobbyCallbacks,
    ) -> LobbyTable:
        """Return a table of a game with these options; `opponents` take the first seats.

        Raises:
            ValueError: for options or a number of seats that the game does not have, or no seat for a person.
        """
        ...


MOST_TABLES = 50
"""The most open tables."""
MOST_OF_ONE = 3
"""The most open tables of one person."""
CHECK = 1.0
"""Seconds between two looks for tables without visitors."""


class LobbyRefusal(Exception):
    """A call is refused.

    Attributes:
        code: one of `messages.STATUS`.
    """

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code


@dataclass
class OpenTable:
    """A table.

    Attributes:
        game: the game's name.
        table: the table.
        options: those that the person chose who opened it.
        opened_by: the name of that person.
        listed: whether the lobby shows it to others.
        empty_since: the loop's time since when nobody has its page open; None: somebody has.
    """

    game: str
    options: Mapping[str, str]
    table: LobbyTable
    opened_by: str
    listed: bool
    empty_since: float | None = None


class LobbyTables:
    """The tables.

    Args:
        offers: the games that can be played, by name.
        make: makes a table.
        admit: who may take a seat.
        on_result: called with the game and the result of each match at a listed table.
        empty_after: seconds without an open page after which a table ends.
        lobby: the server whose sockets they use.

    Attributes:
        mounts: serves the tables below ``/tables``.
    """

    def __init__(
        self,
        offers: Mapping[str, Offer],
        make: MakeTable,
        *,
        admit: Admit,
        on_result: Callable[[str, TableResult], None],
        empty_after: float,
        lobby: Server,
    ) -> None:
        self._lobby = lobby
        self.mounts = Mounts("/tables")
        self._offers = offers
        self._make = make
        self._admit = admit
        self._on_result = on_result
        self._empty_after = empty_after
        self._open: dict[str, OpenTable] = {}
        self._one_at_a_time = asyncio.Lock()  # a table may compile its rules first

    def __len__(self) -> int:
        return len(self._open)

    async def open(self, wish: NewTable, person: str) -> str:
        """Open a table and return its id.

        Raises:
            LobbyRefusal: for an unknown game or opponent, a wrong number of seats, too many tables, or a table that
                fails.
        """
        offer = self._offers.get(wish.game)
        if offer is None:
            raise LobbyRefusal(messages.VALIDATION_ERROR, f"this lobby has no game {wish.game!r}")
        unknown = set(wish.opponents) - {one.name for one in offer.opponents}
        if unknown:
            raise LobbyRefusal(messages.VALIDATION_ERROR, f"{wish.game} has no opponent {min(unknown)!r} here")
        async with self._one_at_a_time:
            if len(self._open) >= MOST_TABLES:
                raise LobbyRefusal(messages.LIMIT_REACHED, f"{MOST_TABLES} tables are open: join one of them")
            if sum(one.opened_by == person for one in self._open.values()) >= MOST_OF_ONE:
                raise LobbyRefusal(messages.LIMIT_REACHED, f"you have opened {MOST_OF_ONE} tables: close one of them")
            on_result = partial(self._on_result, wish.game) if wish.listed else ignored
            make_table = partial(self._make, lobby=LobbyCallbacks(self._admit, on_result))
            try:
                table = await asyncio.to_thread(make_table, wish.game, wish.seats, wish.opponents, wish.options)
            except ValueError as error:
                raise LobbyRefusal(messages.VALIDATION_ERROR, str(error)) from None
            except Exception:  # such as a policy's file that is gone
                raise _failed(wish.game) from None
            try:
                await table.start()
            except Exception:
                await table.stop()
                raise _failed(wish.game) from None
            table_id = secrets.token_urlsafe(9)
            self.mounts.applications[table_id] = table.application(self.mounts.below(table_id), self._lobby)
            now = asyncio.get_running_loop().time()
            self._open[table_id] = OpenTable(wish.game, wish.options, table, person, wish.listed, now)
            return table_id

    def listed(self, person: str | None) -> list[ListedTable]:
        """Return the tables that a person sees, the newest first."""
        return [
            ListedTable(
                table_id=table_id,
                game=one.game,
                options=dict(one.options),
                status=one.table.status,
                seats=[ListedSeat() if seat is None else ListedSeat(**vars(seat)) for seat in one.table.taken],
                listed=one.listed,
                yours=one.opened_by == person,
                watchers=one.table.watchers,
            )
            for table_id, one in reversed(self._open.items())
            if one.listed or person in (one.opened_by, *(seat.name for seat in one.table.taken if seat is not None))
        ]

    async def close(self, table_id: str, person: str | None) -> None:
        """End a table for who opened it.

        Raises:
            LobbyRefusal: for anybody else, or if there is no such table.
        """
        if table_id not in self._open or self._open[table_id].opened_by != person:
            raise LobbyRefusal(messages.UNAUTHORIZED, "only who opened a table can close it")
        await self.end(table_id)

    async def end_empty(self) -> None:
        """End tables without visitors, for ever."""
        while True:
            await asyncio.sleep(min(CHECK, self._empty_after))
            now = asyncio.get_running_loop().time()
            for table_id, open_table in list(self._open.items()):
                if open_table.table.visitors:
                    open_table.empty_since = None
                elif open_table.empty_since is None:
                    open_table.empty_since = now
                elif now - open_table.empty_since >= self._empty_after:
                    await self.end(table_id)

    async def end_all(self) -> None:
        """End all tables."""
        for table_id in list(self._open):
            await self.end(table_id)

    async def end(self, table_id: str) -> None:
        """End a table."""
        del self.mounts.applications[table_id]
        open_table = self._open.pop(table_id)
        try:
            await open_table.table.stop()
        except Exception:  # one table must not stop the others
            logger.exception("table %s of %s did not end in order", table_id, open_table.game)


def _failed(game: str) -> LobbyRefusal:
    """Log the current exception, and return what a person is told: one table must not stop the lobby."""
    logger.exception("a table of %s did not open", game)
    return LobbyRefusal(messages.TABLE_FAILED, f"the table of {game} could not be opened")
