"""One table of the server with its connections and its clocks."""

import asyncio
import logging
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from ..common.connection import Connection
from . import messages
from .host_session import WATCHERS, Due, PokerHostSession, Reason, Send

logger = logging.getLogger(__name__)


@dataclass(frozen=True)
class Account:
    """An agent as registered."""

    agent_id: str
    name: str | None


@dataclass(frozen=True)
class Clocks:
    """Seconds to act, between hands, and without connections until the table is abandoned, or (None: never) a seat."""

    act: float
    hand: float
    abandoned: float
    away: float | None = None


class HostedTable:
    """A `PokerHostSession` with its connections and its clocks.

    Attributes:
        table_id: its name in the REST calls.
        session: the table.
        ended_at: the loop's time when it ended; None before.
        watchers: the connections of those who only look on.
    """

    def __init__(
        self,
        table_id: str,
        session: PokerHostSession,
        clocks: Clocks,
        on_event: Callable[..., None],
        on_end: Callable[["HostedTable"], None],
    ) -> None:
        self.table_id = table_id
        self.session = session
        self.ended_at: float | None = None
        self.watchers: set[Connection] = set()
        self._clocks = clocks
        self._on_event = on_event
        self._on_end = on_end
        self._connections: dict[int, Connection] = {}
        self._due: Due | None = None
        self._clock: asyncio.TimerHandle | None = None
        self._desertion: asyncio.TimerHandle | None = None
        self._away: dict[int, asyncio.TimerHandle] = {}
        self._logged: Any = None

    def join(self, agent: Account, preferred: int | None) -> int:
        """Seat an agent; see `PokerHostSession.join`."""
        seat, sends = self.session.join(agent.agent_id, agent.name, preferred)
        self._tell("joined", seat=seat, agent_id=agent.agent_id, name=agent.name)
        self._deliver(sends)
        return seat

    def leave(self, seat: int) -> None:
        """Let a seat's agent go and close its connection; see `PokerHostSession.leave`."""
        agent_id = self.session.seats[seat].agent_id if seat in self.session.seats else None
        sends = self.session.leave(seat)
        self._back(seat)
        self._tell("left", seat=seat, agent_id=agent_id)
        connection = self._connections.pop(seat, None)
        if connection is not None:
            connection.close()
        self._deliver(sends)

    def connect(self, seat: int, connection: Connection) -> None:
        """Give a seat a connection; the newest wins."""
        older = self._connections.get(seat)
        self._connections[seat] = connection
        self._back(seat)
        if older is not None:
            older.close()
        self._deliver(self.session.connect(seat))

    def disconnect(self, seat: int, connection: Connection) -> None:
        """Note that a connection is gone."""
        if self._connections.get(seat) is connection:
            del self._connections[seat]
            self.session.disconnect(seat)
            self._deliver([])
            if self._clocks.away is not None and self.ended_at is None:
                self._away[seat] = asyncio.get_running_loop().call_later(self._clocks.away, self._give_up, seat)

    def watch(self, connection: Connection) -> None:
        """Let a connection look on."""
        self.watchers.add(connection)
        self.session.watched = True
        for _, message in self.session.look():
            connection.send(messages.encode(message))

    def unwatch(self, connection: Connection) -> None:
        """Note that one who looked on is gone."""
        self.watchers.discard(connection)
        self.session.watched = bool(self.watchers)

    def connected(self, seat: int) -> bool:
        """Whether the seat has a connection."""
        return seat in self._connections

    def receive(self, seat: int, connection: Connection, data: str | bytes) -> bool:
        """Answer a message; returns whether it moved the game on."""
        if self._connections.get(seat) is not connection:
            return False  # a newer connection has taken over
        before = self.session.seq
        self._deliver(self.session.receive(seat, data))
        return self.session.seq != before

    def end(self, reason: Reason) -> None:
        """End the table; see `PokerHostSession.end`."""
        self._deliver(self.session.end(reason))

    def summary(self) -> dict[str, Any]:
        """Return what anyone may know of the table."""
        session = self.session
        return {
            "table_id": self.table_id,
            "status": session.status,
            "hand": session.hand,
            "small_blind": session.game.options["small_blind"],
            "big_blind": session.game.options["big_blind"],
            "starting_stack": session.game.options["stacks"],
            "max_seats": session.game.seats,
            "min_players_to_start": session.min_players,
            "current_players": len(session.seats),
            "seats": [
                {
                    "seat_id": number,
                    "agent_id": seat.agent_id,
                    "agent_name": seat.name,
                    "stack": session.stack(number),
                }
                for number, seat in sorted(session.seats.items())
            ],
        }

    def _deliver(self, sends: list[Send]) -> None:
        for seat, message in sends:
            if seat == WATCHERS:
                text = messages.encode(message)
                for watcher in self.watchers:
                    watcher.send(text)
            elif seat in self._connections:
                self._connections[seat].send(messages.encode(message))
        if self.session.hand_log is not self._logged:
            self._logged = self.session.hand_log
            self._tell("hand", **self._logged)
        self._wind()
        if self.session.status == "ended" and self.ended_at is None:
            self._close()

    def _wind(self) -> None:
        """Set the clocks to what the session waits for. A refused action leaves a running clock as it is."""
        loop = asyncio.get_running_loop()
        due = self.session.due
        if due != self._due:
            if self._clock is not None:
                self._clock.cancel()
            self._due, self._clock = due, None
            if due is not None:
                delay = self._clocks.act if due.what == "act" else self._clocks.hand
                self._clock = loop.call_later(delay, self._ring, due)
        if self.session.deserted and self._desertion is None:
            self._desertion = loop.call_later(self._clocks.abandoned, self.end, "abandoned")
        elif not self.session.deserted and self._desertion is not None:
            self._desertion.cancel()
            self._desertion = None

    def _ring(self, due: Due) -> None:
        self._deliver(self.session.timeout(due.seat, due.token) if due.what == "act" else self.session.next_hand())

    def _back(self, seat: int) -> None:
        clock = self._away.pop(seat, None)
        if clock is not None:
            clock.cancel()

    def _give_up(self, seat: int) -> None:
        logger.info("table %s: seat %d was away for %g s and is free", self.table_id, seat, self._clocks.away)
        self.leave(seat)

    def _close(self) -> None:
        for seat in list(self._away):
            self._back(seat)
        self.ended_at = asyncio.get_running_loop().time()
        stacks = {seat.agent_id: self.session.stack(n) for n, seat in sorted(self.session.seats.items())}
        self._tell("ended", reason=self.session.reason, hands=self.session.hand, stacks=stacks)
        for connection in [*self._connections.values(), *self.watchers]:
            connection.close()
        self._on_end(self)

    def _tell(self, kind: str, **fields: Any) -> None:
        try:
            self._on_event(kind, table_id=self.table_id, **fields)
        except Exception:  # a full disk must not stop the game
            logger.exception("on_event failed at %r of table %s", kind, self.table_id)
