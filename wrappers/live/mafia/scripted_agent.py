"""`MafiaScriptedAgent`: a scripted player as an `AgentPolicy`, in one of four personalities."""

from collections.abc import Sequence
from typing import Any

from ....envs.core.game import Game
from ....envs.core.options import named, number
from ....envs.mafia.bots import PERSONALITIES, Scripted
from ...policies.base import Policy
from .base_agent import BaseMafiaAgent
from .conversion import of_context
from .decision import MafiaDecision
from .messages import AgentConfig, GameState


class MafiaScriptedAgent(BaseMafiaAgent):
    """A bot that plays mafia by `AgentPolicy` (see `parlour.envs.mafia.bots.Scripted`).

    Args:
        id, name: the player's id and name.
        config: its personality, the frequency of lies, and the threshold of suspicion. None: analytical.
        seed: the seed of its choices and sentences; None: fresh entropy.

    Raises:
        ValueError: for a setting that is out of its range.
    """

    def __init__(self, id: str, name: str, config: AgentConfig | None = None, *, seed: int | None = None) -> None:
        config = config or AgentConfig(type="scripted")
        settings: dict[str, Any] = {"personality": "analytical"}
        scripted = config.scripted_config
        if scripted is not None:
            if scripted.personality is not None:
                settings["personality"] = named("personality", scripted.personality, PERSONALITIES)
            if scripted.lie_frequency is not None:
                settings["lie_frequency"] = number("lieFrequency", scripted.lie_frequency, 0, 1)
            if scripted.suspicion_threshold is not None:
                settings["suspicion_threshold"] = number("suspicionThreshold", scripted.suspicion_threshold, 0, 100)
        super().__init__(id, name, config, settings["personality"], seed)
        self._seed = seed
        self._settings = settings
        self._bots: dict[int, Policy] = {}

    def player(self, context: GameState) -> tuple[Game, Policy]:
        """See `BaseMafiaAgent`."""
        game = of_context(context)
        bot = self._bots.get(game.seats)  # the observation it reads does not depend on other options
        if bot is None:
            bot = self._bots[game.seats] = Scripted(game, self._seed, **self._settings)
        return game, bot

    def reasons(self, decision: MafiaDecision, names: Sequence[str]) -> Sequence[str]:
        """Return the two players that it suspects most, which its heuristics use."""
        part = decision.game.encoders[Scripted.encoder].layout["suspicion"]
        points = decision.observations[0, part.start : part.stop].tolist()
        players, seats, seat = decision.state.game_state["players"], len(points), decision.seat
        others = [(points[r], -r) for r in range(1, seats) if players[(seat + r) % seats]["alive"]]
        suspects = [f"{names[(seat - r) % seats]} ({100 * score:.0f})" for score, r in sorted(others, reverse=True)[:2]]
        return [f"Of 100 points of suspicion I give the most to {' and '.join(suspects)}."]
