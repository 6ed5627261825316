"""`ScriptedAgent`: the heuristics of mafia-notes.md as an `AgentPolicy`, in one of four personalities."""

from collections.abc import Sequence

from ....envs.core.game import Game
from ....envs.mafia.bots import BOTS
from ...policy import Policy
from .messages import AgentConfig
from .seat import Decision, SeatAgent

PERSONALITIES = ("aggressive", "cautious", "analytical", "social")


class ScriptedAgent(SeatAgent):
    """A bot that plays mafia by `AgentPolicy`.

    Args:
        id, name: of the player.
        config: its personality and the personality's parameters; None: analytical.
        seed: of its choices and words; None for fresh entropy.

    Raises:
        ValueError: for a parameter that is out of its range.
    """

    def __init__(self, id: str, name: str, config: AgentConfig | None = None, *, seed: int | None = None) -> None:
        config = config or AgentConfig(type="scripted")
        scripted = config.scripted_config
        personality = (scripted and scripted.personality) or "analytical"
        super().__init__(id, name, config, personality, seed)
        self._seed = seed
        self._bots: dict[int, Policy] = {}

    def policy(self, game: Game) -> tuple[Game, Policy]:
        """See `SeatAgent`."""
        bot = self._bots.get(game.seats)
        if bot is None:
            bot = self._bots[game.seats] = BOTS["random"](game, self._seed)
        return game, bot

    def reasons(self, decision: Decision, names: Sequence[str]) -> Sequence[str]:
        """Return whom it suspects most: what its heuristics go by."""
        suspicion = decision.game.layout["suspicion"]
        points = decision.observation[suspicion.start : suspicion.stop]
        alive = decision.game.layout["game_state.players.alive"]
        living = decision.observation[alive.start : alive.stop]
        order = sorted((r for r in range(1, len(points)) if living[r]), key=lambda r: -points[r])[:2]
        seats = len(names)
        told = [f"{names[(decision.seat + r) % seats]} ({round(100 * float(points[r]))})" for r in order]
        return [f"Of 100 points of suspicion I give the most to {' and '.join(told)}."]
