"""The table server: our page, and any TurnState game behind it, on one port (aiohttp).

`TableHostSession` decides everything; here are sockets, clocks and the programs' threads. All of it runs in one event loop,
and nothing in it waits for a client or a program.
"""

import asyncio
import logging
from collections.abc import Sequence
from importlib.resources import files
from itertools import count
from typing import Any, Self

from aiohttp import WSMsgType, web

from ....envs.core.aec import GameEnv
from ....envs.core.game import Game
from ...agents.base import Agent
from ...logs.match_log import MatchLog
from ...logs.safe_match_log import SafeMatchLog
from ..common.connection import Allowance, Connection
from ..common.site import Origins, routes
from ..common.worker import Worker, described
from . import messages
from .host_session import Due, Send, TableHostSession
from .messages import Error, State

PAGE = files(__package__) / "page"
"""The page's files."""
HARD_LIMIT = 2**20  # bytes; a longer message ends the connection before it is read
MESSAGE_LIMIT = 2**17  # bytes; a longer one is refused: ten messages of 4,000 characters fit, a few bytes each
RATE = 20.0  # messages a second on one connection
CLOSING = 2.0  # seconds a client has to answer a close
MOST_CLIENTS = 200

logger = logging.getLogger(__name__)


class TableHost:
    """A table for people and programs. Use it as an async context manager, or call `start` and `stop`.

    >>> async with Host(game, [None, ("fair", agent)]) as host:      # doctest: +SKIP
    ...     print(host.url)

    Args:
        game: what is played, match after match.
        players: seat by seat, a program as (name, agent), or None for a person.
        timeout: seconds for a turn; then the game's safe action is played.
        seed: makes the deals reproducible; None takes the operating system's entropy.
        address, port: where to listen; port 0 takes a free one.
        names: further host names under which browsers may reach the server.
        access_token: what those who sit down must bear; None lets everybody.
        log: gets what is played, as lines that replay.

    Attributes:
        url: the page, once started.
        session: the table.
    """

    def __init__(
        self,
        game: Game,
        players: Sequence[tuple[str, Agent] | None],
        *,
        timeout: float = 60.0,
        seed: int | None = None,
        address: str = "127.0.0.1",
        port: int = 0,
        names: Sequence[str] = (),
        access_token: str | None = None,
        log: MatchLog | None = None,
    ) -> None:
        if not 0 < timeout < 2**30:
            raise ValueError(f"timeout={timeout}: seconds for a turn, above 0")
        self.url = ""
        self.session = TableHostSession(
            game,
            [None if player is None else player[0] for player in players],
            timeout=round(1000 * timeout),
            seed=seed,
            access_token=access_token,
        )
        self._agents = {seat: player[1] for seat, player in enumerate(players) if player is not None}
        self._workers: dict[int, Worker] = {}
        self._timeout = timeout
        self._address, self._port = address, port
        self._origins = Origins.of(address, names)
        self._book = SafeMatchLog(log)
        self._written: tuple[Any, int] = (None, 0)  # the match, and how many of its events are in the log
        self._connections: dict[int, Connection] = {}
        self._ids = count()
        self._due: Due | None = None
        self._ends_at = 0.0
        self._clock: asyncio.TimerHandle | None = None
        self._asking: asyncio.Task[None] | None = None
        self._runner: web.AppRunner | None = None

    async def start(self) -> None:
        """Let the programs rehearse, and listen.

        Raises:
            OSError: if the port is taken.
        """
        await asyncio.to_thread(_warm_up, self.session.game)
        for seat, agent in self._agents.items():
            self._workers[seat] = Worker(self.session.seats[seat].name or "")
            warm_up = getattr(agent, "warm_up", None)
            if warm_up is not None:
                try:
                    await asyncio.to_thread(warm_up)
                except Exception as error:  # it may yet do better in a match
                    logger.warning("%s failed in rehearsal: %s", self.session.seats[seat].name, described(error))
        app = web.Application(client_max_size=HARD_LIMIT, middlewares=[self._origins.check])
        app.add_routes([web.get("/ws", self._websocket), *page(self.session.game, protocol="turnstate")])
        self._runner = web.AppRunner(app, access_log=None, shutdown_timeout=1.0)
        await self._runner.setup()
        await web.TCPSite(self._runner, self._address, self._port).start()
        address, port = self._runner.addresses[0][:2]
        self.url = f"http://[{address}]:{port}" if ":" in address else f"http://{address}:{port}"

    async def stop(self) -> None:
        """Close the connections and stop listening."""
        if self._asking is not None:
            self._asking.cancel()
        if self._clock is not None:
            self._clock.cancel()
        for worker in self._workers.values():
            worker.stop()
        for connection in self._connections.values():
            connection.abort()
        if self._runner is not None:
            await self._runner.cleanup()
            self._runner = None

    async def __aenter__(self) -> Self:
        await self.start()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.stop()

    # Connections.

    async def _websocket(self, request: web.Request) -> web.WebSocketResponse:
        if len(self._connections) >= MOST_CLIENTS:
            raise web.HTTPServiceUnavailable(reason=f"{MOST_CLIENTS} people are here")
        socket = web.WebSocketResponse(max_msg_size=HARD_LIMIT, compress=False, heartbeat=30.0, timeout=CLOSING)
        await socket.prepare(request)
        connection = Connection(socket, request.transport)
        writer = asyncio.create_task(connection.write())
        client = next(self._ids)
        self._connections[client] = connection
        try:
            self._deliver(self.session.connect(client))
            await self._read(socket, client)
        finally:
            del self._connections[client]
            self._deliver(self.session.disconnect(client))
            writer.cancel()
        return socket

    async def _read(self, socket: web.WebSocketResponse, client: int) -> None:
        loop = asyncio.get_running_loop()
        allowance = Allowance(RATE, loop.time())
        async for message in socket:
            if message.type not in (WSMsgType.TEXT, WSMsgType.BINARY):
                continue
            if not allowance.take(loop.time()):
                self._refuse(client, messages.RATE_LIMIT_EXCEEDED, f"more than {RATE:g} messages a second")
                await asyncio.sleep(1 / RATE)  # the rest waits on the client's side of the wire
            elif len(message.data) > MESSAGE_LIMIT:
                detail = f"a message of {len(message.data)} bytes; at most {MESSAGE_LIMIT}"
                self._refuse(client, messages.VALIDATION_ERROR, detail)
            else:
                self._deliver(self.session.receive(client, message.data))

    def _refuse(self, client: int, code: str, message: str) -> None:
        self._connections[client].send(messages.encode(Error(code=code, message=message)))

    def _deliver(self, sends: Sequence[Send]) -> None:
        self._wind()
        left = None
        if self._due is not None:
            left = max(0, round(1000 * (self._ends_at - asyncio.get_running_loop().time())))
        for client, message in sends:
            if isinstance(message, State):
                message.left = None if message.turn < 0 else left
            connection = self._connections.get(client)
            if connection is not None:
                connection.send(messages.encode(message))
        self._write()

    # Turns.

    def _wind(self) -> None:
        """Set the clock to the turn that the session waits for, and ask the program whose it is."""
        due = self.session.due
        if due == self._due:
            return
        if self._clock is not None:
            self._clock.cancel()
        if self._asking is not None:
            self._asking.cancel()
        self._due, self._clock, self._asking = due, None, None
        if due is not None:
            loop = asyncio.get_running_loop()
            self._ends_at = loop.time() + self._timeout
            self._clock = loop.call_at(self._ends_at, self._fail, due.turn, "no answer in time")
            if due.who == "program":
                self._asking = loop.create_task(self._ask(due))

    async def _ask(self, due: Due) -> None:
        """Ask a program until its turn is over: it may send messages first and decide later."""
        worker = self._workers[due.seat]
        if worker.stuck:
            self._fail(due.turn, "still busy with an earlier turn")
        while self.session.due == due:
            try:
                response = await worker.call(self._agents[due.seat].respond, self.session.state(due.seat))
            except RuntimeError as error:
                self._fail(due.turn, str(error))
            else:
                self._deliver(self.session.answered(due.turn, response))

    def _fail(self, turn: int, problem: str) -> None:
        due = self.session.due
        if due is not None and due.turn == turn:
            logger.warning("%s: the safe action is played: %s", self.session.seats[due.seat].name, problem)
            self._deliver(self.session.failed(turn, problem))

    def _write(self) -> None:
        """Write what has happened since the last time."""
        match = self.session.match
        if match is None:
            return
        written = self._written[1] if self._written[0] is match else 0
        for event in match.events[written:]:
            self._book.write(**event)
        self._written = match, len(match.events)


def page(game: Game, **facts: Any) -> list[web.RouteDef]:
    """Return the routes of the page for a game; one without a file of its own gets the general one."""
    own = (PAGE / "games" / f"{game.name}.js").is_file()
    options = {name: value for name, value in game.options.items() if name != "figure"}  # whose text has its solution
    known = {"game": game.name, "page": game.name if own else "any", "seats": game.seats, "options": options}
    return routes(PAGE, known | facts)


def _warm_up(game: Game) -> None:
    """Play one match, so that the rules are compiled before anybody waits for them."""
    env = GameEnv(game, "flat")
    env.reset(seed=0)
    while env.agents and not env.table.done:
        env.turn_state(env.agent_selection)
        env.submit(env.agent_selection, game.view.encode(env.table, game.view.safe(env.table)).action)
    if game.capabilities.public_view is not None:
        game.public_turn_state(env.table)
