"""Our agents behind a WebSocket, for hosts elsewhere: an agent service.

`MafiaAgentSession` has the protocol, `MafiaAgents` the agents: one player for the calls of all. If an agent raises, is
late, streams without end or makes an illegal choice, its answer is cut off or replaced by a legal target, an
abstention or a plain sentence. The log has a ``turn`` for every night action, statement and vote, with its thought.
Hosts do not report the end of a match to agents, so ``ended`` is written when the service removes an agent.
"""

import contextlib
import random
import secrets
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

from aiohttp import WSCloseCode, web

from ....envs.core.options import seconds
from ...agents.base import thoughts
from ...logs.match_log import MatchLog, SafeMatchLog, describe_error, safe_thoughts
from ..common.clock import Deadline
from ..common.connection import Connection, ConnectionLimits, Served
from ..common.limits import lacks_token
from ..common.player import AgentStatistics, Played, Player, Turn, run
from ..common.server import Server, ServerSettings, local_url
from .agent_policy import AgentPolicy, Apart, ask, called, model_calls, replacement
from .conversion import turn_state
from .messages import PrivateInfo, Reply, encode
from .session import MESSAGE_LIMIT, MafiaAgentSession, MafiaTurn

AGENTS = 1_000
"""Most agents that are kept. The least recently used is removed first."""
CONNECTIONS = 256
"""WebSockets that may be open at once."""
LIMITS = ConnectionLimits(frame=MESSAGE_LIMIT, rate=1000.0, queue=1024, closing=1.0)
"""Limits of a connection. A stream waits if the client is slow."""

Key = tuple[str, str, str]
"""Client, match, agent. The client's name is secret, and not written."""


@dataclass
class ServedAgent:
    """An agent of the service, and the latest that is known of it."""

    policy: AgentPolicy
    called: Any  # the same, or `Apart`
    private: PrivateInfo | None = None
    thought: str = ""
    moment: tuple[str, int] = ("", 0)  # phase and round of the thought
    winner: str | None = None


class MafiaAgents(Player):
    """The agents of a service, as one player of all their calls.

    Args:
        make: returns a new agent for an id and a name.
        log: the log of all decisions; None: no log.
    """

    def __init__(self, make: Callable[[str, str], AgentPolicy], log: MatchLog | None = None) -> None:
        super().__init__(None, log=SafeMatchLog(log))  # type: ignore[arg-type]
        self._make = make
        self.agents: dict[Key, ServedAgent] = {}  # the least recently used first

    def begin(self, client: str, turn: MafiaTurn) -> None:
        """Find the agent of a client's call, or make it, and tell it what it is told in private."""
        key = client, turn.context.game_id, turn.agent_id
        agent = self.agents.pop(key, None)
        if agent is None:
            name = next((player.name for player in turn.context.players if player.id == turn.agent_id), None)
            try:
                policy = self._make(turn.agent_id, name or turn.agent_id)
            except Exception as error:  # `make` may be the user's
                turn.problem = turn.nobody = f"there is no agent: {describe_error(error)}"
                return
            agent = ServedAgent(policy, called(policy))
            self.log.write("joined", match_id=key[1], agent_id=key[2], name=name)
        self.agents[key] = turn.agent = agent
        if len(self.agents) > AGENTS:
            self._remove(next(iter(self.agents)))
        agent.winner = turn.context.winner
        if isinstance(turn.info, PrivateInfo):
            agent.private = turn.info.kept()
        if self.log:
            # What the agent sees, before it can change it; none for an agent that is none of the players, for example.
            with contextlib.suppress(ValueError, TypeError, LookupError):
                turn.seen = turn_state(turn.agent_id, turn.context, agent.private)

    async def ask(self, turn: Turn, deadline: Deadline | None = None) -> tuple[Any, dict[str, Any]]:
        """See `Player`. Several calls may run at once."""
        assert isinstance(turn, MafiaTurn)
        assert deadline is not None
        agent, info = turn.agent, turn.info
        role = info.self.role if isinstance(info, PrivateInfo) else None
        shown = turn.context, info
        answer = await ask(agent.called, turn.method, shown, role=role, deadline=deadline, take=turn.take)
        turn.replaced = turn.replaced or replacement(agent.policy)
        return answer, safe_thoughts(lambda: thoughts(agent.policy)) if self.log else {}

    def record(self, turn: Turn, played: Played) -> None:
        """See `Player`. A thought is kept for the decision after it."""
        assert isinstance(turn, MafiaTurn)
        agent = turn.agent
        if agent is not None:
            where = {"match_id": turn.context.game_id, "agent_id": turn.agent_id, "method": turn.method}
            for call in model_calls(agent.policy):
                self.log.write("model", **where, round=turn.moment[1], **call)
            if turn.method == "think":
                cut = "" if played.problem is None else f" ({played.problem})"
                agent.thought, agent.moment = f"{''.join(turn.said)}{cut}", turn.moment
            else:
                turn.fields = {"think": agent.thought} if agent.thought and agent.moment == turn.moment else {}
                agent.thought = ""
        super().record(turn, played)

    def forget(self, client: str | None = None) -> None:
        """Remove the agents of a client, or (None) all."""
        for key in [key for key in self.agents if client in (None, key[0])]:
            self._remove(key)

    def _remove(self, key: Key) -> None:
        agent = self.agents.pop(key)
        if isinstance(agent.called, Apart):
            agent.called.stop()
        outcome = None if agent.winner is None else {"winner": agent.winner}
        self.log.write("ended", match_id=key[1], agent_id=key[2], outcome=outcome)


