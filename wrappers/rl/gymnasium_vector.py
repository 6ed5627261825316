"""SingleAgentVectorEnv: many tables as a Gymnasium vector environment, with a learner in one seat of each."""

from typing import Any

import numpy as np
from gymnasium.vector import AutoresetMode, VectorEnv
from numpy.typing import NDArray

from ...envs.core.game import Game
from ...envs.render.display import Display
from ...envs.render.window import FPS, warn_unshown
from .opponents import Opponents
from .rendering import STILL_MODES, check_view, show_all
from .same_step import SameStepVectorEnv
from .single_agent import SingleAgentTables


class SingleAgentVectorEnv(SameStepVectorEnv, VectorEnv[Any, Any, Any]):  # skrl reads the direct bases
    """N tables as a Gymnasium vector environment: the learner has one seat at each. Observations are flat.

    A finished table is reset **within the same step** (``AutoresetMode.SAME_STEP``): reward, termination and
    ``infos["final_obs"][i]`` belong to the episode that ended, ``observations[i]`` to the one that began.

    ``infos`` hold ``action_mask`` int8[N, A] and ``illegal`` bool[N]; where an episode ended, ``final_obs``,
    ``episode_return`` and ``episode_length``; where episodes without a decision were skipped, ``skipped_episodes``
    and ``skipped_return``. Each key has a mask ``_key`` of the tables for which it is valid.

    Args:
        game: the game with its options.
        num_envs: the number of tables N.
        opponents: see `Opponents`.
        seat: the learner's seat, or ``"rotate"``.
        render_mode: ``"rgb_array"``, ``"svg"``, ``"ansi"`` or None; see `render`.
        render_view: whose view `render` shows: ``"own"`` (the learner's), ``"public"`` or ``"all"`` (hidden
            information included).
        encoder: name of the encoder of the observations; None: the game's own encoder.
    """

    metadata = {  # noqa: RUF012 (Gymnasium's name)
        "render_modes": list(STILL_MODES),
        "render_fps": FPS,
        "autoreset_mode": AutoresetMode.SAME_STEP,
    }

    def __init__(
        self,
        game: Game,
        num_envs: int = 1,
        opponents: Opponents = "random",
        seat: int | str = "rotate",
        render_mode: str | None = None,
        render_view: str = "own",
        encoder: str | None = None,
    ) -> None:
        check_view(game, render_view)
        self._display = Display(game.renderer, game.id, render_mode, STILL_MODES)
        self.seats = SingleAgentTables(game, num_envs, opponents, seat, encoder=encoder)
        super().__init__(game, num_envs, self.seats.tables.encoder)
        self.render_mode = render_mode
        self.render_view = render_view

    def action_masks(self) -> NDArray[np.int8]:
        """Return the learner's action masks: int8[N, A]."""
        return self.seats.masks.copy()

    def reset(
        self, *, seed: int | list[int | None] | None = None, options: dict[str, Any] | None = None
    ) -> tuple[NDArray[np.float32], dict[str, Any]]:
        """Begin a new episode on every table; see `SingleAgentTables.reset`.

        Raises:
            ValueError: for a negative seed, seeds for only some of the tables, or any options; only `env` and `raw_env`
                take some.
        """
        self._begin(self.seats, seed, options)
        return self.seats.observations.copy(), self._infos()

    def step(
        self, actions: NDArray[np.int64]
    ) -> tuple[NDArray[np.float32], NDArray[Any], NDArray[Any], NDArray[Any], dict[str, Any]]:
        """Play the learner's decision on every table; see `SingleAgentTables.step`."""
        seats = self.seats
        seats.step(actions)
        ended, limited = seats.dones.copy(), np.zeros_like(seats.dones)
        return seats.observations.copy(), seats.rewards.copy(), ended, limited, self._infos()

    def render(self) -> tuple[NDArray[np.uint8] | str, ...] | None:
        """Return every table as `render_view` sees it: uint8[480, 640, 3], SVG or text, by `render_mode`; else None.

        Where an episode has just ended, the next episode is shown.
        """
        if self.render_mode is None:
            warn_unshown()
            return None
        return show_all(self._display, self.seats, self.render_view)

    def _infos(self) -> dict[str, Any]:
        seats = self.seats
        every = np.ones(self.num_envs, np.bool_)
        infos: dict[str, Any] = {"action_mask": seats.masks.copy(), "illegal": seats.illegal.copy()}
        infos |= {"_action_mask": every, "_illegal": every}
        if seats.dones.any():
            final = np.full(self.num_envs, None, object)
            rows = np.flatnonzero(seats.dones)
            for row, seen in zip(rows, seats.final_observations(rows), strict=True):
                final[row] = seen
            infos |= {"final_obs": final, "_final_obs": seats.dones.copy()}
            infos |= {"episode_return": np.where(seats.dones, seats.returns, 0), "_episode_return": seats.dones.copy()}
            infos |= {"episode_length": np.where(seats.dones, seats.lengths, 0), "_episode_length": seats.dones.copy()}
        if seats.skipped.any():
            infos |= {"skipped_episodes": seats.skipped.copy(), "_skipped_episodes": seats.skipped > 0}
            infos |= {"skipped_return": seats.skipped_returns.copy(), "_skipped_return": seats.skipped > 0}
        return infos
