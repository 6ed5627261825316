"""What every learning algorithm has: fit, policy, save, load, and the dataclass of its settings."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, ClassVar, Protocol, Self

import numpy as np

from ...envs import Game
from ...envs.core.rollout import Policy
from ...wrappers.policies.mlp import MlpPolicy
from ..learning.demonstrations import Demonstrations
from ..learning.league import League
from ..learning.settings import TrainConfig


class Monitor(Protocol):
    """What a learner reports to while it learns: it keeps the budget, the opponents, the checkpoints and the metrics.

    Attributes:
        remaining: the share of the budget that is left, from 1 down to 0. It changes in `on_rollout_start`.
    """

    remaining: float

    def on_start(self) -> None:
        """Take note that learning begins: the tables have been reset."""
        ...

    def on_rollout_start(self) -> None:
        """Seat the opponents of the next rollout."""
        ...

    def goes_on(self) -> bool:
        """Tell whether learning goes on. It is asked after every step of the tables."""
        ...

    def on_rollout_end(self) -> dict[str, float]:
        """Return metrics of the rollout that has just ended."""
        ...

    def write(self, metrics: Mapping[str, Any]) -> None:
        """Write metrics, numbers by name, with the timesteps so far."""
        ...


class LearnerTables(Protocol):
    """Where a learner learns: `SingleAgentTables` or `SelfPlayTables`.

    Attributes:
        game: the game with its options.
        policies: the opponents in play; one may be replaced between steps.
        random_start_steps: random decisions with which an episode begins: the least and the most. May be changed.
        episodes: finished episodes so far.
        winnings: the sum of their results for the learner, in `Payoffs.unit`.
    """

    game: Game
    policies: list[Policy]
    random_start_steps: tuple[int, int]
    episodes: int
    winnings: float


class Learner(Protocol):
    """A learning algorithm with what it has learned so far.

    The module of an algorithm has a class of this name, with this constructor.

    Args:
        config: its settings.
        game: the game with its options.
        league: makes the pool of opponents.

    Attributes:
        Config: the dataclass of its settings, `TrainConfig` with those of the algorithm.
        tables: where it learns.
    """

    Config: ClassVar[type[TrainConfig]]

    def __init__(self, config: Any, game: Game, league: League) -> None: ...

    @property
    def tables(self) -> LearnerTables:
        """Where it learns."""
        ...

    @property
    def timesteps(self) -> int:
        """How many decisions it has learned from."""
        ...

    def fit(self, monitor: Monitor) -> None:
        """Learn from the tables until `config.total_timesteps` are reached or the monitor ends it."""
        ...

    def clone(self, demonstrations: Demonstrations, rate: float, random: np.random.Generator) -> float:
        """Take one pass of gradient steps towards a teacher's decisions (behavioural cloning).

        Args:
            demonstrations: the decisions.
            rate: the share of `config.cloning_learning_rate` to learn with, 0 to 1.
            random: shuffles the decisions.

        Returns:
            The mean probability (geometric) of the teacher's actions in the last batch, 0 to 1.
        """
        ...

    def policy(self, seed: int | None = None) -> MlpPolicy:
        """Return a copy of the policy as it is now, for play without the learner."""
        ...

    def current_policy(self, seed: int | None = None) -> Policy:
        """Return the policy as it is at every moment: it changes while the learner learns."""
        ...

    def save(self, folder: Path) -> None:
        """Write the learner into a run folder. A crash meanwhile leaves the former files whole."""
        ...

    @classmethod
    def load(cls, folder: Path, config: Any, game: Game, league: League) -> Self:
        """Return the learner that `save` wrote into a run folder.

        Raises:
            FileNotFoundError: if there is none.
        """
        ...
