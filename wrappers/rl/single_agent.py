"""Single-agent tables: N tables, each with one seat of the learner; opponents play the other seats.

Three rules hold here and in the environments that use it (Gymnasium, Stable-Baselines3):

- **Rewards** are the sum of the seat's rewards since the learner's previous decision in the episode, in `Payoffs.unit`
  (hold'em: big blinds), also those of other seats' actions. The reward of the first decision includes all rewards
  before it. So the rewards of an episode sum to the seat's return.
- **An episode without a decision of the learner** (such as: all fold to its big blind) is played and counted in
  `SingleAgentTables.episodes`, `SingleAgentTables.winnings` and the infos, and the next one begins. Its reward is not a
  part of any step.
- **A masked action** is replaced by the game's safe action (hold'em: check, else fold), for learners without masks.
"""

from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np
from gymnasium import spaces
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space
from numpy.typing import ArrayLike, NDArray

from ...envs.core.checks import require_choice
from ...envs.core.game import Game
from ...envs.core.options import whole
from ...envs.core.record import as_bytes
from ...envs.core.turn_state import TurnState
from ...envs.core.vector import NO_ACTION, VectorGame
from ...envs.render.window import MODES, Display
from .opponents import Opponents, OpponentTables

EPISODES_WITHOUT_DECISION = 1_000
"""The most episodes in a row without a decision of the learner at one table; more are an error."""


class SingleAgentTables(OpponentTables):
    """N tables with one seat of the learner each; opponents play until it is the learner's turn at every table.

    `SingleAgentEnv`, `SingleAgentVectorEnv` and `SB3VecEnv` use this class. A finished table begins its next episode in
    the same step. Every `reset` and `step` writes the arrays in place; copy an array to keep its values.

    Args:
        game: the game with its options.
        num_envs: the number of tables N.
        opponents: see `Opponents`. Opponents given by name are made again by every seeded reset; policies given as
            objects keep their random streams.
        seat: the learner's seat, or ``"rotate"``: the next seat in every episode (table i begins with seat i).
        random_start_steps: the least and the most random decisions, of all seats, at the beginning of an episode; the
            number is drawn uniformly. So the learner also visits states that good play avoids (exploring starts).
        encoder: name of the encoder of the observations; None: the game's own encoder.

    Attributes:
        layout: the layout of the observations.
        observations: float32[N, D], the learner's observations.
        masks: int8[N, A], the learner's action masks.
        rewards: float64[N], of the last step.
        dones: bool[N], whether the episode of the last step has ended.
        returns: float64[N] and `lengths`: int64[N], the return and the number of the learner's decisions of that
            episode, where `dones`.
        skipped: int64[N], episodes without a decision in the last step; `skipped_returns`: float64[N], their returns.
        illegal: bool[N], whether the action of the last step was masked.
        seat: int64[N], the learner's seat; `final_seats`: that of its episode that ended last.
        random_start_steps: may be changed; it applies to episodes that begin later.
        policies: the current opponents. One may be replaced between steps; the new one then plays its seats.
        episodes: number of finished episodes since the seeded reset, those without a decision included.
        winnings: the sum of their returns.

    Raises:
        ValueError: for a seat that the game does not have, or opponents that do not fit.
    """

    def __init__(
        self,
        game: Game,
        num_envs: int,
        opponents: Opponents = "random",
        seat: int | str = "rotate",
        random_start_steps: tuple[int, int] = (0, 0),
        encoder: str | None = None,
    ) -> None:
        fixed = None if seat == "rotate" else whole("seat", seat, 0, game.seats - 1, otherwise='"rotate"')
        super().__init__(game, num_envs, opponents, random_start_steps, encoder)
        self.layout = game.encoders[self.tables.encoder].layout
        self.observations, self.masks = self.tables.observations, self.tables.action_masks
        self._rotates = fixed is None
        self.seat = self._rows % game.seats if fixed is None else np.full(num_envs, fixed)
        self._seeded = False

        self.rewards, self.returns, self.skipped_returns = (np.zeros(num_envs) for _ in range(3))
        self.dones, self.illegal = (np.zeros(num_envs, np.bool_) for _ in range(2))
        self.lengths, self.skipped = (np.zeros(num_envs, np.int64) for _ in range(2))
        self._result = np.zeros(num_envs)  # of the current episode
        self._decisions = np.zeros(num_envs, np.int64)  # of the learner in it
        self._early = np.zeros(num_envs)  # its rewards before the learner's first decision
        self._ends = game.tables(num_envs)  # the records at the end of the learner's episode that ended last
        self.final_seats = np.zeros(num_envs, np.int64)

    def reset(self, seed: int | Sequence[int] | None = None) -> None:
        """Begin a new episode on every table and play up to the learner's first decision.

        Args:
            seed: seed of all random numbers: one number, or one per table. None continues the streams; a first reset
                then takes entropy from the operating system.
        """
        if seed is None and not self._seeded:
            seed = int(np.random.SeedSequence().generate_state(1, np.uint64)[0])
        self.tables.reset(seed)
        if seed is not None:
            self._seed(seed)
            self._seeded = True
            if self._rotates:
                self.seat[:] = self._rows % self.game.seats
        counts = self._result, self._decisions, self._early, self.rewards, self.skipped, self.skipped_returns
        for array in (*counts, self.dones, self.illegal):
            array[:] = 0
        self._begin(self._rows)
        self._go_on()

    def step(self, actions: ArrayLike) -> None:
        """Play the learner's decision on every table, up to its next decision.

        Args:
            actions: int[N]; a masked one is replaced by the safe action.

        Raises:
            ValueError: if the shape or the dtype is wrong, or before the first reset.
            RuntimeError: if the learner's seat never gets a decision.
        """
        moves, self.illegal[:] = self.tables.made_legal(actions)
        self._decisions += 1
        self.rewards[:] = self._early
        self._early[:] = 0
        self.dones[:], self.skipped[:], self.skipped_returns[:] = False, 0, 0
        self._play(moves)
        self._go_on()

    def final_observations(self, rows: NDArray[np.intp]) -> NDArray[np.float32]:
        """Return the learner's observations at the end of the episodes of the last step: float32[len(rows), D].

        Only for rows where `dones`.
        """
        encoder = self.game.encoders[self.tables.encoder]
        return encoder.observations(self._ends, rows, seats=self.final_seats[rows])

    def _go_on(self) -> None:
        """Play random start steps and opponents until it is the learner's turn at every table."""
        self._play_random_starts()
        while (waiting := (self.tables.turn != self.seat).nonzero()[0]).size:
            moves = np.full(self.num_envs, NO_ACTION)
            self._play_opponents(waiting, moves)
            try:
                self._play(moves)
            except ValueError as error:
                raise ValueError(f"an opponent played an illegal action: {error}") from error
            self._play_random_starts()

    def _play_random_starts(self) -> None:
        """Play the random start steps. Their rewards do not count. If they end the game, the next episode begins with
        the remaining ones."""
        while (rows := self._random_steps.nonzero()[0]).size:
            moves = np.full(self.num_envs, NO_ACTION)
            moves[rows] = self._random.act(self.observations[rows], self.masks[rows])
            self.tables.step(moves)
            self._random_steps[rows] -= 1

    def _play(self, moves: NDArray[np.int64]) -> None:
        ended, _ = self.tables.step_with_ends(moves, self._keep)
        gains = self.tables.rewards[self._rows, self.seat] / self.game.payoffs.unit
        if gains.any():
            self._result += gains
            undecided = self._decisions == 0
            self._early += np.where(undecided, gains, 0)
            self.rewards += np.where(undecided, 0, gains)
        if ended.size:
            self._close(ended)

    def _keep(self, _ended: NDArray[np.intp]) -> None:
        """Copy the records of the learner's episodes that have just ended."""
        if _ended.size:
            ours = self.tables.dones & (self._decisions > 0)
            np.copyto(as_bytes(self._ends), as_bytes(self.tables.tables), where=ours)

    def _close(self, ended: NDArray[np.intp]) -> None:
        """Count the episodes that have just ended and prepare the next ones."""
        decided = self._decisions[ended] > 0
        ours, others = ended[decided], ended[~decided]
        self.dones[ours] = True
        self.returns[ours], self.lengths[ours] = self._result[ours], self._decisions[ours]
        self.final_seats[ours] = self.seat[ours]
        self.skipped[others] += 1
        self.skipped_returns[others] += self._result[others]
        if others.size and self.skipped.max() > EPISODES_WITHOUT_DECISION:
            raise never_asked(int(self.seat[self.skipped.argmax()]))
        self.episodes += len(ended)
        self.winnings += float(self._result[ended].sum())
        self._result[ended], self._decisions[ended], self._early[ended] = 0, 0, 0
        if self._rotates:
            self.seat[ended] = (self.seat[ended] + 1) % self.game.seats
        self._begin(ended)

    def _begin(self, rows: NDArray[np.intp]) -> None:
        """Draw the opponents and the number of random start steps of the episodes that have just begun."""
        self._seating.draw(rows, self.tables.tables, self.seat)
        self._draw_random_steps(rows)


