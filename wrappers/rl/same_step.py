"""SameStepVectorEnv: what the Gymnasium vector environments of tables share: spaces, seeds, the reset in the step."""

from typing import Any

import numpy as np
from gymnasium import spaces
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space
from numpy.typing import NDArray

from ...envs.core.game import Game
from ...envs.core.vector import VectorGame
from .single_agent import SingleAgentTables


class SameStepVectorEnv(VectorEnv[NDArray[np.float32], NDArray[np.int64], NDArray[Any]]):
    """N tables of a game with flat observations. A finished table is reset within the same step.

    Args:
        game: the game with its options.
        num_envs: the number of tables N.
        encoder: the name of the encoder of the observations.

    Attributes:
        autoreset_mode: ``AutoresetMode.SAME_STEP``, also in the metadata.
        np_random_seed: the seed of the last seeded `reset`: one number, or a tuple of one per table.
    """

    autoreset_mode = AutoresetMode.SAME_STEP

    def __init__(self, game: Game, num_envs: int, encoder: str) -> None:
        self.num_envs = num_envs
        self.single_observation_space = game.encoders[encoder].layout.flat_space()
        self.single_action_space = spaces.Discrete(game.num_actions)
        self.observation_space = batch_space(self.single_observation_space, num_envs)
        self.action_space = batch_space(self.single_action_space, num_envs)

    def _begin(self, tables: VectorGame | SingleAgentTables, seed: Any, options: dict[str, Any] | None) -> None:
        """Reset the tables.

        Raises:
            ValueError: for a negative seed, seeds for only some of the tables, or any options.
        """
        tables.game.capabilities.refuse_options(options)
        if np.ndim(seed):
            given = tuple(each for each in seed if each is not None)
            if given and len(given) < len(seed):
                raise ValueError(f"seed={seed}: give every table a seed, or none")
            seed = given or None
        tables.reset(seed)
        if seed is not None:
            self._np_random, self._np_random_seed = np.random.default_rng(seed), seed
