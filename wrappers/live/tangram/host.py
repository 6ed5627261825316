"""Our tangram in the role of the live game: it connects to an agent's WebSocket server and plays with it.

`TangramHostSession` has the rules of the protocol, without I/O: it returns the message that begins the agent's turn,
and the events of each of its messages. A play that the rules refuse is answered by an `error` and ends the turn, as in
the Godot game. The host has the connection, the times and the person, who may be any `Agent`. An agent that is late, or
sends an unreadable play, loses its turn, and the match goes on.
"""

import asyncio
import contextlib
import itertools
import logging
import secrets
import time
from collections.abc import Callable
from dataclasses import KW_ONLY, dataclass, field
from functools import partial
from typing import Any, TextIO, TypeAlias

import aiohttp
from msgspec import Struct
from yarl import URL

from ....envs import Game, Match, streams
from ....envs.core import turn_state as ts
from ....envs.core.counted import counted
from ....envs.core.options import Checked, Seconds, SecondsOr0
from ....envs.core.turn_state import Action, AgentResponse, TurnState, or_else
from ....envs.tangram.view import TangramState
from ...agents.answers import parse_typed
from ...agents.base import Agent
from ...agents.human import HumanAgent
from ...logs.match_log import MatchLog, SafeMatchLog, describe_error, escaped
from ..common.client import Backoff, Link, http_client, next_message, open_websocket, retry
from ..common.clock import Deadline
from ..common.player import Player, Unknown, tell
from . import messages
from .agent import now
from .messages import Chat, ChatRequest, Dialect, Error, Finish, GameMessage, Play, PlayFeedback, PlayRequest, State

logger = logging.getLogger(__name__)


@dataclass(frozen=True)
class TurnEnded:
    """The end of the agent's turn; with a `problem` if the agent lost it."""

    problem: str = ""


TangramHostEvent: TypeAlias = messages.GameMessage | TurnEnded | Chat


class TangramHostSession:
    """A match between a person and an agent."""

    def __init__(self, match: Match, log: Callable[..., None] | None = None) -> None:
        if match.game.seats != 2:
            raise ValueError(f"{counted(match.game.seats, 'seats')}: a person and an agent make 2")
        self.match = match
        self.person, self.agent = match.game.agents
        self.refused = 0
        self._log = log or (lambda kind, **fields: None)
        self._asked = False

    @property
    def agents_turn(self) -> bool:
        """Whether the agent is to move."""
        return not self.match.done and self.match.game.agents[self.match.turn] == self.agent

    # The person.

    def state(self) -> TurnState:
        """Return the person's TurnState."""
        return self.match.turn_state(self.person)

    def play(self, response: AgentResponse | Action, problem: str = "") -> tuple[ts.ActionResult, list[ChatRequest]]:
        """Play the person's answer; with a `problem`, its replacement.

        Returns:
            the result, and the person's messages to the agent.
        """
        result = self._submit(self.person, response, problem)
        said = response.messages if result.ok and isinstance(response, AgentResponse) else []
        return result, [ChatRequest(message=message.content, **self._board()) for message in said]

    # The agent.

    def request(self) -> PlayRequest:
        """Return the message that begins the agent's turn, or restarts it after a lost connection."""
        self._asked = True
        return PlayRequest(**self._board())

    def receive(self, data: Any) -> list[TangramHostEvent]:
        """Return the events of a message of the agent (text, bytes, or parsed JSON). Never raises."""
        message = messages.decode_agent(data)
        match message:
            case Play() if self._asked:
                return self._play(message)
            case Finish() if self._asked:
                return [self.skip()]
            case Chat():
                message.message = message.message.encode(errors="replace").decode()
                intent = ts.MessageIntent(ts.MessageScope.PUBLIC, message.message)
                if self.match.send(self.agent, intent).ok:
                    self._log("message", agent=self.agent, intent=intent)
                return [message]
            case Error():
                return [self.skip(f"the agent says: {escaped(message.message, 200)}")] if self._asked else []
            case Unknown():
                refused = self._refuse(f"cannot be read: {message.reason}")
                return [refused, self.skip(message.reason)] if self._asked and message.type == "play" else [refused]
            case _:
                return [self._refuse("it is not the agent's turn")]

    def skip(self, problem: str = "") -> TurnEnded:
        """End the agent's turn; with a `problem` if the agent loses it."""
        self._asked = False
        if self.agents_turn:
            self._submit(self.agent, Action("finish"), problem)
        return TurnEnded(problem)

    def _play(self, play: Play) -> list[TangramHostEvent]:
        payload = {"shape": play.shape, "position": list(play.position), "rotation": play.rotation}
        result = self._submit(self.agent, Action("play", payload))
        if not result.ok:
            problem = result.error_detail or ""
            return [self._refuse(problem), self.skip(problem)]
        if self.agents_turn:
            return [PlayFeedback(**self._board())]
        self._asked = False
        return [TurnEnded()]

    def _submit(self, agent: str, response: AgentResponse | Action, problem: str = "") -> ts.ActionResult:
        result = self.match.submit(agent, response)
        if result.ok:
            self._log("turn", agent=agent, response=response, **({"problem": problem} if problem else {}))
        return result

    def _refuse(self, reason: str) -> messages.GameMessage:
        self.refused += 1
        return Error(message=escaped(reason, 200))

    # Messages to the agent.

    def _board(self) -> dict[str, Any]:
        seen = TangramState.of(self.match.turn_state(self.agent))
        images = {name: or_else(getattr(seen, name), None) for name in ("board_img", "drawer_img")}
        state = State(on_board=seen.on_board, off_board=seen.off_board)
        return {"objective": seen.objective, "state": state, **images}


