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
from collections.abc import AsyncGenerator, AsyncIterator, Callable
from dataclasses import dataclass
from typing import Any

from ....envs.core.turn_state import Action, AgentResponse, TurnState
from ...agents.base import thoughts
from ...logs.match_log import MatchLog, SafeMatchLog, describe_error, safe_thoughts
from ...logs.match_log import escaped as shown
from ..common.agent_turn import AgentStatistics, Played, Turn
from ..common.clock import Deadline
from .agent_policy import AgentPolicy, beside, model_calls, night_problem, night_targets, replacement, vote_problem
from .agent_session import Begin
from .conversion import turn_state
from .limits import ChunkLimit
from .messages import NIGHT_ACTIONS, NightAction, PrivateInfo, PublicInfo, VoteAction

logger = logging.getLogger(__name__)

AGENTS = 1_000
"""Most agents that are kept. The least recently used is removed first."""
STREAM_LIMIT = 20_000
"""Most characters of a thought; the rest is cut off."""
SAYS_LIMIT = 4_000
"""Most characters of a statement; the rest is cut off."""
NOTHING_TO_SAY = "I have nothing to add for now."
"""The statement of an agent that says nothing: a statement has at least one sentence."""

Choice = NightAction | VoteAction | None
Key = tuple[str, str, str]
"""Client, match, agent. The client's name is secret, and not written."""


@dataclass
class ServedAgent:
    """An agent of the service, and what is known of it between its calls.

    Attributes:
        policy: the agent.
        private: its latest private information; None: not received.
        thought, moment: its latest thought, with phase and round.
        winner: the winner in its latest context.
    """

    policy: AgentPolicy
    private: PrivateInfo | None = None
    thought: str = ""
    moment: tuple[str, int] = ("", 0)
    winner: str | None = None


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
        self._log = SafeMatchLog(log)
        self._agents: OrderedDict[Key, ServedAgent] = OrderedDict()

    def begin(self, client: str, begin: Begin) -> "AgentCall":
        """Begin a client's call.

        Raises:
            Exception: any error of `make`.
        """
        context, info = begin.context, begin.info
        key = client, context.game_id, begin.agent_id
        agent = self._agents.get(key) or self._add(key, begin)
        self._agents.move_to_end(key)
        agent.winner = context.winner
        if isinstance(info, PrivateInfo):
            agent.private = info.kept()
            agent.policy.role = info.self.role
        seen: TurnState | None = None
        if self._log:
            # What the agent sees, before it can change it; none for an agent that is none of the players, for example.
            with contextlib.suppress(ValueError, TypeError, LookupError):
                seen = turn_state(begin.agent_id, context, agent.private)
        return AgentCall(self, key, agent, begin, seen)

    def _add(self, key: Key, begin: Begin) -> ServedAgent:
        names = {player.id: player.name for player in begin.context.players}
        name = names.get(begin.agent_id)
        agent = self._agents[key] = ServedAgent(self._make(begin.agent_id, name or begin.agent_id))
        self._log.write("joined", match_id=key[1], agent_id=key[2], name=name)
        if len(self._agents) > AGENTS:
            self._remove(next(iter(self._agents)))
        return agent

    def end_call(self, call: "AgentCall", choice: Choice) -> None:
        """Count and log an answered call. A thought is kept for the decision after it."""
        self.statistics.decided(asyncio.get_running_loop().time() - call.began, call.problem is not None)
        begin, agent = call.begin, call.agent
        moment = begin.context.phase, begin.context.round_number
        for model_call in model_calls(agent.policy):
            where = {"match_id": call.key[1], "agent_id": call.key[2], "method": begin.method}
            self._log.write("model", **where, round=moment[1], **model_call)
        if self._agents.get(call.key) is not agent or call.seen is None:
            return
        if begin.method == "think":
            cut = "" if call.problem is None else f" ({call.problem})"
            agent.thought, agent.moment = f"{''.join(call.said)}{cut}".strip() if cut else "".join(call.said), moment
            return
        thought = {"think": agent.thought} if agent.thought and agent.moment == moment else {}
        agent.thought = ""
        action = _action(call, choice)
        if action is not None:  # a villager decides nothing at night
            notes = safe_thoughts(lambda: thoughts(agent.policy)) if call.problem is None else {}  # type: ignore[arg-type]
            Played(AgentResponse(action), call.problem, notes).write(self._log, Turn(call.seen), **thought)

    def forget(self, client: str) -> None:
        """Remove the agents of a client."""
        for key in [key for key in self._agents if key[0] == client]:
            self._remove(key)

    def end(self) -> None:
        """Remove all agents. The log has the end of their matches."""
        for key in list(self._agents):
            self._remove(key)

    def _remove(self, key: Key) -> None:
        winner = self._agents.pop(key).winner
        outcome = None if winner is None else {"winner": winner}
        self._log.write("ended", match_id=key[1], agent_id=key[2], outcome=outcome)


