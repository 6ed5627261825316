"""Our tangram in the role of the live game: it connects to an agent's WebSocket server and plays with it.

`TangramHostSession` decides everything that is played; here are the connection, its repair, clocks and the person, who may be
any `Agent`. An agent that is late, or says what cannot be understood, loses its turn, and the match goes on.
"""

import asyncio
import logging
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import TextIO

import aiohttp
from yarl import URL

from ....envs.core.aec import GameEnv
from ....envs.core.game import Game
from ....envs.core.rng import streams
from ....envs.core.turn_state import Action, AgentResponse, MessageIntent, MessageScope, TurnState
from ...agents.base import Agent
from ...agents.human import parse
from ...logs.match_log import MatchLog
from ...logs.safe_match_log import SafeMatchLog
from ..common.worker import Worker, described
from . import messages
from .agent import now
from .host_session import Said, Send, TangramHostSession, TurnOver
from .messages import Dialect, GameMessage

logger = logging.getLogger(__name__)

CONNECT_WITHIN = 10.0
"""Seconds for a handshake."""
RETRIES = 10
"""Tries to connect in a row, before it is given up."""
ANSWERS = 50
"""Answers of either side in one turn that do not end it, after which it is ended."""


@dataclass
class Played:
    """What came of a match: its objective, turns of both, plays refused, turns lost by the agent, and the outcome."""

    objective: str
    turns: int = 0
    refused: int = 0
    lost: int = 0
    outcome: dict[str, object] | None = None


class Person:
    """Somebody at a terminal: ``play Red [50,40] 45``, ``finish``, or ``say`` and something to the agent.

    Args:
        game: what is played.
        source: where answers are read from, a line each (None: standard input).
        screen: where the board and the questions are written (None: standard output).
    """

    def __init__(self, game: Game, source: TextIO | None = None, screen: TextIO | None = None) -> None:
        self._game = game
        self._source = source
        self._screen = screen

    def respond(self, state: TurnState) -> AgentResponse:
        """Show the board and read an answer; ask again until it fits.

        Raises:
            EOFError: if no more answers come.
        """
        tables, seat = self._game.view.load(state)
        self._write(f"{state.game_state['objective']}\n{self._game.renderer.text(tables[0], seat)}")
        while True:
            self._write("play PIECE [x,y] rotation · finish · say …")
            line = (self._source or sys.stdin).readline()
            if not line:
                raise EOFError("no more answers from the person at the terminal")
            word, _, rest = line.strip().partition(" ")
            if word == "say" and rest:
                return AgentResponse(Action("message_only"), [MessageIntent(MessageScope.PUBLIC, rest)])
            try:
                return AgentResponse(parse(line, state.allowed_actions))
            except ValueError as error:
                self._write(str(error))

    def _write(self, text: str) -> None:
        print(text, file=self._screen or sys.stdout, flush=True)


