"""Tables of a learner: N tables at which it plays one seat against opponents, or all seats.

`SingleAgentTables` have one seat of the learner each. Three rules hold there and in the environments that use them
(Gymnasium, Stable-Baselines3):

- **Rewards** are the sum of the seat's rewards since the learner's previous decision in the episode, in `Payoffs.unit`
  (hold'em: big blinds), also those of other seats' actions. The reward of the first decision includes all rewards
  before it. So the rewards of an episode sum to the seat's return.
- **An episode without a decision of the learner** (such as: all fold to its big blind) is played and counted in
  `SingleAgentTables.episodes`, `SingleAgentTables.winnings` and the infos, and the next one begins. Its reward is not a
  part of any step.
- **A masked action** is replaced by the game's safe action (hold'em: check, else fold), for learners without masks.

At `SelfPlayTables` one learner plays all seats, or one seat against opponents.
"""

import logging
import pickle
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, BinaryIO, cast

import numpy as np
from gymnasium import spaces
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space
from numpy.typing import ArrayLike, NDArray

from ...envs.core.capabilities import ExpectedRewards
from ...envs.core.checks import require_choice
from ...envs.core.game import Game
from ...envs.core.loops import Batch
from ...envs.core.options import whole
from ...envs.core.record import Tables, as_bytes
from ...envs.core.registry import find
from ...envs.core.rollout import RandomPolicy, choose_actions
from ...envs.core.turn_state import TurnState
from ...envs.core.vector import NO_ACTION, VectorGame
from ...envs.render.window import MODES, Display
from ..policies.base import Policy
from ..policies.loading import make_policy


@dataclass(frozen=True)
class Pool:
    """A pool of opponents. At the beginning of an episode a policy is drawn for every seat of an opponent.

    In a game with teams, one policy is drawn for the learner's team, and one for all others.

    Attributes:
        policies: names, paths or policies (see `make_policy`).
        weights: the relative probabilities of the policies; None: all equal.
        teammate_weights: the same for the learner's team; None: as `weights`.
    """

    policies: Sequence[str | Policy]
    weights: Sequence[float] | None = None
    teammate_weights: Sequence[float] | None = None

    def __post_init__(self) -> None:
        """Check the weights."""
        if not self.policies:
            raise ValueError("a pool needs at least one policy")
        for name, given in (("weights", self.weights), ("teammate_weights", self.teammate_weights)):
            weights = [1.0] * len(self.policies) if given is None else given
            if len(weights) != len(self.policies) or min(weights) < 0 or not 0 < sum(weights) < np.inf:
                raise ValueError(f"{name}={given}: give {len(self.policies)} numbers from 0 up, not all 0")


Opponents = str | Policy | Sequence[str | Policy] | Pool
"""One policy for every seat, one per seat to the learner's left in order, or a `Pool`."""


class OpponentSeats:
    """The opponents' policies at N tables, and the seats that they play.

    Args:
        game: the game with its options.
        num_envs: the number of tables N.
        opponents: see `Opponents`.

    Attributes:
        policies: the current policies. One may be replaced between steps; the new one then plays its seats.
        who: int64[N, seats], the index of the policy of each seat; the learner's seats are not used.

    Raises:
        ValueError: for opponents that do not fit the game.
    """

    def __init__(self, game: Game, num_envs: int, opponents: Opponents) -> None:
        self._game = game
        self._specs, self._chances = _arrange(opponents, game)
        self._team_chances = None
        if game.capabilities.teams is not None and isinstance(opponents, Pool):
            given = opponents.weights if opponents.teammate_weights is None else opponents.teammate_weights
            self._team_chances = _cumulative(opponents, given), self._chances[0]
        self.policies: list[Policy] = [make_policy(spec, game, seed=0) for spec in self._specs]
        self.who = np.zeros((num_envs, game.seats), np.int64)
        self._random = np.random.default_rng(0)

    def seed(self, draws: np.random.SeedSequence, plays: np.random.SeedSequence) -> None:
        """Make the policies that were given by name again, and seed the draws."""
        self._random = np.random.default_rng(draws)
        seeds = plays.generate_state(len(self._specs), np.uint64).tolist()
        made = (make_policy(spec, self._game, seed=seed) for spec, seed in zip(self._specs, seeds, strict=True))
        self.policies[:] = made

    def draw(self, rows: NDArray[np.intp], tables: Tables, learner: NDArray[np.int64]) -> None:
        """Draw the policies at the tables `rows` for a new episode; `learner` int64[N] are the learner's seats."""
        teams = self._game.capabilities.teams
        if self._team_chances is not None and teams is not None:
            team = teams.of(cast(Tables, tables[rows]))
            own = team == team[np.arange(len(rows)), learner[rows], None]
            mates, others = (
                np.searchsorted(chances, self._random.random(len(rows)), side="right") for chances in self._team_chances
            )
            self.who[rows] = np.where(own, mates[:, None], others[:, None])
            return
        for place, chances in enumerate(self._chances, start=1):
            drawn = np.searchsorted(chances, self._random.random(len(rows)), side="right")
            self.who[rows, (learner[rows] + place) % self._game.seats] = drawn

    def draw_mixed(self, rows: NDArray[np.intp], tables: Tables) -> NDArray[np.bool_]:
        """Draw the policies at the tables `rows`, and return the learner's seats besides its own: bool[N, seats].

        Each seat is the learner's with probability ½. In a game with teams, the learner plays none, half or all of a
        team, with equal probability, and one opponent its other seats.
        """
        shape, teams = (len(rows), self._game.seats), self._game.capabilities.teams
        if teams is None:
            self.who[rows] = np.searchsorted(self._chances[0], self._random.random(shape), side="right")
            return self._random.random(shape) < 0.5
        team = teams.of(cast(Tables, tables[rows])).astype(np.int64)
        shares = self._random.integers(3, size=(len(rows), len(teams.names))) / 2
        drawn = np.searchsorted(self._chances[0], self._random.random(shares.shape), side="right")
        self.who[rows] = np.take_along_axis(drawn, team, 1)
        return self._random.random(shape) < np.take_along_axis(shares, team, 1)


