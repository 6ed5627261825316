"""The table server: our hold'em behind poker.md's WebSocket and the platform's REST calls, on one port (aiohttp).

`PokerHostSession` decides everything that is said; here are sockets, accounts and limits. All of it runs in one event loop,
and nothing in it waits for a client. The WebSocket speaks the agent format, whatever `format` a client asks for.
"""

import asyncio
import hmac
import secrets
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from typing import Annotated, Any, Self, TypeVar

import msgspec
from aiohttp import WSCloseCode, WSMsgType, web

from ..common.connection import Allowance, Connection
from ..common.site import Origins
from . import messages
from .host_session import PokerHostSession, Refusal
from .hosted_table import Account, Clocks, HostedTable
from .messages import Error

PROTOCOL_VERSION = "0.1"
MIN_PROTOCOL_VERSION = "0.1"
HARD_LIMIT = 2**20  # bytes; a longer message ends the connection before it is read
CLOSING = 2.0  # seconds a client has to answer a close
BODY = 10.0  # seconds a client has to send the body of a REST call
MOST_ENDED = 1_000  # tables that ended and are remembered; beyond, the oldest are forgotten
MOST_AGENTS = 10_000  # remembered; beyond, the oldest without a seat is forgotten

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
}
"""HTTP status of an error code; 400 for the others."""


Body = TypeVar("Body", bound=msgspec.Struct)


class Register(msgspec.Struct):
    """The body of ``POST /v1/agents``."""

    name: Annotated[str, msgspec.Meta(max_length=64, pattern=r"^[^\x00-\x1f\x7f-\x9f]+$")] | None = None


class Join(msgspec.Struct):
    """The body of the two joining calls."""

    client_protocol_version: str | int | float | None = None
    preferred_seat: int | None = None


@dataclass
class _Session:
    """What a session token stands for. It expires when it has not been in use for a while."""

    table: HostedTable
    seat: int
    agent_id: str
    expires: float


