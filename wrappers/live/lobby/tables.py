"""The open tables of a lobby. A table that nobody looks at for a while ends."""

import asyncio
import logging
import secrets
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial

from ..common.mounts import Mounts
from ..common.server import Server
from ..common.tokens import Admit
from ..table.table_result import TableResult
from . import messages
from .messages import ListedSeat, ListedTable, NewTable
from .offers import LobbyTable, MakeTable, Offer

MOST_TABLES = 50
"""The most open tables."""
MOST_OF_ONE = 3
"""The most open tables of one person."""
CHECK = 1.0
"""Seconds between two looks for tables without visitors."""

logger = logging.getLogger(__name__)


class LobbyRefusal(Exception):
    """A call is refused.

    Attributes:
        code: one of `messages.STATUS`.
    """

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code


def _ignored(result: TableResult) -> None:
    """Keep the result of an unlisted table from the others."""


@dataclass
class OpenTable:
    """A table.

    Attributes:
        game: the game's name.
        table: the table.
        opened_by: the name of the person who opened it.
        listed: whether the lobby shows it to others.
        empty_since: the loop's time since when nobody has its page open; None: somebody has.
    """

    game: str
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
                detail = f"you have opened {MOST_OF_ONE} tables: a table ends when nobody has its page open"
                raise LobbyRefusal(messages.LIMIT_REACHED, detail)
            on_result = partial(self._on_result, wish.game) if wish.listed else _ignored
            made = partial(self._make, admit=self._admit, on_result=on_result)
            try:
                table = await asyncio.to_thread(made, wish.game, wish.seats, wish.opponents)
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
            self._open[table_id] = OpenTable(wish.game, table, person, wish.listed, asyncio.get_running_loop().time())
            return table_id

    def listed(self, person: str | None) -> list[ListedTable]:
        """Return the tables that a person sees, the newest first."""
        return [
            ListedTable(
                table_id=table_id,
                game=one.game,
                status=one.table.status,
                seats=[
                    ListedSeat(name=None, program=False, here=False)
                    if seat is None
                    else ListedSeat(name=seat.name, program=seat.program, here=seat.here)
                    for seat in one.table.taken
                ],
                listed=one.listed,
                yours=one.opened_by == person,
            )
            for table_id, one in reversed(self._open.items())
            if one.listed or one.opened_by == person
        ]

    async def end_empty(self) -> None:
        """End tables without visitors, for ever."""
        while True:
            await asyncio.sleep(min(CHECK, self._empty_after))
            now = asyncio.get_running_loop().time()
            for table_id, one in list(self._open.items()):
                if one.table.visitors:
                    one.empty_since = None
                elif one.empty_since is None:
                    one.empty_since = now
                elif now - one.empty_since >= self._empty_after:
                    await self._end(table_id)

    async def end_all(self) -> None:
        """End all tables."""
        for table_id in list(self._open):
            await self._end(table_id)

    async def _end(self, table_id: str) -> None:
        del self.mounts.applications[table_id]
        one = self._open.pop(table_id)
        try:
            await one.table.stop()
        except Exception:  # one table must not stop the others
            logger.exception("table %s of %s did not end in order", table_id, one.game)


def _failed(game: str) -> LobbyRefusal:
    """Log the current exception, and return what a person is told: one table must not stop the lobby."""
    logger.exception("a table of %s did not open", game)
    return LobbyRefusal(messages.TABLE_FAILED, f"the table of {game} could not be opened")
