"""The poker server: our hold'em behind the poker platform's WebSocket and REST calls, on one port.

`PokerHostSession` decides everything that is said at a table; here are the tables, the connections and the REST calls.
A table that ends is replaced, and remembered for a while. All of it runs in one event loop, and nothing in it waits for
a client. The WebSocket speaks the platform's agent format, and answers have the platform's fields.
"""

import asyncio
import logging
import secrets
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from importlib import resources
from pathlib import Path
from typing import Annotated, Any

import msgspec
from aiohttp import WSCloseCode, web
from aiohttp.typedefs import Handler
from msgspec.structs import replace

from ....envs.core.options import AT_LEAST_0, AT_LEAST_1, SECONDS_OR_0, Checked, Seconds, SecondsOr0
from ....envs.core.plain_start import PLAIN_START
from ..common.clock import SessionTimer
from ..common.connection import Connection, ConnectionLimits
from ..common.database import IN_MEMORY, SaveError
from ..common.limits import NAMES, Pace, Places, bearer_token, client_of, lacks_token, problem_of
from ..common.server import BadBody, Server, ServerSettings, read_struct
from . import messages
from .host_session import OBSERVERS, PokerDue, PokerHostSession, PokerRules, Reason, Refusal, Sends, TableSnapshot
from .messages import Error
from .store import Account, PokerStore, SeatToken

logger = logging.getLogger(__name__)

RESERVED_SECONDS = 10.0
"""Seconds after which a seat is free again whose player has not connected."""
FRAME_LIMIT = 2**20
"""Bytes of a message, after which its connection is ended before it is read whole."""
LIMITS = ConnectionLimits(frame=FRAME_LIMIT, message=16_384, rate=20.0)
"""The limits of a connection, if not told otherwise."""
NO_TOKEN = "registering needs the header Authorization: Bearer <access token>"
MOST_ENDED = 300
"""Tables that ended and are remembered; beyond, the oldest are forgotten."""


MOST_CHARACTERS = 64
"""Most characters of an agent's name."""

STATUS = {
    messages.OUTDATED_CLIENT: 426,
    messages.UNAUTHORIZED: 401,
    messages.INVALID_API_KEY: 401,
    messages.TABLE_NOT_FOUND: 404,
    messages.TABLE_ENDED: 410,
    messages.TABLE_FULL: 409,
    messages.ALREADY_SEATED: 409,
    messages.NOT_SEATED: 409,
    messages.INVALID_TABLE_STATE: 409,
    messages.RATE_LIMIT_EXCEEDED: 429,
}
"""HTTP status of an error code; 400 for the others."""


@dataclass(frozen=True, kw_only=True)
class PokerTimes(Checked):
    """The times of a table, in seconds.

    Attributes:
        act: to act; then check if free, else fold. A seat without a connection when its turn begins is acted for at
            once, and so is one that sits out. After two turns in a row without an answer it sits out until it is back.
        hand: from ``hand_complete`` to the next hand.
        abandoned: without any connection, after which a table with players ends.
        away: without a connection, after which a player loses its seat; None: never. So does one that is connected
            and silent, where a table waits for it. A seat whose player has never connected is free after 10 seconds.
        session: for which a session token lives while no connection uses it, and a table that ended is remembered.

    Raises:
        ValueError: if one is below 0, or there is no time to act.
    """

    act: Seconds = 30.0
    hand: SecondsOr0 = 1.5
    abandoned: SecondsOr0 = 60.0
    away: Annotated[float | None, SECONDS_OR_0] = 300.0
    session: SecondsOr0 = 3600.0


