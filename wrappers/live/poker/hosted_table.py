"""A table of a poker server with its connections, its programs and its timers."""

import asyncio
import logging
import secrets
from contextlib import suppress
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from functools import partial
from typing import TYPE_CHECKING, Any

from msgspec.structs import replace

from ....envs.core.options import seconds
from ..common.agent_turn import Turn
from ..common.clock import Deadline, SessionTimer, TimeBanks
from ..common.connection import Connection
from ..common.database import SaveError
from ..common.player import Player
from . import messages
from .host_session import PokerDue, PokerHostSession, Reason, Sends, TableSnapshot
from .messages import Error
from .store import Account

if TYPE_CHECKING:
    from .host import PokerHost

logger = logging.getLogger(__name__)

RESERVED_SECONDS = 10.0
"""Seconds after which a seat is free again whose player has not connected."""
NOTES = ("probabilities", "value", "think")
"""The notes of a program on its action that the log of a hand has."""


@dataclass(frozen=True, kw_only=True)
class PokerTimes:
    """The times of a table, in seconds.

    Attributes:
        act: to act; then check if free, else fold. A seat without a connection when its turn begins is acted for at
            once, and so is one that sits out. After two turns in a row without an answer it sits out until it is back.
        bank: that a player has at the table for turns that take longer; a tenth comes back with each hand.
        hand: from ``hand_complete`` to the next hand.
        showdown: that this takes longer after a showdown, to read the cards.
        abandoned: without any connection, after which a table with players ends.
        away: without a connection, after which a player loses its seat; None: never. So does one that is connected
            and silent, where a table waits for it. A seat whose player has never connected is free after 10 seconds.
        session: for which a session token lives while no connection uses it, and a table that ended is remembered.
    """

    act: float = 30.0
    hand: float = 1.5
    showdown: float = 0.0
    abandoned: float = 60.0
    away: float | None = 300.0
    session: float = 3600.0
    bank: float = 0.0

    def __post_init__(self) -> None:
        """Check the values.

        Raises:
            ValueError: if one is below 0, or there is no time to act.
        """
        for name, value in asdict(self).items():
            if (name, value) != ("away", None):
                seconds(name, value, above=name == "act")


@dataclass
class TableCounts:
    """Counters of all tables of a host.

    Attributes:
        turns: actions of the players.
        refused: messages that were answered with an error.
        replaced: turns in which the host checked or folded, because the time was over.
    """

    turns: int = 0
    refused: int = 0
    replaced: int = 0


