"""A match with its agents: it makes the calls of a `MafiaHostSession`, with deadlines, and reports the results."""

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
"""Writes a line of a match log: its kind and its fields (`MatchLog.write`)."""


class HostedMatch:
    """A match of mafia between `AgentPolicy` objects.

    Args:
        game: mafia, with as many seats as there are agents.
        agents: the players, seat by seat. Agents that may block the event loop belong into `ThreadedAgent`.
        seed: the seed of the roles and of random targets; None: fresh entropy.
        feed: the feed of the events.
        limits: the limits of the agents' answers.
        note: called with the lines of the match's log, which `parlour.wrappers.logs.recorder.replay` plays again.

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
        """Report a step, begin its calls but the first, and return the first; None if there is none."""
        self._report(step)
        for call in step.calls[1:]:
            self._group.create_task(self._follow(call))
        return step.calls[0] if step.calls else None

    async def _follow(self, call: DueCall | None) -> None:
        """Make a call, and those that follow from it one after another."""
        while call is not None:
            call = self._begin_calls(await self._ask(call))

    async def _ask(self, call: DueCall) -> Step:
        """Make a call, and log the calls of a language model in it."""
        agent: Any = self.agents[call.seat]
        round_number = self.session.match.table.round_number
        step = await self._answered(call, agent)
        for model_call in model_calls(agent):
            if self._note is not None:
                self._note("model", agent_id=agent.id, method=call.method, round=int(round_number), **model_call)
        return step

    async def _answered(self, call: DueCall, agent: Any) -> Step:
        """Make a call, and report its answer or failure to the session."""
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
        except asyncio.CancelledError:
            task = asyncio.current_task()
            if task is None or task.cancelling():  # the match itself is cancelled
                raise
            return self.session.failed(call.number, "it cancelled itself")
        self._report_replaced(call, agent)
        return self.session.answered(call.number, answer)

    async def _read(self, call: DueCall, agent: Any, stream: Any, deadline: Deadline) -> Step:
        """Pass the chunks of a stream to the session until the stream or the call ends."""
        async with contextlib.aclosing(chunks(stream, deadline)) as parts:
            async for chunk in parts:
                self._report_replaced(call, agent)
                step = self.session.chunk(call.number, chunk)
                if not self.session.running(call.number):
                    return step
                self._report(step)
        self._report_replaced(call, agent)
        return self.session.finished(call.number)

    def _report_replaced(self, call: DueCall, agent: Any) -> None:
        """Report if the answer is not the agent's own."""
        problem = replacement(agent)
        if problem is not None:
            self._report(self.session.replaced(call.number, problem))

    # Reports.

    def _report(self, step: Step) -> None:
        for event in step.happened:
            if isinstance(event, MatchEvent):
                self.feed.emit(*event)
            elif isinstance(event, Fault):
                self._warn(event)
            elif self._note is not None:
                replaced = {} if event.replaced is None else {"replaced": event.replaced}
                self._note("turn", agent=event.agent, response=AgentResponse(event.action), **replaced)

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
        """Set the role of every agent; return the errors by seat."""
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
    """Return an agent's config for the log; a config of another type is left out, as it may hold secrets."""
    config = getattr(agent, "config", None)
    return {"config": config} if type(config) is AgentConfig else {}