def never_asked(seat: int) -> RuntimeError:
    """Return the error of a learner's seat that never gets a decision."""
    return RuntimeError(f"seat {seat} had no decision in {EPISODES_WITHOUT_DECISION} episodes: is it empty?")


STILL_MODES = tuple(mode for mode in MODES if mode != "human")
"""The render modes for many tables; a window shows only one."""


def check_view(game: Game, view: str) -> None:
    """Raise ValueError for a `render_view` that the game does not have.

    Raises:
        ValueError: for an unknown view; the error names the known ones.
    """
    require_choice("render_view", view, ("own", *(("public",) if game.public_view is not None else ()), "all"))


def show_all(display: Display, seats: SingleAgentTables, view: str) -> tuple[NDArray[np.uint8] | str, ...]:
    """Show every table in a mode other than ``"human"``, as `view` sees it: ``"own"``, ``"public"`` or ``"all"``."""
    game = seats.game
    views = [game.agents[seat] if view == "own" else view for seat in seats.seat.tolist()]
    shown = (
        display.show(table, name, partial(_states, game, table))
        for table, name in zip(seats.tables.tables, views, strict=True)
    )
    return tuple(drawing for drawing in shown if drawing is not None)


def _states(game: Game, table: Any, view: str) -> list[TurnState]:
    if view == "public":
        return [game.public_turn_state(table)]
    return [game.turn_state(table, seat) for seat, agent in enumerate(game.agents) if view in ("all", agent)]


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

    def _ended(self, dones: NDArray[np.bool_], seen: Any, returns: Any, lengths: Any) -> dict[str, Any]:
        """Return the infos of the episodes that have just ended; `seen`: the observations at their ends."""
        final = np.full(self.num_envs, None, object)
        for row, observation in zip(np.flatnonzero(dones), seen, strict=True):
            final[row] = observation
        ended = dones if returns.ndim == 1 else dones[:, None]
        parts = {"episode_return": np.where(ended, returns, 0), "episode_length": np.where(dones, lengths, 0)}
        return masked({"final_obs": final, **parts}, dones.copy())


def masked(infos: dict[str, Any], valid: NDArray[np.bool_]) -> dict[str, Any]:
    """Return infos with the mask of the tables for which they are valid, in Gymnasium's form."""
    return infos | {f"_{key}": valid for key in infos}
