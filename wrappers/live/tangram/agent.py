"""Our agent for live tangram games: the WebSocket server around `TangramAgentSession`.

The game connects to us, and again whenever the connection is lost. Several games may be connected; each is a session of
its own, and one agent answers all, a call at a time. A decision that is late, raises or cannot be played is replaced by
`finish` with one warning in the log; so is every later one while the agent is stuck.
"""

import asyncio
import contextlib
import logging
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any, Self

from aiohttp import WSMsgType, web

from ....envs.core.game import Game
from ...agents.base import Agent
from ...logs.match_log import MatchLog
from ...logs.safe_match_log import SafeMatchLog, without_images
from ..common.worker import Worker, described
from . import messages
from .agent_session import Event, Heard, Note, Send, TangramAgentSession, TangramDecision

logger = logging.getLogger(__name__)

FRAME_LIMIT = 2**24
"""Bytes after which a connection is closed in the middle of a message. What the session refuses to read is far less, so
that it can say so."""
GOODBYE = 1.0
"""Seconds in which a game may take note that we go."""
HEARTBEAT = 30.0
"""Seconds between WebSocket's own pings, which find out that a game is gone."""
TALKS = 4
"""Questions of a player that wait for the agent at once."""
NOTES = 100
"""Notes on a game that go to the log: who sends rubbish all night must not fill a disk."""
GAMES = 64
"""Games that may be connected at once."""


def now() -> str:
    """Return the time as it travels: ISO 8601 in UTC."""
    return datetime.now(UTC).isoformat(timespec="milliseconds")


class TangramAgentServer:
    """An agent of ours that live games connect to. An async context manager; or call `start` and `stop`.

    Args:
        agent: answers the turns, in a thread of its own, one call at a time. Its `warm_up`, if it has one, is called
            before we listen. If it has `chat(turn_state, text) -> str`, that answers the player; `turn_state` is None
            where the game did not show the board.
        game: tangram, with the options that the agent knows.
        address, port: where to listen; port 0 takes a free one.
        deadline: seconds for a decision, or an answer to the player.
        log: gets every connection, decision and end, as JSON Lines.
        on_event: is told every event with the name of its game, for screens and tests.

    Attributes:
        url: where games connect, once started.
        games: connections that have ended.
        turns, plays: begun and sent, in games that have ended.
        replaced: decisions that `finish` took the place of.
    """

    def __init__(
        self,
        agent: Agent,
        game: Game,
        *,
        address: str = "127.0.0.1",
        port: int = 5000,
        deadline: float = 10.0,
        log: MatchLog | None = None,
        on_event: Callable[[str, Event], None] | None = None,
    ) -> None:
        if deadline <= 0:
            raise ValueError(f"deadline={deadline}: seconds for a decision, above 0")
        self.url = ""
        self.games = self.turns = self.plays = self.replaced = 0
        self._agent = agent
        self._game = game
        self._address, self._port = address, port
        self._deadline = deadline
        self._book = SafeMatchLog(log)
        self._on_event = on_event or (lambda name, event: None)
        self._connected: set[web.WebSocketResponse] = set()
        self._count = 0
        self._ended = asyncio.Event()
        self._worker: Worker | None = None
        self._late = False  # the last call was given up
        self._runner: web.AppRunner | None = None

    async def start(self) -> None:
        """Let the agent rehearse, if it can, and listen.

        Raises:
            OSError: if the port is taken.
        """
        self._worker = Worker()  # a thread that a signal need not wait for
        await self._worker.call(self._rehearse)
        app = web.Application()
        app.add_routes([web.get("/{path:.*}", self._connection)])
        self._runner = web.AppRunner(app, access_log=None, shutdown_timeout=1.0)
        await self._runner.setup()
        await web.TCPSite(self._runner, self._address, self._port).start()
        address, port = self._runner.addresses[0][:2]
        self.url = f"ws://[{address}]:{port}" if ":" in address else f"ws://{address}:{port}"

    async def stop(self) -> None:
        """Close the connections and stop listening."""
        await asyncio.gather(*map(_part, self._connected))
        if self._runner is not None:
            await self._runner.cleanup()
            self._runner = None
        if self._worker is not None:
            self._worker.stop()

    async def __aenter__(self) -> Self:
        await self.start()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.stop()

    async def played(self, games: int | None = None) -> None:
        """Wait until so many connections have ended; None waits for ever."""
        while games is None or self.games < games:
            self._ended.clear()
            await self._ended.wait()

    def _rehearse(self) -> None:
        """Have an agent that can rehearse do so, and play a made-up turn, so that nothing is left to be compiled."""
        warm_up = getattr(self._agent, "warm_up", None)
        if warm_up is not None:
            try:
                warm_up()
            except Exception as error:  # it may yet do better in a game
                logger.warning("the agent failed in rehearsal: %s", described(error))
        TangramAgentSession(self._game).warm_up()

    async def _connection(self, request: web.Request) -> web.StreamResponse:
        # Without compression, because a small frame might hold gigabytes.
        socket = web.WebSocketResponse(heartbeat=HEARTBEAT, max_msg_size=FRAME_LIMIT, compress=False)
        if not socket.can_prepare(request):
            return web.Response(status=426, text="this is a tangram agent: connect with WebSocket\n")
        if len(self._connected) >= GAMES:
            return web.Response(status=503, text=f"{GAMES} games are connected\n")
        await socket.prepare(request)
        self._count += 1
        shell = _Connection(self, socket, TangramAgentSession(self._game, f"game-{self._count}"))
        self._connected.add(socket)
        try:
            await shell.live()
        finally:
            self._connected.discard(socket)
            self.turns += shell.session.turns
            self.plays += shell.session.plays
            self.games += 1
            self._ended.set()
        return socket

    # What connections need of us.

    async def ask(self, function: Callable[..., Any], *args: Any) -> Any:
        """Call the agent before the deadline.

        Raises:
            TimeoutError: if it does not return in time, or has yet to return from an earlier call.
            RuntimeError: if it raises.
        """
        assert self._worker is not None
        if self._late and self._worker.stuck:
            raise TimeoutError("still busy with an earlier turn")
        self._late = False
        try:
            async with asyncio.timeout(self._deadline):
                return await self._worker.call(function, *args)
        except TimeoutError:
            self._late = True
            raise TimeoutError(f"no answer within {self._deadline:g} s") from None

    @property
    def agent(self) -> Agent:
        """What answers."""
        return self._agent

    def tell(self, name: str, event: Event) -> None:
        """Pass an event on."""
        self._on_event(name, event)

    def write(self, kind: str, **fields: Any) -> None:
        """Write a line of the log, if there is one."""
        self._book.write(kind, **fields)


