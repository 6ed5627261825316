"""The poker server: our hold'em behind the poker platform's WebSocket and REST calls, on one port.

`PokerHostSession` decides everything that is said at a table; `TablePool` has the tables and `PokerRest` the REST
calls; here are the connections. All of it runs in one event loop, and nothing in it waits for a client. The WebSocket
speaks the platform's agent format.
"""

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from os import PathLike

from aiohttp import WSCloseCode, web
from aiohttp.typedefs import Middleware

from ....envs.core.options import whole
from ....envs.core.plain_start import PLAIN_START
from ..common.connection import Connection, ConnectionLimits, Excess
from ..common.database import IN_MEMORY
from ..common.limits import Places, client_of
from ..common.server import Server, ServerSettings
from ..common.tokens import Admit, admit_by_token
from . import messages
from .accounts import Accounts, SeatToken, SeatTokens
from .host_session import PokerHostSession
from .hosted_table import HostedTable, PokerTimes, TableCounts
from .messages import Error
from .rest import PokerRest, answer_refusals
from .store import PokerStore
from .table_data import PokerRules, Refusal
from .table_pool import TablePool

FRAME_LIMIT = 2**20
"""Bytes of a message, after which its connection is ended before it is read whole."""
LIMITS = ConnectionLimits(frame=FRAME_LIMIT, message=16_384, rate=20.0)
"""The limits of a connection, if not told otherwise."""
NO_TOKEN = "registering needs the header Authorization: Bearer <access token>"
EXCESS_CODES = {Excess.RATE: messages.RATE_LIMIT_EXCEEDED, Excess.LENGTH: messages.VALIDATION_ERROR}


@dataclass(frozen=True, kw_only=True)
class PokerRoom:
    """The tables of a server.

    Attributes:
        tables: how many are open; one that ends is replaced by a new one.
        observers: how many may look on, by a WebSocket with every state without cards, ``/v1/ws/observe/{table_id}`` or
            ``/v1/tables/{table_id}/watch``. One more takes the place of one from the address that has the most (see
            `Places`).
        state: the file (SQLite) that keeps agents, tables, seats, chips and tokens over restarts; a hand that a restart
            interrupts is void, and its stakes are returned. None: all ends with the server.

    Raises:
        ValueError: if there is no table, or a number is none.
    """

    tables: int = 1
    observers: int = 0
    state: str | PathLike[str] | None = None

    def __post_init__(self) -> None:
        """Check the numbers."""
        whole("tables", self.tables, 1)
        whole("observers", self.observers, 0)


