"""SB3VecEnv: N tables as a Stable-Baselines3 VecEnv, with action masks for MaskablePPO."""

import time
from collections.abc import Iterable, Sequence
from typing import Any, cast

import numpy as np
import torch
from gymnasium import spaces
from numpy.typing import NDArray
from stable_baselines3.common.torch_layers import BaseFeaturesExtractor
from stable_baselines3.common.vec_env import VecEnv

from ...envs.core.game import Game
from ...envs.core.registry import as_game
from ...envs.render.window import FPS, Display
from .tables import Opponents, SingleAgentTables, check_view, show_all

Indices = int | Iterable[int] | None  # an int of NumPy too


class SB3VecEnv(VecEnv):
    """`SingleAgentTables` as a Stable-Baselines3 VecEnv: flat observations, Discrete actions, one step for all tables.

    MaskablePPO finds the masks by ``env_method("action_masks")``. Algorithms without masks work too: a masked action is
    played as the game's safe action. Where an episode ended, ``infos[i]`` has ``terminal_observation`` float32[D],
    ``TimeLimit.truncated`` and, as Monitor does, ``episode`` with its return ``r`` (in `Payoffs.unit`, unscaled),
    length ``l`` and time ``t``. Elsewhere it is a new empty dict.

    Args:
        seats: the tables.
        reward_scale: the rewards are multiplied by it.
        render_mode: ``"rgb_array"`` (all tables in one picture, as VecVideoRecorder takes it) or None.
        render_view: as that of `SingleAgentVectorEnv`.

    Raises:
        ValueError: for an unknown mode or view.
    """

    def __init__(
        self,
        seats: SingleAgentTables,
        reward_scale: float = 1.0,
        render_mode: str | None = None,
        render_view: str = "own",
    ) -> None:
        check_view(seats.game, render_view)
        self._display = Display(seats.game, render_mode, ("rgb_array",))
        self.seats = seats
        self.reward_scale = reward_scale
        self.render_mode = render_mode
        self.render_view = render_view
        self._actions = np.zeros(seats.num_envs, np.int64)
        self._started = time.time()
        super().__init__(seats.num_envs, seats.layout.flat_space(), spaces.Discrete(seats.game.num_actions))
        metadata: dict[str, Any] = {"render_modes": ["rgb_array"], "render_fps": FPS}
        self.metadata = metadata

    def action_masks(self) -> NDArray[np.bool_]:
        """Return the learner's action masks: bool[N, A]."""
        return self.seats.masks.astype(np.bool_)

    def set_options(self, options: list[dict[str, Any]] | dict[str, Any] | None = None) -> None:
        """Take no options for the next reset.

        Raises:
            ValueError: for any options; only `env` and `raw_env` take some, such as hold'em's cards.
        """
        for each in options if isinstance(options, list) and len(options) == self.num_envs else [options]:
            self.seats.game.capabilities.refuse_options(each)  # type: ignore[arg-type]

    def reset(self) -> NDArray[np.float32]:
        """Begin a new episode on every table, with the seed given to `seed`; return observations float32[N, D]."""
        seeds = [seed for seed in self._seeds if seed is not None]
        self.seats.reset(seeds if len(seeds) == self.num_envs else None)
        self._reset_seeds()
        return self.seats.observations.copy()

    def step_async(self, actions: NDArray[np.int64]) -> None:
        """Take the actions of the next step: int[N]."""
        self._actions = actions

    def step_wait(self) -> tuple[NDArray[np.float32], NDArray[np.float32], NDArray[np.bool_], list[dict[str, Any]]]:
        """Play them; return observations float32[N, D], rewards float32[N], dones bool[N] and infos."""
        seats = self.seats
        seats.step(self._actions)
        infos: list[dict[str, Any]] = [{} for _ in range(self.num_envs)]
        rows = seats.dones.nonzero()[0]
        if rows.size:
            elapsed = round(time.time() - self._started, 6)
            ends = (array[rows].tolist() for array in (seats.returns, seats.lengths))
            each = zip(rows.tolist(), *ends, seats.final_observations(rows), strict=True)
            for table, total, length, seen in each:
                episode = {"r": total, "l": length, "t": elapsed}
                infos[table] = {"episode": episode, "TimeLimit.truncated": False, "terminal_observation": seen}
        rewards = (seats.rewards * self.reward_scale).astype(np.float32)
        return seats.observations.copy(), rewards, seats.dones.copy(), infos

    def get_images(self) -> Sequence[NDArray[np.uint8] | None]:
        """Return every table as `render_view` sees it, uint8[480, 640, 3]: what `render` puts into one picture."""
        return cast(tuple[NDArray[np.uint8], ...], show_all(self._display, self.seats, self.render_view))

    def close(self) -> None:
        """Nothing to close."""

    # The tables are not separate environments: attributes and methods are those of this object.

    def get_attr(self, attr_name: str, indices: Indices = None) -> list[Any]:
        """Return an attribute once per index."""
        return [getattr(self, attr_name)] * len(self._chosen(indices))

    def set_attr(self, attr_name: str, value: Any, indices: Indices = None) -> None:
        """Set an attribute of all tables.

        Raises:
            ValueError: if `indices` leaves a table out.
        """
        if len(set(self._chosen(indices))) < self.num_envs:
            raise ValueError(f"indices={indices!r}: {attr_name} is one for all tables; leave the indices out")
        setattr(self, attr_name, value)

    def env_method(self, method_name: str, *method_args: Any, indices: Indices = None, **method_kwargs: Any) -> Any:
        """Call a method of all tables. Return its rows of `indices` if it returns an array of N, else repeat it."""
        result = getattr(self, method_name)(*method_args, **method_kwargs)
        if isinstance(result, np.ndarray) and len(result) == self.num_envs:
            return result if indices is None else result[self._chosen(indices)]
        return [result] * len(self._chosen(indices))

    def env_is_wrapped(self, wrapper_class: Any, indices: Indices = None) -> list[bool]:
        """Return False for each: no table is wrapped."""
        return [False] * len(self._chosen(indices))

    def _chosen(self, indices: Indices) -> list[int]:
        every = range(self.num_envs)
        if indices is None:
            return [*every]
        return [every[index] for index in (indices if isinstance(indices, Iterable) else [indices])]


