"""The opponents at single-agent tables: the policies, and the seats that they play in each episode."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import cast

import numpy as np
from numpy.typing import NDArray

from ...envs.core.game import Game
from ...envs.core.record import Tables
from ...envs.core.rollout import RandomPolicy, choose_actions
from ...envs.core.vector import VectorGame
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
        seeds = plays.generate_state(len(self._specs), np.uint64)
        self.policies[:] = [
            make_policy(spec, self._game, seed=int(seed)) for spec, seed in zip(self._specs, seeds, strict=True)
        ]

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
        raise ValueError(
            f"{len(opponents)} opponents for {places} other seats: give one, one per seat, or a Pool to draw from"
        )
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
        self,
        game: Game,
        num_envs: int,
        opponents: Opponents,
        random_start_steps: tuple[int, int],
        encoder: str | None,
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