class _Connection:
    """One game: its socket, its session, and what is being thought about it."""

    def __init__(self, server: TangramAgentServer, socket: web.WebSocketResponse, session: TangramAgentSession) -> None:
        self.session = session
        self._server = server
        self._socket = socket
        self._notes = 0
        self._thinking: asyncio.Task[None] | None = None
        self._talking: set[asyncio.Task[None]] = set()

    async def live(self) -> None:
        """Answer the game until it goes."""
        name = self.session.match_id
        logger.info("%s has connected", name)
        self._server.write("joined", match_id=name)
        try:
            async for frame in self._socket:
                if frame.type in (WSMsgType.TEXT, WSMsgType.BINARY):
                    for event in self._receive(frame.data):
                        await self._handle(event)
        finally:
            for task in (self._thinking, *self._talking):
                if task is not None:
                    task.cancel()
            logger.info("%s has gone: %d turns, %d plays", name, self.session.turns, self.session.plays)
            self._server.write("ended", match_id=name, turns=self.session.turns, plays=self.session.plays)

    def _receive(self, data: str | bytes) -> list[Event]:
        try:
            return self.session.receive(data)
        except Exception:  # a mistake of ours must not cost the game
            logger.exception("%s: finish, because of a message that begins %.200r", self.session.match_id, data)
            return self.session.give_up()

    async def _handle(self, event: Event) -> None:
        self._server.tell(self.session.match_id, event)
        match event:
            case TangramDecision():
                if self._thinking is not None:
                    self._thinking.cancel()
                self._thinking = asyncio.create_task(self._decide(event))
            case Heard():
                if len(self._talking) >= TALKS:  # a player who floods gets cheaper answers
                    return await self._send(self.session.say(self.session.small_talk()))
                task = asyncio.create_task(self._answer(event))
                self._talking.add(task)
                task.add_done_callback(self._talking.discard)
            case Send():
                await self._send(event.message)
            case Note() if self._notes < NOTES:
                self._notes += 1
                last = " (the last note on this game)" if self._notes == NOTES else ""
                level = logging.WARNING if event.problem else logging.INFO
                logger.log(level, "%s: %s%s", self.session.match_id, event.text, last)

    async def _decide(self, decision: TangramDecision) -> None:
        response, problem = None, None
        try:
            response = await self._server.ask(self._server.agent.respond, decision.turn_state)
            problem = self.session.refusal(response)
        except (TimeoutError, RuntimeError) as error:
            problem = str(error)
        sent = self.session.finish(decision.turn) if problem else self.session.act(response, decision.turn)
        if not sent:
            return
        if problem:
            self._server.replaced += 1
            logger.warning("%s: finish instead of the agent's answer: %s", self.session.match_id, problem)
        for message in sent:
            await self._send(message)
        note = {"replaced": problem} if problem else {"response": response}
        self._server.write("turn", turn_state=without_images(decision.turn_state), **note)

    async def _answer(self, heard: Heard) -> None:
        text: Any = None
        chat = getattr(self._server.agent, "chat", None)
        if chat is not None:
            try:
                text = await self._server.ask(chat, heard.turn_state, heard.text)
            except (TimeoutError, RuntimeError) as error:
                logger.warning("%s: the agent has no answer to the player: %s", self.session.match_id, error)
        await self._send(self.session.say(text if isinstance(text, str) and text else self.session.small_talk()))

    async def _send(self, message: messages.AgentMessage) -> None:
        message.timestamp = now()
        with contextlib.suppress(OSError):  # the game is gone; reading ends, too
            await self._socket.send_str(messages.encode(message))


async def _part(socket: web.WebSocketResponse) -> None:
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(GOODBYE):
            await socket.close(code=1001, message=b"the agent is going away")
