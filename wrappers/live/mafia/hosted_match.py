"""A match with its agents and its clocks: it makes the calls of a `MafiaHostSession` and tells what came of them."""

import asyncio
import contextlib
import logging
from collections.abc import Callable, Sequence
from typing import Any

import msgspec

from ....envs.core.game import Game
from ....envs.core.turn_state import AgentResponse
from ...logs.log_text import describe_error as described
from ...logs.log_text import escaped as shown
from ..common.clock import Deadline
from .agent_policy import AgentPolicy, model_calls, replacement
from .host_calls import DueCall, chunks
from .host_session import MafiaHostSession, MafiaResult, Step
from .limits import MafiaLimits
from .match_report import EventFeed, Fault, MatchEvent
from .messages import AgentConfig

logger = logging.getLogger(__name__)

Note = Callable[..., None]
"""Takes a line of a match log: its kind and its fields (`MatchLog.write`)."""


class HostedMatch:
    """A match of mafia between `AgentPolicy` objects.

    Args:
        game: mafia, with as many seats as there are agents.
        agents: the players, seat by seat. Agents that may block the event loop belong into `IsolatedAgent`.
        seed: of the roles and of everything that is drawn; None for fresh entropy.
        feed: gets the events.
        limits: what agents may take.
        note: gets the lines of the match's log, which `parlour.wrappers.logs.recorder.replay` plays again.

    Raises:
        ValueError: if there are not as many agents as seats, or ids or names are not all different and printable.
    """

    def __init__(
        self,
        game: Game,
        agents: Sequence[AgentPolicy],
        *,
        feed: EventFeed,
        seed: int | None = None,
        limits: MafiaLimits | None = None,
        note: Note | None = None,
    ) -> None:
        players = [(agent.id, agent.name) for agent in agents]
        self.session = MafiaHostSession(game, players, game_id=feed.game_id, seed=seed, limits=limits)
        self.agents = list(agents)
        self.feed = feed
        self._players = players
        self._note = note

    async def play(self) -> MafiaResult:
        """Play the match to its end."""
        self._note_match()
        async with asyncio.TaskGroup() as group:
            self._group = group
            await self._follow(self._begin_calls(self.session.begin(self._give_roles())))
        result = self.session.result
        if result is None:
            raise RuntimeError("no call is due, and the match is not over")
        self.feed.close()
        if self._note is not None:
            match = self.session.match
            self._note("end", outcome=match.turn_state(match.game.agents[0]).outcome)
        return result

    # The calls.

    def _begin_calls(self, step: Step) -> DueCall | None:
        """Tell what has happened and begin the calls that are due, but for the first: it is returned."""
        self._tell(step)
        for call in step.calls[1:]:
            self._group.create_task(self._follow(call))
        return step.calls[0] if step.calls else None

    async def _follow(self, call: DueCall | None) -> None:
        """Make a call, and those that follow from it one after another."""
        while call is not None:
            call = self._begin_calls(await self._ask(call))

    async def _ask(self, call: DueCall) -> Step:
        """Make a call, and note what a language model did in it."""
        agent: Any = self.agents[call.seat]
        round_number = self.session.match.table.round_number
        step = await self._answered(call, agent)
        for one in model_calls(agent):
            if self._note is not None:
                self._note("model", agent_id=agent.id, method=call.method, round=int(round_number), **one)
        return step

    async def _answered(self, call: DueCall, agent: Any) -> Step:
        """Make a call and tell the session how it went."""
        arguments = self.session.arguments(call.number)
        deadline = Deadline.after(call.seconds)
        try:
            if call.method in ("think", "say"):
                return await self._read(call, agent, aiter(getattr(agent, call.method)(*arguments)), deadline)
            async with deadline.limit():
                answer = await (agent.vote if call.method == "vote" else agent.night_action)(*arguments)
        except TimeoutError:
            return self.session.timed_out(call.number)
        except Exception as error:  # whatever it is, it is that agent's
            return self.session.failed(call.number, described(error))
        self._tell_replaced(call, agent)
        return self.session.answered(call.number, answer)

    async def _read(self, call: DueCall, agent: Any, stream: Any, deadline: Deadline) -> Step:
        """Pass a stream on, as long as it may go on."""
        async with contextlib.aclosing(chunks(stream, deadline)) as parts:
            async for chunk in parts:
                self._tell_replaced(call, agent)
                step = self.session.chunk(call.number, chunk)
                if not self.session.running(call.number):
                    return step
                self._tell(step)
        self._tell_replaced(call, agent)
        return self.session.finished(call.number)

    def _tell_replaced(self, call: DueCall, agent: Any) -> None:
        """Note where the answer is not the agent's own."""
        problem = replacement(agent)
        if problem is not None:
            self._tell(self.session.replaced(call.number, problem))

    # What is told.

    def _tell(self, step: Step) -> None:
        for one in step.happened:
            if isinstance(one, MatchEvent):
                self.feed.emit(*one)
            elif isinstance(one, Fault):
                self._warn(one)
            elif self._note is not None:
                replaced = {} if one.replaced is None else {"replaced": one.replaced}
                self._note("turn", agent=one.agent, response=AgentResponse(one.action), **replaced)

    def _warn(self, fault: Fault) -> None:
        logger.warning(
            "%s, round %d, %s of %s: %s",
            self.feed.game_id,
            fault.round_number,
            fault.method,
            fault.agent_id,
            shown(fault.problem),
        )
        if self._note is not None:
            self._note("fault", **msgspec.to_builtins(fault))

    def _give_roles(self) -> dict[int, str]:
        """Tell every agent its role; return by seat why one would not take it."""
        problems = {}
        for seat, role in enumerate(self.session.roles):
            try:
                self.agents[seat].role = role
            except Exception as error:
                problems[seat] = described(error)
        return problems

    def _note_match(self) -> None:
        if self._note is None:
            return
        match = self.session.match
        self._note(
            "match",
            game=match.game.id,
            options=match.game.options,
            seed=self.session.seed,
            match_id=self.feed.game_id,
            agents=[
                {"id": player_id, "name": name, **_config(agent)}
                for (player_id, name), agent in zip(self._players, self.agents, strict=True)
            ],
        )


def _config(agent: AgentPolicy) -> dict[str, AgentConfig]:
    """Return an agent's config for the log; what others call so may be anything, and hold secrets."""
    config = getattr(agent, "config", None)
    return {"config": config} if type(config) is AgentConfig else {}
