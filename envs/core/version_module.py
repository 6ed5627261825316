"""PettingZoo's version modules, such as ``parlour.envs.holdem_v0``. `register` makes one for every game."""

from collections.abc import Callable
from types import ModuleType
from typing import Any

from pettingzoo import ParallelEnv

from .aec import GameEnv, TurnBasedParallel
from .game import Game
from .vector import VectorGame


class VersionModule(ModuleType):
    """A module with `env`, `raw_env`, `parallel_env` and `vector_env` for one version of a game.

    Args:
        name: the module's name, such as ``"parlour.envs.holdem_v0"``.
        make: the function from options to `Game`.
    """

    def __init__(self, name: str, make: Callable[..., Game]) -> None:
        super().__init__(
            name, f"PettingZoo's version module of {name.rpartition('.')[2]}: env, raw_env, parallel_env, vector_env."
        )
        self.game = make

    def raw_env(
        self,
        *,
        observation: str = "dict",
        action: str = "discrete",
        render_mode: str | None = None,
        render_view: str | None = None,
        encoder: str | None = None,
        **options: Any,
    ) -> GameEnv:
        """Return one table (see `GameEnv`) without wrappers: an illegal action raises ValueError."""
        return GameEnv(self.game(**options), observation, action, render_mode, render_view, encoder)

    def env(
        self,
        *,
        observation: str = "dict",
        action: str = "discrete",
        render_mode: str | None = None,
        render_view: str | None = None,
        encoder: str | None = None,
        **options: Any,
    ) -> GameEnv:
        """Return one table (see `GameEnv`): as with PettingZoo's standard wrappers, an illegal action ends the episode
        and costs one unit (`Payoffs.unit`)."""
        game = self.game(**options)
        return GameEnv(game, observation, action, render_mode, render_view, encoder, -game.payoffs.unit)

    def parallel_env(self, **options: Any) -> ParallelEnv[str, Any, Any]:
        """Return the table of `env` as a PettingZoo `ParallelEnv`, by PettingZoo's turn-based conversion.

        Every agent observes every step. The action mask of an agent is all 0 unless it is its turn, and only the action
        of the agent whose turn it is is played; see `TurnBasedParallel`.

        Args:
            options: those of `env`.
        """
        return TurnBasedParallel(self.env(**options))

    def vector_env(
        self, num_envs: int, *, encoder: str | None = None, threads: int = 1, device: str = "cpu", **options: Any
    ) -> VectorGame:
        """Return `num_envs` tables stepped together (see `VectorGame`)."""
        return VectorGame(self.game(**options), num_envs, encoder, threads, device=device)
