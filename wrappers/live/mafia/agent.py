"""Our agents behind a WebSocket, for hosts elsewhere: an agent service.

`MafiaAgentSession` decides what is said; here are the socket, the clocks and the agents. A connection may carry any
number of agents, and each may have several calls running. An agent that raises, is late, talks without end or chooses
what it may not is cut off or replaced: by a legal target, an abstention, a plain sentence; a warning says why.
"""

import asyncio
import contextlib
import hmac
import logging
import random
import secrets
from collections import OrderedDict
from collections.abc import AsyncGenerator, Callable
from functools import partial
from typing import Self

from aiohttp import WSMsgType, web

from ...logs.log_text import describe_error as described
from ...logs.log_text import escaped as shown
from ...logs.match_log import MatchLog
from ..common.origins import Origins
from ..common.server import local_url, url_of
from .agent_policy import AgentPolicy, night_problem, night_targets, vote_problem
from .agent_session import MESSAGE_LIMIT, Begin, CallId, GivenUp, MafiaAgentSession
from .messages import NIGHT_ACTIONS, NightAction, PrivateInfo, PublicInfo, VoteAction
from .service_log import AgentServiceLog, Page
from .streams import chunks

logger = logging.getLogger(__name__)

PORT = 3010
AGENTS = 1_000
"""Agents that are remembered; beyond, those longest unused are forgotten."""
CONNECTIONS = 256
STREAM_LIMIT = 20_000
"""Characters of a stream; then it is cut off."""
SAYS_LIMIT = 4_000
"""Characters of a statement; then it is cut off."""
NOTHING_TO_SAY = "I have nothing to add for now."
"""Said in place of an agent that says nothing: a statement has at least one sentence."""
HEARTBEAT = 30.0

Make = Callable[[str, str], AgentPolicy]
"""From an agent's id and name to the agent."""


class MafiaAgentServer:
    """Serves agents at ``ws://address:port/``. Use it as an async context manager, or call `start` and `stop`.

    An agent is made when it is first called, one for each game, id and client. A client that connects with
    ``?client=SECRET`` finds its agents again after a lost connection; without, they go with the connection.

    Args:
        make: makes an agent.
        address, port: where to listen; port 0 takes a free one.
        deadline: seconds for a call; then a stream is cut off, and a choice is made in the agent's place.
        access_token: what clients must bear (``Authorization: Bearer …``); None lets everybody in.
        seed: of the choices made in agents' place; None for fresh entropy.
        log: where every decision is written; None: nowhere.

    Attributes:
        url: where it listens, once started.
        calls: calls begun.
        replaced: answers that were made in an agent's place.
        diary: what is written of them.
    """

    def __init__(
        self,
        make: Make,
        *,
        address: str = "127.0.0.1",
        port: int = PORT,
        deadline: float = 25.0,
        access_token: str | None = None,
        seed: int | None = None,
        log: MatchLog | None = None,
    ) -> None:
        if not 0 < deadline < 2**30:
            raise ValueError(f"deadline={deadline}: seconds for a call, above 0")
        self.url = ""
        self.calls = self.replaced = 0
        self._make = make
        self._address, self._port = address, port
        self._deadline = deadline
        self._access_token = access_token
        self._random = random.Random(seed)
        self.diary = AgentServiceLog(log)
        self._agents: OrderedDict[tuple[str, str, str], AgentPolicy] = OrderedDict()
        self._sockets: set[web.WebSocketResponse] = set()
        self._runner: web.AppRunner | None = None

    async def start(self) -> None:
        """Listen.

        Raises:
            OSError: if the port is taken.
        """
        app = web.Application(middlewares=[Origins.of(self._address).check])
        app.add_routes([web.get("/", self._connect), web.get("/health", self._health)])
        self._runner = web.AppRunner(app, access_log=None, shutdown_timeout=1.0)
        await self._runner.setup()
        await web.TCPSite(self._runner, self._address, self._port).start()
        self.url = local_url(url_of(*self._runner.addresses[0][:2])).replace("http", "ws", 1)

    async def stop(self) -> None:
        """Close the connections and stop listening."""
        await asyncio.gather(*(socket.close(code=1001) for socket in list(self._sockets)))
        if self._runner is not None:
            await self._runner.cleanup()
            self._runner = None
        self.diary.end()

    async def __aenter__(self) -> Self:
        await self.start()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.stop()

    async def _health(self, request: web.Request) -> web.Response:
        return web.json_response({"ok": True, "connections": len(self._sockets), "calls": self.calls})

    async def _connect(self, request: web.Request) -> web.StreamResponse:
        if self._access_token is not None:
            given = request.headers.get("Authorization", "").removeprefix("Bearer ")
            if not hmac.compare_digest(given.encode(errors="surrogateescape"), self._access_token.encode()):
                return web.json_response({"error": "connecting needs Authorization: Bearer <access token>"}, status=401)
        if len(self._sockets) >= CONNECTIONS:
            return web.json_response({"error": f"{CONNECTIONS} connections are open"}, status=503)
        socket = web.WebSocketResponse(heartbeat=HEARTBEAT, max_msg_size=MESSAGE_LIMIT, timeout=1.0)
        if not socket.can_prepare(request).ok:
            return web.json_response({"error": "this is a WebSocket: connect to it as one"}, status=426)
        await socket.prepare(request)
        self._sockets.add(socket)
        client = request.query.get("client", "")
        connection = _Connection(self, socket, client or secrets.token_hex(16))
        try:
            await connection.run()
        finally:
            self._sockets.discard(socket)
            if not client:
                self._forget(connection.client)
        return socket

    def _forget(self, client: str) -> None:
        for key in [key for key in self._agents if key[0] == client]:
            del self._agents[key]
            self.diary.forget(key)

    def agent(self, client: str, begin: Begin) -> AgentPolicy:
        """Return the agent of a call, made now if it is new, with its role where the call tells it.

        Raises:
            Exception: whatever making it raises.
        """
        key = (client, begin.context.game_id, begin.agent_id)
        agent = self._agents.get(key)
        if agent is None:
            names = {player.id: player.name for player in begin.context.players}
            agent = self._agents[key] = self._make(begin.agent_id, names.get(begin.agent_id, begin.agent_id))
            if len(self._agents) > AGENTS:
                self.diary.forget(self._agents.popitem(last=False)[0])
        self._agents.move_to_end(key)
        if isinstance(begin.info, PrivateInfo):
            agent.role = begin.info.self.role
        return agent

    # Answers, or what takes their place.

    async def stream(self, agent: AgentPolicy, page: Page) -> AsyncGenerator[str, None]:
        """Return what the agent thinks or says, as it comes, within the deadline and a length."""
        begin = page.begin
        says = isinstance(begin.info, PublicInfo)
        most = SAYS_LIMIT if says else STREAM_LIMIT
        spoken = False
        try:
            source = (agent.say if says else agent.think)(begin.context, begin.info)  # type: ignore[arg-type]
            async with contextlib.aclosing(chunks(source, self._deadline, most)) as stream:
                async for chunk in stream:
                    spoken = spoken or bool(chunk.strip())
                    page.said.append(chunk)
                    yield chunk
        except TimeoutError:
            self._warn(page, f"cut off after {self._deadline:g} s")
        except Exception as error:  # whatever it is, the match goes on
            self._warn(page, described(error))
        if says and not spoken:
            page.said.append(NOTHING_TO_SAY)
            yield NOTHING_TO_SAY

    async def choose(self, agent: AgentPolicy, page: Page) -> NightAction | VoteAction | None:
        """Return what the agent chooses, or what is chosen in its place."""
        begin = page.begin
        try:
            async with asyncio.timeout(self._deadline):
                if isinstance(begin.info, PrivateInfo):
                    action = await agent.night_action(begin.context, begin.info)
                    problem = night_problem(action, begin.info)
                    if problem is None:
                        return action
                else:
                    vote = await agent.vote(begin.context, begin.info)
                    problem = vote_problem(vote, begin.agent_id, begin.context)
                    if problem is None:
                        return vote
        except TimeoutError:
            problem = f"no answer within {self._deadline:g} s"
        except Exception as error:  # whatever it is, the match goes on
            problem = described(error)
        self._warn(page, problem)
        return self.instead(begin)

    def instead(self, begin: Begin) -> NightAction | VoteAction | None:
        """Return the choice made in an agent's place: a legal target, drawn; an abstention."""
        if not isinstance(begin.info, PrivateInfo):
            return VoteAction(None)
        targets = night_targets(begin.info)
        if not targets:
            return None
        return NightAction(NIGHT_ACTIONS[str(begin.info.self.role)], self._random.choice(targets))

    def _warn(self, page: Page, problem: str) -> None:
        self.replaced += 1
        page.problem = problem
        begin = page.begin
        game_id, agent_id = shown(begin.context.game_id[:64]), shown(begin.agent_id[:64])
        logger.warning("%s, %s of %s: %s", game_id, begin.method, agent_id, shown(problem))


