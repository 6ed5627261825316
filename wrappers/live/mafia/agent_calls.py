"""The calls of a service's agents: each gets the agent's answer before the deadline, or a replacement.

If an agent raises, is late, streams without end or makes an illegal choice, its answer is cut off or replaced by a
legal target, an abstention or a plain sentence. A warning gives the reason.
"""

import asyncio
import contextlib
import logging
import random
from collections import OrderedDict
from collections.abc import AsyncGenerator, Callable

from ...logs.log_text import describe_error
from ...logs.log_text import escaped as shown
from ...logs.match_log import MatchLog
from ..common.agent_statistics import AgentStatistics
from .agent_policy import AgentPolicy, night_problem, night_targets, replacement, vote_problem
from .agent_session import Begin
from .messages import NIGHT_ACTIONS, NightAction, PrivateInfo, PublicInfo, VoteAction
from .service_log import AgentServiceLog, Key, LoggedCall
from .streams import chunks

logger = logging.getLogger(__name__)

AGENTS = 1_000
"""Most agents that are kept. The least recently used is removed first."""
STREAM_LIMIT = 20_000
"""Most characters of a thought; the rest is cut off."""
SAYS_LIMIT = 4_000
"""Most characters of a statement; the rest is cut off."""
NOTHING_TO_SAY = "I have nothing to add for now."
"""The statement of an agent that says nothing: a statement has at least one sentence."""


class AgentCalls:
    """The agents of a service and their calls.

    Args:
        make: returns a new agent for an id and a name.
        deadline: seconds for a call.
        seed: the seed of replaced choices; None: fresh entropy.
        log: the log of all decisions; None: no log.

    Attributes:
        statistics: counters and latencies of ended calls.
        deadline: seconds for a call.
        random: the source of replaced choices.
    """

    def __init__(
        self,
        make: Callable[[str, str], AgentPolicy],
        *,
        deadline: float,
        seed: int | None = None,
        log: MatchLog | None = None,
    ) -> None:
        if not 0 < deadline < 2**30:
            raise ValueError(f"deadline={deadline}: seconds for a call, above 0")
        self.statistics = AgentStatistics()
        self.deadline = deadline
        self.random = random.Random(seed)
        self._make = make
        self._log = AgentServiceLog(log)
        self._agents: OrderedDict[Key, AgentPolicy] = OrderedDict()

    def begin(self, client: str, begin: Begin) -> "AgentCall":
        """Begin a client's call.

        Raises:
            Exception: any error of `make`.
        """
        agent = self._agent(client, begin)
        return AgentCall(self, agent, begin, self._log.open(client, begin))

    def end_call(self, call: "AgentCall", choice: NightAction | VoteAction | None) -> None:
        """Count and log an answered call."""
        self.statistics.decided(asyncio.get_running_loop().time() - call.began, call.logged.problem is not None)
        self._log.close(call.logged, call.agent, choice)

    def forget(self, client: str) -> None:
        """Remove the agents of a client."""
        for key in [key for key in self._agents if key[0] == client]:
            del self._agents[key]
            self._log.forget(key)

    def end(self) -> None:
        """Write the end of all running matches to the log."""
        self._log.end()

    def _agent(self, client: str, begin: Begin) -> AgentPolicy:
        """Return the agent of a call, a new one at its first call; set its role if the call contains it."""
        key = (client, begin.context.game_id, begin.agent_id)
        agent = self._agents.get(key)
        if agent is None:
            names = {player.id: player.name for player in begin.context.players}
            agent = self._agents[key] = self._make(begin.agent_id, names.get(begin.agent_id, begin.agent_id))
            if len(self._agents) > AGENTS:
                self._log.forget(self._agents.popitem(last=False)[0])
        self._agents.move_to_end(key)
        if isinstance(begin.info, PrivateInfo):
            agent.role = begin.info.self.role
        return agent


class AgentCall:
    """One call of an agent. Answer it by `stream` (think, say) or `choose` (nightAction, vote), once.

    Args:
        calls: the calls of the service.
        agent: the agent.
        begin: the call.
        logged: its entry in the log.
    """

    def __init__(self, calls: AgentCalls, agent: AgentPolicy, begin: Begin, logged: LoggedCall) -> None:
        self.agent = agent
        self.logged = logged
        self.began = asyncio.get_running_loop().time()
        self._calls = calls
        self._begin = begin

    async def stream(self) -> AsyncGenerator[str, None]:
        """Yield the chunks of the thought or statement, until the deadline or the most characters."""
        begin, seconds, spoken = self._begin, self._calls.deadline, False
        says = isinstance(begin.info, PublicInfo)
        try:
            source = (self.agent.say if says else self.agent.think)(begin.context, begin.info)  # type: ignore[arg-type]
            async with contextlib.aclosing(chunks(source, seconds, SAYS_LIMIT if says else STREAM_LIMIT)) as stream:
                async for chunk in stream:
                    spoken = spoken or bool(chunk.strip())
                    self.logged.said.append(chunk)
                    yield chunk
        except TimeoutError:
            self._replace(f"cut off after {seconds:g} s")
        except Exception as error:  # any error of the agent: the match goes on
            self._replace(describe_error(error))
        self.logged.problem = self.logged.problem or replacement(self.agent)
        if says and not spoken:
            self.logged.said.append(NOTHING_TO_SAY)
            yield NOTHING_TO_SAY
        self._calls.end_call(self, None)

    async def choose(self) -> NightAction | VoteAction | None:
        """Return the agent's choice, or its replacement."""
        choice: NightAction | VoteAction | None = None
        try:
            async with asyncio.timeout(self._calls.deadline):
                choice, problem = await self._ask()
        except TimeoutError:
            problem = f"no answer within {self._calls.deadline:g} s"
        except Exception as error:  # as above
            problem = describe_error(error)
        if problem is not None:
            self._replace(problem)
            choice = self._safe_choice()
        else:
            self.logged.problem = replacement(self.agent)
        self._calls.end_call(self, choice)
        return choice

    async def _ask(self) -> tuple[NightAction | VoteAction | None, str | None]:
        """Return the agent's choice, and its problem or None."""
        begin = self._begin
        if isinstance(begin.info, PrivateInfo):
            action = await self.agent.night_action(begin.context, begin.info)
            return action, night_problem(action, begin.info)
        vote = await self.agent.vote(begin.context, begin.info)
        return vote, vote_problem(vote, begin.agent_id, begin.context)

    def _safe_choice(self) -> NightAction | VoteAction | None:
        """Return the replacement of a choice: a random legal target, or an abstention."""
        info = self._begin.info
        if not isinstance(info, PrivateInfo):
            return VoteAction(None)
        targets = night_targets(info)
        return NightAction(NIGHT_ACTIONS[str(info.self.role)], self._calls.random.choice(targets)) if targets else None

    def _replace(self, problem: str) -> None:
        self.logged.problem = problem
        begin = self._begin
        game_id, agent_id = shown(begin.context.game_id[:64]), shown(begin.agent_id[:64])
        logger.warning("%s, %s of %s: %s", game_id, begin.method, agent_id, shown(problem))
