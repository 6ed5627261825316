"""TablesVectorEnv: vector tables as a Gymnasium vector environment; the caller decides for every seat."""

from typing import Any

import numpy as np
from gymnasium.vector import AutoresetMode, VectorEnv
from numpy.typing import NDArray

from ...envs.core.game import Game
from ...envs.core.record import Tables
from ...envs.core.registry import as_game
from ...envs.core.vector import VectorGame
from .same_step import SameStepVectorEnv


class TablesVectorEnv(SameStepVectorEnv, VectorEnv[Any, Any, Any]):  # skrl reads the direct bases
    """N tables of one game as a Gymnasium vector environment: one decision per table per step, of any seat.

    ``observations[i]`` is of the seat that decides next at table i (``infos["turn"][i]``), and the next action at table
    i is this seat's. So one policy plays all seats (self-play). The reward of a step is that of the seat that acted in
    it; ``infos["rewards"]`` has those of all seats. To learn in one seat against opponents, use `SingleAgentVectorEnv`.

    A finished table is reset **within the same step** (``AutoresetMode.SAME_STEP``): reward, termination and
    ``infos["final_obs"][i]`` belong to the episode that ended, ``observations[i]`` to the one that began.

    ``infos`` hold ``action_mask`` int8[N, A], ``turn`` int64[N], ``acted`` int64[N] (the seat that acted; −1 after a
    reset), ``rewards`` float32[N, seats] and ``illegal`` bool[N] (an action that is not legal is played as the game's
    safe action); where an episode ended, ``final_obs`` (of the seat that acted last), ``episode_return``
    float64[N, seats] and ``episode_length`` int64[N] (decisions of all seats). Each key has a mask ``_key`` of the
    tables for which it is valid. ``env.action_space.sample(mask=tuple(infos["action_mask"]))`` draws legal actions, and
    `VectorGame.sample` of `tables` does so faster.

    Args:
        game: the game with its options, or its name.
        num_envs: the number of tables N.
        encoder: name of the encoder of the observations; None: the game's own encoder.
        threads: the number of threads that step the tables.
        options: the game's, where it is named.

    Attributes:
        tables: the `VectorGame`.

    Raises:
        UnexpectedOption: for an unknown option. It is a TypeError and a ValueError.
        ValueError: for an unknown game, or numbers out of range.
    """

    metadata = {"render_modes": [], "autoreset_mode": AutoresetMode.SAME_STEP}  # noqa: RUF012 (Gymnasium's name)

    def __init__(
        self, game: str | Game, num_envs: int = 1, encoder: str | None = None, threads: int = 1, **options: Any
    ) -> None:
        base = as_game(game, options)
        self.tables = VectorGame(base, num_envs, encoder, threads)
        super().__init__(base, num_envs, self.tables.encoder)
        self._every = np.ones(num_envs, np.bool_)
        self._returns = np.zeros((num_envs, base.seats))  # of the current episodes
        self._lengths = np.zeros(num_envs, np.int64)

    def action_masks(self) -> NDArray[np.int8]:
        """Return the action masks of the seats that decide next: int8[N, A]."""
        masks: NDArray[np.int8] = self.tables.action_masks
        return masks.copy()

    def reset(
        self, *, seed: int | list[int | None] | None = None, options: dict[str, Any] | None = None
    ) -> tuple[NDArray[np.float32], dict[str, Any]]:
        """Begin a new episode on every table; see `VectorGame.reset`.

        Raises:
            ValueError: for a negative seed, seeds for only some of the tables, or any options; only `env` and `raw_env`
                take some, such as hold'em's cards.
        """
        self._begin(self.tables, seed, options)
        self._returns[:], self._lengths[:] = 0, 0
        none = np.zeros(self.num_envs, np.bool_)
        return self.tables.observations.copy(), self._infos(np.full(self.num_envs, -1), none)

    def step(
        self, actions: NDArray[np.int64]
    ) -> tuple[NDArray[np.float32], NDArray[Any], NDArray[Any], NDArray[Any], dict[str, Any]]:
        """Play one decision on every table. An action that is not legal is replaced by the game's safe action.

        Returns:
            observations float32[N, D], rewards float32[N], terminations bool[N], truncations bool[N], infos.

        Raises:
            ValueError: before the first reset, or if the shape or dtype is wrong.
        """
        tables = self.tables
        acted = tables.turn.copy()
        moves, illegal = tables.made_legal(actions)
        rows, ends = tables.step_with_ends(moves)
        self._returns += tables.rewards
        self._lengths += 1
        infos = self._infos(acted, illegal)
        if rows.size:
            infos |= self._final(rows, ends, acted[rows])
        gains = tables.rewards[np.arange(self.num_envs), acted]
        return tables.observations.copy(), gains, tables.dones.copy(), np.zeros_like(tables.dones), infos

    def _infos(self, acted: NDArray[np.int64], illegal: NDArray[np.bool_]) -> dict[str, Any]:
        tables = self.tables
        parts: dict[str, NDArray[Any]] = {
            "action_mask": tables.action_masks,
            "turn": tables.turn,
            "acted": acted,
            "rewards": tables.rewards,
            "illegal": illegal,
        }
        return {key: value.copy() for key, value in parts.items()} | {f"_{key}": self._every for key in parts}

    def _final(self, rows: NDArray[np.intp], ends: Tables, acted: NDArray[np.int64]) -> dict[str, Any]:
        """Return the infos of the episodes that have just ended, and begin the sums of the next ones."""
        dones = self.tables.dones.copy()
        encoder = self.tables.game.encoders[self.tables.encoder]
        final = np.full(self.num_envs, None, object)
        for row, seen in zip(rows, encoder.observations(ends, np.arange(len(rows)), seats=acted), strict=True):
            final[row] = seen
        infos = {
            "final_obs": final,
            "episode_return": np.where(dones[:, None], self._returns, 0),
            "episode_length": np.where(dones, self._lengths, 0),
        }
        self._returns[dones], self._lengths[dones] = 0, 0
        return infos | {f"_{key}": dones for key in infos}
