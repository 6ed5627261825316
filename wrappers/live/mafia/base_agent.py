"""The common base of bots and trained policies: agents whose decisions are action indices of our game."""

import random
from collections.abc import AsyncIterator, Callable, Sequence
from functools import cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ....envs.core.game import Game
from ....envs.core.rollout import encoder_of
from ....envs.core.turn_state import TurnState
from ....envs.mafia.rules import Choice
from ....envs.mafia.table import (
    ACCUSE,
    CLAIM_DOCTOR,
    CLAIM_MAFIA,
    CLAIM_SHERIFF,
    CLAIM_VILLAGER,
    CLEARED,
    DEFEND,
    FOUND,
    GENERAL,
    TARGET,
    VOTE,
)
from ...policies.base import Policy
from ..common.player import Worker
from .conversion import game_of, turn_state
from .limits import sentences
from .messages import NIGHT_ACTIONS, AgentConfig, GameState, NightAction, PrivateInfo, PublicInfo, VoteAction
from .speech import phrase

CLAIMED = {CLAIM_MAFIA: "mafia", CLAIM_DOCTOR: "doctor", CLAIM_SHERIFF: "sheriff", CLAIM_VILLAGER: "villager"}
"""The claimed role, by kind of statement."""


class MafiaDecision(NamedTuple):
    """A decision of an agent.

    Attributes:
        moment: match, phase and round.
        seat: the agent's seat.
        action: the action index.
        move: the move of this index.
        state: the TurnState of the decision.
        game: the game that loaded it.
        observations, masks: the policy's input, float32[1, D] and int8[1, A].
    """

    moment: tuple[str, str, int]
    seat: int
    action: int
    move: Choice
    state: TurnState
    game: Game
    observations: NDArray[np.float32]
    masks: NDArray[np.int8]

    @property
    def is_lie(self) -> bool:
        """Whether the statement contradicts what the player knows; opinions are no lies."""
        kind, target = self.move
        state = self.state.game_state
        if kind in CLAIMED:
            return bool(state["self"]["role"] != CLAIMED[kind])
        if kind in (CLEARED, FOUND):
            results = state["privateKnowledge"]["investigationResults"]
            is_mafia = {result["target"]["id"]: result["isMafia"] for result in results}
            return is_mafia.get(state["players"][target]["id"]) is not (kind == FOUND)
        if kind in (ACCUSE, DEFEND) and state["self"]["role"] == "mafia":
            return bool(state["players"][target]["role"] == "mafia") == (kind == DEFEND)
        return False

    def with_action(self, action: int) -> "MafiaDecision":
        """Return the decision for another action index."""
        return self._replace(action=action, move=move_of(self.game.seats, self.seat, action))


@cache
def move_of(seats: int, seat: int, action: int) -> Choice:
    """Return the move of an action index in a seat's turn: the same in all games with this number of seats."""
    rules = game_of(seats).rules
    table = rules.tables(1)[0]
    table.turn = seat
    move = rules.decode(table, action)
    return Choice(int(move.kind), int(move.target))


def intention(decision: MafiaDecision, names: Sequence[str]) -> str:
    """Return a decision in words such as ``"I abstain"``. `names` are the players' names, seat by seat."""
    kind, target = decision.move
    name = names[target] if target >= 0 else ""
    if kind == TARGET:
        return f"I choose {name}"
    if kind == VOTE:
        return f"I vote for {name}" if target >= 0 else "I abstain"
    if kind == DEFEND and target == decision.seat:
        return "I will defend myself"
    return f"I will {STATEMENTS[kind].format(name)}"


STATEMENTS = {
    GENERAL: "say nothing of weight",
    ACCUSE: "accuse {}",
    DEFEND: "defend {}",
    CLEARED: "claim to be the sheriff and to have found {} innocent",
    FOUND: "claim to be the sheriff and to have found {} to be mafia",
    CLAIM_SHERIFF: "claim to be the sheriff",
    CLAIM_DOCTOR: "claim to be the doctor",
    CLAIM_VILLAGER: "claim to be a villager",
    CLAIM_MAFIA: "claim to be mafia",
}
"""The statements in words; ``{}`` is the target's name."""

ROW = np.zeros(1, np.int64)
"""The row of the only table of a game that was read from a context."""


