"""AgentRunner: runs an agent's session. It passes messages to the session and carries out the session's events.

A session is the agent's end of a protocol without I/O: it takes received data and returns events. The events here are
common; a protocol may have further ones.
"""

import asyncio
import logging
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Generic, Protocol, TypeVar

from .agent_driver import AgentDriver, Deadline
from .agent_turn import Turn, TurnId

logger = logging.getLogger(__name__)

Message = TypeVar("Message")
Sent = TypeVar("Sent", covariant=True)

# Events of an agent's session: a `Turn`, and these.


@dataclass(frozen=True)
class SendMessage(Generic[Message]):
    """A message to send."""

    message: Message


@dataclass(frozen=True)
class ActionRejected:
    """The platform rejected the agent's action; `text` is the reason."""

    text: str


@dataclass(frozen=True)
class LogNote:
    """A note for the log; `problem` is true for an error."""

    text: str
    problem: bool = False


class AgentSession(Protocol[Sent]):
    """An agent's end of a protocol, at one table or in one game."""

    @property
    def turn(self) -> TurnId | None:
        """The identifier of the turn that waits for the agent's answer; None if there is none."""
        ...

    def receive(self, data: Any) -> Sequence[Any]:
        """Process a message (text, bytes or parsed JSON), and return the events. It never raises."""
        ...

    def act(self, response: Any, turn: Any, problem: str | None = None) -> Sequence[Sent]:
        """Return the messages that play what the turn was settled with; empty if the turn is over or was answered.

        Args:
            response: what is played.
            turn: the identifier of the turn.
            problem: why the response is the safe action; None: it is the agent's answer.
        """
        ...

    def give_up(self) -> Sequence[Any]:
        """Return the events that end the agent's turn with the safe action, after an internal error."""
        ...


class AgentRunner(ABC, Generic[Message]):
    """One session with its connection and its agent. The I/O shell of a protocol is a subclass.

    There is at most one pending turn. A newer turn replaces it, and an answer to a past turn is not sent.

    Args:
        session: the protocol's session.
        driver: the driver of the agent; several sessions may share it.
        seconds: the time for a turn.
        on_event: called with every event.
    """

    def __init__(
        self,
        session: AgentSession[Message],
        driver: AgentDriver,
        *,
        seconds: float,
        on_event: Callable[[Any], None] | None = None,
    ) -> None:
        self.driver = driver
        self.seconds = seconds
        self._agent_session = session
        self._on_event = on_event or (lambda event: None)
        self._turn: Turn | None = None
        self._deadline = Deadline(0.0, 0.0)
        self._deciding: asyncio.Task[None] | None = None

    # Abstract: implemented by each protocol.

    @property
    @abstractmethod
    def name(self) -> str:
        """The name of this table or game in the log."""

    @abstractmethod
    async def send(self, message: Message) -> None:
        """Send a message, if there is a connection. A lost connection is not an error here; the reader handles it."""

    @abstractmethod
    async def handle(self, event: Any) -> None:
        """Carry out an event of this protocol."""

    def log_fields(self, turn: Turn, sent: Sequence[Message]) -> dict[str, Any]:
        """Return further fields of a turn's log line."""
        return {}

    # Messages received.

    async def receive(self, data: Any) -> None:
        """Pass a message to the session and carry out the events."""
        for event in self._receive(data):
            await self.carry_out(event)
        if self._turn is not None and self._agent_session.turn != self._turn.id:
            if self._deciding is not None and not self._deciding.done():
                logger.warning("%s: the turn has passed before the agent answered", self.name)
            self.drop_turn()

    def _receive(self, data: Any) -> Sequence[Any]:
        try:
            return self._agent_session.receive(data)
        except Exception:  # an error of ours must not end the game
            logger.exception("%s: the safe action is played, because of a message that begins %.200r", self.name, data)
            return self._agent_session.give_up()

    async def carry_out(self, event: Any) -> None:
        """Carry out an event."""
        self._on_event(event)
        match event:
            case Turn():
                self._begin(event)
            case SendMessage():
                await self.send(event.message)
            case ActionRejected():
                self.driver.statistics.rejected += 1
                self._write_note(LogNote(event.text))
            case LogNote():
                self._write_note(event)
            case _:
                await self.handle(event)

    def _write_note(self, note: LogNote) -> None:
        logger.log(logging.WARNING if note.problem else logging.INFO, "%s: %s", self.name, note.text)

    # Turns.

    def _begin(self, turn: Turn) -> None:
        """Ask the agent for an answer. A second answer in the same turn keeps the deadline of the first."""
        self.drop_turn()
        if not turn.again:
            self._deadline = Deadline.after(self.seconds)
        self._turn = turn
        self._deciding = asyncio.create_task(self._decide(turn))

    def drop_turn(self) -> None:
        """Drop the pending turn; its answer is not sent."""
        if self._deciding is not None:
            self._deciding.cancel()
        self._turn = self._deciding = None

    async def _decide(self, turn: Turn) -> None:
        played = await self.driver.take(turn, self._deadline)
        sent = self._agent_session.act(played.response, turn.id, played.problem)
        if not sent:
            return
        played.count(self.driver.statistics, self.name)
        for message in sent:
            await self.send(message)
        played.write(self.driver.log, turn, **self.log_fields(turn, sent))