CONNECT_SECONDS = 10.0
"""Seconds for a handshake."""
TRIES = 10
"""Tries to connect in a row."""
ANSWER_BYTES = 2**16
"""Most bytes of a message of the agent; a longer one ends the connection, as in the Godot game."""
ANSWERS = 50
"""Most answers of either side in one turn; then the turn ends."""


@dataclass
class TangramResult:
    """Result of a match."""

    objective: str
    turns: int = 0
    refused: int = 0
    lost: int = 0
    outcome: dict[str, object] | None = None


@dataclass
class TangramHost(Checked):
    """Plays matches with the agent at `url`.

    Raises:
        ValueError: if `url` is not a WebSocket URL, the dialect is unknown, or a time is out of its range.
    """

    game: Game
    person: Agent
    url: str
    _: KW_ONLY
    dialect: Dialect = "documented"
    answer: Seconds = 30.0
    feedback: SecondsOr0 = 0.0
    wait: SecondsOr0 = 1.0
    log: MatchLog | None = None
    on_chat: Callable[[str], None] = lambda text: None
    results: list[TangramResult] = field(default_factory=list, init=False)
    link: Link = field(default_factory=Link, init=False)

    def __post_init__(self) -> None:
        """Check the values."""
        if URL(self.url).scheme not in ("ws", "wss") or not URL(self.url).host:
            raise ValueError(f"{self.url} is no address: give ws://… of the agent")
        super().__post_init__()
        self._match, self._log = Match(self.game), SafeMatchLog(self.log)
        self._driver: Player
        self._http: Any = None
        self._socket: aiohttp.ClientWebSocketResponse | None = None
        self._began = time.monotonic()

    async def play(self, matches: int = 1, seed: int | None = None) -> list[TangramResult]:
        """Play this number of matches, one after the other, and return their results.

        Raises:
            ConnectionError: if the agent cannot be reached.
            EOFError: if the input of a person at a terminal has ended.
        """
        self._driver = Player(self.person)  # its thread does not delay Ctrl-C
        async with http_client() as self._http:
            with contextlib.closing(self._driver):
                try:
                    return [await self._play(int(stream)) for stream in streams(seed, matches)]
                finally:
                    if self._socket is not None:
                        await self._socket.close()
                        self._socket = None

    async def _play(self, seed: int) -> TangramResult:
        match = self._match
        match.reset(seed=seed)
        match.match_id = f"{match.game.id}-{secrets.token_hex(8)}"
        session = TangramHostSession(match, self._log.write)
        result = TangramResult(str(session.state().game_state["objective"]))
        self.results.append(result)
        game = match.game
        self._log.write("match", game=game.id, options=game.options, seed=seed, match_id=match.match_id)
        while not match.done:
            result.turns += 1
            if session.agents_turn:
                ended = await self._agents_turn(session)
                if ended.problem:
                    result.lost += 1
                    logger.warning("the agent loses its turn: %s", ended.problem)
            else:
                await self._persons_turn(session)
        result.refused, result.outcome = session.refused, session.state().outcome
        self._log.write("end", outcome=result.outcome)
        return result

    async def _persons_turn(self, session: TangramHostSession) -> None:
        for _ in range(ANSWERS):
            result, said = session.play(*await self._answer(session))
            for request in said:
                await self._send(request)
            if not result.ok:
                logger.warning("the person's answer is refused: %s", result.error_detail)
            if session.match.done or session.agents_turn:
                return
        session.play(Action("finish"), f"{ANSWERS} answers, and no finish")

    async def _answer(self, session: TangramHostSession) -> tuple[AgentResponse, str]:
        """Return the person's answer and ""; if it fails, `finish` and the reason. The agent is read meanwhile."""
        listening = asyncio.create_task(self._listen(session))
        try:
            response: AgentResponse = await self._driver.call(self.person.respond, session.state())
            return response, ""
        except RuntimeError as error:
            if isinstance(error.__cause__, EOFError):
                raise error.__cause__ from None
            logger.warning("finish instead of the person's answer: %s", error)
            return AgentResponse(Action("finish")), str(error)
        finally:
            listening.cancel()
            await asyncio.wait([listening])
            if not listening.cancelled():
                listening.result()

    async def _listen(self, session: TangramHostSession) -> None:
        """Read the agent's messages during the person's turn: pings need an answer, and chats are not delayed."""
        for number in itertools.count():
            if self._socket is None or (data := await self._receive()) is None:
                return
            if number < ANSWERS:
                for event in session.receive(data):
                    await self._carry_out(event)

    async def _agents_turn(self, session: TangramHostSession) -> TurnEnded:
        await self._send(session.request())
        for _ in range(ANSWERS):
            try:
                async with Deadline.after(self.answer).limit():
                    data = await self._receive()
            except TimeoutError as error:
                return session.skip(str(error))
            if data is None:
                await asyncio.sleep(self.wait)
                await self._send(session.request())  # the turn begins again
                continue
            for event in session.receive(data):
                if isinstance(event, TurnEnded):
                    return event
                await self._carry_out(event)
        return session.skip(f"{ANSWERS} answers, and no finish")

    async def _carry_out(self, event: TangramHostEvent) -> None:
        match event:
            case Chat():
                tell("a chat", self.on_chat, event.message)
            case Struct():
                await asyncio.sleep(self.feedback)
                await self._send(event)

    # The connection.

    async def _receive(self) -> str | bytes | None:
        """Return the agent's next message; None if the connection was lost."""
        assert self._socket is not None
        data = await next_message(self._socket)
        if data is None:
            self.link.down()
        return data

    async def _send(self, message: GameMessage) -> None:
        """Send a message, on a new connection if the old one is lost.

        Raises:
            ConnectionError: if the agent cannot be reached.
        """
        documented = self.dialect == "documented"
        message.timestamp = now() if documented else round(time.monotonic() - self._began, 3)
        text = messages.encode(message, self.dialect)
        connect = partial(open_websocket, self._http, self.url, most_bytes=ANSWER_BYTES, seconds=CONNECT_SECONDS)
        while True:
            if self._socket is None or self._socket.closed:
                self._socket = await retry(connect, Backoff(self.wait, TRIES, link=self.link))
                self.link.up()
            try:
                return await self._socket.send_str(text)
            except OSError as error:
                logger.warning("the connection was lost: %s", describe_error(error))


class Person(HumanAgent):
    """A person at a terminal: ``play Red [50,40] 45``, ``finish``, or ``say`` and a text for the agent."""

    def __init__(self, game: Game, source: TextIO | None = None, screen: TextIO | None = None) -> None:
        super().__init__(source, screen)
        self._game = game

    def respond(self, state: TurnState) -> AgentResponse:
        """Show the board and read an answer; ask again until it can be played.

        Raises:
            EOFError: at the end of `source`.
        """
        self._write(f"{state.game_state['objective']}\n{self._game.renderer.text([state])}")
        while True:
            line = self._typed("play PIECE [x,y] rotation · finish · say …\n")
            word, _, rest = line.strip().partition(" ")
            if word == "say" and rest:
                return AgentResponse(Action("message_only"), [ts.MessageIntent(ts.MessageScope.PUBLIC, rest)])
            try:
                return AgentResponse(parse_typed(line, state.allowed_actions))
            except ValueError as error:
                self._write(str(error))
