"""PolicyAgent: a policy as an agent, which answers TurnStates."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...envs.core.game import Game
from ...envs.core.rollout import encoder_of
from ...envs.core.turn_state import AgentResponse, TurnState
from ..policies.base import Policy
from .base import sentence


class PolicyAgent:
    """A policy as an agent: TurnState → record → observation → action index → documented payload.

    Args:
        game: the game the policy was trained for. A live table may have more seats or fewer (see the game's `load`).
        policy: what plays, with the observations of its own encoder.

    Raises:
        ValueError: if the game does not have the policy's encoder, or it shows hidden information.
    """

    def __init__(self, game: Game, policy: Policy) -> None:
        self.game = game
        self.policy = policy
        self._encoder = game.encoders[encoder_of(policy, game)]
        self._seen: tuple[Any, NDArray[np.float32], NDArray[np.int8]] | None = None

    def respond(self, state: TurnState) -> AgentResponse:
        """Answer a turn.

        Raises:
            ValueError: if `state` is another game's, nothing is open to its seat, or the policy chose an action
                that its mask forbids.
            KeyError, TypeError: if `state` lacks a field.
        """
        name, _, _ = state.game_id.partition("-")
        if name != self.game.name:
            raise ValueError(f"a policy for {self.game.id} cannot play {state.game_id!r}")
        tables, seat = self.game.view.load(state)
        mask = self.game.mask(tables[0], seat)
        if not mask.any():
            raise ValueError(f"nothing is open to {state.agent_id}: it is not its turn")
        observation = self._encoder.observation(tables[0], seat)
        self._seen = tables[0], observation[None], mask[None]
        act_on = getattr(self.policy, "act_on", None)
        row = np.zeros(1, np.int64)
        chosen = (
            self.policy.act(observation[None], mask[None])
            if act_on is None
            else act_on(tables, row, observation[None], mask[None])
        )
        action = int(np.asarray(chosen).reshape(-1)[0])
        if not 0 <= action < len(mask) or not mask[action]:
            raise ValueError(
                f"the policy chose action {action}, which is masked; open are {np.flatnonzero(mask).tolist()}"
            )
        return self.game.view.encode(tables[0], action)

    def thoughts(self) -> dict[str, Any]:
        """Return how likely each answer to the latest turn was, and what the policy expected; as far as it can tell."""
        told: dict[str, Any] = {}
        if self._seen is None or not hasattr(self.policy, "probabilities"):
            return told
        table, observations, masks = self._seen
        chances = self.policy.probabilities(observations, masks)[0]
        told["probabilities"] = {
            _answer(self.game.view.encode(table, action)): round(float(chances[action]), 4)
            for action in np.flatnonzero(chances >= LEAST_LIKELY).tolist()
        }
        values = self.policy.values(observations) if hasattr(self.policy, "values") else None
        if values is not None:
            told["value"] = round(float(values[0]), 4)
        return told

    def warm_up(self) -> None:
        """Answer two made-up turns, so that nothing is left to be compiled or loaded when a clock runs.

        Raises:
            ValueError: as `respond` does; whatever else the policy raises.
        """
        table = self.game.tables(1)[0]
        self.game.rules.reset(table)
        for _ in range(2):  # the second one on a table where something has happened
            if not table.done:
                answer = self.respond(self.game.turn_state(table, int(table.turn)))
                self.game.rules.step(table, self.game.view.parse(table, answer.action))


LEAST_LIKELY = 0.0005
"""Answers less likely than this are not told in `thoughts`."""


def _answer(response: AgentResponse) -> str:
    """Return an answer on one line; where all it does is to say something, what it says."""
    said = " ".join(message.content for message in response.messages)
    return f"say: {said}" if said and response.action.action_type == "message_only" else sentence(response.action)