@dataclass(frozen=True)
class PokerPage:
    """A page for people, on the port of a poker server.

    Attributes:
        routes: of the page; ``/`` is the page itself.
        admit: who may register, in place of those who have the access token; None: they.
    """

    routes: Sequence[web.RouteDef]
    admit: Admit | None = None


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
        page: a page for people; None: one that says what the server is.
        on_event: called as ``on_event(kind, table_id=…, …)`` with what happens at the tables, as plain data; the kind
            is ``joined``, ``left``, ``hand`` (all cards included: not for players' eyes) or ``ended``. `MatchLog.write`
            can be given.

    Attributes:
        url: base of the REST calls, once started.
        ws_url: address of the WebSocket, to which ``?token=…&format=agent`` is added.
    """

    def __init__(
        self,
        rules: PokerRules | None = None,
        times: PokerTimes | None = None,
        *,
        room: PokerRoom | None = None,
        seed: int | None = None,
        server: ServerSettings | None = None,
        page: PokerPage | None = None,
        on_event: Callable[..., None] | None = None,
    ) -> None:
        server, room = server or ServerSettings(), room or PokerRoom()
        limits = server.limits or LIMITS
        if limits.message is None or not 1 <= limits.message <= FRAME_LIMIT:
            raise ValueError(f"message={limits.message}: bytes, from 1 to {FRAME_LIMIT}")
        if limits.rate is not None and limits.rate < 1:
            raise ValueError(f"rate={limits.rate}: at least 1 message a second, or None for no limit")
        super().__init__(server, check_host=page is not None, body_limit=limits.message, connection_limits=limits)
        rules, times = rules or PokerRules(), times or PokerTimes()
        PokerHostSession(rules)  # wrong rules are named at once
        self._store = PokerStore(IN_MEMORY if room.state is None else room.state)
        self._tokens: SeatTokens = SeatTokens(times.session, self._store)
        on_event = on_event or (lambda kind, **fields: None)
        self._pool = TablePool(rules, times, seed, on_event, self._tokens.revoke, self._store)
        admit = (page and page.admit) or admit_by_token(server.access_token, NO_TOKEN)
        self._rest = PokerRest(self._pool, Accounts(self._store), self._tokens, round(1000 * times.act), admit)
        self._count = room.tables
        self._watchers: Places[Connection] = Places(room.observers, max(1, room.observers // 2))
        self._page = page

    @property
    def ws_url(self) -> str:
        """The address of the WebSocket, once started."""
        return self.url and self.url.replace("http", "ws", 1) + "/v1/ws"

    @property
    def tables(self) -> dict[str, HostedTable]:
        """The open tables and those that ended lately, by id, oldest first."""
        return self._pool.tables

    @property
    def counts(self) -> TableCounts:
        """Counters of all tables."""
        return self._pool.counts

    @property
    def problem(self) -> str | None:
        """See `Server`."""
        return self._store.problem

    async def finished(self) -> None:
        """Wait until every table opened at the start has ended; for an abandoned one, the one that replaced it."""
        await self._pool.finished()

    def routes(self) -> list[web.RouteDef]:
        """See `Server`."""
        return [
            *([self._rest.front_page()] if self._page is None else self._page.routes),
            web.get("/v1/ws", self._play),
            web.get("/v1/ws/observe/{table_id}", self._observe),
            web.get("/v1/tables/{table_id}/watch", self._observe),
            *self._rest.routes(),
        ]

    def middlewares(self) -> list[Middleware]:
        """See `Server`."""
        return [answer_refusals]

    async def opening(self) -> None:
        """Open the tables."""
        PLAIN_START.expect_call(f"{__name__}:warm_up")
        await asyncio.to_thread(warm_up)
        self._store.open()
        self._pool.open(self._count)
        self._tokens.restore(self._pool.tables, asyncio.get_running_loop().time())

    async def closing(self) -> None:
        """End every table where somebody sits; those that a file keeps wait for the next start."""
        self._pool.end()

    async def stop(self) -> None:
        """See `Server`."""
        await super().stop()
        if self._store.lasting:
            self._store.close()

    # WebSocket.

    async def _play(self, request: web.Request) -> web.WebSocketResponse:
        async def live(connection: Connection) -> None:
            try:
                token = self.admit(request.query.get("token", ""))
            except Refusal as refusal:
                return _close_refused(connection, refusal)
            await self._serve_seat(connection, token)

        return await self.upgrade(request, live)

    def admit(self, token: str) -> SeatToken:
        """Return the table and the seat of a session token.

        Raises:
            Refusal: UNAUTHORIZED, INVALID_SESSION, SESSION_EXPIRED.
        """
        seat_token = self._tokens.find(token, asyncio.get_running_loop().time())
        seated = seat_token.table.session.seats.get(seat_token.seat)
        if seated is None or seated.leaving or seated.agent_id != seat_token.agent_id:
            raise Refusal(messages.INVALID_SESSION, "the seat was given up in the meantime; join a table to get one")
        return seat_token

    async def _serve_seat(self, connection: Connection, token: SeatToken) -> None:
        table, seat = token.table, token.seat
        self._tokens.hold(token)
        self.keep(connection)
        try:
            table.connect(seat, connection)
            if table.ended_at is not None:
                connection.close()
            async for data in connection.messages(partial(_refuse, connection)):
                if table.receive(seat, connection, data):
                    connection.spare()
        finally:
            table.disconnect(seat, connection)
            if not table.connected(seat):
                self._tokens.release(token, asyncio.get_running_loop().time())

    async def _observe(self, request: web.Request) -> web.WebSocketResponse:
        """Let somebody look on: every state without cards, every result; nothing that is sent is played."""
        return await self.upgrade(request, partial(self._serve_observer, request))

    async def _serve_observer(self, request: web.Request, connection: Connection) -> None:
        try:
            table = self._rest.table(request)
            self._take_place(connection, client_of(request))
        except Refusal as refusal:
            return _close_refused(connection, refusal)
        try:
            table.connect_observer(connection)
            if table.ended_at is not None:
                connection.close()
            async for _ in connection.messages(partial(_refuse, connection)):
                _send_error(connection, messages.NOT_SEATED, "you look on; join a table to play")
        finally:
            table.disconnect_observer(connection)
            self._watchers.free(connection)

    def _take_place(self, connection: Connection, address: str) -> None:
        """Give one who looks on a place, if need be that of another.

        Raises:
            Refusal: TABLE_FULL.
        """
        admitted, victim = self._watchers.take(connection, address)
        if victim is not None:
            victim.abort()
        if not admitted:
            raise Refusal(messages.TABLE_FULL, f"{self._watchers.most} may look on here")


def _refuse(connection: Connection, excess: Excess, detail: str) -> None:
    _send_error(connection, EXCESS_CODES[excess], detail)


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
