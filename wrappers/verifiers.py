"""Games as environments of verifiers (https://github.com/PrimeIntellect-ai/verifiers), with an agent for every seat.

verifiers finds an environment as a module. For a game such a module has four lines::

    from parlour.wrappers.verifiers import GameTaskset, SeatHarness, game_env

    KuhnEnv = game_env("kuhn")  # options of the game are keywords
    __all__ = ["GameTaskset", "KuhnEnv", "SeatHarness"]

``docs/text_episodes.md`` describes it. Needs the extra ``verifiers``.
"""

from __future__ import annotations

import types
from collections.abc import Iterable
from contextlib import AsyncExitStack
from typing import Any, ClassVar

import httpx
import verifiers.v1 as vf
from pydantic import Field, create_model
from verifiers.v1.dialects.chat import message_to_wire

from ..envs import Game
from ..envs.core.registry import as_game
from .agents.prompt import Prompting
from .text import TextGame, TextTurn, role_of


class SeatData(vf.TaskData):
    """The episode of a task.

    Attributes:
        seed: of the episode.
        seat: the agent that a model plays; None: the first one that the opponents leave free.
    """

    seed: int = 0
    seat: str | None = None


class SeatTask(vf.Task[SeatData, vf.State, vf.TaskConfig]):
    """One episode of the game."""


class GameTasksetConfig(vf.TasksetConfig):
    """Which episodes there are (``--env.taskset.…``)."""

    episodes: int = Field(1_000, ge=1)
    """The number of tasks."""
    first: int = Field(0, ge=0)
    """The seed of the first task; task i has the seed first + i. For a test, take one that no training reaches."""
    seats: list[str] = Field(default_factory=list)
    """The seats that a model plays against opponents, one task after the other; empty: the first seat alone."""


class GameTaskset(vf.Taskset[SeatTask, GameTasksetConfig]):
    """The episodes by their seeds."""

    def load(self) -> Iterable[SeatTask]:
        """Yield the tasks."""
        seats = self.config.seats or [None]
        for index in range(self.config.episodes):
            seed = self.config.first + index
            data = SeatData(name=f"seed {seed}", seed=seed, seat=seats[index % len(seats)])
            yield SeatTask(data, self.config.task)


class SeatHarness(vf.Harness[vf.HarnessConfig]):
    """Asks the model for one answer a turn, in this process and without tools."""

    APPENDS_SYSTEM_PROMPT = True
    SUPPORTS_RESUME = True
    EXECUTES_CODE = False
    NEEDS_CONTAINER = False

    async def launch(
        self,
        ctx: vf.ModelContext,
        trace: vf.Trace,
        runtime: vf.Runtime,
        endpoint: str,
        secret: str,
        mcp_urls: dict[str, str],
        data: vf.TaskData,
    ) -> vf.ProgramResult:
        """Send the conversation to the model's endpoint."""
        system, prompt = self.resolve_prompt(data)
        messages = [] if system is None else [{"role": "system", "content": system}]
        messages += [message_to_wire(one) for one in prompt or () if not isinstance(one, str)]
        body = {"model": ctx.model, "messages": messages}
        async with httpx.AsyncClient(timeout=None) as client:
            url, headers = f"{endpoint}/chat/completions", {"Authorization": f"Bearer {secret}"}
            reply = await client.post(url, json=body, headers=headers)
        return vf.ProgramResult(exit_code=int(reply.is_error), stdout="", stderr=reply.text if reply.is_error else "")


class GameEnvConfig(vf.EnvConfig):
    """Who plays, and what a refused answer costs (``--env.…``). A subclass has an agent field for every seat."""

    opponents: str | dict[str, str] = "self"
    """Who plays the seats that no model plays: a bot of the game, ``random``, ``zoo:…``, a run or a policy file; one
    name for every seat but the task's, or by seat. ``self``: models play all seats."""
    tries: int = Field(2, ge=1)
    """How often a seat is asked in a turn before the game's safe action is played for it."""
    penalty: float = -0.1
    """The reward of a refused answer, in the unit of the rewards."""