class ColumnSelector(BaseFeaturesExtractor):
    """A features extractor that selects columns of the observation.

    Args:
        observation_space: the space of the whole observation.
        columns: the indices of the columns, in order.
    """

    _index: torch.Tensor

    def __init__(self, observation_space: spaces.Box, columns: Sequence[int]) -> None:
        super().__init__(observation_space, len(columns))
        self.columns = [int(column) for column in columns]
        self.register_buffer("_index", torch.as_tensor(self.columns), persistent=False)

    def forward(self, observations: torch.Tensor) -> torch.Tensor:
        """Return float32[N, len(columns)] of float32[N, D]."""
        return observations[:, self._index]


def sb3_env(
    game: str | Game,
    *,
    n_envs: int = 256,
    opponents: Opponents = "random",
    seat: int | str = "rotate",
    random_start_steps: tuple[int, int] = (0, 0),
    reward_scale: float = 1.0,
    render_mode: str | None = None,
    render_view: str = "own",
    encoder: str | None = None,
    **options: Any,
) -> SB3VecEnv:
    """Return `n_envs` tables of a game as a Stable-Baselines3 VecEnv with masks.

    Args:
        game: its name (``"holdem"``), or the game itself.
        n_envs: the number of tables.
        opponents: see `Opponents`.
        seat: the learner's seat, or ``"rotate"``.
        random_start_steps: least and most random decisions when an episode begins (see `SingleAgentTables`).
        reward_scale: the rewards (in `Payoffs.unit`) are multiplied by it.
        render_mode, render_view: see `SB3VecEnv`.
        encoder: name of the encoder of the observations; None: the game's own encoder.
        options: the game's options.
    """
    seats = SingleAgentTables(as_game(game, options), n_envs, opponents, seat, random_start_steps, encoder)
    return SB3VecEnv(seats, reward_scale, render_mode, render_view)