class MafiaAgentServer(Server):
    """Serves agents at ``ws://address:port/``. Use it as an async context manager, or call `start` and `stop`.

    An agent is created at its first call, one for each game, id and client. A client that connects with
    ``?client=SECRET`` gets the same agents after a lost connection; without it, they are removed on disconnect. One
    keeps its place from its first call, and is closed if none comes.

    Args:
        make: returns a new agent for an id and a name. One that may block runs in a thread of its own (see `called`).
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
        seconds("deadline", deadline)
        super().__init__(server, check_host=True, connection_limits=LIMITS, most_connections=CONNECTIONS)
        self._agents = MafiaAgents(make, log)
        self._deadline = deadline
        self._random = random.Random(seed)

    @property
    def statistics(self) -> AgentStatistics:
        """Counters and latencies of the calls."""
        return self._agents.statistics

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
        self._agents.forget()
        self._agents.close()

    async def _health(self, request: web.Request) -> web.Response:
        return web.json_response({"ok": True, "connections": self.connections, "calls": self.statistics.decisions})

    async def _connect(self, request: web.Request) -> web.StreamResponse:
        if lacks_token(request, self.settings.access_token):
            needs = "connecting needs Authorization: Bearer <access token>"
            return web.json_response({"error": needs}, status=401)
        return await self.upgrade(request, partial(self._serve, request.query.get("client", "")))

    async def _serve(self, given: str, connection: Connection) -> None:
        """Answer a client until it disconnects, and remove its agents if it has no name."""
        client = given or secrets.token_hex(16)
        session = MafiaAgentSession(self._deadline, self._random)
        port = Served(connection, lambda message: encode(message).decode())

        async def send(turn: MafiaTurn, text: str) -> None:
            if session.waits(turn):
                await port.send(Reply(id=turn.id, chunk=text))
                await connection.room()

        def watch(event: Any) -> None:
            if isinstance(event, MafiaTurn):
                event.send = partial(send, event)
                self.keep(connection)  # it is a host
                self._agents.begin(client, event)

        try:
            await run(port, session, self._agents, watch)
            connection.close(WSCloseCode.POLICY_VIOLATION, b"no call has come")
        finally:
            if not given:
                self._agents.forget(client)
