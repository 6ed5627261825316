"""Our host: matches of mafia between agents in this process and elsewhere, with deadlines, a log and events."""

import asyncio
import logging
import secrets
from collections import deque
from collections.abc import Callable, Sequence
from typing import Any

import msgspec
import numpy as np

from ....envs.core.game import Game
from ....envs.core.turn_state import AgentResponse
from ...logs.match_log import MatchLog, SafeMatchLog
from ...logs.match_log import escaped as shown
from ..common.clock import Deadline
from .agent_policy import AgentPolicy, model_calls, replacement
from .calling import Apart, ask, called
from .host_session import DueCall, Fault, MafiaHostSession, MafiaResult, Step
from .limits import MafiaLimits
from .messages import AgentConfig, Event

logger = logging.getLogger(__name__)

REMEMBERED = 32
"""Results that are kept."""
_IN_WORDS = {
    "think": "thought",
    "say": "statement",
    "nightAction": "choice",
    "NIGHT_ACTIONS": "night",
    "DAY_DISCUSSION": "day",
    "DAY_VOTING": "day",
}
"""Methods and phases, as people call them."""

Note = Callable[..., None]
"""Writes a line of a match log: its kind and its fields (`MatchLog.write`)."""


class HostedMatch:
    """A match of mafia between `AgentPolicy` objects.

    Foreign agents run in threads of their own, with copies of the arguments.

    Args:
        game: mafia, with as many seats as there are agents.
        agents: the players, seat by seat.
        game_id: the id of the match.
        seed: the seed of the roles and of random targets; None: fresh entropy.
        limits: the limits of the agents' answers.
        note: called with the lines of the match's log, which `parlour.wrappers.logs.match_log.replay` plays again.
        on_event: called with every event.

    Raises:
        ValueError: if there are not as many agents as seats, or ids or names are not all different and printable.
    """

    def __init__(
        self,
        game: Game,
        agents: Sequence[AgentPolicy],
        *,
        game_id: str,
        seed: int | None = None,
        limits: MafiaLimits | None = None,
        note: Note = lambda kind, **fields: None,
        on_event: Callable[[Event], None] = lambda event: None,
    ) -> None:
        players = [(agent.id, agent.name) for agent in agents]
        self.session = MafiaHostSession(game, players, game_id=game_id, seed=seed, limits=limits)
        self.agents = list(agents)
        self._names = dict(players)
        self._note = note
        self._on_event = on_event
        self._called: list[Any] = []

    async def play(self) -> MafiaResult:
        """Play the match to its end."""
        session, match = self.session, self.session.match
        agents = [
            {"id": agent_id, "name": name, **_config(agent)}
            for (agent_id, name), agent in zip(self._names.items(), self.agents, strict=True)
        ]
        about = {"game": match.game.id, "options": match.game.options, "seed": session.seed}
        self._note("match", **about, match_id=session.game_id, agents=agents)
        self._called = [called(agent) for agent in self.agents]
        try:
            async with asyncio.TaskGroup() as group:
                self._group = group
                await self._follow(self._begin_calls(session.begin()))
        finally:
            for agent in self._called:
                if isinstance(agent, Apart):
                    agent.stop()
        if session.result is None:
            raise RuntimeError("no call is due, and the match is not over")
        self._note("end", outcome=match.turn_state(match.game.agents[0]).outcome)
        return session.result

    def _begin_calls(self, step: Step) -> DueCall | None:
        """Report a step, begin its calls but the first, and return the first; None if there is none."""
        self._report(step)
        for call in step.calls[1:]:
            self._group.create_task(self._follow(call))
        return step.calls[0] if step.calls else None

    async def _follow(self, call: DueCall | None) -> None:
        """Make a call, and those that follow from it one after another; log the calls of language models in it."""
        while call is not None:
            round_number = int(self.session.match.table.round_number)
            step, agent = await self._ask(call), self.agents[call.seat]
            for one in model_calls(agent):
                self._note("model", agent_id=agent.id, method=call.method, round=round_number, **one)
            call = self._begin_calls(step)

    async def _ask(self, call: DueCall) -> Step:
        """Make a call, and report its answer or failure to the session."""
        session, number, agent = self.session, call.number, self.agents[call.seat]
        last: Step | None = None

        async def take(chunk: Any) -> bool:
            nonlocal last
            if (problem := replacement(agent)) is not None:
                self._report(session.replaced(number, problem))
            step = session.chunk(number, chunk)
            if session.running(number):
                self._report(step)
                return True
            last = step
            return False

        arguments, deadline, role = session.arguments(number), Deadline.after(call.seconds), session.roles[call.seat]
        try:
            answer = await ask(self._called[call.seat], call.method, arguments, role=role, deadline=deadline, take=take)
        except TimeoutError:
            step = session.timed_out(number)
        except RuntimeError as error:
            step = session.failed(number, str(error))
        else:
            if (problem := replacement(agent)) is not None:
                self._report(session.replaced(number, problem))
            step = session.finished(number) if call.characters else session.answered(number, answer)
        return last or step

    def _report(self, step: Step) -> None:
        for one in step.happened:
            if isinstance(one, Event):
                self._note("event", event=one)
                try:
                    self._on_event(one)
                except Exception:  # whatever it is, the match goes on
                    logger.exception("%s: who watches failed at %s", one.game_id, one.event_type)
            elif isinstance(one, Fault):
                self._warn(one)
                self._note("fault", **msgspec.to_builtins(one))
            else:
                replaced = {} if one.replaced is None else {"replaced": one.replaced}
                self._note("turn", agent=one.agent, response=AgentResponse(one.action), **replaced)

    def _warn(self, fault: Fault) -> None:
        """Log a fault as the talk of the match has it."""
        when, what = _IN_WORDS[fault.phase], _IN_WORDS.get(fault.method, fault.method)
        instead = f" ({fault.instead})" if fault.instead else ""
        who, problem = self._names[fault.agent_id], shown(fault.problem)
        where = f"{self.session.game_id}, {when} {fault.round_number}"
        logger.warning("%s, %s of %s: %s%s", where, what, who, problem, instead)


