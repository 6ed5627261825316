"""The calls of a service's agents, and their log: each gets the agent's answer before the deadline, or a replacement.

If an agent raises, is late, streams without end or makes an illegal choice, its answer is cut off or replaced by a
legal target, an abstention or a plain sentence. A warning gives the reason. The log has a ``turn`` for every night
action, statement and vote, with its thought. Hosts do not report the end of a match to agents, so ``ended`` is
written when the service removes an agent.
"""

import asyncio
import contextlib
import logging
import random
from collections import OrderedDict
from collections.abc import AsyncGenerator, Callable
from dataclasses import dataclass, field
from typing import Any

from ....envs.core.turn_state import Action, AgentResponse
from ...agents.base import thoughts
from ...logs.log_text import describe_error
from ...logs.log_text import escaped as shown
from ...logs.match_log import MatchLog
from ...logs.safe_match_log import SafeMatchLog, safe_thoughts
from ..common.activity import AgentStatistics
from .agent_policy import AgentPolicy, beside, model_calls, night_problem, night_targets, replacement, vote_problem
from .agent_session import Begin
from .conversion import turn_state
from .host_calls import chunks
from .messages import NIGHT_ACTIONS, NightAction, PrivateInfo, PublicInfo, VoteAction

logger = logging.getLogger(__name__)

Key = tuple[str, str, str]
"""Client, match, agent. The client's name is secret, and not written."""


@dataclass
class _Memory:
    """The state of an agent between its calls."""

    private: PrivateInfo | None = None
    thought: str = ""
    moment: tuple[str, int] = ("", 0)  # phase and round of the thought
    winner: str | None = None


@dataclass
class LoggedCall:
    """One call and its result.

    Attributes:
        key: client, match and agent.
        begin: the call.
        seen: the TurnState of the call; None: it cannot be written.
        said: the chunks of the stream so far.
        problem: why the answer was replaced or cut off; None: it was not.
    """

    key: Key
    begin: Begin
    seen: dict[str, Any] | None
    said: list[str] = field(default_factory=list)
    problem: str | None = None


class AgentServiceLog:
    """The log of a service's agents.

    Args:
        log: the log; None: no log.
    """

    def __init__(self, log: MatchLog | None) -> None:
        self._log = SafeMatchLog(log)
        self._memories: dict[Key, _Memory] = {}

    def open(self, client: str, begin: Begin) -> LoggedCall:
        """Begin a call: store what the agent sees, before the agent can change it."""
        context, info = begin.context, begin.info
        key = client, context.game_id, begin.agent_id
        if not self._log:
            return LoggedCall(key, begin, None)
        memory = self._memories.get(key)
        if memory is None:
            memory = self._memories[key] = _Memory()
            name = next((player.name for player in context.players if player.id == begin.agent_id), None)
            self._log.write("joined", match_id=context.game_id, agent_id=begin.agent_id, name=name)
        memory.winner = context.winner
        if isinstance(info, PrivateInfo):
            memory.private = info.kept()
        try:
            seen = turn_state(begin.agent_id, context, memory.private).to_dict()
        except (ValueError, TypeError, LookupError):  # such as an agent that is none of the players
            seen = None
        return LoggedCall(key, begin, seen)

    def close(self, call: LoggedCall, agent: AgentPolicy, choice: NightAction | VoteAction | None = None) -> None:
        """End a call: store a thought, or write a decision; a villager has none at night."""
        memory = self._memories.get(call.key)
        for model_call in model_calls(agent):
            where = {"match_id": call.key[1], "agent_id": call.key[2], "method": call.begin.method}
            self._log.write("model", **where, round=call.begin.context.round_number, **model_call)
        if memory is None or call.seen is None:
            return
        context = call.begin.context
        moment = context.phase, context.round_number
        if call.begin.method == "think":
            memory.thought, memory.moment = "".join(call.said), moment
            if call.problem is not None:
                memory.thought = f"{memory.thought} ({call.problem})".strip()
            return
        thought = memory.thought if memory.moment == moment else ""
        memory.thought = ""
        response = _answer(call, choice)
        if response is None:
            return
        note = {"replaced": call.problem} if call.problem is not None else safe_thoughts(lambda: thoughts(agent))  # type: ignore[arg-type]
        if thought:
            note["think"] = thought
        self._log.write("turn", turn_state=call.seen, response=response, **note)

    def forget(self, key: Key) -> None:
        """Remove an agent and write the end of its match."""
        memory = self._memories.pop(key, None)
        if memory is not None:
            outcome = None if memory.winner is None else {"winner": memory.winner}
            self._log.write("ended", match_id=key[1], agent_id=key[2], outcome=outcome)

    def end(self) -> None:
        """Write the end of all running matches."""
        for key in list(self._memories):
            self.forget(key)


def _answer(call: LoggedCall, choice: NightAction | VoteAction | None) -> AgentResponse | None:
    """Return the answer of a call, in our game's form."""
    if call.begin.method == "say":
        return AgentResponse(Action("say", {"text": "".join(call.said)}))
    said = beside(choice)
    if isinstance(choice, NightAction):
        return AgentResponse(
            Action("nightAction", {"actionType": choice.action_type, "targetId": choice.target_id, **said})
        )
    if isinstance(choice, VoteAction):
        return AgentResponse(Action("vote", {"targetId": choice.target_id, **said}))
    return None


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