class HostedTable:
    """A `PokerHostSession` with its connections and its timers.

    Attributes:
        table_id: its name in the REST calls.
        session: the table.
        ended_at: the loop's time when it ended; None before.
        observers: the connections of those who look on without a seat.
    """

    def __init__(
        self, table_id: str, session: PokerHostSession, host: "PokerHost", saved: TableSnapshot | None = None
    ) -> None:
        self.table_id, self.session = table_id, session
        self.ended_at: float | None = None
        self.observers: set[Connection] = set()
        self._created = datetime.now(UTC).isoformat() if saved is None else saved.created
        self._host, self._store, self._times = host, host.store, host.times
        self._saved: Any = None  # what the saved snapshot depends on
        self._connections: dict[int, Connection] = {}
        self._timer: SessionTimer[PokerDue] = SessionTimer(self.ring)
        self._desertion: SessionTimer[Reason] = SessionTimer(self.end)
        self._away: dict[int, asyncio.TimerHandle] = {}
        self._asleep = False
        self._written: Any = None  # the hand that was written last
        if saved is not None:
            session.restore(saved)
        self._save()

    def join(self, agent: Account, preferred: int | None, address: str = "") -> int:
        """Seat an agent; see `PokerHostSession.join`."""
        seat, sends = self.session.join(agent.agent_id, agent.name, preferred, address)
        self._report("joined", seat=seat, agent_id=agent.agent_id, name=agent.name)
        self._expect(seat, RESERVED_SECONDS)
        self._deliver(sends)
        return seat

    def leave(self, seat: int) -> None:
        """Let a seat's agent go and close its connection; see `PokerHostSession.leave`."""
        agent_id = self.session.seats[seat].agent_id if seat in self.session.seats else None
        sends = self.session.leave(seat)
        with suppress(SaveError):  # a token of a seat that is free opens nothing
            self._store.revoke(self.table_id, agent_id)
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
        for _, message in self.session.news(OBSERVERS):
            connection.send(messages.encode(message))

    def disconnect_observer(self, connection: Connection) -> None:
        """Note that an observer is gone."""
        self.observers.discard(connection)
        self.session.observed = bool(self.observers)

    def connected(self, seat: int) -> bool:
        """Whether the seat has a connection."""
        return seat in self._connections

    def receive(self, seat: int, connection: Connection, data: str | bytes) -> bool:
        """Answer a message; returns whether it moved the game on."""
        if self._connections.get(seat) is not connection:
            return False  # a newer connection has taken over
        before, sends = self.session.seq, self.session.receive(seat, data)
        moved = self.session.seq != before
        self._host.counts["turns"] += moved
        self._host.counts["refused"] += any(isinstance(message, Error) for _, message in sends)
        self._deliver(sends)
        return moved

    def end(self, reason: Reason) -> None:
        """End the table; see `PokerHostSession.end`."""
        self._deliver(self.session.end(reason))

    def summary(self) -> dict[str, Any]:
        """Return what anyone may know of the table, as the platform lists it; empty seats are listed too."""
        session, options = self.session, self.session.game.options
        seats = [
            {
                "seatId": number,
                "agentId": None if seat is None else seat.agent_id,
                "agentName": None if seat is None else seat.name,
                "stack": 0 if seat is None else session.stack(number),
                "isActive": seat is not None and not seat.leaving,
            }
            for number, seat in ((number, session.seats.get(number)) for number in range(session.game.seats))
        ]
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
            for seat in list(self._away):
                self._came_back(seat)
            self.ended_at = asyncio.get_running_loop().time()
            stacks = {seat.agent_id: self.session.stack(n) for n, seat in sorted(self.session.seats.items())}
            self._report("ended", reason=self.session.reason, hands=self.session.hand, stacks=stacks)
            for connection in [*self._connections.values(), *self.observers]:
                connection.close(reason=b"Table ended")
            self._host.table_ended(self)

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
        for seat in self.session.seats:
            self._expect(seat, self._times.away)

    def sleep(self) -> None:
        """Stop the clocks: the server ends, and the store keeps the table."""
        self._asleep = True
        self._timer.stop()
        self._desertion.stop()
        for clock in self._away.values():
            clock.cancel()

    def _set_timers(self) -> None:
        """Set the timers to what the session waits for."""
        if self._asleep:
            return
        due = self.session.due
        if due is not None and due.what == "wait":
            due, seconds = (due, self._times.away) if self._times.away is not None else (None, 0.0)
        elif due is None or due.what == "hand":
            seconds = self._times.hand
        else:
            waits = self.connected(due.seat) and not self.session.seats[due.seat].sits_out
            seconds = self._times.act if waits else 0.0
        self._timer.follow(due, seconds)
        self._desertion.follow("abandoned" if self.session.deserted else None, self._times.abandoned)

    def ring(self, due: PokerDue) -> None:
        """Do what is due: its time is over."""
        if due.what == "act":
            self._host.counts["replaced"] += 1
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
            self._away[seat] = asyncio.get_running_loop().call_later(seconds, self._give_up, seat, seconds)

    def _came_back(self, seat: int) -> None:
        if (clock := self._away.pop(seat, None)) is not None:
            clock.cancel()

    def _give_up(self, seat: int, seconds: float) -> None:
        self._away.pop(seat, None)
        if self.connected(seat) or seat not in self.session.seats:
            return
        logger.info("table %s: seat %d was away for %g s and is free", self.table_id, seat, seconds)
        self.leave(seat)

    def _report(self, kind: str, **fields: Any) -> None:
        try:
            self._host.on_event(kind, table_id=self.table_id, **fields)
        except Exception:  # a full disk must not stop the game
            logger.exception("on_event failed at %r of table %s", kind, self.table_id)