class PokerHost:
    """A table server. Use it as an async context manager, or call `start` and `stop`.

    >>> async with Host(seats=6, hand_delay=0) as host:      # doctest: +SKIP
    ...     print(host.url)

    Args:
        tables: how many tables are open; one that ends is replaced by a new one.
        seats, small_blind, big_blind, stack, min_players, raise_cap, max_hands: of every table, see `PokerHostSession`.
        seed: makes the cards reproducible (every table has its own from it); None takes the operating system's.
        timeout: seconds to act; then check if free, else fold.
        hand_delay: seconds from `hand_complete` to the next hand.
        abandoned_after: seconds without any connection after which a table with players ends.
        away_after: seconds without a connection after which a player loses its seat; None: never.
        address, port: where to listen; port 0 takes a free one.
        access_token: what ``POST /v1/agents`` must bear; None lets everybody in.
        session_lifetime: seconds for which a session token lives while no connection uses it.
        message_limit: longest message in bytes (at most `HARD_LIMIT`); a longer one is refused.
        rate: messages a second on one connection, those apart that move the game on; None: no limit.
        watchers: how many may look on, at ``/v1/tables/{table_id}/watch``, a WebSocket with every state without cards.
        beside: more that is served on the same port: a page for people.
        origins: who may speak to the server from a browser; see `Origins`.
        on_event: called as ``on_event(kind, table_id=…, …)`` with what happens at the tables, as plain data; the kind
            is ``joined``, ``left``, ``hand`` (all cards included: not for players' eyes) or ``ended``. `MatchLog.write`
            takes it.

    Attributes:
        url: base of the REST calls, once started.
        ws_url: address of the WebSocket, to which ``?token=…&format=agent`` is added.
        tables: the open tables and those that ended lately, by id, oldest first.
    """

    def __init__(
        self,
        *,
        tables: int = 1,
        seats: int = 9,
        small_blind: int = 1,
        big_blind: int = 2,
        stack: int = 100,
        min_players: int = 2,
        raise_cap: int | None = 4,
        max_hands: int | None = None,
        seed: int | None = None,
        timeout: float = 30.0,
        hand_delay: float = 1.5,
        abandoned_after: float = 60.0,
        away_after: float | None = None,
        address: str = "127.0.0.1",
        port: int = 0,
        access_token: str | None = None,
        session_lifetime: float = 3600.0,
        message_limit: int = 16_384,
        rate: float | None = 20.0,
        watchers: int = 0,
        beside: Sequence[web.RouteDef] = (),
        origins: Origins | None = None,
        on_event: Callable[..., None] | None = None,
    ) -> None:
        if tables < 1:
            raise ValueError(f"tables={tables}: a server has at least 1")
        if not 0 < timeout < 2**40 or min(hand_delay, abandoned_after, away_after or 0) < 0:
            given = f"{timeout=}, {hand_delay=}, {abandoned_after=}, {away_after=}"
            raise ValueError(f"{given}: these are seconds, and there must be some time to act")
        if not 1 <= message_limit <= HARD_LIMIT:
            raise ValueError(f"message_limit={message_limit}: bytes, from 1 to {HARD_LIMIT}")
        if rate is not None and rate < 1:
            raise ValueError(f"rate={rate}: at least 1 message a second, or None for no limit")
        self.tables: dict[str, HostedTable] = {}
        self.url = self.ws_url = ""
        self._options: dict[str, Any] = {
            "seats": seats,
            "small_blind": small_blind,
            "big_blind": big_blind,
            "stack": stack,
            "min_players": min_players,
            "raise_cap": raise_cap,
            "max_hands": max_hands,
            "timeout": round(1000 * timeout),
        }
        self._clocks = Clocks(act=timeout, hand=hand_delay, abandoned=abandoned_after, away=away_after)
        self._on_event = on_event or (lambda kind, **fields: None)
        self._seed = seed
        self._count = tables
        self._opened = 0
        self._awaited: set[str] = set()  # tables that have yet to end for good
        self._all_ended = asyncio.Event()
        self._address, self._port = address, port
        self._access_token = access_token
        self._session_lifetime = session_lifetime
        self._message_limit = message_limit
        self._rate = rate
        self._watchers = watchers
        self._beside = beside
        self._origins = origins or Origins()
        self._agents: dict[str, Account] = {}  # by API key
        self._sessions: dict[str, _Session] = {}  # by session token
        self._handlers: set[asyncio.Task[Any]] = set()
        self._runner: web.AppRunner | None = None
        self._stopping = False
        PokerHostSession(**self._options)  # wrong options are told at once

    async def start(self) -> None:
        """Open the tables and listen.

        Raises:
            OSError: if the port is taken.
        """
        await asyncio.to_thread(_warm_up)
        app = web.Application(client_max_size=self._message_limit, middlewares=[self._origins.check, _answer_refusals])
        app.add_routes(
            [
                web.get("/v1/ws", self._play),
                web.post("/v1/agents", self._register),
                web.post("/v1/tables/auto-join", self._auto_join),
                web.post("/v1/tables/{table_id}/join", self._join),
                web.post("/v1/tables/{table_id}/leave", self._leave),
                web.get("/v1/tables", self._list),
                web.get("/v1/tables/{table_id}", self._show),
                web.get("/v1/tables/{table_id}/watch", self._watch),
                *self._beside,
            ]
        )
        self._runner = web.AppRunner(app, access_log=None, shutdown_timeout=1.0)
        await self._runner.setup()
        site = web.TCPSite(self._runner, self._address, self._port)
        await site.start()
        address, port = self._runner.addresses[0][:2]
        where = f"[{address}]:{port}" if ":" in address else f"{address}:{port}"
        self.url, self.ws_url = f"http://{where}", f"ws://{where}/v1/ws"
        for _ in range(self._count):
            self._awaited.add(self._open_table())

    async def stop(self) -> None:
        """End every table where somebody sits as ``admin_stopped``, close the connections and stop listening."""
        self._stopping = True
        for table in list(self.tables.values()):
            if table.session.seats:
                table.end("admin_stopped")
        if self._handlers:
            await asyncio.wait(self._handlers, timeout=CLOSING)
        if self._runner is not None:
            await self._runner.cleanup()
            self._runner = None

    async def finished(self) -> None:
        """Wait until every table opened at the start has ended; for an abandoned one, the one that replaced it."""
        await self._all_ended.wait()

    async def __aenter__(self) -> Self:
        await self.start()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.stop()

    # Tables.

    def _open_table(self) -> str:
        seed = None if self._seed is None else self._seed + self._opened
        self._opened += 1
        session = PokerHostSession(**self._options, seed=seed)
        table = HostedTable(f"tbl_{secrets.token_hex(6)}", session, self._clocks, self._on_event, self._table_ended)
        self.tables[table.table_id] = table
        return table.table_id

    def _table_ended(self, table: HostedTable) -> None:
        replacement = None
        if not self._stopping:
            self._forget()
            replacement = self._open_table()
        if table.table_id in self._awaited:
            self._awaited.remove(table.table_id)
            if replacement is not None and table.session.reason == "abandoned":
                self._awaited.add(replacement)
        if not self._awaited:
            self._all_ended.set()

    def _forget(self) -> None:
        """Drop tables that ended a session's life ago (or are too many), and their sessions."""
        now = asyncio.get_running_loop().time()
        ended = {key: now - table.ended_at for key, table in self.tables.items() if table.ended_at is not None}
        old = {key for key, age in ended.items() if age > self._session_lifetime}
        old |= set(sorted(ended, key=ended.__getitem__)[MOST_ENDED:])
        self.tables = {key: table for key, table in self.tables.items() if key not in old}
        self._sessions = {key: session for key, session in self._sessions.items() if session.table.table_id not in old}

    # REST.

    async def _register(self, request: web.Request) -> web.Response:
        if self._access_token is not None and not hmac.compare_digest(
            _bearer(request).encode(errors="surrogateescape"), self._access_token.encode()
        ):
            raise Refusal(messages.UNAUTHORIZED, "registering needs the header Authorization: Bearer <access token>")
        body = await _body(request, Register)
        agent = Account(f"agt_{secrets.token_hex(8)}", body.name)
        api_key = f"key_{secrets.token_urlsafe(24)}"
        self._agents[api_key] = agent
        if len(self._agents) > MOST_AGENTS:
            self._forget_agent()
        return web.json_response({"agent_id": agent.agent_id, "api_key": api_key, "name": agent.name}, status=201)

    def _forget_agent(self) -> None:
        seated = {
            seat.agent_id
            for table in self.tables.values()
            if table.ended_at is None
            for seat in table.session.seats.values()
        }
        oldest = next((key for key, agent in self._agents.items() if agent.agent_id not in seated), None)
        if oldest is not None:
            del self._agents[oldest]

    async def _auto_join(self, request: web.Request) -> web.Response:
        agent, body = self._known(request), await _body(request, Join)
        _check_version(body)
        tables = [table for table in self.tables.values() if table.ended_at is None]
        for table in tables:
            if any(seat.agent_id == agent.agent_id for seat in table.session.seats.values()):
                detail = f"{agent.agent_id} sits at table {table.table_id}"
                raise Refusal(messages.ALREADY_SEATED, detail, table_id=table.table_id)
        refusal = Refusal(messages.TABLE_FULL, "no table has a free seat")
        for table in tables:
            try:
                return self._seated(request, agent, table, table.join(agent, body.preferred_seat))
            except Refusal as another:
                refusal = another
        raise refusal

    async def _join(self, request: web.Request) -> web.Response:
        agent, body = self._known(request), await _body(request, Join)
        _check_version(body)
        table = self._table(request)
        return self._seated(request, agent, table, table.join(agent, body.preferred_seat))

    def _seated(self, request: web.Request, agent: Account, table: HostedTable, seat: int) -> web.Response:
        token = secrets.token_urlsafe(24)
        expires = asyncio.get_running_loop().time() + self._session_lifetime
        self._sessions[token] = _Session(table, seat, agent.agent_id, expires)
        secure = request.secure or request.headers.get("X-Forwarded-Proto") == "https"  # TLS may end at a proxy
        return web.json_response(
            {
                "table_id": table.table_id,
                "seat_id": seat,
                "session_token": token,
                "ws_url": f"{'wss' if secure else 'ws'}://{request.host}/v1/ws",
                "protocol_version": PROTOCOL_VERSION,
                "min_supported_protocol_version": MIN_PROTOCOL_VERSION,
                "action_timeout_ms": self._options["timeout"],
                "agent_id": agent.agent_id,
            }
        )

    async def _leave(self, request: web.Request) -> web.Response:
        agent, table = self._known(request), self._table(request)
        for number, seat in table.session.seats.items():
            if seat.agent_id == agent.agent_id:
                table.leave(number)
                self._sessions = {
                    key: session
                    for key, session in self._sessions.items()
                    if (session.table, session.agent_id) != (table, agent.agent_id)
                }
                return web.json_response({"table_id": table.table_id, "seat_id": number})
        raise Refusal(messages.NOT_SEATED, f"{agent.agent_id} does not sit at table {table.table_id}")

    async def _list(self, request: web.Request) -> web.Response:
        open_tables = [table.summary() for table in self.tables.values() if table.ended_at is None]
        return web.json_response({"tables": open_tables})

    async def _show(self, request: web.Request) -> web.Response:
        return web.json_response(self._table(request).summary())

    def _known(self, request: web.Request) -> Account:
        key = _bearer(request)
        if not key:
            raise Refusal(messages.UNAUTHORIZED, "this call needs the header Authorization: Bearer <api_key>")
        if key not in self._agents:
            raise Refusal(messages.INVALID_API_KEY, "no agent has this API key; POST /v1/agents gives one")
        return self._agents[key]

    def _table(self, request: web.Request) -> HostedTable:
        table_id = request.match_info["table_id"]
        if table_id not in self.tables:
            raise Refusal(messages.TABLE_NOT_FOUND, f"there is no table {table_id[:40]!a}")
        return self.tables[table_id]

    # WebSocket.

    async def _play(self, request: web.Request) -> web.WebSocketResponse:
        async def serve(socket: web.WebSocketResponse) -> None:
            await self._serve(socket, request.transport, self._admit(request.query.get("token", "")))

        return await self._upgraded(request, serve)

    async def _watch(self, request: web.Request) -> web.WebSocketResponse:
        async def serve(socket: web.WebSocketResponse) -> None:
            table = self._table(request)
            if sum(len(one.watchers) for one in self.tables.values()) >= self._watchers:
                raise Refusal(messages.TABLE_FULL, f"{self._watchers} may look on here")
            await self._show_to(socket, request.transport, table)

        return await self._upgraded(request, serve)

    async def _upgraded(
        self, request: web.Request, serve: Callable[[web.WebSocketResponse], Awaitable[None]]
    ) -> web.WebSocketResponse:
        """Make a WebSocket of a request and serve it; a refusal is told there, and closes it."""
        socket = web.WebSocketResponse(max_msg_size=HARD_LIMIT, compress=False, heartbeat=30.0, timeout=CLOSING)
        await socket.prepare(request)
        task = asyncio.current_task()
        assert task is not None
        self._handlers.add(task)
        try:
            await serve(socket)
        except Refusal as refusal:
            with suppress(ConnectionError):
                await socket.send_str(messages.encode(Error(code=refusal.code, message=refusal.message)))
                await socket.close(code=WSCloseCode.POLICY_VIOLATION, message=refusal.code.encode())
        finally:
            self._handlers.discard(task)
        return socket

    def _admit(self, token: str) -> _Session:
        if not token:
            raise Refusal(messages.UNAUTHORIZED, "connect to …/v1/ws?token=<session_token>&format=agent")
        session = self._sessions.get(token)
        if session is None:
            raise Refusal(messages.INVALID_SESSION, "no seat has this session token; join a table to get one")
        if session.expires < asyncio.get_running_loop().time():
            raise Refusal(messages.SESSION_EXPIRED, "this session token has expired; join a table to get a new one")
        seated = session.table.session.seats.get(session.seat)
        if seated is not None and seated.agent_id != session.agent_id:
            raise Refusal(messages.INVALID_SESSION, "the seat is another agent's by now; join a table to get one")
        return session

    async def _serve(
        self, socket: web.WebSocketResponse, transport: asyncio.Transport | None, session: _Session
    ) -> None:
        loop = asyncio.get_running_loop()
        table, seat = session.table, session.seat
        connection = Connection(socket, transport)
        writer = asyncio.create_task(connection.write())
        session.expires = float("inf")  # while it is in use
        try:
            table.connect(seat, connection)
            if table.ended_at is not None:
                connection.close()
            await self._read(socket, connection, partial(table.receive, seat, connection))
        finally:
            table.disconnect(seat, connection)
            if not table.connected(seat):
                session.expires = loop.time() + self._session_lifetime
            if connection.closing:
                await asyncio.wait({writer}, timeout=CLOSING)
            writer.cancel()

    async def _show_to(
        self, socket: web.WebSocketResponse, transport: asyncio.Transport | None, table: HostedTable
    ) -> None:
        """Let somebody look on: every state without cards, every result; nothing that is sent is played."""
        connection = Connection(socket, transport)
        writer = asyncio.create_task(connection.write())

        def refuse(data: str | bytes) -> bool:
            _refuse(connection, messages.NOT_SEATED, "you look on; join a table to play")
            return False

        try:
            table.watch(connection)
            if table.ended_at is not None:
                connection.close()
            await self._read(socket, connection, refuse)
        finally:
            table.unwatch(connection)
            if connection.closing:
                await asyncio.wait({writer}, timeout=CLOSING)
            writer.cancel()

    async def _read(
        self, socket: web.WebSocketResponse, connection: Connection, receive: Callable[[str | bytes], bool]
    ) -> None:
        """Hand on what a client sends, in rations; `receive` tells whether it moved the game on."""
        loop = asyncio.get_running_loop()
        allowance = None if self._rate is None else Allowance(self._rate, loop.time())
        async for message in socket:
            if message.type not in (WSMsgType.TEXT, WSMsgType.BINARY):
                continue
            if allowance is not None and not allowance.take(loop.time()):
                _refuse(connection, messages.RATE_LIMIT_EXCEEDED, f"more than {self._rate:g} messages a second")
                await asyncio.sleep(1 / (self._rate or 1))  # the rest waits on the client's side of the wire
            elif len(message.data) > self._message_limit:
                detail = f"a message of {len(message.data)} bytes; at most {self._message_limit}"
                _refuse(connection, messages.VALIDATION_ERROR, detail)
            elif receive(message.data) and allowance is not None:
                allowance.give_back()