def _arrange(opponents: Opponents, game: Game) -> tuple[list[str | Policy], list[NDArray[np.float64]]]:
    """Return the policies, and their cumulative probabilities for each seat, counted from the learner."""
    places = game.seats - 1
    if isinstance(opponents, Pool):
        return list(opponents.policies), [_cumulative(opponents, opponents.weights)] * places
    if isinstance(opponents, str) or hasattr(opponents, "act"):
        opponents = [opponents] * places
        return [*opponents[:1]], [np.ones(1)] * places
    if not isinstance(opponents, Sequence):
        raise ValueError(f"opponents={opponents!r}: give names, policies (they have an act) or a Pool")
    if len(opponents) != places:
        raise ValueError(f"{len(opponents)} opponents for {places} other seats: give one, one per seat, or a Pool")
    return list(opponents), [(np.arange(places) >= place).astype(float) for place in range(places)]


def _cumulative(pool: Pool, given: Sequence[float] | None) -> NDArray[np.float64]:
    weights = np.ones(len(pool.policies)) if given is None else np.array(given, float)
    chances: NDArray[np.float64] = np.cumsum(weights) / weights.sum()
    chances[np.flatnonzero(weights)[-1] :] = 1.0  # so that rounding cannot draw past the last one
    return chances


class OpponentTables:
    """N tables with opponents, and random decisions at the beginning of an episode: what `SingleAgentTables` and
    `SelfPlayTables` share.

    Args:
        game: the game with its options.
        num_envs: the number of tables N.
        opponents: see `Opponents`.
        random_start_steps: the least and the most random decisions at the beginning of an episode.
        encoder: name of the encoder of the observations; None: the game's own encoder.

    Raises:
        ValueError: for numbers out of range, or opponents that do not fit the game.
    """

    def __init__(
        self, game: Game, num_envs: int, opponents: Opponents, random_start_steps: tuple[int, int], encoder: str | None
    ) -> None:
        if not 0 <= random_start_steps[0] <= random_start_steps[1]:
            raise ValueError(f"random_start_steps={random_start_steps}: need the least number, from 0 up, and the most")
        game.check_encoder(encoder or game.encoder)
        self.game = game
        self.num_envs = num_envs
        self.tables = VectorGame(game, num_envs, encoder)
        self.random_start_steps = random_start_steps
        self._rows = np.arange(num_envs)
        self._seating = OpponentSeats(game, num_envs, opponents)
        self.policies: list[Policy] = self._seating.policies
        self._random_steps = np.zeros(num_envs, np.int64)  # left at the beginning of the episode
        self._random = RandomPolicy(0)
        self.episodes, self.winnings = 0, 0.0

    def _seed(self, seed: int | Sequence[int]) -> None:
        draws, plays, chance = np.random.SeedSequence(seed).spawn(3)
        self._seating.seed(draws, plays)
        self._random = RandomPolicy(int(chance.generate_state(1, np.uint64)[0]))
        self.episodes, self.winnings = 0, 0.0

    def _play_opponents(self, rows: NDArray[np.intp], moves: NDArray[np.int64]) -> None:
        """Write the actions of the opponents at the tables `rows` into `moves`: int64[N]."""
        tables = self.tables
        choose_actions(
            self.game, self.policies, self._seating.who[rows, tables.turn[rows]], tables=tables.tables, rows=rows,
            observations=tables.observations, masks=tables.action_masks, encoder=tables.encoder, actions=moves,
        )  # fmt: skip

    def _draw_random_steps(self, rows: NDArray[np.intp]) -> None:
        """Draw the number of random decisions of the episodes that have just begun, from the opponents' stream."""
        least, most = self.random_start_steps
        if most:
            self._random_steps[rows] = self._seating._random.integers(least, most + 1, size=len(rows))


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
    pairs = zip(seats.tables.tables, views, strict=True)
    drawings = (display.show(name, partial(_states, game, table)) for table, name in pairs)
    return tuple(drawing for drawing in drawings if drawing is not None)


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