class Register(msgspec.Struct):
    """The body of ``POST /v1/agents``."""

    name: str | None = None


class Join(msgspec.Struct):
    """The body of the two joining calls."""

    client_protocol_version: str | int | float | None = None
    preferred_seat: int | None = None


@dataclass(frozen=True, kw_only=True)
class PokerRoom(Checked):
    """The tables of a server.

    Attributes:
        tables: Number of open tables; one that ends is replaced by a new one.
        observers: The most connections that look on without a seat, by a WebSocket with every state without cards,
            ``/v1/ws/observe/TABLE`` or ``/v1/tables/TABLE/watch``. One more takes the place of one from the address
            that has the most (see `Places`).
        state: File (SQLite) that keeps agents, tables, seats, chips and tokens over restarts; a hand that a restart
            interrupts is void, and its stakes are returned. None: all ends with the server.

    Raises:
        ValueError: if there is no table, or a number is none.
    """

    tables: Annotated[int, AT_LEAST_1] = 1
    observers: Annotated[int, AT_LEAST_0] = 0
    state: Path | None = None


@web.middleware
async def _answer_refusals(request: web.Request, handler: Handler) -> web.StreamResponse:
    """Give every refused call the platform's form of an error."""
    try:
        return await handler(request)
    except Refusal as refusal:
        code, message, details = refusal.code, refusal.message, refusal.details
        status = STATUS.get(code, 400)
    except BadBody as error:
        code, message, status, details = messages.VALIDATION_ERROR, str(error), 400, {}
    except SaveError as error:
        code, message, status, details = messages.INTERNAL_ERROR, str(error), 503, {}
    except web.HTTPClientError as error:  # unknown path, wrong method, long body
        code, message, status, details = messages.VALIDATION_ERROR, error.reason, error.status, {}
    more = {"details": details} if details else {}
    return web.json_response({"error": {"code": code, "message": message, **more}}, status=status)


