"""Runs our agent: in a thread of its own (`Worker`), with deadlines (`AgentDriver`), at its connection (`AgentRunner`).

A session is the agent's end of a protocol without I/O: it takes received data and returns events. The events here are
common; a protocol may have further ones.
"""

import asyncio
import contextlib
import logging
import queue
import threading
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Generic, Protocol, TypeVar

from ....envs.core.turn_state import TurnState
from ...agents.base import Agent, thoughts
from ...logs.log_text import describe_error
from ...logs.safe_match_log import SafeMatchLog, safe_thoughts
from .agent_turn import AgentStatistics, Played, Turn, TurnId
from .clock import Deadline

logger = logging.getLogger(__name__)

_Call = tuple[Callable[..., Any], tuple[Any, ...], "asyncio.Future[Any]", asyncio.AbstractEventLoop]


class Worker:
    """One thread. Calls never overlap, and a call that never returns does not keep the process from ending.

    Args:
        name: the thread's name.

    Attributes:
        stuck: whether the thread is still in a call that was cancelled.
    """

    def __init__(self, name: str = "agent") -> None:
        self._calls: queue.SimpleQueue[_Call | None] = queue.SimpleQueue()
        self._running: asyncio.Future[Any] | None = None
        threading.Thread(target=self._run, daemon=True, name=name).start()

    @property
    def stuck(self) -> bool:
        """Whether the thread is still in a call that was cancelled."""
        running = self._running
        return running is not None and running.cancelled()

    async def call(self, function: Callable[..., Any], *args: Any) -> Any:
        """Return the function's result. A call that is cancelled before its turn is never begun.

        Raises:
            RuntimeError: if the function raised an error, with that error as its cause.
        """
        loop = asyncio.get_running_loop()
        future: asyncio.Future[Any] = loop.create_future()
        self._calls.put((function, args, future, loop))
        result, error = await future
        if error is not None:
            raise RuntimeError(f"the agent raised {describe_error(error)}") from error
        return result

    def stop(self) -> None:
        """End the thread after its current call."""
        self._calls.put(None)

    def _run(self) -> None:
        while (call := self._calls.get()) is not None:
            function, args, future, loop = call
            if future.cancelled():
                continue
            self._running = future
            outcome: tuple[Any, BaseException | None]
            try:
                outcome = function(*args), None
            except BaseException as error:  # the thread must survive the error
                outcome = None, error
            self._running = None
            with contextlib.suppress(RuntimeError):  # the event loop is closed
                loop.call_soon_threadsafe(_resolve, future, outcome)


def _resolve(future: "asyncio.Future[Any]", outcome: Any) -> None:
    if not future.done():
        future.set_result(outcome)


class AgentBusy(RuntimeError):
    """The agent is still in an earlier call, which was late."""


class AgentDriver:
    """Calls one agent, one call at a time, for one or more tables.

    Args:
        agent: the agent. Its `warm_up`, if it has one, is called by `warm_up`.
        log: the match log; thoughts are requested only with a log, or with `notes`.
        fail_when_busy: the behaviour while the agent is still in an earlier call that was late: a new call fails at
            once, or (False) waits for the agent until its own deadline.
        statistics: the counters; None: new ones.
        worker: the thread; None: a new one.
        notes: whether thoughts are requested without a log too.

    Attributes:
        statistics: counters and latencies.
        log: the match log.
    """

    def __init__(
        self,
        agent: Agent,
        *,
        log: SafeMatchLog | None = None,
        fail_when_busy: bool = True,
        statistics: AgentStatistics | None = None,
        worker: Worker | None = None,
        notes: bool = False,
    ) -> None:
        self.statistics = statistics or AgentStatistics()
        self.log = log or SafeMatchLog(None)
        self._agent = agent
        self._fail_when_busy = fail_when_busy
        self._worker = worker or Worker()
        self._notes = notes
        self._late = False  # whether the latest call exceeded its deadline

    async def warm_up(self, name: str = "the agent") -> None:
        """Call the agent's `warm_up`, if it has one, before any deadline runs. A failure is a warning."""
        warm_up = getattr(self._agent, "warm_up", None)
        if warm_up is None:
            return
        try:
            await self._worker.call(warm_up)
        except RuntimeError as error:  # it may still work in the match
            logger.warning("warming up %s failed: %s", name, error)

    def close(self) -> None:
        """End the thread after its current call."""
        self._worker.stop()

    async def call(self, function: Callable[..., Any], *args: Any, deadline: Deadline | None = None) -> Any:
        """Call a function of the agent and return its result.

        Args:
            function, args: the call, made in the agent's thread.
            deadline: the deadline of the result; None: no deadline.

        Raises:
            TimeoutError: if it does not return in time.
            AgentBusy: if the agent is still in an earlier call.
            RuntimeError: if it raises an error.
        """
        if self._fail_when_busy and self._late and self._worker.stuck:
            raise AgentBusy("still busy with an earlier turn")
        self._late = False
        try:
            async with contextlib.nullcontext() if deadline is None else deadline.limit():
                return await self._worker.call(function, *args)
        except TimeoutError:
            self._late = True
            raise

    async def take(self, turn: Turn, deadline: Deadline | None = None) -> Played:
        """Ask the agent in its turn, and return what is played: its answer, or the safe action. Never raises.

        Args:
            turn: the turn.
            deadline: the deadline of the answer; None: no deadline.
        """
        clock = asyncio.get_running_loop().time
        began = clock()
        if turn.problem is not None:
            return Played(turn.safe(), turn.problem)
        try:
            answer, notes = await self.call(self._respond, turn.shown(), deadline, clock, deadline=deadline)
        except (TimeoutError, RuntimeError) as error:
            return Played(turn.safe(), str(error), seconds=clock() - began)
        response, problem = turn.settle(lambda: answer)
        return Played(response, problem, notes, clock() - began)

    def _respond(
        self, state: TurnState, deadline: Deadline | None, clock: Callable[[], float]
    ) -> tuple[Any, dict[str, Any]]:
        """Return the agent's answer and its thoughts, in one call, so that another turn cannot change them."""
        set_seconds_left = getattr(self._agent, "set_seconds_left", None)
        if callable(set_seconds_left):
            set_seconds_left(None if deadline is None else deadline.ends_at - clock())
        response = self._agent.respond(state)
        return response, safe_thoughts(lambda: thoughts(self._agent)) if self._notes or self.log else {}


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
