"""Gymnasium environments: one table or many with a learner in one seat; and tables whose seats the caller plays."""

from operator import index
from typing import Any, cast

import gymnasium
import numpy as np
from gymnasium import spaces
from gymnasium.vector import AutoresetMode, VectorEnv
from numpy.typing import NDArray

from ...envs.core.game import Game
from ...envs.core.match import Match
from ...envs.core.options import whole
from ...envs.core.registry import as_game
from ...envs.core.rollout import choose_actions
from ...envs.core.vector import VectorGame
from ...envs.core.vector import illegal as illegal_action
from ...envs.render.window import FPS, MODES, Display, warn_unshown
from .tables import (
    EPISODES_WITHOUT_DECISION,
    STILL_MODES,
    Opponents,
    OpponentSeats,
    SameStepVectorEnv,
    SingleAgentTables,
    check_view,
    masked,
    never_asked,
    show_all,
)


class SingleAgentVectorEnv(SameStepVectorEnv, VectorEnv[Any, Any, Any]):  # skrl reads the direct bases
    """N tables as a Gymnasium vector environment: the learner has one seat at each. Observations are flat.

    A finished table is reset **within the same step** (``AutoresetMode.SAME_STEP``): reward, termination and
    ``infos["final_obs"][i]`` belong to the episode that ended, ``observations[i]`` to the one that began.

    ``infos`` hold ``action_mask`` int8[N, A] and ``illegal`` bool[N]; where an episode ended, ``final_obs``,
    ``episode_return`` and ``episode_length``; where episodes without a decision were skipped, ``skipped_episodes``
    and ``skipped_return``. Each key has a mask ``_key`` of the tables for which it is valid.

    Args:
        game: the game with its options, or its name.
        num_envs: the number of tables N.
        opponents: see `Opponents`.
        seat: the learner's seat, or ``"rotate"``.
        render_mode: ``"rgb_array"``, ``"svg"``, ``"ansi"`` or None; see `render`.
        render_view: whose view `render` shows: ``"own"`` (the learner's), ``"public"`` or ``"all"`` (hidden
            information included).
        encoder: name of the encoder of the observations; None: the game's own encoder.
        options: the game's, where it is named.
    """

    metadata = {"render_modes": list(STILL_MODES), "render_fps": FPS, "autoreset_mode": AutoresetMode.SAME_STEP}  # noqa: RUF012

    def __init__(
        self,
        game: str | Game,
        num_envs: int = 1,
        opponents: Opponents = "random",
        seat: int | str = "rotate",
        render_mode: str | None = None,
        render_view: str = "own",
        encoder: str | None = None,
        **options: Any,
    ) -> None:
        game = as_game(game, options)
        check_view(game, render_view)
        self._display = Display(game, render_mode, STILL_MODES)
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
        infos = {"action_mask": seats.masks.copy(), "illegal": seats.illegal.copy()}
        infos = masked(infos, np.ones(self.num_envs, np.bool_))
        if seats.dones.any():
            seen = seats.final_observations(np.flatnonzero(seats.dones))
            infos |= self._ended(seats.dones, seen, seats.returns, seats.lengths)
        if seats.skipped.any():
            skipped = {"skipped_episodes": seats.skipped.copy(), "skipped_return": seats.skipped_returns.copy()}
            infos |= masked(skipped, seats.skipped > 0)
        return infos


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
        return np.array(self.tables.action_masks)

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
            encoder = tables.game.encoders[tables.encoder]
            seen = encoder.observations(ends, np.arange(len(rows)), seats=acted[rows])
            infos |= self._ended(tables.dones, seen, self._returns, self._lengths)
            self._returns[rows], self._lengths[rows] = 0, 0
        gains = tables.rewards[np.arange(self.num_envs), acted]
        return tables.observations.copy(), gains, tables.dones.copy(), np.zeros_like(tables.dones), infos

    def _infos(self, acted: NDArray[np.int64], illegal: NDArray[np.bool_]) -> dict[str, Any]:
        tables = self.tables
        parts: dict[str, Any] = {"action_mask": tables.action_masks, "turn": tables.turn, "rewards": tables.rewards}
        parts |= {"acted": acted, "illegal": illegal}
        return masked({key: value.copy() for key, value in parts.items()}, self._every)


_ROW = np.zeros(1, np.intp)  # the row of the only table


class SingleAgentEnv(gymnasium.Env[NDArray[np.float32], np.int64]):
    """One table as a Gymnasium environment: the learner has one seat, opponents play the others. Observations are flat.

    ``info`` holds ``action_mask`` int8[A] and ``illegal``; at the end also ``episode_return`` and ``episode_length``;
    after a reset that skipped episodes without a decision also ``skipped_episodes`` and ``skipped_return``.

    Args:
        game: the game with its options, or its name.
        opponents: see `Opponents`.
        seat: the learner's seat, or ``"rotate"``.
        render_mode: ``"human"``, ``"rgb_array"``, ``"svg"``, ``"ansi"`` or None; see `render`.
        render_view: whose view `render` shows: ``"own"`` (the learner's), ``"public"`` or ``"all"`` (hidden
            information included).
        encoder: name of the encoder of the observations; None: the game's own encoder.
        options: the game's, where it is named.

    Attributes:
        game: the game.
        match: the `Match` that holds the table.
        seat: the learner's seat.
    """

    metadata = {"render_modes": list(MODES), "render_fps": FPS}  # noqa: RUF012 (Gymnasium's name)

    def __init__(
        self,
        game: str | Game,
        opponents: Opponents = "random",
        seat: int | str = "rotate",
        render_mode: str | None = None,
        render_view: str = "own",
        encoder: str | None = None,
        **options: Any,
    ) -> None:
        game = as_game(game, options)
        check_view(game, render_view)
        fixed = None if seat == "rotate" else whole("seat", seat, 0, game.seats - 1, otherwise='"rotate"')
        self._display = Display(game, render_mode)
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
                raise never_asked(self.seat)
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
        view = self.game.agents[self.seat] if self.render_view == "own" else self.render_view
        return self._display.show(view, self.match.turn_states)

    def close(self) -> None:
        """Close the window of ``render_mode="human"``."""
        self._display.close()
