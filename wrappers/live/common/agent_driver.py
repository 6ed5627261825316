"""AgentDriver: calls an agent in a thread, with a deadline, counters, warnings and log lines.

Every protocol calls its agent through an `AgentDriver`.
"""

import asyncio
import logging
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from ....envs.core.turn_state import AgentResponse, TurnState
from ...agents.base import Agent, sentence, thoughts
from ...agents.offers import fitted
from ...logs.log_text import describe_error, short
from ...logs.safe_match_log import SafeMatchLog, safe_thoughts, without_images
from .agent_statistics import AgentStatistics
from .responses import read_response
from .worker import Worker

logger = logging.getLogger(__name__)


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


@dataclass(frozen=True)
class AgentAnswer:
    """The result of a call of `AgentDriver.ask`.

    Attributes:
        response: the agent's return value, of any type; None if there is none in time.
        problem: why the answer cannot be played; None if it can be played.
        thoughts: the agent's notes on its answer (see `parlour.wrappers.agents.base.thoughts`); empty without a log.
        seconds: the time until the answer.
    """

    response: Any = None
    problem: str | None = None
    thoughts: Mapping[str, Any] = field(default_factory=dict)
    seconds: float = 0.0


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

    async def ask(
        self,
        state: TurnState,
        deadline: Deadline | None = None,
        refusal: Callable[[Any], str | None] = lambda response: None,
    ) -> AgentAnswer:
        """Return the agent's answer to a turn. Errors of the agent are returned as `AgentAnswer.problem`, never raised.

        A number out of the bounds of its offer in ``allowed_actions`` goes to the nearest bound, with a warning.

        Args:
            state: the agent's state.
            deadline: the deadline of the answer; None: no deadline.
            refusal: returns why an answer cannot be played; None if it can be played.
        """
        clock = asyncio.get_running_loop().time
        began = clock()
        response: Any = None
        thought: dict[str, Any] = {}
        try:
            response, thought = await self.call(self._respond, state, deadline, clock, deadline=deadline)
            response = _in_bounds(response, state)
            problem = refusal(response)
        except (TimeoutError, RuntimeError) as error:
            problem = str(error)
        except Exception as error:  # an answer whose check raises an error
            problem = describe_error(error)
        return AgentAnswer(response, problem, thought, clock() - began)

    def _respond(
        self, state: TurnState, deadline: Deadline | None, clock: Callable[[], float]
    ) -> tuple[Any, dict[str, Any]]:
        """Return the agent's answer and its thoughts, in one call, so that another turn cannot change them."""
        set_seconds_left = getattr(self._agent, "set_seconds_left", None)
        if callable(set_seconds_left):
            set_seconds_left(None if deadline is None else deadline.ends_at - clock())
        response = self._agent.respond(state)
        return response, safe_thoughts(lambda: thoughts(self._agent)) if self.log else {}

    def count(self, answer: AgentAnswer, table: str, played: str) -> None:
        """Count an answered turn, with a warning if the safe action replaced the answer; see `count_turn`."""
        count_turn(self.statistics, answer, table, played)

    def write_turn(self, answer: AgentAnswer, state: TurnState, response: AgentResponse, **fields: Any) -> None:
        """Write a turn into the log, if there is one.

        Args:
            answer: the agent's answer.
            state: the agent's state.
            response: the response that was played.
            fields: further fields of the line.
        """
        if not self.log:
            return
        note = answer.thoughts if answer.problem is None else {"replaced": answer.problem}
        line = {**fields, "turn_state": without_images(state), "response": response}
        self.log.write("turn", **line, **{name: value for name, value in note.items() if name not in (*line, "kind")})


def _in_bounds(response: Any, state: TurnState) -> Any:
    """Return an answer with its numbers as the offers take them; one that cannot be read stays as it is."""
    try:
        asked = read_response(response)
    except ValueError:
        return response
    taken = fitted(asked, state.allowed_actions)
    if taken != asked:
        numbers = short(asked.action.payload)
        name = state.match_id or state.game_id
        logger.warning("%s: %s instead of %s, to keep the bounds", name, sentence(taken.action), numbers)
    return taken


def count_turn(statistics: AgentStatistics, answer: AgentAnswer, table: str, played: str, warns: bool = True) -> None:
    """Count an answered turn, with a warning if the safe action replaced the answer.

    Args:
        statistics: the agent's counters.
        answer: the agent's answer.
        table: the name of the match or hand, for the warning.
        played: the type of the action that was played.
        warns: whether to warn; a protocol may warn once for many turns.
    """
    statistics.decided(answer.seconds, answer.problem is not None)
    if answer.problem is not None and warns:
        logger.warning("%s: %s instead of the agent's answer: %s", table, played, answer.problem)
