"""How an agent of ours answers turns: in a thread of its own, before a deadline, with what is to be known about it.

Every protocol asks its agent through an `AgentDriver`. Deadlines, counters, warnings and log lines are made here.
"""

import asyncio
import logging
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from ....envs.core.turn_state import AgentResponse, TurnState
from ...agents.base import Agent, thoughts
from ...logs.log_text import describe_error
from ...logs.safe_match_log import SafeMatchLog, safe_thoughts, without_images
from .agent_statistics import AgentStatistics
from .worker import Worker

logger = logging.getLogger(__name__)


class AgentBusy(RuntimeError):
    """The agent is still in an earlier call, which was late."""


@dataclass(frozen=True)
class Deadline:
    """When an answer is due.

    Attributes:
        seconds: the time for the whole turn.
        ends_at: its end on the event loop's clock.
    """

    seconds: float
    ends_at: float

    @classmethod
    def after(cls, seconds: float) -> "Deadline":
        """Return the deadline that is so many seconds from now."""
        return cls(seconds, asyncio.get_running_loop().time() + seconds)


@dataclass(frozen=True)
class AgentAnswer:
    """What came of asking an agent.

    Attributes:
        response: what it returned, of whatever type; None where it returned nothing in time.
        problem: why the answer cannot be played; None if it can.
        thoughts: the agent's own account of its answer (see `parlour.wrappers.agents.base.thoughts`); empty without a
            log.
        seconds: from being asked to the answer.
    """

    response: Any = None
    problem: str | None = None
    thoughts: Mapping[str, Any] = field(default_factory=dict)
    seconds: float = 0.0


class AgentDriver:
    """Asks one agent, a call at a time, on behalf of one or more tables.

    Args:
        agent: answers the turns. Its `warm_up`, if it has one, is called by `warm_up`.
        log: where turns are written; thoughts are asked for only where there is one.
        fail_when_busy: what a call does while the agent is still in an earlier call that was late: fail at once, or
            (False) wait for the agent until its own deadline.
        statistics: the counters; None: new ones.
        worker: the thread; None: a new one.

    Attributes:
        statistics: counters and latencies.
        log: where turns are written.
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
        self._late = False  # the latest call was given up at its deadline

    async def warm_up(self, name: str = "the agent") -> None:
        """Have an agent that can warm up do so, before any deadline runs. One that fails gets a warning."""
        warm_up = getattr(self._agent, "warm_up", None)
        if warm_up is None:
            return
        try:
            await self._worker.call(warm_up)
        except RuntimeError as error:  # it may yet do better at the table
            logger.warning("warming up %s failed: %s", name, error)

    def close(self) -> None:
        """End the thread after the call that it may be in."""
        self._worker.stop()

    async def call(self, function: Callable[..., Any], *args: Any, deadline: Deadline | None = None) -> Any:
        """Return what a function of the agent returns.

        Args:
            function, args: called in the agent's thread.
            deadline: when the result is due; None: whenever it comes.

        Raises:
            TimeoutError: if it does not return in time.
            AgentBusy: if the agent has yet to return from an earlier call.
            RuntimeError: if it raises.
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

    async def ask(
        self,
        state: TurnState,
        deadline: Deadline | None = None,
        refusal: Callable[[Any], str | None] = lambda response: None,
    ) -> AgentAnswer:
        """Have the agent answer a turn. Never raises for what the agent does.

        Args:
            state: what it sees.
            deadline: when the answer is due; None: whenever it comes.
            refusal: returns why an answer cannot be played, or None if it can.
        """
        clock = asyncio.get_running_loop().time
        began = clock()
        response: Any = None
        thought: dict[str, Any] = {}
        try:
            response, thought = await self.call(self._respond, state, deadline=deadline)
            problem = refusal(response)
        except (TimeoutError, RuntimeError) as error:
            problem = str(error)
        except Exception as error:  # an answer that cannot even be looked at
            problem = describe_error(error)
        return AgentAnswer(response, problem, thought, clock() - began)

    def _respond(self, state: TurnState) -> tuple[Any, dict[str, Any]]:
        """Return the agent's answer and its thoughts, before another turn can change them."""
        response = self._agent.respond(state)
        return response, safe_thoughts(lambda: thoughts(self._agent)) if self.log else {}

    def count(self, answer: AgentAnswer, table: str, played: str) -> None:
        """Count an answered turn, and warn where the safe action took the answer's place; see `count_turn`."""
        count_turn(self.statistics, answer, table, played)

    def write_turn(self, answer: AgentAnswer, state: TurnState, response: AgentResponse, **fields: Any) -> None:
        """Write a turn into the log, if there is one.

        Args:
            answer: what came of asking.
            state: what the agent saw.
            response: what was played.
            fields: what else the line holds.
        """
        if not self.log:
            return
        note = answer.thoughts if answer.problem is None else {"replaced": answer.problem}
        line = {**fields, "turn_state": without_images(state), "response": response}
        self.log.write("turn", **line, **{name: value for name, value in note.items() if name not in (*line, "kind")})


def count_turn(statistics: AgentStatistics, answer: AgentAnswer, table: str, played: str, warns: bool = True) -> None:
    """Count an answered turn, and warn where the safe action took the answer's place.

    Args:
        statistics: the agent's counters.
        answer: what came of asking.
        table: names the match or the hand in the warning.
        played: the type of the action that was played.
        warns: whether to warn; a protocol may warn once for many turns.
    """
    statistics.decided(answer.seconds, answer.problem is not None)
    if answer.problem is not None and warns:
        logger.warning("%s: %s instead of the agent's answer: %s", table, played, answer.problem)