def _refuse(connection: Connection, code: str, message: str) -> None:
    connection.send(messages.encode(Error(code=code, message=message)))


def _bearer(request: web.Request) -> str:
    kind, _, value = request.headers.get("Authorization", "").partition(" ")
    return value.strip() if kind.lower() == "bearer" else ""


async def _body(request: web.Request, kind: type[Body]) -> Body:
    try:
        async with asyncio.timeout(BODY):
            data = await request.read()
    except TimeoutError:
        raise Refusal(messages.VALIDATION_ERROR, f"the body did not come within {BODY:g} seconds") from None
    except ConnectionError:  # it is gone; nobody hears this
        raise Refusal(messages.VALIDATION_ERROR, "the body broke off") from None
    try:
        return msgspec.json.decode(data or b"{}", type=kind)
    except (msgspec.MsgspecError, ValueError, RecursionError) as error:
        raise Refusal(messages.VALIDATION_ERROR, f"cannot read the body: {str(error)[:200]}") from error


def _check_version(body: Join) -> None:
    """Refuse a client that tells a version older than we speak; one that cannot be read is given the benefit."""
    parts = str(body.client_protocol_version or "").split(".")
    least = [int(part) for part in MIN_PROTOCOL_VERSION.split(".")]
    if all(part.isdecimal() for part in parts) and [int(part[:9]) for part in parts] < least:
        detail = (
            f"client_protocol_version {body.client_protocol_version}: at least {MIN_PROTOCOL_VERSION} is spoken here"
        )
        raise Refusal(messages.OUTDATED_CLIENT, detail)


@web.middleware
async def _answer_refusals(
    request: web.Request, handler: Callable[[web.Request], Awaitable[web.StreamResponse]]
) -> web.StreamResponse:
    """Give every refused REST call the documented form of an error."""
    try:
        return await handler(request)
    except Refusal as refusal:
        code, message, status = refusal.code, refusal.message, STATUS.get(refusal.code, 400)
        details = refusal.details
    except web.HTTPClientError as error:  # unknown path, wrong method, long body
        code, message, status, details = messages.VALIDATION_ERROR, error.reason, error.status, {}
    more = {"details": details} if details else {}
    return web.json_response({"error": {"code": code, "message": message, **more}}, status=status)


def _warm_up() -> None:
    """Play one hand, so that the rules are compiled before the first guest waits for them."""
    session = PokerHostSession(seats=2)
    for name in "ab":
        session.connect(session.join(name)[0])
    while session.due is not None and session.due.what == "act":
        session.timeout(session.due.seat, session.due.token)
