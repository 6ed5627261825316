"""Our agents behind a WebSocket, for hosts elsewhere: an agent service.

`MafiaAgentSession` has the protocol, `AgentCalls` the agents and their deadlines; here are the connections. A
connection may carry any number of agents, and each agent may have several calls running.
"""

import asyncio
import contextlib
import logging
import secrets
from collections.abc import Callable
from functools import partial

from aiohttp import web

from ...logs.match_log import MatchLog, describe_error
from ...logs.match_log import escaped as shown
from ..common.agent_turn import AgentStatistics
from ..common.connection import Connection, ConnectionLimits
from ..common.server import Server, ServerSettings, local_url
from ..common.tokens import lacks_token
from .agent_calls import AgentCalls
from .agent_policy import AgentPolicy
from .agent_session import MESSAGE_LIMIT, Begin, CallId, GivenUp, MafiaAgentSession

logger = logging.getLogger(__name__)

CONNECTIONS = 256
"""WebSockets that may be open at once."""
LIMITS = ConnectionLimits(frame=MESSAGE_LIMIT, rate=1000.0, queue=1024, closing=1.0)
"""Limits of a connection. A stream waits if the client is slow."""


class MafiaAgentServer(Server):
    """Serves agents at ``ws://address:port/``. Use it as an async context manager, or call `start` and `stop`.

    An agent is created at its first call, one for each game, id and client. A client that connects with
    ``?client=SECRET`` gets the same agents after a lost connection; without it, they are removed on disconnect.

    Args:
        make: returns a new agent for an id and a name.
        server: where it listens; clients send its access token (``Authorization: Bearer …``).
        deadline: seconds for a call; after them a stream is cut off, and a choice is replaced.
        seed: the seed of replaced choices; None: fresh entropy.
        log: the log of all decisions; None: no log.

    Attributes:
        url: the address where it listens, after the start.
    """

    def __init__(
        self,
        make: Callable[[str, str], AgentPolicy],
        *,
        server: ServerSettings | None = None,
        deadline: float = 25.0,
        seed: int | None = None,
        log: MatchLog | None = None,
    ) -> None:
        super().__init__(server, check_host=True, connection_limits=LIMITS, most_connections=CONNECTIONS)
        self._agent_calls = AgentCalls(make, deadline=deadline, seed=seed, log=log)

    @property
    def statistics(self) -> AgentStatistics:
        """Counters and latencies of the calls."""
        return self._agent_calls.statistics

    @property
    def calls(self) -> int:
        """Number of ended calls."""
        return self.statistics.decisions

    @property
    def replaced(self) -> int:
        """Number of answers that were cut off or replaced."""
        return self.statistics.replaced

    def routes(self) -> list[web.RouteDef]:
        """See `Server`."""
        return [web.get("/", self._connect), web.get("/health", self._health)]

    async def start(self) -> None:
        """See `Server`."""
        await super().start()
        self.url = local_url(self.url).replace("http", "ws", 1)

    async def stop(self) -> None:
        """See `Server`. Write the end of all running matches to the log."""
        await super().stop()
        self._agent_calls.end()

    async def _health(self, request: web.Request) -> web.Response:
        return web.json_response({"ok": True, "connections": self.connections, "calls": self.calls})

    async def _connect(self, request: web.Request) -> web.StreamResponse:
        if lacks_token(request, self.settings.access_token):
            needs = "connecting needs Authorization: Bearer <access token>"
            return web.json_response({"error": needs}, status=401)
        return await self.upgrade(request, partial(self._serve, request.query.get("client", "")))

    async def _serve(self, given: str, connection: Connection) -> None:
        """Answer a client until it disconnects, and remove its agents if it has no name."""
        self.keep(connection)
        client = given or secrets.token_hex(16)
        try:
            await _Client(self._agent_calls, connection, client).run()
        finally:
            if not given:
                self._agent_calls.forget(client)


class _Client:
    """One client: its session, its connection, and a task for each running call."""

    def __init__(self, agent_calls: AgentCalls, connection: Connection, client: str) -> None:
        self._client = client
        self._agent_calls = agent_calls
        self._connection = connection
        self._session = MafiaAgentSession()
        self._tasks: dict[CallId, asyncio.Task[None]] = {}

    async def run(self) -> None:
        """Answer until the connection ends; then cancel its calls."""
        try:
            async for data in self._connection.messages():
                self._take(data)
        finally:
            tasks = list(self._tasks.values())
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)

    def _take(self, data: str | bytes) -> None:
        event = self._session.receive(data)
        if isinstance(event, Begin):
            task = asyncio.create_task(self._answer(event))
            self._tasks[event.id] = task
            task.add_done_callback(partial(self._ended, event.id))
        elif isinstance(event, GivenUp):
            self._tasks[event.id].cancel()
        else:
            self._send(event)

    def _ended(self, call: CallId, task: asyncio.Task[None]) -> None:
        if self._tasks.get(call) is task:  # the id may be in use again
            del self._tasks[call]

    async def _answer(self, begin: Begin) -> None:
        try:
            call = self._agent_calls.begin(self._client, begin)
        except Exception as error:  # `make` may be the user's
            logger.warning("no agent for %s: %s", shown(begin.agent_id[:64]), describe_error(error))
            self._send(self._session.failed(begin.id, f"there is no agent for {begin.agent_id[:64]!r}"))
            return
        if begin.method in ("think", "say"):
            async with contextlib.aclosing(call.stream()) as stream:
                async for chunk in stream:
                    self._send(self._session.chunk(begin.id, chunk))
                    await self._connection.room()
            self._send(self._session.done(begin.id))
        else:
            self._send(self._session.done(begin.id, await call.choose()))

    def _send(self, message: bytes | None) -> None:
        if message is not None:
            self._connection.send(message.decode())
