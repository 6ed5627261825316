"""The tables of a poker server. One that ends is replaced by another, and is remembered for a while."""

import asyncio
import secrets
from collections.abc import Callable, Iterator
from contextlib import suppress

from ..common.database import SaveError
from . import messages
from .host_session import PokerHostSession
from .hosted_table import HostedTable, PokerTimes, TableCounts
from .store import PokerStore
from .table_data import Account, PokerRules, Refusal, TableSnapshot

MOST_ENDED = 300
"""Tables that ended and are remembered; beyond, the oldest are forgotten."""


class TablePool:
    """So many open tables.

    Args:
        rules, times: of every table.
        seed: makes the cards reproducible (every table has its own from it); None takes the operating system's.
        on_event: see `PokerHost`.
        on_forget: is called with every table that is forgotten.
        store: keeps the tables.

    Attributes:
        tables: the open tables and those that ended lately, by id, oldest first.
        counts: counters of all tables.
    """

    def __init__(
        self,
        rules: PokerRules,
        times: PokerTimes,
        seed: int | None,
        on_event: Callable[..., None],
        on_forget: Callable[[HostedTable], None],
        store: PokerStore,
    ) -> None:
        self.tables: dict[str, HostedTable] = {}
        self.counts = TableCounts()
        self._rules = rules
        self._times = times
        self._seed = seed
        self._on_event = on_event
        self._on_forget = on_forget
        self._store = store
        self._opened = 0
        self._replacing = True
        self._awaited: set[str] = set()  # tables that have yet to end for good
        self._all_ended = asyncio.Event()

    def open(self, count: int) -> None:
        """Take up the tables that the store has kept, and open new ones up to so many.

        Raises:
            ValueError: if they were kept with other rules.
        """
        self.tables, self._awaited, self._replacing = {}, set(), True
        self._all_ended.clear()
        for table_id, saved in self._store.tables():
            self._awaited.add(self._open_table(table_id, saved))
        while len(self._awaited) < count:
            self._awaited.add(self._open_table())
        for table in self.tables.values():
            table.wake()

    def end(self) -> None:
        """End every table where somebody sits as ``admin_stopped``; one that a file keeps only stops its clocks.

        No further table is opened.
        """
        self._replacing = False
        for table in list(self.tables.values()):
            if self._store.lasting:
                table.sleep()
            elif table.session.seats:
                table.end("admin_stopped")

    async def finished(self) -> None:
        """Wait until every table that was opened first has ended; for an abandoned one, the one that replaced it."""
        await self._all_ended.wait()

    def running(self) -> list[HostedTable]:
        """Return the tables that have not ended."""
        return [table for table in self.tables.values() if table.ended_at is None]

    def find(self, table_id: str) -> HostedTable:
        """Return the table with this id.

        Raises:
            Refusal: TABLE_NOT_FOUND.
        """
        if table_id not in self.tables:
            raise Refusal(messages.TABLE_NOT_FOUND, f"there is no table {table_id[:40]!a}")
        return self.tables[table_id]

    def seated(self) -> set[str]:
        """Return the ids of the agents that sit at a table."""
        return {agent_id for table in self.running() for agent_id in _agents(table)}

    def join_any(self, agent: Account, preferred: int | None) -> tuple[HostedTable, int]:
        """Seat an agent at the first table with a free seat; return the table and the seat.

        Raises:
            Refusal: ALREADY_SEATED, with the table; else what the last table answers.
        """
        for table in self.running():
            if agent.agent_id in _agents(table):
                detail = f"{agent.agent_id} sits at table {table.table_id}"
                raise Refusal(messages.ALREADY_SEATED, detail, table_id=table.table_id)
        refusal = Refusal(messages.TABLE_FULL, "no table has a free seat")
        for table in self.running():
            try:
                return table, table.join(agent, preferred)
            except Refusal as another:
                refusal = another
        raise refusal

    def _open_table(self, table_id: str | None = None, saved: TableSnapshot | None = None) -> str:
        seed = None if self._seed is None else self._seed + self._opened
        self._opened += 1
        session = PokerHostSession(self._rules, timeout=round(1000 * self._times.act), seed=seed)
        table_id = table_id or f"tbl_{secrets.token_hex(6)}"
        table = HostedTable(table_id, session, self._times, self._on_event, self._table_ended, self._store, self.counts)
        table.open(saved)
        self.tables[table.table_id] = table
        return table.table_id

    def _table_ended(self, table: HostedTable) -> None:
        replacement = None
        if self._replacing:
            self._forget()
            replacement = self._open_table()
        if table.table_id in self._awaited:
            self._awaited.remove(table.table_id)
            if replacement is not None and table.session.reason == "abandoned":
                self._awaited.add(replacement)
        if not self._awaited:
            self._all_ended.set()

    def _forget(self) -> None:
        """Forget tables that ended long ago, or are too many."""
        now = asyncio.get_running_loop().time()
        ages = {key: now - table.ended_at for key, table in self.tables.items() if table.ended_at is not None}
        old = {key for key, age in ages.items() if age > self._times.session}
        old |= set(sorted(ages, key=ages.__getitem__)[MOST_ENDED:])
        for key in old:
            with suppress(SaveError):  # tokens of a table that is gone open nothing
                self._on_forget(self.tables.pop(key))


def _agents(table: HostedTable) -> Iterator[str]:
    return (seat.agent_id for seat in table.session.seats.values())