def _config(agent: AgentPolicy) -> dict[str, AgentConfig]:
    """Return an agent's config for the log; a config of another type is left out, as it may hold secrets."""
    config = getattr(agent, "config", None)
    return {"config": config} if type(config) is AgentConfig else {}


class MafiaHost:
    """Plays matches, any number of them side by side.

    >>> result = await MafiaHost(game).play(agents)      # doctest: +SKIP

    Args:
        game: mafia, with its options.
        limits: the limits of the agents' answers.
        seed: the seed from which each match gets its own; None: fresh entropy.
        log: the log of all matches; each can be replayed. A match that begins beside another one is written when both
            are over.
        on_event: called with every event.

    Attributes:
        results: the results of the latest `REMEMBERED` ended matches, in order.
        over: the number of ended matches.
    """

    def __init__(
        self,
        game: Game,
        *,
        limits: MafiaLimits | None = None,
        seed: int | None = None,
        log: MatchLog | None = None,
        on_event: Callable[[Event], None] = lambda event: None,
    ) -> None:
        if game.name != "mafia":
            raise ValueError(f"{game.id} is not mafia")
        self.game = game
        self.results: deque[MafiaResult] = deque(maxlen=REMEMBERED)
        self.over = 0
        self._limits = limits
        self._seeds = np.random.SeedSequence(seed)
        self._log = SafeMatchLog(log)
        self._writes = False  # whether a match writes the log as it goes
        self._kept: list[tuple[str, dict[str, Any]]] = []  # the lines of matches that are over
        self._on_event = on_event
        self._count = 0
        self._name = secrets.token_hex(4)  # ids differ from host to host

    async def play(self, agents: Sequence[AgentPolicy], seed: int | None = None) -> MafiaResult:
        """Play one match and return the result.

        Args:
            agents: the players, seat by seat.
            seed: the seed of the match; None: the next one of the host.

        Raises:
            ValueError: see `HostedMatch`.
        """
        if seed is None:
            (own,) = self._seeds.spawn(1)
            seed = int(own.generate_state(1, np.uint64)[0] >> np.uint64(1))
        self._count += 1
        writes, lines = not self._writes, list[tuple[str, dict[str, Any]]]()
        note = self._log.write if writes else lambda kind, **fields: lines.append((kind, fields))
        game_id, watch = f"{self._name}-{self._count}", {"note": note, "on_event": self._on_event}
        match = HostedMatch(self.game, agents, game_id=game_id, seed=seed, limits=self._limits, **watch)
        self._writes = True
        try:
            result = await match.play()
        finally:
            self._writes = self._writes and not writes
            self._kept += lines
            if not self._writes:
                kept, self._kept = self._kept, []
                for kind, fields in kept:
                    self._log.write(kind, **fields)
        self.results.append(result)
        self.over += 1
        return result
