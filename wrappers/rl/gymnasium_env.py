"""SingleAgentEnv: one table as a Gymnasium environment, with a learner in one seat; and the registry's functions."""

from typing import Any, cast

import gymnasium
import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

from ...envs.core.game import Game
from ...envs.core.registry import as_game
from ...envs.render.display import Display
from ...envs.render.window import FPS, MODES
from .gymnasium_vector import SingleAgentVectorEnv
from .opponents import Opponents
from .rendering import check_view, show
from .single_agent import SingleAgentTables

_ROW = np.zeros(1, np.intp)  # the row of the only table


class SingleAgentEnv(gymnasium.Env[NDArray[np.float32], np.int64]):
    """One table as a Gymnasium environment: the learner has one seat, opponents play the others. Observations are flat.

    ``info`` holds ``action_mask`` int8[A] and ``illegal``; at the end also ``episode_return`` and ``episode_length``;
    after a reset that skipped episodes without a decision also ``skipped_episodes`` and ``skipped_return``.

    Args:
        game: the game with its options.
        opponents: see `Opponents`.
        seat: the learner's seat, or ``"rotate"``.
        render_mode: ``"human"``, ``"rgb_array"``, ``"svg"``, ``"ansi"`` or None; see `render`.
        render_view: whose view `render` shows: ``"own"`` (the learner's), ``"public"`` or ``"all"`` (hidden
            information included).
        encoder: name of the encoder of the observations; None: the game's own encoder.
    """

    metadata = {"render_modes": list(MODES), "render_fps": FPS}  # noqa: RUF012 (Gymnasium's name)

    def __init__(
        self,
        game: Game,
        opponents: Opponents = "random",
        seat: int | str = "rotate",
        render_mode: str | None = None,
        render_view: str = "own",
        encoder: str | None = None,
    ) -> None:
        check_view(game, render_view)
        self._display = Display(game.renderer, game.id, render_mode)
        self.seats = SingleAgentTables(game, 1, opponents, seat, encoder=encoder)
        self.render_mode = render_mode
        self.render_view = render_view
        self.observation_space = cast(spaces.Space[NDArray[np.float32]], self.seats.layout.flat_space())
        self.action_space = spaces.Discrete(game.num_actions)
        self._over = False

    def action_masks(self) -> NDArray[np.int8]:
        """Return the learner's action mask: int8[A]; all 0 after the end."""
        return np.zeros_like(self.seats.masks[0]) if self._over else self.seats.masks[0].copy()

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[NDArray[np.float32], dict[str, Any]]:
        """Begin an episode and play up to the learner's first decision; see `SingleAgentTables.reset`.

        Raises:
            ValueError: for any options; only `env` and `raw_env` take some, such as hold'em's cards.
        """
        self.seats.game.capabilities.refuse_options(options)
        super().reset(seed=seed)
        if seed is not None or not self._over:  # after an end, the next episode has already begun
            self.seats.reset(seed)
        self._over = False
        info: dict[str, Any] = {"action_mask": self.action_masks(), "illegal": False}
        if self.seats.skipped[0]:
            info |= {"skipped_episodes": int(self.seats.skipped[0])}
            info |= {"skipped_return": float(self.seats.skipped_returns[0])}
        if self.render_mode == "human":
            self.render()
        return self.seats.observations[0].copy(), info

    def step(self, action: np.int64 | int) -> tuple[NDArray[np.float32], float, bool, bool, dict[str, Any]]:
        """Play the learner's decision; see `SingleAgentTables.step`."""
        if self._over:
            raise gymnasium.error.ResetNeeded("the episode is over: call reset()")
        seats = self.seats
        seats.step(np.array([action]))
        self._over = bool(seats.dones[0])
        observation = (seats.final_observations(_ROW) if self._over else seats.observations.copy())[0]
        info: dict[str, Any] = {"action_mask": self.action_masks(), "illegal": bool(seats.illegal[0])}
        if self._over:
            info |= {"episode_return": float(seats.returns[0]), "episode_length": int(seats.lengths[0])}
        if self.render_mode == "human":
            self.render()
        return observation, float(seats.rewards[0]), self._over, False, info

    def render(self) -> NDArray[np.uint8] | str | None:
        """Draw the table as `render_view` sees it: uint8[480, 640, 3], SVG or text, by `render_mode`; else None.

        After the end it shows the final table. The opponents' moves between two decisions are not drawn one by one.
        ``"human"`` draws after every reset and step without a call.
        """
        seats = self.seats
        tables, seat = (
            (seats.final_tables(_ROW), seats.final_seats) if self._over else (seats.tables.tables, seats.seat)
        )
        return show(self._display, seats.game, tables[0], int(seat[0]), self.render_view)

    def close(self) -> None:
        """Close the window of ``render_mode="human"``."""
        self._display.close()


def make_single_agent_env(
    *,
    game: str | Game,
    opponents: Opponents = "random",
    seat: int | str = "rotate",
    render_mode: str | None = None,
    render_view: str = "own",
    encoder: str | None = None,
    **options: Any,
) -> SingleAgentEnv:
    """Return a `SingleAgentEnv` by the game's name; ``gymnasium.make("parlour/Holdem-v0", seats=2)`` calls this."""
    return SingleAgentEnv(as_game(game, options), opponents, seat, render_mode, render_view, encoder)


# Gymnasium reads the modes here before it makes an environment, for its list modes such as ``"rgb_array_list"``.
make_single_agent_env.metadata = SingleAgentEnv.metadata  # type: ignore[attr-defined]


def make_single_agent_vector_env(
    *,
    game: str | Game,
    num_envs: int = 1,
    opponents: Opponents = "random",
    seat: int | str = "rotate",
    render_mode: str | None = None,
    render_view: str = "own",
    encoder: str | None = None,
    **options: Any,
) -> SingleAgentVectorEnv:
    """Return a `SingleAgentVectorEnv` by the game's name; ``gymnasium.make_vec("parlour/Holdem-v0")`` calls this."""
    return SingleAgentVectorEnv(as_game(game, options), num_envs, opponents, seat, render_mode, render_view, encoder)
