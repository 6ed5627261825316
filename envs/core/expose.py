"""The three functions of a PettingZoo version module, made from a game's options."""

from collections.abc import Callable
from typing import Any

from pettingzoo import AECEnv

from .aec import GameEnv, wrapped
from .game import Game
from .options import with_options
from .vector import VectorGame

Makers = tuple[Callable[..., AECEnv[str, Any, Any]], Callable[..., GameEnv], Callable[..., VectorGame]]


def expose(game: Callable[..., Game]) -> Makers:
    """Return ``env``, ``raw_env`` and ``vector_env`` of the game that `game` makes from keyword options."""

    def raw_env(
        *,
        observation: str = "dict",
        action: str = "discrete",
        render_mode: str | None = None,
        render_view: str | None = None,
        **options: Any,
    ) -> GameEnv:
        """Return one table (see `GameEnv`) without wrappers: an illegal action raises ValueError."""
        return GameEnv(with_options(game, options), observation, action, render_mode, render_view)

    def env(
        *,
        observation: str = "dict",
        action: str = "discrete",
        render_mode: str | None = None,
        render_view: str | None = None,
        **options: Any,
    ) -> AECEnv[str, Any, Any]:
        """Return one table with PettingZoo's standard wrappers: an illegal action ends the episode, one unit lost."""
        raw = raw_env(
            observation=observation, action=action, render_mode=render_mode, render_view=render_view, **options
        )
        return wrapped(raw, illegal_reward=-raw.game.unit)

    def vector_env(num_envs: int, **options: Any) -> VectorGame:
        """Return `num_envs` tables stepped together (see `VectorGame`)."""
        return VectorGame(with_options(game, options), num_envs)

    return env, raw_env, vector_env