class PokerHost(Server):
    """A poker server. Use it as an async context manager, or call `start` and `stop`.

    >>> async with PokerHost(PokerRules(seats=6)) as host:      # doctest: +SKIP
    ...     print(host.url)

    Args:
        rules, times: of every table; None: the default ones.
        room: the tables; None: one.
        seed: makes the cards reproducible (every table has its own from it); None takes the operating system's.
        server: where it listens; ``POST /v1/agents`` must bear its access token. Of its limits, the longest message is
            at most `FRAME_LIMIT`, and the rate is without messages that move the game on; None: `LIMITS`.
        on_event: called as ``on_event(kind, table_id=…, …)`` with what happens at the tables, as plain data; the kind
            is ``joined``, ``left``, ``hand`` (all cards included: not for players' eyes) or ``ended``. `MatchLog.write`
            can be given.

    Attributes:
        url: base of the REST calls, once started.
        ws_url: address of the WebSocket, to which ``?token=…&format=agent`` is added.
        tables: the open tables and those that ended lately, by id, oldest first.
        counts: of all tables: ``turns`` (actions of the players), ``refused`` (messages that were answered with an
            error) and ``replaced`` (turns in which the host checked or folded, because the time was over).
        rules, times, on_event: as given. store: what is kept.
    """

    middlewares = (_answer_refusals,)
    store: PokerStore

    def __init__(
        self,
        rules: PokerRules | None = None,
        times: PokerTimes | None = None,
        *,
        room: PokerRoom | None = None,
        seed: int | None = None,
        server: ServerSettings | None = None,
        on_event: Callable[..., None] | None = None,
    ) -> None:
        server, room = server or ServerSettings(), room or PokerRoom()
        limits = server.limits or LIMITS
        if limits.message is None or not 1 <= limits.message <= FRAME_LIMIT:
            raise ValueError(f"message={limits.message}: bytes, from 1 to {FRAME_LIMIT}")
        if limits.rate is not None and limits.rate < 1:
            raise ValueError(f"rate={limits.rate}: at least 1 message a second, or None for no limit")
        super().__init__(server, body_limit=limits.message, connection_limits=limits)
        rules, times = rules or PokerRules(), times or PokerTimes()
        PokerHostSession(rules)  # wrong rules are named at once
        self.rules, self.times = rules, times
        self.on_event = on_event or (lambda kind, **fields: None)
        self.store = PokerStore(IN_MEMORY if room.state is None else room.state, times.session)
        self.tables: dict[str, HostedTable] = {}
        self.counts = {"turns": 0, "refused": 0, "replaced": 0}
        self._count, self._seed, self._opened = room.tables, seed, 0
        self._replacing = True
        self._awaited: set[str] = set()  # tables that have yet to end for good
        self._all_ended = asyncio.Event()
        self._new_keys = Pace(*NAMES)
        self._watchers: Places[Connection] = Places(room.observers, max(1, room.observers // 2))

    @property
    def ws_url(self) -> str:
        """The address of the WebSocket, once started."""
        return self.url and self.url.replace("http", "ws", 1) + "/v1/ws"

    async def finished(self) -> None:
        """Wait until every table opened at the start has ended; for an abandoned one, the one that replaced it."""
        await self._all_ended.wait()

    def routes(self) -> list[web.RouteDef]:
        """See `Server`."""
        return [
            web.get("/v1/ws", self._play),
            web.get("/v1/ws/observe/{table_id}", self._observe),
            web.get("/v1/tables/{table_id}/watch", self._observe),
            web.post("/v1/agents", self._register),
            web.post("/v1/tables/auto-join", self._join),
            web.post("/v1/tables/{table_id}/join", self._join),
            web.post("/v1/tables/{table_id}/leave", self._leave),
            web.get("/v1/tables", self._list),
            web.get("/v1/tables/{table_id}", self._show),
            web.get("/skill.md", _skill),
            web.get("/", _skill),
        ]

    async def opening(self) -> None:
        """Open the tables."""
        PLAIN_START.expect_call(f"{__name__}:warm_up")
        await asyncio.to_thread(warm_up)
        self.store.open()
        self.tables.clear()
        self._awaited, self._replacing = set(), True
        self._all_ended.clear()
        for table_id, saved in self.store.tables():
            self._awaited.add(self._open_table(table_id, saved))
        while len(self._awaited) < self._count:
            self._awaited.add(self._open_table())
        for table in self.tables.values():
            table.wake()
        self.store.restore_tokens()

    async def closing(self) -> None:
        """End every table where somebody sits; those that a file keeps wait for the next start."""
        self._replacing = False
        for table in list(self.tables.values()):
            if self.store.lasting:
                table.sleep()
            elif table.session.seats:
                table.end("admin_stopped")

    async def stop(self) -> None:
        """See `Server`."""
        await super().stop()
        if self.store.lasting:
            self.store.close()

    # The tables.

    def _running(self) -> list[HostedTable]:
        """Return the tables that have not ended."""
        return [table for table in self.tables.values() if table.ended_at is None]

    def _open_table(self, table_id: str | None = None, saved: TableSnapshot | None = None) -> str:
        seed = None if self._seed is None else self._seed + self._opened
        self._opened += 1
        session = PokerHostSession(self.rules, timeout=round(1000 * self.times.act), seed=seed)
        table_id = table_id or f"tbl_{secrets.token_hex(6)}"
        table = HostedTable(table_id, session, self, saved)
        self.tables[table_id] = table
        return table_id

    def table_ended(self, table: HostedTable) -> None:
        """Replace a table that has ended."""
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
        old = {key for key, age in ages.items() if age > self.times.session}
        old |= set(sorted(ages, key=ages.__getitem__)[MOST_ENDED:])
        for key in old:
            with suppress(SaveError):  # tokens of a table that is gone open nothing
                del self.tables[key]
                self.store.revoke(key)

    # WebSocket.

    async def _play(self, request: web.Request) -> web.WebSocketResponse:
        return await self.upgrade(request, partial(self._serve_seat, request))

    def admit(self, token: str) -> SeatToken:
        """Return the table and the seat of a session token.

        Raises:
            Refusal: UNAUTHORIZED, INVALID_SESSION, SESSION_EXPIRED.
        """
        seat_token = self.store.seat_of(token)
        table = self.tables.get(seat_token.table_id)
        seated = None if table is None else table.session.seats.get(seat_token.seat)
        if seated is None or seated.leaving or seated.agent_id != seat_token.agent_id:
            raise Refusal(messages.INVALID_SESSION, "the seat was given up in the meantime; join a table to get one")
        return seat_token

    async def _serve_seat(self, request: web.Request, connection: Connection) -> None:
        try:
            token = self.admit(request.query.get("token", ""))
        except Refusal as refusal:
            return _close_refused(connection, refusal)
        table, seat = self.tables[token.table_id], token.seat
        token.expires = float("inf")
        self.keep(connection)
        try:
            table.connect(seat, connection)
            if table.ended_at is not None:
                connection.close()
            async for data in connection.messages(partial(_send_error, connection)):
                if table.receive(seat, connection, data):
                    connection.spare()
        finally:
            table.disconnect(seat, connection)
            if not table.connected(seat):
                token.expires = self.store.expiry()

    async def _observe(self, request: web.Request) -> web.WebSocketResponse:
        """Let somebody look on: every state without cards, every result; nothing that is sent is played."""
        return await self.upgrade(request, partial(self._serve_observer, request))

    async def _serve_observer(self, request: web.Request, connection: Connection) -> None:
        try:
            table = self._named(request)
            admitted, victim = self._watchers.take(connection, client_of(request))
            if victim is not None:
                victim.abort()
            if not admitted:
                raise Refusal(messages.TABLE_FULL, f"{self._watchers.most} may look on here")
        except Refusal as refusal:
            return _close_refused(connection, refusal)
        try:
            table.connect_observer(connection)
            if table.ended_at is not None:
                connection.close()
            async for _ in connection.messages(partial(_send_error, connection)):
                _send_error(connection, messages.NOT_SEATED, "you look on; join a table to play")
        finally:
            table.disconnect_observer(connection)
            self._watchers.free(connection)

    # REST.

    def _named(self, request: web.Request) -> HostedTable:
        """Return the table that a request's path names; raises Refusal."""
        table_id = request.match_info["table_id"]
        if table_id not in self.tables:
            raise Refusal(messages.TABLE_NOT_FOUND, f"there is no table {table_id[:40]!a}")
        return self.tables[table_id]

    async def _register(self, request: web.Request) -> web.Response:
        body = await read_struct(request, Register)
        problem = None if body.name is None else problem_of(body.name, MOST_CHARACTERS)
        if problem is not None:
            raise Refusal(messages.VALIDATION_ERROR, problem)
        if lacks_token(request, self.settings.access_token):
            raise Refusal(messages.UNAUTHORIZED, NO_TOKEN)
        if not self._new_keys.take(client_of(request)):
            raise Refusal(messages.RATE_LIMIT_EXCEEDED, "too many new keys of your address; try again in a minute")
        seated = {seat.agent_id for table in self._running() for seat in table.session.seats.values()}
        api_key, agent = self.store.register(body.name, seated)
        answer = {"agent_id": agent.agent_id, "api_key": api_key, "name": agent.name}
        about = {"protocol_version": messages.PROTOCOL_VERSION, "skill_doc_url": f"{base_url(request)}/skill.md"}
        return web.json_response({**answer, **about}, status=201)

    async def _join(self, request: web.Request) -> web.Response:
        """Seat an agent at the named table, or at the first with a free seat; or answer what the last table does."""
        agent, body = self.store.agent_of(bearer_token(request)), await read_struct(request, Join)
        _check_version(body)
        tables = [self._named(request)] if "table_id" in request.match_info else self._running()
        for table in tables if "table_id" not in request.match_info else ():
            if any(seat.agent_id == agent.agent_id for seat in table.session.seats.values()):
                detail = f"{agent.agent_id} sits at table {table.table_id}"
                raise Refusal(messages.ALREADY_SEATED, detail, table_id=table.table_id)
        refusal = Refusal(messages.TABLE_FULL, "no table has a free seat")
        for table in tables:
            try:
                seat = table.join(agent, body.preferred_seat, client_of(request))
            except Refusal as another:
                refusal = another
            else:
                return self._seated(request, agent, table, seat)
        raise refusal

    def _seated(self, request: web.Request, agent: Account, table: HostedTable, seat: int) -> web.Response:
        try:
            token = self.store.issue(table.table_id, seat, agent.agent_id)
        except SaveError:
            table.leave(seat)  # else nobody could play in it
            raise
        return web.json_response(
            {
                "table_id": table.table_id,
                "seat_id": seat,
                "session_token": token,
                "ws_url": f"{base_url(request).replace('http', 'ws', 1)}/v1/ws",
                "protocol_version": messages.PROTOCOL_VERSION,
                "min_supported_protocol_version": messages.PROTOCOL_VERSION,
                "skill_doc_url": f"{base_url(request)}/skill.md",
                "action_timeout_ms": round(1000 * self.times.act),
                "agent_id": agent.agent_id,
            }
        )

    async def _leave(self, request: web.Request) -> web.Response:
        agent, table = self.store.agent_of(bearer_token(request)), self._named(request)
        if table.ended_at is not None:
            return web.json_response({"success": True, "message": "the table has ended; there is nothing to leave"})
        for number, seat in table.session.seats.items():
            if seat.agent_id == agent.agent_id:
                table.leave(number)
                left = {"success": True, "message": "the seat is given back"}
                return web.json_response({**left, "table_id": table.table_id, "seat_id": number})
        raise Refusal(messages.NOT_SEATED, f"{agent.agent_id} does not sit at table {table.table_id}")

    async def _list(self, request: web.Request) -> web.Response:
        """List the tables: the running ones, or those with ``?status=``; ``limit`` and ``offset`` choose a page."""
        status = request.query.get("status")
        tables = self._running() if status is None else self.tables.values()
        rows = [table.summary() for table in tables if status in (None, table.session.status)]
        first, most = (_count(request.query.get(name), start) for name, start in (("offset", 0), ("limit", len(rows))))
        page = {"tables": rows[first : first + most], "hasMore": len(rows) > first + most}
        return web.json_response({**page, "protocol_version": messages.PROTOCOL_VERSION})

    async def _show(self, request: web.Request) -> web.Response:
        return web.json_response(self._named(request).summary())


def base_url(request: web.Request) -> str:
    """Return the server's address as the client knows it; TLS may end at a proxy."""
    secure = request.secure or request.headers.get("X-Forwarded-Proto") == "https"
    return f"{'https' if secure else 'http'}://{request.host}"


async def _skill(request: web.Request) -> web.Response:
    text = resources.files(__package__).joinpath("skill.md").read_text(encoding="utf-8")
    text = text.replace("{BASE_URL}", base_url(request))
    return web.Response(text=text, content_type="text/markdown", charset="utf-8")


def _count(value: str | None, default: int) -> int:
    return int(value) if value is not None and value.isdecimal() and len(value) < 10 else default


def _check_version(body: Join) -> None:
    """Refuse a client that says an older version than is spoken here. A version that cannot be read is accepted."""
    parts = str(body.client_protocol_version or "").split(".")
    least = [int(part) for part in messages.PROTOCOL_VERSION.split(".")]
    if all(part.isdecimal() for part in parts) and [int(part[:9]) for part in parts] < least:
        said = f"client_protocol_version {body.client_protocol_version}"
        raise Refusal(messages.OUTDATED_CLIENT, f"{said}: at least {messages.PROTOCOL_VERSION} is spoken here")


def _close_refused(connection: Connection, refusal: Refusal) -> None:
    _send_error(connection, refusal.code, refusal.message)
    connection.close(WSCloseCode.POLICY_VIOLATION, refusal.code.encode())


def _send_error(connection: Connection, code: str, message: str) -> None:
    connection.send(messages.encode(Error(code=code, message=message)))


def warm_up() -> None:
    """Play one hand, so that the rules are compiled, or begin to be, before the first client waits for them."""
    session = PokerHostSession(PokerRules(seats=2))
    for name in "ab":
        session.connect(session.join(name)[0])
    while session.due is not None and session.due.what == "act":
        session.timeout(session.due.seat, session.due.token)