logger = logging.getLogger(__name__)

RENAMED = {
    ("parlour.envs.core.random_policy", "RandomPolicy"): ("parlour.envs.core.rollout", "RandomPolicy"),
    ("parlour.envs.stages.bots", "StageBot"): ("parlour.envs.phases.bots", "PhaseBot"),
    ("parlour.wrappers.rl.opponents", "OpponentSeats"): ("parlour.wrappers.rl.tables", "OpponentSeats"),
    ("parlour.wrappers.policies.tabular", "TabularPolicy"): ("parlour.wrappers.policies.base", "TabularPolicy"),
    ("parlour.wrappers.policies.network", "Network"): ("parlour.wrappers.policies.mlp", "Network"),
    ("parlour.wrappers.policies.trained_for", "TrainedFor"): ("parlour.wrappers.policies.base", "TrainedFor"),
}
"""Renamed classes: module and name in version 0.2, and the current ones."""


class SelfPlayTables(OpponentTables):
    """N tables, one decision per table per step. The learner plays every seat of most tables.

    At the first `opponent_tables` tables it plays one seat, the next one in every episode, and opponents play the
    others. At the next `mixed_tables` tables each seat is drawn: with probability ½ it is the learner's, else an
    opponent's; of a team the learner plays none, half or all. There it plays with and against strangers.

    A finished table begins its next episode in the same step. Every `reset` and `step` writes the arrays in place; copy
    an array to keep its values.

    Args:
        game: the game with its options.
        num_envs: the number of tables N.
        opponents: see `Opponents`.
        opponent_tables: the number of tables with opponents, 0 to `num_envs`.
        random_start_steps: the least and the most random decisions at the beginning of an episode.
        encoder: name of the encoder of the observations; None: the game's own encoder.
        expected_rewards: replaces the rewards of finished episodes; None: they are those that were played.
        mixed_tables: the number of tables with drawn seats; with `opponent_tables` at most `num_envs`.

    Attributes:
        tables: the tables, with `observations`, `action_masks`, `turn`, `rewards`, `dones` (see `VectorGame`).
        learner_acts: bool[N], whether the next decision of a table is the learner's.
        policies: the current opponents; one may be replaced between steps.
        random_start_steps: may be changed; it applies to episodes that begin later.
        episodes: number of finished episodes since the seeded reset; with opponents, only those at their tables.
        winnings: the sum of the learner's returns in them, in `Payoffs.unit`: the mean over all seats, or with
            opponents the return of one seat of the learner.

    Raises:
        ValueError: for numbers out of range, or opponents that do not fit the game.
    """

    def __init__(
        self,
        game: Game,
        num_envs: int,
        opponents: Opponents = "random",
        opponent_tables: int = 0,
        random_start_steps: tuple[int, int] = (0, 0),
        encoder: str | None = None,
        expected_rewards: ExpectedRewards | None = None,
        mixed_tables: int = 0,
    ) -> None:
        if not 0 <= opponent_tables <= num_envs:
            raise ValueError(f"opponent_tables={opponent_tables}: need 0 to {num_envs}, the number of tables")
        if not 0 <= mixed_tables <= num_envs - opponent_tables:
            most = num_envs - opponent_tables
            raise ValueError(f"mixed_tables={mixed_tables}: need 0 to {most}, the tables without opponent_tables")
        super().__init__(game, num_envs, opponents, random_start_steps, encoder)
        self._with_opponents = np.arange(num_envs) < opponent_tables + mixed_tables
        self._mixed = self._with_opponents & (np.arange(num_envs) >= opponent_tables)
        # The learner's seats besides `_seat`: all of them where it has no opponents.
        self._further_seats = np.repeat(~self._with_opponents[:, None], game.seats, axis=1)
        self._seat = np.arange(num_envs) % game.seats  # the learner's, at tables with opponents
        self._result = np.zeros((num_envs, game.seats))  # of the current episode
        self._expected_rewards = expected_rewards
        self.learner_acts = np.ones(num_envs, np.bool_)

    def reset(self, seed: int) -> None:
        """Begin a new episode on every table. All random numbers are made from `seed`."""
        self._seed(seed)
        self.tables.reset(seed)
        self._seat[:] = self._rows % self.game.seats
        self._result[:] = 0
        self._begin(self._rows)
        self._find_learner()

    def step(self, actions: NDArray[np.int64]) -> None:
        """Play one decision on every table.

        Args:
            actions: int64[N], the learner's. Where `learner_acts` is False, it is replaced by an opponent's action or a
                random one.

        Raises:
            ValueError: if an action is not legal.
        """
        moves = np.array(actions, np.int64)
        drawn = np.flatnonzero(self._random_steps)
        waiting = np.flatnonzero(~self.learner_acts & (self._random_steps == 0))
        if drawn.size:
            moves[drawn] = self._random.act(self.tables.observations[drawn], self.tables.action_masks[drawn])
            self._random_steps[drawn] -= 1
        if waiting.size:
            self._play_opponents(waiting, moves)
        before = None if self._expected_rewards is None else self.tables.tables.copy()
        self.tables.step(moves)
        ended = np.flatnonzero(self.tables.dones)
        if ended.size and before is not None and self._expected_rewards is not None:
            rewards = self.tables.rewards[ended]
            self._expected_rewards(cast(Tables, before[ended]), moves[ended], rewards)
            self.tables.rewards[ended] = rewards
        self._result += self.tables.rewards
        if ended.size:
            counted, won = ended, self._result[ended].mean(1)
            if self._with_opponents.any():
                counted = ended[self._with_opponents[ended]]
                won = self._result[counted, self._seat[counted]]
            self.episodes += len(counted)
            self.winnings += float(won.sum()) / self.game.payoffs.unit
            self._seat[ended] = (self._seat[ended] + 1) % self.game.seats
            self._result[ended] = 0
            self._begin(ended)
        self._find_learner()

    def save(self, path: Path) -> None:
        """Write the state, the opponents included, as a pickle. `load` continues from it."""
        with path.open("wb") as file:
            _Pickler(file, protocol=5).dump(self.__dict__)

    def load(self, path: Path) -> bool:
        """Load the state that `save` wrote for the same game. Load only trusted files: a pickle may contain code.

        Returns:
            Whether it is loaded. Tables with the records of an earlier version are not, and need `reset`.

        Raises:
            ValueError: if the file has another number of tables.
        """
        with path.open("rb") as file:
            state = _Unpickler(file, self.game, self._expected_rewards).load()
        if state["num_envs"] != self.num_envs:
            raise ValueError(f"{path} holds {state['num_envs']} tables; these are {self.num_envs}")
        if state["tables"].tables.dtype != self.tables.tables.dtype:
            logger.warning("%s: its tables are of an earlier version, so their episodes begin again", path)
            return False
        self.__dict__.update(state)
        return True

    def _begin(self, rows: NDArray[Any]) -> None:
        with_opponents = rows[self._with_opponents[rows]]
        if with_opponents.size:
            self._seating.draw(with_opponents, self.tables.tables, self._seat)
        mixed = rows[self._mixed[rows]]
        if mixed.size:
            self._further_seats[mixed] = self._seating.draw_mixed(mixed, self.tables.tables)
        self._draw_random_steps(rows)

    def _find_learner(self) -> None:
        np.equal(self.tables.turn, self._seat, out=self.learner_acts)
        self.learner_acts |= self._further_seats[self._rows, self.tables.turn]
        self.learner_acts &= self._random_steps == 0


class _Pickler(pickle.Pickler):
    """A pickler that leaves out the game, so that its functions are not compiled again."""

    def persistent_id(self, value: Any) -> str | None:
        return "game" if isinstance(value, Game) else None


class _Batch:
    """Makes a `Batch` also of the arrays of version 0.2, which had truncations before the offsets."""

    def __new__(cls, *arrays: Any) -> Any:
        return Batch._make((*arrays[:5], arrays[-1]))


class _Unpickler(pickle.Unpickler):
    """An unpickler that inserts the game, and finds the class of `expected` and bots whose modules have moved."""

    def __init__(self, file: BinaryIO, game: Game, expected: ExpectedRewards | None) -> None:
        super().__init__(file)
        self._game = game
        self._expected = type(expected)

    def find_class(self, module: str, name: str) -> Any:
        if name == "Batch":
            return _Batch
        if name == self._expected.__name__:
            return self._expected
        try:
            return super().find_class(module, name)
        except ModuleNotFoundError:  # a bot of an earlier version: small games are one file now
            return super().find_class(*RENAMED.get((module, name), (find(self._game.name).__module__, name)))

    def persistent_load(self, name: str) -> Game:
        return self._game