class TangramHost:
    """Plays matches with the agent at `url`.

    Args:
        game: tangram for two seats.
        person: who sits at the other seat.
        url: of the agent's server, ws:// or wss://.
        dialect: the form of our messages: ``"documented"``, or the real game's, ``"godot"``.
        timeout: seconds that the agent may take for each message of its turn.
        delay: seconds between a play and its feedback, as the real game's animation takes.
        retry_after: seconds before the first try to reconnect; the n-th waits n times as long.
        log: gets all that either side plays and says, so that it replays.
        on_chat: is told what the agent says.

    Raises:
        ValueError: for an address or a dialect of another kind.
    """

    def __init__(
        self,
        game: Game,
        person: Agent,
        url: str,
        *,
        dialect: Dialect = "documented",
        timeout: float = 30.0,
        delay: float = 0.0,
        retry_after: float = 1.0,
        log: MatchLog | None = None,
        on_chat: Callable[[str], None] | None = None,
    ) -> None:
        if URL(url).scheme not in ("ws", "wss") or not URL(url).host:
            raise ValueError(f"{url} is no address: give ws://… of the agent")
        if dialect not in messages.DIALECTS:
            raise ValueError(f"dialect={dialect!r}: choose from {', '.join(messages.DIALECTS)}")
        self._env = GameEnv(game, "flat")
        self._person = person
        self._url = url
        self._dialect: Dialect = dialect
        self._timeout = timeout
        self._delay = delay
        self._retry_after = retry_after
        self._book = SafeMatchLog(log)
        self._on_chat = on_chat or (lambda text: None)
        self._worker: Worker
        self._http: aiohttp.ClientSession | None = None
        self._socket: aiohttp.ClientWebSocketResponse | None = None
        self._began = time.monotonic()

    async def play(self, matches: int = 1, seed: int | None = None) -> list[Played]:
        """Play so many matches, one after the other.

        Raises:
            ConnectionError: if the agent cannot be reached.
            EOFError: if a person at a terminal has left.
        """
        self._worker = Worker("person")  # a thread that Ctrl-C need not wait for
        async with aiohttp.ClientSession() as self._http:
            try:
                return [await self._match(int(one)) for one in streams(seed, matches)]
            finally:
                self._worker.stop()
                if self._socket is not None:
                    await self._socket.close()
                    self._socket = None

    async def _match(self, seed: int) -> Played:
        self._env.reset(seed=seed)
        table = TangramHostSession(self._env, self._book.write)
        played = Played(str(table.state().game_state["objective"]))
        self._book.write(
            "match",
            game=self._env.game.id,
            options=self._env.game.options,
            seed=seed,
            match_id=self._env.match.match_id,
        )
        while not table.over:
            played.turns += 1
            if table.agents_turn:
                over = await self._agents_turn(table)
                if over.problem:
                    played.lost += 1
                    logger.warning("the agent loses its turn: %s", over.problem)
            else:
                await self._persons_turn(table)
        played.refused, played.outcome = table.refused, table.state().outcome
        self._book.write("end", outcome=played.outcome)
        return played

    async def _persons_turn(self, table: TangramHostSession) -> None:
        for _ in range(ANSWERS):
            result, said = table.play(*await self._answer(table.state()))
            for request in said:
                await self._send(request)
            if not result.ok:
                logger.warning("the person's answer is refused: %s", result.error_detail)
            if table.over or table.agents_turn:
                return
        table.play(Action("finish"), f"{ANSWERS} answers, and no finish")

    async def _answer(self, state: TurnState) -> tuple[AgentResponse, str]:
        """Return the person's answer and ""; for a policy that fails, `finish` and why."""
        try:
            response: AgentResponse = await self._worker.call(self._person.respond, state)
            return response, ""
        except RuntimeError as error:
            if isinstance(error.__cause__, EOFError):
                raise error.__cause__ from None
            logger.warning("finish instead of the person's answer: %s", error)
            return AgentResponse(Action("finish")), str(error)

    async def _agents_turn(self, table: TangramHostSession) -> TurnOver:
        await self._send(table.request())
        for _ in range(ANSWERS):
            try:
                async with asyncio.timeout(self._timeout):
                    data = await self._receive()
            except TimeoutError:
                return table.skip(f"no answer within {self._timeout:g} s")
            if data is None:
                await asyncio.sleep(self._retry_after)
                await self._send(table.request())  # the turn begins again
                continue
            for event in table.receive(data):
                match event:
                    case Send():
                        await asyncio.sleep(self._delay)
                        await self._send(event.message)
                    case Said():
                        self._on_chat(event.text)
                    case TurnOver():
                        return event
        return table.skip(f"{ANSWERS} answers, and no finish")

    # The connection.

    async def _receive(self) -> str | bytes | None:
        """Return the agent's next message; None if the connection was lost."""
        assert self._socket is not None
        frame = await self._socket.receive()
        if frame.type in (aiohttp.WSMsgType.TEXT, aiohttp.WSMsgType.BINARY):
            return frame.data  # type: ignore[no-any-return]
        return None

    async def _send(self, message: GameMessage) -> None:
        documented = self._dialect == "documented"
        message.timestamp = now() if documented else round(time.monotonic() - self._began, 3)
        text = messages.encode(message, self._dialect)
        while True:
            socket = await self._connected()
            try:
                return await socket.send_str(text)
            except OSError as error:
                logger.warning("the connection was lost: %s", described(error))

    async def _connected(self) -> aiohttp.ClientWebSocketResponse:
        """Return the connection, a new one where the old one is lost.

        Raises:
            ConnectionError: if there is none to be had.
        """
        assert self._http is not None
        if self._socket is not None and not self._socket.closed:
            return self._socket
        for attempt in range(1, RETRIES + 1):
            try:
                async with asyncio.timeout(CONNECT_WITHIN):
                    self._socket = await self._http.ws_connect(self._url, heartbeat=30.0, max_msg_size=2**16)
                return self._socket
            except (aiohttp.ClientError, OSError, TimeoutError) as error:
                problem = described(error)
            logger.warning("cannot connect to %s: %s (%d of %d)", self._url, problem, attempt, RETRIES)
            if attempt < RETRIES:
                await asyncio.sleep(self._retry_after * attempt)
        raise ConnectionError(f"cannot connect to {self._url}: {problem}; gave up after {RETRIES} tries")
