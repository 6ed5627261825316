"""The protocol of learning algorithms: fit, policy, save, load, and the dataclass of the settings."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, ClassVar, Protocol, Self

import numpy as np

from ...envs import Game
from ...envs.core.rollout import Policy
from ...wrappers.policies.mlp import MlpPolicy
from .demonstrations import Demonstrations
from .league import League
from .settings import TrainConfig


class Monitor(Protocol):
    """The callbacks of a learner. They manage the budget, the opponents, the checkpoints and the metrics.

    Attributes:
        remaining: the share of the budget that is left, from 1 down to 0. It is updated in `on_rollout_start`.
    """

    remaining: float

    def on_start(self) -> None:
        """Called once at the beginning, after the first reset of the tables."""
        ...

    def on_rollout_start(self) -> None:
        """Called before each rollout: sets its opponents."""
        ...

    def goes_on(self) -> bool:
        """Called after every step of the tables: returns whether learning continues."""
        ...

    def on_rollout_end(self) -> dict[str, float]:
        """Called after each rollout: returns its metrics."""
        ...

    def write(self, metrics: Mapping[str, Any]) -> None:
        """Write metrics by name, with the number of timesteps so far."""
        ...


class LearnerTables(Protocol):
    """The tables of a learner: `SingleAgentTables`, or the `Engine` of self-play.

    Attributes:
        game: the game with its options.
        policies: the current opponents; one may be replaced between steps.
        random_start_steps: the least and the most random decisions at the beginning of an episode. May be changed.
        episodes: number of finished episodes.
        winnings: the sum of their returns for the learner, in `Payoffs.unit`.
    """

    game: Game
    policies: list[Policy]
    random_start_steps: tuple[int, int]
    episodes: int
    winnings: float


class Learner(Protocol):
    """A learning algorithm and its current state.

    The module of an algorithm has a class `Learner` with this constructor.

    Args:
        config: the settings.
        game: the game with its options.
        league: the league, which makes the pool of opponents.

    Attributes:
        Config: the dataclass of the settings, a subclass of `TrainConfig`.
        tables: the tables to learn from.
    """

    Config: ClassVar[type[TrainConfig]]

    def __init__(self, config: Any, game: Game, league: League) -> None: ...

    @property
    def tables(self) -> LearnerTables:
        """Where it learns."""
        ...

    @property
    def timesteps(self) -> int:
        """The number of decisions used for learning so far."""
        ...

    def fit(self, monitor: Monitor) -> None:
        """Learn from the tables until `config.total_timesteps` are reached or `monitor.goes_on` returns False."""
        ...

    def clone(self, demonstrations: Demonstrations, rate: float, random: np.random.Generator) -> float:
        """Make one epoch of gradient steps towards a teacher's decisions (behavioural cloning).

        Args:
            demonstrations: the decisions.
            rate: factor of `config.cloning_learning_rate`, 0 to 1.
            random: the generator that shuffles the decisions.

        Returns:
            The mean probability (geometric) of the teacher's actions in the last batch, 0 to 1.
        """
        ...

    def policy(self, seed: int | None = None) -> MlpPolicy:
        """Return a copy of the current policy, which plays without the learner."""
        ...

    def current_policy(self, seed: int | None = None) -> Policy:
        """Return the live policy, which changes while the learner learns."""
        ...

    def save(self, folder: Path) -> None:
        """Write the learner into a run folder. If the process dies meanwhile, the old files stay complete."""
        ...

    def close(self) -> None:
        """End the processes that the learner has started."""
        ...

    @classmethod
    def load(cls, folder: Path, config: Any, game: Game, league: League) -> Self:
        """Return the learner that `save` wrote into a run folder.

        Raises:
            FileNotFoundError: if there is none.
        """
        ...