class BaseMafiaAgent:
    """An agent that loads the context into a record of our game. A policy chooses an action index.

    It decides when it thinks; the action after the thought is this decision.

    Args:
        id, name: the player's id and name.
        config: the type of the agent and its settings.
        personality: the personality of its sentences.
        seed: the seed of its sentences; None: fresh entropy.
        worker: the thread of a policy that may block; None: the policy runs in the event loop.
    """

    blocks = False

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
        self._private: PrivateInfo | None = None
        self._decision: MafiaDecision | None = None

    def player(self, context: GameState) -> tuple[Game, Policy]:
        """Return the game that loads the context, and the policy that plays it.

        Raises:
            ValueError: if there is no such game.
        """
        raise NotImplementedError

    def reasons(self, decision: MafiaDecision, names: Sequence[str]) -> Sequence[str]:
        """Return the true reasons of a decision, as sentences. `names` are the players' names, seat by seat."""
        raise NotImplementedError

    def remember(self, private_info: PrivateInfo) -> None:
        """Keep the private information of a call: the calls of statements and votes have none."""
        self._private = private_info.kept()
        self.role = private_info.self.role

    async def think(self, context: GameState, private_info: PrivateInfo) -> AsyncIterator[str]:
        """Decide, and yield the reasons; see `AgentPolicy`."""
        self.remember(private_info)
        if context.phase == "NIGHT_ACTIONS" and self.role not in NIGHT_ACTIONS:
            yield "I sleep."
            return
        decision = self._decision = await self._decide(context)
        names = [player.name for player in context.players]
        for sentence in await self._run(self.reasons, decision, names):
            yield sentence + " "
        yield f"So {intention(decision, names)}{', which is a lie' if decision.is_lie else ''}."

    async def say(self, context: GameState, public_info: PublicInfo) -> AsyncIterator[str]:
        """Yield the sentences of the decided statement; see `AgentPolicy`."""
        decision = await self._decided(context)
        kind, target = decision.move
        if kind in (TARGET, VOTE):
            raise ValueError(f"there is nothing to say in {context.phase}")
        names = tuple(player.name for player in context.players)
        for sentence in sentences(phrase((kind, target), decision.seat, names, self._personality, self._random)):
            yield sentence

    async def night_action(self, context: GameState, private_info: PrivateInfo) -> NightAction | None:
        """Return the decided target; see `AgentPolicy`."""
        self.remember(private_info)
        if self.role not in NIGHT_ACTIONS:
            return None
        decision = await self._decided(context)
        return NightAction(NIGHT_ACTIONS[str(self.role)], context.players[decision.move.target].id)

    async def vote(self, context: GameState, public_info: PublicInfo) -> VoteAction:
        """Return the decided vote; see `AgentPolicy`."""
        target = (await self._decided(context)).move.target
        return VoteAction(context.players[target].id if target >= 0 else None)

    async def _decided(self, context: GameState) -> MafiaDecision:
        """Return the decision for this moment: the one of the thought, which is used once, or a new one."""
        decision, self._decision = self._decision, None
        if decision is None or decision.moment != _moment(context):
            decision = await self._decide(context)
        return decision

    async def _decide(self, context: GameState) -> MafiaDecision:
        private = self._private
        if private is not None and private.game_state.game_id != context.game_id:
            private = None
        game, policy = self.player(context)
        state = turn_state(self.id, context, private)
        tables, seat = game.view.load(state)
        observations = game.encoders[encoder_of(policy, game)].observations(tables, ROW)
        masks = game.rules.masks(tables, ROW)
        actions = await self._run(policy.act, observations, masks)
        action = int(np.asarray(actions).reshape(-1)[0])
        if not 0 <= action < masks.size or not masks[0, action]:
            raise ValueError(f"the policy chose action {action}, which is masked")
        move = move_of(game.seats, seat, action)
        return MafiaDecision(_moment(context), seat, action, move, state, game, observations, masks)

    async def _run(self, function: Callable[..., Any], *args: Any) -> Any:
        """Call a function of the policy, in the worker if there is one, and return its result."""
        if self._worker is None:
            return function(*args)
        if self._worker.stuck:
            raise RuntimeError("the policy is still busy with an earlier decision")
        return await self._worker.call(function, *args)


def _moment(context: GameState) -> tuple[str, str, int]:
    return context.game_id, context.phase, context.round_number
