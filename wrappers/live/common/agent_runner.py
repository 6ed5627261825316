"""Runs an agent's session: what comes in goes to the session, and what the session asks for is done."""

import asyncio
import logging
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import Any, Generic

from ....envs.core.turn_state import AgentResponse
from .agent_driver import AgentAnswer, AgentDriver, Deadline
from .sessions import ActionRejected, AgentSession, Decision, LogNote, Message, SendMessage

logger = logging.getLogger(__name__)


class AgentRunner(ABC, Generic[Message]):
    """One session with its connection and its agent. A protocol's shell is a subclass.

    At most one decision is under way. A newer one takes its place, and an answer to a turn that has passed is not sent.

    Args:
        session: the protocol.
        driver: asks the agent; it may be shared by several sessions.
        seconds: time for a turn.
        on_event: is called with every event, for screens and tests.
        most_notes: notes of the session that go to the log; None: all.
    """

    def __init__(
        self,
        session: AgentSession[Message],
        driver: AgentDriver,
        *,
        seconds: float,
        on_event: Callable[[Any], None] | None = None,
        most_notes: int | None = None,
    ) -> None:
        self.driver = driver
        self.seconds = seconds
        self._agent_session = session
        self._on_event = on_event or (lambda event: None)
        self._notes_left = most_notes
        self._decision: Decision | None = None
        self._deadline = Deadline(0.0, 0.0)
        self._deciding: asyncio.Task[None] | None = None

    # What a protocol's shell fills in.

    @property
    @abstractmethod
    def name(self) -> str:
        """How the log calls this table or game."""

    @abstractmethod
    async def send(self, message: Message) -> None:
        """Send a message, if there is a connection. A lost one is no error: reading finds out."""

    @abstractmethod
    async def handle(self, event: Any) -> None:
        """Carry out an event that only this protocol has."""

    @abstractmethod
    def played(self, answer: AgentAnswer, sent: Sequence[Message]) -> AgentResponse:
        """Return what was played by these messages, for the log."""

    def log_fields(self, decision: Decision, sent: Sequence[Message]) -> dict[str, Any]:
        """Return what else the log's line of a turn holds."""
        return {}

    # What comes in.

    async def receive(self, data: Any) -> None:
        """Take in a message and do what follows from it."""
        for event in self._receive(data):
            await self.carry_out(event)
        decision = self._decision
        if decision is not None and self._agent_session.turn != decision.turn:
            if self._deciding is not None and not self._deciding.done():
                logger.warning("%s: the turn has passed before the agent answered", self.name)
            self.drop_decision()

    def _receive(self, data: Any) -> Sequence[Any]:
        try:
            return self._agent_session.receive(data)
        except Exception:  # a mistake of ours must not cost the game
            logger.exception("%s: the safe action is played, because of a message that begins %.200r", self.name, data)
            return self._agent_session.give_up()

    async def carry_out(self, event: Any) -> None:
        """Do what an event asks for."""
        self._on_event(event)
        match event:
            case Decision():
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
        last = ""
        if self._notes_left is not None:
            if self._notes_left == 0:
                return
            self._notes_left -= 1
            last = " (the last note that is written)" if self._notes_left == 0 else ""
        logger.log(logging.WARNING if note.problem else logging.INFO, "%s: %s%s", self.name, note.text, last)

    # Decisions.

    def _begin(self, decision: Decision) -> None:
        """Have the agent answer. Answering again in the same turn does not restart the platform's clock, nor ours."""
        self.drop_decision()
        if not decision.again:
            self._deadline = Deadline.after(self.seconds)
        self._decision = decision
        self._deciding = asyncio.create_task(self._decide(decision))

    def drop_decision(self) -> None:
        """Forget the decision under way; its answer will not be sent."""
        if self._deciding is not None:
            self._deciding.cancel()
        self._decision = self._deciding = None

    async def _decide(self, decision: Decision) -> None:
        session = self._agent_session
        answer = await self.driver.ask(decision.turn_state, self._deadline, session.refusal)
        if answer.problem is None:
            sent = session.act(answer.response, decision.turn)
        else:
            sent = session.safe_action(decision.turn)
        if not sent:
            return
        played = self.played(answer, sent)
        self.driver.count(answer, self.name, played.action.action_type)
        for message in sent:
            await self.send(message)
        self.driver.write_turn(answer, decision.turn_state, played, **self.log_fields(decision, sent))
