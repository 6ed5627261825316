"""`PolicyAgent`: a trained policy as an `AgentPolicy`. Its thoughts are what it computed, its words what it chose."""

import logging
from collections.abc import Sequence
from typing import Any

from ....envs.core.game import Game
from ...policy import Policy
from ..worker import Worker
from .messages import AgentConfig, Personality, ScriptedConfig
from .scripted import ScriptedAgent
from .seat import Decision, SeatAgent, intention

logger = logging.getLogger(__name__)

TOLD = 3
"""Choices that a thought names, the likeliest first."""


class PolicyAgent(SeatAgent):
    """A policy that plays mafia by `AgentPolicy`.

    In a match of another size than it was trained for, a scripted agent decides in its place.

    Args:
        id, name: of the player.
        game: mafia, as the policy was trained for it.
        policy: what decides.
        personality: how it talks.
        seed: of its words; None for fresh entropy.
        worker: where the policy runs, if it may block; None: in the event loop.
    """

    def __init__(
        self,
        id: str,
        name: str,
        game: Game,
        policy: Policy,
        *,
        personality: Personality = "analytical",
        seed: int | None = None,
        worker: Worker | None = None,
    ) -> None:
        config = AgentConfig(type="scripted", scripted_config=ScriptedConfig(personality=personality))
        super().__init__(id, name, config, personality, seed, worker)
        self._game = game
        self._policy = policy
        self._deputy = ScriptedAgent(id, name, config, seed=seed)
        self._warned = False

    def policy(self, game: Game) -> tuple[Game, Policy]:
        """See `SeatAgent`."""
        if self._fits(game):
            return self._game, self._policy
        if not self._warned:
            self._warned = True
            logger.warning(
                "%s was trained for %d players; a bot plays for it among %d", self.id, self._game.seats, game.seats
            )
        return self._deputy.policy(game)

    def reasons(self, decision: Decision, names: Sequence[str]) -> Sequence[str]:
        """Return the likeliest choices with their probabilities, and the value expected, where the policy has them."""
        if not self._fits(decision.game):
            return self._deputy.reasons(decision, names)
        told = []
        probabilities = getattr(self._policy, "probabilities", None)
        if probabilities is not None:
            chances = probabilities(decision.observation[None], decision.mask[None])[0]
            told.append(f"My likeliest choices: {likeliest(decision, chances, names)}.")
        values = getattr(self._policy, "values", None)
        expected = None if values is None else values(decision.observation[None])
        if expected is not None:
            told.append(f"I expect {float(expected[0]):+.2f}, of −1 for a loss to +1 for a win.")
        return told or ["My policy tells its choice only."]

    def _fits(self, game: Game) -> bool:
        return (game.layout.size, game.num_actions) == (self._game.layout.size, self._game.num_actions)


def likeliest(decision: Decision, chances: Any, names: Sequence[str]) -> str:
    """Return the likeliest choices with their chances, in words."""
    told = []
    for number in sorted(range(len(chances)), key=lambda number: -chances[number])[:TOLD]:
        if chances[number] >= 0.005:
            told.append(f"{intention(decision.instead(number), names)}, {100 * float(chances[number]):.0f} %")
    return "; ".join(told)
