"""AgentDriver: calls an agent in a thread, with a deadline. Every protocol calls its agent through it."""

import asyncio
import contextlib
import logging
import queue
import threading
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from ....envs.core.turn_state import TurnState
from ...agents.base import Agent, thoughts
from ...logs.log_text import describe_error
from ...logs.safe_match_log import SafeMatchLog, safe_thoughts
from .agent_turn import AgentStatistics, Played, Turn

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


@dataclass(frozen=True)
class Deadline:
    """The deadline of an answer.

    Attributes:
        seconds: the time for the whole turn.
        ends_at: the deadline on the event loop's clock.
    """

    seconds: float
    ends_at: float

    @classmethod
    def after(cls, seconds: float) -> "Deadline":
        """Return the deadline `seconds` from now."""
        return cls(seconds, asyncio.get_running_loop().time() + seconds)


class AgentDriver:
    """Calls one agent, one call at a time, for one or more tables.

    Args:
        agent: the agent. Its `warm_up`, if it has one, is called by `warm_up`.
        log: the match log; thoughts are requested only with a log.
        fail_when_busy: the behaviour while the agent is still in an earlier call that was late: a new call fails at
            once, or (False) waits for the agent until its own deadline.
        statistics: the counters; None: new ones.
        worker: the thread; None: a new one.

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
    ) -> None:
        self.statistics = statistics or AgentStatistics()
        self.log = log or SafeMatchLog(None)
        self._agent = agent
        self._fail_when_busy = fail_when_busy
        self._worker = worker or Worker()
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
            async with asyncio.timeout_at(None if deadline is None else deadline.ends_at):
                return await self._worker.call(function, *args)
        except TimeoutError:
            self._late = True
            raise TimeoutError(f"no answer within {deadline.seconds if deadline else 0:g} s") from None

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
        return response, safe_thoughts(lambda: thoughts(self._agent)) if self.log else {}
