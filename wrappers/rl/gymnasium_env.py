"""SingleAgentEnv: one table as a Gymnasium environment, with a learner in one seat; and the registry's functions."""

from operator import index
from typing import Any, cast

import gymnasium
import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

from ...envs.core.game import Game
from ...envs.core.match import Match
from ...envs.core.options import whole
from ...envs.core.registry import as_game
from ...envs.core.rollout import choose_actions
from ...envs.core.vector import illegal as illegal_action
from ...envs.render.display import Display
from ...envs.render.window import FPS, MODES
from .gymnasium_vector import SingleAgentVectorEnv
from .opponents import Opponents, OpponentSeats
from .rendering import check_view, show
from .single_agent import EPISODES_WITHOUT_DECISION

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

    Attributes:
        game: the game.
        match: the `Match` that holds the table.
        seat: the learner's seat.
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
        fixed = None if seat == "rotate" else whole("seat", seat, 0, game.seats - 1, otherwise='"rotate"')
        self._display = Display(game.renderer, game.id, render_mode)
        self.game = game
        self.match = Match(game, encoder)
        self.seat, self._rotates = fixed or 0, fixed is None
        self._opponents = OpponentSeats(game, 1, opponents)
        self._played = np.zeros(1, np.int64)
        self.render_mode = render_mode
        self.render_view = render_view
        layout = game.encoders[self.match.encoder].layout
        self.observation_space = cast(spaces.Space[NDArray[np.float32]], layout.flat_space())
        self.action_space = spaces.Discrete(game.num_actions)
        self._over: bool | None = None
        self._gain, self._result, self._length = 0.0, 0.0, 0

    def action_masks(self) -> NDArray[np.int8]:
        """Return the learner's action mask: int8[A]; all 0 after the end."""
        return np.zeros_like(self.match.mask) if self._over else self.match.mask.copy()

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[NDArray[np.float32], dict[str, Any]]:
        """Begin an episode and play up to the learner's first decision; see `SingleAgentTables.reset`.

        Raises:
            ValueError: for any options; only `env` and `raw_env` take some, such as hold'em's cards.
            RuntimeError: if the learner's seat never gets a decision.
        """
        self.game.capabilities.refuse_options(options)
        super().reset(seed=seed)
        if seed is None and self._over is None:
            seed = int(np.random.SeedSequence().generate_state(1, np.uint64)[0])
        if seed is not None:
            self._opponents.seed(*np.random.SeedSequence(seed).spawn(2))
            self.seat = 0 if self._rotates else self.seat
        elif self._over:
            self._rotate()
        self._begin(seed)
        skipped, lost = 0, 0.0
        while self.match.done:
            skipped, lost = skipped + 1, lost + self._result
            if skipped > EPISODES_WITHOUT_DECISION:
                raise RuntimeError(
                    f"seat {self.seat} had no decision in {EPISODES_WITHOUT_DECISION} episodes: is it empty?"
                )
            self._rotate()
            self._begin()
        self._over = False
        info: dict[str, Any] = {"action_mask": self.action_masks(), "illegal": False}
        if skipped:
            info |= {"skipped_episodes": skipped, "skipped_return": lost}
        if self.render_mode == "human":
            self.render()
        return self.match.observation(self.seat), info

    def step(self, action: np.int64 | int) -> tuple[NDArray[np.float32], float, bool, bool, dict[str, Any]]:
        """Play the learner's decision; see `SingleAgentTables.step`."""
        match = self.match
        if self._over is not False:
            raise gymnasium.error.ResetNeeded("no episode is running: call reset()")
        try:
            chosen = index(action)
        except TypeError:
            raise ValueError(f"action is {action!r}; an integer is needed") from None
        illegal = not (0 <= chosen < len(match.mask) and match.mask[chosen])
        self._length += 1
        self._play(int(self.game.view.safe(match.table)) if illegal else chosen)
        self._go_on()
        self._over = match.done is True
        reward, self._gain = self._gain, 0.0
        info: dict[str, Any] = {"action_mask": self.action_masks(), "illegal": illegal}
        if self._over:
            info |= {"episode_return": self._result, "episode_length": self._length}
        if self.render_mode == "human":
            self.render()
        return match.observation(self.seat), reward, self._over, False, info

    def _rotate(self) -> None:
        if self._rotates:
            self.seat = (self.seat + 1) % self.game.seats

    def _begin(self, seed: int | None = None) -> None:
        """Begin an episode and play up to the learner's first decision, or to the end if it has none."""
        self.match.reset(seed)
        self._gain, self._result, self._length = 0.0, 0.0, 0
        self._opponents.draw(_ROW, self.match.tables, np.array([self.seat]))
        self._go_on()

    def _go_on(self) -> None:
        """Play the opponents until it is the learner's turn or the episode is over."""
        match = self.match
        while not match.done and match.turn != self.seat:
            choose_actions(
                self.game, self._opponents.policies, self._opponents.who[:, match.turn], tables=match.tables,
                rows=_ROW, observations=match.observed[None], masks=match.mask[None], encoder=match.encoder,
                actions=self._played,
            )  # fmt: skip
            action = int(self._played[0])
            if not (0 <= action < len(match.mask) and match.mask[action]):
                raise ValueError(f"an opponent played an illegal action: {illegal_action(action, 0, match.mask)}")
            self._play(action)

    def _play(self, action: int) -> None:
        self.match.play(action, silent=True)
        if self.match.rewarded:  # in the numbers of `VectorGame.rewards`
            gain = float(np.float32(self.match.rewards[self.seat]) / np.float32(self.game.payoffs.unit))
            self._gain += gain
            self._result += gain

    def render(self) -> NDArray[np.uint8] | str | None:
        """Draw the table as `render_view` sees it: uint8[480, 640, 3], SVG or text, by `render_mode`; else None.

        After the end it shows the final table. The opponents' moves between two decisions are not drawn one by one.
        ``"human"`` draws after every reset and step without a call.
        """
        return show(self._display, self.game, self.match.table, self.seat, self.render_view)

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
