"""Agents whose decisions are action numbers of our game: bots and trained policies behind `AgentPolicy`."""

import random
from collections.abc import AsyncIterator, Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ....envs.core.game import Game
from ....envs.mafia.table import TARGET, VOTE
from ...policies.base import Policy
from ..common.worker import Worker
from .conversion import of_context, turn_state
from .decision import MafiaDecision, Numbers, intention, move_of
from .messages import NIGHT_ACTIONS, AgentConfig, GameState, NightAction, PrivateInfo, PublicInfo, VoteAction
from .speech import render, sentences


class BaseMafiaAgent:
    """An agent that decides by observation and mask. It thinks first, and then does what it thought.

    Args:
        id, name: of the player.
        config: what it is.
        personality: how it talks.
        seed: of its words; None for fresh entropy.
        worker: where a policy runs that may block.

    Attributes:
        at_once: whether it answers without ever waiting.
    """

    def __init__(
        self,
        id: str,
        name: str,
        config: AgentConfig,
        personality: str,
        seed: int | None = None,
        worker: Worker | None = None,
    ) -> None:
        self.id = id
        self.name = name
        self.role: str | None = None
        self.config = config
        self._personality = personality
        self._random = random.Random(seed)
        self._worker = worker
        self.at_once = worker is None
        self._private: PrivateInfo | None = None
        self._shown: tuple[Game, Numbers, NDArray[np.int8]] | None = None
        self._decision: MafiaDecision | None = None
        self._ids: list[str] = []  # of the players, when it decided last

    def policy(self, game: Game) -> tuple[Game, Policy]:
        """Return what plays at a game like this: a policy, and the game that it knows."""
        raise NotImplementedError

    def reasons(self, decision: MafiaDecision, names: Sequence[str]) -> Sequence[str]:
        """Return why, in sentences: honestly."""
        raise NotImplementedError

    def shown(self, game: Game, observation: Numbers, mask: NDArray[np.int8]) -> None:
        """Be shown by a host in this process the observation that the next context holds, to be spared the reading."""
        self._shown = game, observation, mask

    def told(self, private_info: PrivateInfo) -> None:
        """Learn what a call tells in private; statements and votes, whose calls tell none, go by it."""
        self._private = private_info.kept()
        self.role = private_info.self.role

    async def think(self, context: GameState, private_info: PrivateInfo) -> AsyncIterator[str]:
        """Decide, and tell how; see `AgentPolicy`."""
        self.told(private_info)
        if context.phase == "NIGHT_ACTIONS" and self.role not in NIGHT_ACTIONS:
            yield "I sleep."
            return
        decision = await self._decide(context)
        self._decision = decision
        names = [player.name for player in context.players]
        for sentence in await self._away(self.reasons, decision, names):
            yield sentence + " "
        yield f"So {intention(decision, names)}{', which is a lie' if decision.lies else ''}."

    async def say(self, context: GameState, public_info: PublicInfo) -> AsyncIterator[str]:
        """Say what was planned; see `AgentPolicy`."""
        decision = await self._decided(context)
        kind, target = decision.move
        if kind in (TARGET, VOTE):
            raise ValueError(f"there is nothing to say in {context.phase}")
        names = tuple(player.name for player in context.players)
        for sentence in sentences(render((kind, target), decision.seat, names, self._personality, self._random)):
            yield sentence

    async def night_action(self, context: GameState, private_info: PrivateInfo) -> NightAction | None:
        """Return the target that was thought of; see `AgentPolicy`."""
        self.told(private_info)
        if self.role not in NIGHT_ACTIONS:
            return None
        decision = await self._decided(context)
        return NightAction(NIGHT_ACTIONS[str(self.role)], context.players[decision.move.target].id)

    async def vote(self, context: GameState, public_info: PublicInfo) -> VoteAction:
        """Return the vote that was thought of; see `AgentPolicy`."""
        target = (await self._decided(context)).move.target
        return VoteAction(context.players[target].id if target >= 0 else None)

    async def _decided(self, context: GameState) -> MafiaDecision:
        """Return what was decided for this moment, which it is only once."""
        decision, self._decision = self._decision, None
        if decision is None or decision.moment != _moment(context):
            decision = await self._decide(context)
        return decision

    async def _decide(self, context: GameState) -> MafiaDecision:
        seat = next((i for i, player in enumerate(context.players) if player.id == self.id), None)
        if seat is None:
            raise ValueError(f"{self.id!r} is none of the players")
        self._ids = [player.id for player in context.players]
        shown, self._shown = self._shown, None
        if shown is None:
            shown = self._read(context)
        game, policy = self.policy(shown[0])
        observation, mask = shown[1:]
        numbers = await self._away(policy.act, observation[None], mask[None])
        number = int(np.asarray(numbers).reshape(-1)[0])
        if not 0 <= number < len(mask) or not mask[number]:
            raise ValueError(f"the policy chose action {number}, which is masked")
        return MafiaDecision(_moment(context), seat, number, move_of(game, seat, number), game, observation, mask)

    async def _away(self, function: Callable[..., Any], *args: Any) -> Any:
        """Return what a function of the policy returns, which the worker calls if there is one."""
        if self._worker is None:
            return function(*args)
        if self._worker.stuck:
            raise RuntimeError("the policy is still busy with an earlier decision")
        return await self._worker.call(function, *args)

    def _read(self, context: GameState) -> tuple[Game, Numbers, NDArray[np.int8]]:
        """Read the observation from the context and what the agent was told in private."""
        private = self._private
        if private is not None and private.game_state.game_id != context.game_id:
            private = None
        game = of_context(context)
        tables, seat = game.view.load(turn_state(self.id, context, private))
        return game, game.observation(tables[0], seat), game.mask(tables[0], seat)


def _moment(context: GameState) -> tuple[str, str, int]:
    return context.game_id, context.phase, context.round_number