class _Connection:
    """One client: its session, its socket, a task for each running call."""

    def __init__(self, service: MafiaAgentServer, socket: web.WebSocketResponse, client: str) -> None:
        self.client = client
        self._service = service
        self._socket = socket
        self._session = MafiaAgentSession()
        self._tasks: dict[CallId, asyncio.Task[None]] = {}

    async def run(self) -> None:
        """Answer until the connection closes; then no call of it goes on."""
        try:
            async for message in self._socket:
                if message.type in (WSMsgType.TEXT, WSMsgType.BINARY):
                    await self._take(message.data)
        finally:
            for task in self._tasks.values():
                task.cancel()
            await asyncio.gather(*self._tasks.values(), return_exceptions=True)

    async def _take(self, data: str | bytes) -> None:
        event = self._session.receive(data)
        if isinstance(event, Begin):
            self._service.calls += 1
            task = asyncio.create_task(self._answer(event))
            self._tasks[event.id] = task
            task.add_done_callback(partial(self._ended, event.id))
        elif isinstance(event, GivenUp):
            self._tasks[event.id].cancel()
        elif event is not None:
            await self._send(event)

    def _ended(self, call: CallId, task: asyncio.Task[None]) -> None:
        if self._tasks.get(call) is task:  # the id may be in use again
            del self._tasks[call]

    async def _answer(self, begin: Begin) -> None:
        try:
            agent = self._service.agent(self.client, begin)
        except Exception as error:
            logger.warning("no agent for %s: %s", shown(begin.agent_id[:64]), described(error))
            await self._send(self._session.failed(begin.id, f"there is no agent for {begin.agent_id[:64]!r}"))
            return
        page = self._service.diary.open(self.client, begin)
        if begin.method in ("think", "say"):
            async with contextlib.aclosing(self._service.stream(agent, page)) as stream:
                async for chunk in stream:
                    await self._send(self._session.chunk(begin.id, chunk))
            self._service.diary.close(page, agent)
            await self._send(self._session.done(begin.id))
        else:
            choice = await self._service.choose(agent, page)
            self._service.diary.close(page, agent, choice)
            await self._send(self._session.done(begin.id, choice))

    async def _send(self, message: bytes | None) -> None:
        if message is not None and not self._socket.closed:
            with contextlib.suppress(ConnectionError):  # the reader loop finds out
                await self._socket.send_str(message.decode())