class HostedTable:
    """A `PokerHostSession` with its connections, its programs and its timers.

    Attributes:
        table_id: its name in the REST calls.
        session: the table.
        ended_at: the loop's time when it ended; None before.
        observers: the connections of those who look on without a seat.
        bank: the seconds of the time bank that the turn under way began with.
    """

    def __init__(self, table_id: str, session: PokerHostSession, host: "PokerHost") -> None:
        self.table_id = table_id
        self.session = session
        self.ended_at: float | None = None
        self.observers: set[Connection] = set()
        self._created = datetime.now(UTC).isoformat()
        self._host, self._store, self._times = host, host.store, host.times
        self._saved: Any = None  # what the saved snapshot depends on
        self._connections: dict[int, Connection] = {}
        self._programs: dict[int, Player] = {}
        self._asking: asyncio.Task[None] | None = None  # a program that has the turn
        self._timer: SessionTimer[PokerDue] = SessionTimer(self.ring)
        self._banks = TimeBanks(self._times.bank)
        self._banked = 0  # the hand for which the banks have got their share
        self.bank = 0.0
        self._desertion: SessionTimer[Reason] = SessionTimer(self.end)
        self._away: dict[int, SessionTimer[float]] = {}
        self._asleep = False
        self._written: Any = None  # the hand that was written last

    def open(self, saved: TableSnapshot | None = None) -> None:
        """Open the table, as the store has kept it (None: a new one), and keep it."""
        if saved is not None:
            self._created = saved.created
            self.session.restore(saved)
        self._save()

    def join(self, agent: Account, preferred: int | None, address: str = "") -> int:
        """Seat an agent; see `PokerHostSession.join`."""
        seat, sends = self.session.join(agent.agent_id, agent.name, preferred, address)
        self._report("joined", seat=seat, agent_id=agent.agent_id, name=agent.name)
        self._expect(seat, RESERVED_SECONDS)
        self._deliver(sends)
        return seat

    def seat(self, number: int, name: str, program: Player) -> None:
        """Seat a program of this process; a turn has one deadline, that of its player."""
        self._programs[number] = program
        self.join(Account(f"agt_{secrets.token_hex(8)}", name), number)
        self._came_back(number)
        self._deliver(self.session.connect(number))

    def leave(self, seat: int) -> None:
        """Let a seat's agent go and close its connection; see `PokerHostSession.leave`."""
        agent_id = self.session.seats[seat].agent_id if seat in self.session.seats else None
        sends = self.session.leave(seat)
        with suppress(SaveError):  # a token of a seat that is free opens nothing
            self._host.tokens.revoke(self.table_id, agent_id)
        self._came_back(seat)
        self._report("left", seat=seat, agent_id=agent_id)
        connection = self._connections.pop(seat, None)
        if connection is not None:
            connection.close()
        self._deliver(sends)

    def connect(self, seat: int, connection: Connection) -> None:
        """Give a seat a connection; the newest wins."""
        older = self._connections.get(seat)
        self._connections[seat] = connection
        self._came_back(seat)
        if older is not None:
            older.close()
        self._deliver(self.session.connect(seat))

    def disconnect(self, seat: int, connection: Connection) -> None:
        """Note that a connection is gone."""
        if self._connections.get(seat) is connection:
            del self._connections[seat]
            self.session.disconnect(seat)
            self._deliver([])
            self._expect(seat, self._times.away)

    def connect_observer(self, connection: Connection) -> None:
        """Let a connection look on."""
        self.observers.add(connection)
        self.session.observed = True
        for _, message in self.session.connect_observer():
            connection.send(messages.encode(message))

    def disconnect_observer(self, connection: Connection) -> None:
        """Note that an observer is gone."""
        self.observers.discard(connection)
        self.session.observed = bool(self.observers)

    def connected(self, seat: int) -> bool:
        """Whether the seat has a connection, or a program."""
        return seat in self._connections or seat in self._programs

    def receive(self, seat: int, connection: Connection, data: str | bytes) -> bool:
        """Answer a message; returns whether it moved the game on."""
        if self._connections.get(seat) is not connection:
            return False  # a newer connection has taken over
        before = self.session.seq
        sends = self.session.receive(seat, data)
        moved = self.session.seq != before
        self._host.counts.turns += moved
        self._host.counts.refused += any(isinstance(message, Error) for _, message in sends)
        self._deliver(sends)
        return moved

    @property
    def left(self) -> float | None:
        """The seconds left for the turn under way, time bank included; None without one."""
        due = self._timer.due
        return None if due is None or due.what != "act" else self._timer.left

    def sit_out(self, seat: int, out: bool) -> None:
        """See `PokerHostSession.sit_out`. The seat's turn, if it has it, is over."""
        self._deliver(self.session.sit_out(seat, out))
        due = self.session.due
        if out and due is not None and due.what == "act" and due.seat == seat:
            self.ring(due)

    def end(self, reason: Reason) -> None:
        """End the table; see `PokerHostSession.end`."""
        self._deliver(self.session.end(reason))

    def summary(self) -> dict[str, Any]:
        """Return what anyone may know of the table, as the platform lists it; empty seats are listed too."""
        session, options = self.session, self.session.game.options
        seats = []
        for number in range(session.game.seats):
            seat = session.seats.get(number)
            taken = seat is not None and not seat.leaving
            seats.append(
                {
                    "seatId": number,
                    "agentId": seat.agent_id if seat is not None else None,
                    "agentName": seat.name if seat is not None else None,
                    "stack": session.stack(number) if seat is not None else 0,
                    "isActive": taken,
                }
            )
        return {
            "id": self.table_id,
            "status": session.status,
            "config": {
                "blinds": {"small": options["small_blind"], "big": options["big_blind"]},
                "maxSeats": session.game.seats,
                "initialStack": options["stacks"],
                "actionTimeoutMs": round(1000 * self._times.act),
                "minPlayersToStart": session.rules.min_players,
                "realMoney": False,
            },
            "seats": seats,
            "availableSeats": session.game.seats - len(session.seats),
            "playerCount": len(session.seats),
            "hand": session.hand,
            "created_at": self._created,
            "bucket_key": "default",
            "realMoney": False,
        }

    def _deliver(self, sends: Sends) -> None:
        for seat in [seat for seat in self._connections if seat not in self.session.seats]:
            self._connections.pop(seat).close()  # the seat was freed with the hand
        for seat, message in sends:
            if seat < 0:
                text = messages.encode(message)
                for observer in self.observers:
                    observer.send(text)
            elif seat in self._connections:
                self._connections[seat].send(messages.encode(message))
        if self.session.hand_log is not self._written:
            self._written = self.session.hand_log
            self._report("hand", **self._written)
        self._save()
        self._set_timers()
        if self.session.status == "ended" and self.ended_at is None:
            self._close()

    def _save(self) -> None:
        """Keep the table in the store, where something has changed that survives a restart."""
        session = self.session
        seats = tuple((number, seat.agent_id, seat.leaving) for number, seat in session.seats.items())
        state = session.status == "ended", session.hand, session.hand_log, seats
        if state == self._saved:
            return
        with suppress(SaveError):  # a full disk must not stop the game: the next change tries again
            if session.status == "ended":
                self._store.drop_table(self.table_id)
            else:
                self._store.save_table(self.table_id, replace(session.snapshot(), created=self._created))
            self._saved = state

    def wake(self) -> None:
        """Let a restored table wait for its players; it is abandoned if none comes."""
        self._set_timers()
        for seat in self.session.seats.keys() - self._programs.keys():
            self._expect(seat, self._times.away)

    def sleep(self) -> None:
        """Stop the clocks: the server ends, and the store keeps the table."""
        self._asleep = True
        self._timer.stop()
        self._desertion.stop()
        self._stop_asking()
        for clock in self._away.values():
            clock.stop()

    def _set_timers(self) -> None:
        """Set the timers to what the session waits for."""
        if self._asleep:
            return
        due = self.session.due
        if due != self._timer.due:
            self._use_banks(self._timer.due, self._timer.left)
            waits = due is not None and self._plays(due.seat) and due.seat not in self._programs
            self.bank = self._banks.left(self._player(due.seat)) if due is not None and waits else 0.0
        if due is not None and due.what == "wait":
            due, seconds = (due, self._times.away) if self._times.away is not None else (None, 0.0)
        elif due is None or due.what == "hand":
            seconds = self._times.hand + (self._times.showdown if self.session.table.showdown else 0.0)
        else:
            seconds = self._times.act + self.bank if self._plays(due.seat) else 0.0
        if self._timer.follow(due, seconds):
            self._stop_asking()
            if due is not None and due.what == "act" and due.seat in self._programs:
                self._asking = asyncio.create_task(self._ask(due))
        self._desertion.follow("abandoned" if self.session.deserted else None, self._times.abandoned)

    async def _ask(self, due: PokerDue) -> None:
        """Ask the program whose turn it is, and play its answer."""
        turn = Turn(self.session.turn_state(due.seat), name=self.session.seats[due.seat].name or "")
        played = await self._programs[due.seat].answer(turn, Deadline.after(self._times.act))
        self._asking = None
        notes = {name: played.thoughts[name] for name in NOTES if name in played.thoughts}
        self._host.counts.turns += 1
        self._deliver(self.session.answered(due, played.response.action, notes))

    def _stop_asking(self) -> None:
        if self._asking is not None:
            self._asking.cancel()
            self._asking = None

    def _plays(self, seat: int) -> bool:
        """Whether a seat is waited for in its turn."""
        return self.connected(seat) and not self.session.seats[seat].sits_out

    def _player(self, seat: int) -> str:
        """Return whose bank a turn of the seat uses; who takes the seat next has another one."""
        return self.session.seats[seat].agent_id if seat in self.session.seats else ""

    def _use_banks(self, before: PokerDue | None, left: float | None) -> None:
        """Take from a bank what the turn before used; fill the banks a little with each hand."""
        if before is not None and before.what == "act" and left is not None and self.bank:
            self._banks.turn_ended(self._player(before.seat), left)
        if self._banked != self.session.hand:
            self._banked = self.session.hand
            self._banks.refill(0.1)

    def ring(self, due: PokerDue) -> None:
        """Do what is due: its time is over."""
        if due.what == "act":
            if self._asking is not None and not self._asking.done():
                return  # its player has the same deadline
            self._host.counts.replaced += 1
            self._deliver(self.session.timeout(due.seat, due.token))
            return
        for seat in self.session.silent:
            logger.info("table %s: seat %d has not answered for long and is free", self.table_id, seat)
            self.leave(seat)
        self._deliver(self.session.next_hand())

    def _expect(self, seat: int, seconds: float | None) -> None:
        """Free a seat that has no connection after so long; None: keep it."""
        self._came_back(seat)  # an older clock
        if seconds is not None and self.ended_at is None and not self._asleep:
            self._away[seat] = SessionTimer(partial(self._give_up, seat))
            self._away[seat].follow(seconds, seconds)

    def _came_back(self, seat: int) -> None:
        clock = self._away.pop(seat, None)
        if clock is not None:
            clock.stop()

    def _give_up(self, seat: int, seconds: float) -> None:
        self._away.pop(seat, None)
        if self.connected(seat) or seat not in self.session.seats:
            return
        logger.info("table %s: seat %d was away for %g s and is free", self.table_id, seat, seconds)
        self.leave(seat)

    def _close(self) -> None:
        for seat in list(self._away):
            self._came_back(seat)
        self.ended_at = asyncio.get_running_loop().time()
        stacks = {seat.agent_id: self.session.stack(n) for n, seat in sorted(self.session.seats.items())}
        self._report("ended", reason=self.session.reason, hands=self.session.hand, stacks=stacks)
        self._stop_asking()
        for connection in [*self._connections.values(), *self.observers]:
            connection.close(reason=b"Table ended")
        self._host.table_ended(self)

    def _report(self, kind: str, **fields: Any) -> None:
        try:
            self._host.on_event(kind, table_id=self.table_id, **fields)
        except Exception:  # a full disk must not stop the game
            logger.exception("on_event failed at %r of table %s", kind, self.table_id)