class AgentCall:
    """One call of an agent. Answer it by `stream` (think, say) or `choose` (nightAction, vote), once.

    Args:
        calls: the calls of the service.
        key: client, match and agent.
        agent: the agent.
        begin: the call.
        seen: the TurnState of the call; None: it is not logged.

    Attributes:
        said: the chunks of the stream so far.
        problem: why the answer was replaced or cut off; None: it was not.
    """

    def __init__(self, calls: AgentCalls, key: Key, agent: ServedAgent, begin: Begin, seen: TurnState | None) -> None:
        self.key = key
        self.agent = agent
        self.begin = begin
        self.seen = seen
        self.said: list[str] = []
        self.problem: str | None = None
        self.began = asyncio.get_running_loop().time()
        self._calls = calls
        self._policy = agent.policy

    async def stream(self) -> AsyncGenerator[str, None]:
        """Yield the chunks of the thought or statement, until the deadline or the most characters."""
        begin, says = self.begin, isinstance(self.begin.info, PublicInfo)
        deadline, limit = Deadline.after(self._calls.deadline), ChunkLimit(SAYS_LIMIT if says else STREAM_LIMIT)
        try:
            source = (self._policy.say if says else self._policy.think)(begin.context, begin.info)  # type: ignore[arg-type]
            async with contextlib.aclosing(chunks(source, deadline, limit)) as stream:
                async for chunk in stream:
                    self.said.append(chunk)
                    yield chunk
        except TimeoutError:
            self._replace(f"cut off after {deadline.seconds:g} s")
        except Exception as error:  # any error of the agent: the match goes on
            self._replace(describe_error(error))
        self.problem = self.problem or replacement(self._policy)
        if says and not "".join(self.said).strip():
            self.said.append(NOTHING_TO_SAY)
            yield NOTHING_TO_SAY
        self._calls.end_call(self, None)

    async def choose(self) -> Choice:
        """Return the agent's choice, or its replacement."""
        choice: Choice = None
        try:
            async with Deadline.after(self._calls.deadline).limit():
                choice, problem = await self._ask()
        except TimeoutError as error:
            problem = str(error)
        except Exception as error:  # as above
            problem = describe_error(error)
        if problem is not None:
            self._replace(problem)
            choice = self._safe_choice()
        else:
            self.problem = replacement(self._policy)
        self._calls.end_call(self, choice)
        return choice

    async def _ask(self) -> tuple[Choice, str | None]:
        """Return the agent's choice, and its problem or None."""
        begin = self.begin
        if isinstance(begin.info, PrivateInfo):
            action = await self._policy.night_action(begin.context, begin.info)
            return action, night_problem(action, begin.info)
        vote = await self._policy.vote(begin.context, begin.info)
        return vote, vote_problem(vote, begin.agent_id, begin.context)

    def _safe_choice(self) -> Choice:
        """Return the replacement of a choice: a random legal target, or an abstention."""
        info = self.begin.info
        if not isinstance(info, PrivateInfo):
            return VoteAction(None)
        targets = night_targets(info)
        return NightAction(NIGHT_ACTIONS[str(info.self.role)], self._calls.random.choice(targets)) if targets else None

    def _replace(self, problem: str) -> None:
        self.problem = problem
        game_id, agent_id = shown(self.begin.context.game_id[:64]), shown(self.begin.agent_id[:64])
        logger.warning("%s, %s of %s: %s", game_id, self.begin.method, agent_id, shown(problem))


def _action(call: AgentCall, choice: Choice) -> Action | None:
    """Return the answer of a call, in our game's form."""
    payload: dict[str, Any] = {} if choice is None else {"targetId": choice.target_id, **beside(choice)}
    if call.begin.method == "say":
        return Action("say", {"text": "".join(call.said)})
    if isinstance(choice, NightAction):
        return Action("nightAction", {"actionType": choice.action_type, **payload})
    return Action("vote", payload) if isinstance(choice, VoteAction) else None


CLOSING = 1.0
"""Seconds for an agent to close a stream."""


async def chunks(
    stream: AsyncIterator[str], deadline: Deadline, limit: ChunkLimit | None = None
) -> AsyncGenerator[Any, None]:
    """Yield what an agent's stream yields, as it comes, and close it. With a limit, only what is within it.

    Raises:
        TimeoutError: at the deadline.
        Exception: the error of the limit, or any error of the agent.
    """
    try:
        while True:
            async with deadline.limit():
                try:
                    chunk = await anext(stream)
                except StopAsyncIteration:
                    return
                if chunk == "":
                    await asyncio.sleep(0)  # endless empty chunks must not block the event loop
            if not deadline.left:  # it goes on although it was cancelled
                raise TimeoutError(f"no answer within {deadline.seconds:g} s")
            for part in [chunk] if limit is None else limit.take(chunk):
                yield part
            if limit is not None and limit.error is not None:
                raise limit.error
    finally:
        await close(stream)


async def close(source: Any) -> None:
    """Close a stream, if it has `aclose`; its errors are ignored."""
    aclose = getattr(source, "aclose", None)
    if aclose is not None:
        with contextlib.suppress(Exception):
            async with asyncio.timeout(CLOSING):
                await aclose()
