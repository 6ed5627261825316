"""Self-play tables: N tables at which one learner plays all seats, or one seat against opponents."""

import logging
import pickle
from pathlib import Path
from typing import Any, BinaryIO, cast

import numpy as np
from numpy.typing import NDArray

from ...envs.core.capabilities import ExpectedRewards
from ...envs.core.game import Game
from ...envs.core.loops import Batch
from ...envs.core.record import Tables
from ...envs.core.registry import find
from .opponents import Opponents, OpponentTables

logger = logging.getLogger(__name__)

RENAMED = {
    ("parlour.envs.core.random_policy", "RandomPolicy"): ("parlour.envs.core.rollout", "RandomPolicy"),
    ("parlour.envs.stages.bots", "StageBot"): ("parlour.envs.phases.bots", "PhaseBot"),
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
            counted = ended[self._with_opponents[ended]] if self._with_opponents.any() else ended
            results = self._result[counted]
            won = (
                results[np.arange(len(counted)), self._seat[counted]] if self._with_opponents.any() else results.mean(1)
            )
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