class GameEnv(vf.Env[GameEnvConfig]):
    """One table: every seat is an agent, asked when it has the turn.

    Every seat has a trace in the episode. Its reward ``return`` is the seat's return, with the penalties of refused
    answers. Its metrics are ``decisions`` (the answers), ``refused`` and ``illegal`` (those of them that were refused,
    and those that named an illegal action). Its ``info`` has ``rewards`` (of every answer: all that the seat gains
    from it until it is asked again, or to the end), ``role`` and, for an opponent, ``opponent``.

    Opponents are frozen: their traces have no turns and are not trainable. So is a seat that has a model of its own
    (``--env.SEAT.model``), and a seat that was never asked.
    """

    game: ClassVar[Game]
    prompting: ClassVar[Prompting]

    def __init__(self, config: GameEnvConfig) -> None:
        """See verifiers' `Env`.

        Raises:
            ValueError: if the opponents or the seats of the tasks cannot be.
        """
        super().__init__(config)
        taskset: Any = self.taskset.config
        for seat in taskset.seats or [None]:
            self._table(seat)

    def _table(self, seat: str | None) -> TextGame:
        config = self.config
        options: dict[str, Any] = {"retries": config.tries - 1, "penalty": config.penalty, "prompting": self.prompting}
        return TextGame(self.game, opponents=config.opponents, seat=seat, **options)

    async def run(self, task: vf.Task[Any, Any, Any], agents: vf.Agents[Any]) -> None:
        """Play an episode."""
        table = self._table(task.data.seat)
        turn = table.reset(task.data.seed)
        seats: dict[str, vf.Interaction] = {}
        async with AsyncExitStack() as stack:
            for name in self.game.agents:
                agent = getattr(agents, name)
                agent.trainable = name not in table.opponents and getattr(self.config, name).model is None
                system = self.prompting.chat(self.prompting.prepared(table.match.turn_state(name)))[0]["content"]
                # A system prompt of the task set is the user's: it stands.
                data = task.data.model_copy(update={"system_prompt": task.data.system_prompt or system, "prompt": None})
                seats[name] = await stack.enter_async_context(agent.interaction(SeatTask(data, task.config)))
            while not turn.done:
                turn = table.step(await self._answer(seats[turn.agent], turn))
            for name, seat in seats.items():
                self._record(table, name, seat.trace)

    async def _answer(self, seat: vf.Interaction, turn: TextTurn) -> str:
        """Return the answer of a seat; empty if a limit has ended its conversation."""
        if seat.trace.stop_condition is not None:
            return ""
        segment = await seat.turn(turn.prompt[-1]["content"])
        if segment.terminated and seat.trace.errors:
            raise RuntimeError(f"{turn.agent} failed: {seat.trace.errors[-1].message}")
        answer: str = segment.last_reply
        return answer

    def _record(self, table: TextGame, name: str, trace: vf.Trace) -> None:
        transcript, faults = table.transcripts[name], table.faults[name]
        trace.record_reward("return", transcript.total)
        counted = {"decisions": len(transcript.exchanges), "refused": faults.total(), "illegal": faults["illegal"]}
        trace.record_metrics(counted)
        trace.info["rewards"] = [one.reward for one in transcript.exchanges]
        trace.info["role"] = role_of(table.match.turn_state(name))
        if name in table.opponents:
            trace.info["opponent"] = str(table.opponents[name])
        trace.agent.trainable &= bool(transcript.exchanges)


def game_env(game: str | Game, *, prompting: Prompting | None = None, **options: Any) -> type[GameEnv]:
    """Return the environment class of a game, for a module of verifiers.

    Its configuration has a field for every seat, named as the game names the seat's agent: ``--env.player_0.model``.

    Args:
        game: the game with its options, or its name.
        prompting: how a model is asked; None: with the rules in words. A seat's conversation grows with every turn,
            whatever its `Prompting.conversation`.
        options: the game's, where it is named.

    Raises:
        ValueError: for an unknown game or option.
    """
    game = as_game(game, options)
    seat = vf.AgentConfig(runtime=vf.SubprocessConfig())
    fields: dict[str, Any] = dict.fromkeys(game.agents, (vf.AgentConfig, seat))
    config = create_model("GameEnvConfig", __base__=GameEnvConfig, __module__=__name__, **fields)
    parts = {"game": game, "prompting": prompting or Prompting(game=game), "__module__": __name__}
    return types.new_class("GameEnv", (GameEnv, vf.Env[config]), exec_body=lambda body: body.update(parts))
