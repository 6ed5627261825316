"""What learns: the protocol of learning algorithms, and imitation of a teacher.

Behavioural cloning fits a learner to the decisions of a teacher. With an expert, DAgger also takes the expert's actions
in the learner's own matches: the states that its mistakes lead to (Ross, Gordon and Bagnell, "A reduction of imitation
learning and structured prediction to no-regret online learning", AISTATS 2011).
"""

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from math import inf
from pathlib import Path
from typing import Any, ClassVar, NamedTuple, Protocol, Self

import numpy as np
from numpy.typing import NDArray

from ...envs import Game, play_until_done
from ...envs.core.capabilities import Expert
from ...envs.core.rollout import Decisions, Policy, act_of, encoder_of, tables_with_seed
from ...wrappers.policies.mlp import MlpPolicy
from .league import HasPolicy, League
from .settings import TrainConfig

TABLES = 512
"""Number of matches played at the same time; their decisions are shuffled together."""


class Demonstrations(NamedTuple):
    """Decisions of a teacher in all seats of some matches, in order.

    Attributes:
        observations: float32[N, D].
        masks: int8[N, A].
        actions: int64[N].
        returns: float32[N], the acting seat's return from this decision on, in `Payoffs.unit`.
    """

    observations: NDArray[np.float32]
    masks: NDArray[np.int8]
    actions: NDArray[np.int64]
    returns: NDArray[np.float32]


def demonstrations(game: Game, teacher: Policy, encoder: str, seed: int) -> Iterator[Demonstrations]:
    """Yield the decisions of `TABLES` whole matches at a time, without end.

    Args:
        game: the game with its options.
        teacher: the teacher, which plays all seats.
        encoder: the name of the learner's encoder, which makes the observations.
        seed: seed of the matches.
    """
    random, own = np.random.default_rng(seed), game.encoders[encoder_of(teacher, game)]

    def act_on(tables: Any, rows: NDArray[np.int64], _: Any, masks: NDArray[np.int8]) -> NDArray[np.int64]:
        return np.asarray(act_of(teacher, tables, rows, own.observations(tables, rows), masks), np.int64)

    player = teacher if encoder_of(teacher, game) == encoder else OnRecords(encoder, act_on)
    while True:
        tables = tables_with_seed(game, TABLES, int(random.integers(2**64, dtype=np.uint64)))
        taken = list[Decisions]()
        total = play_until_done(game, [player], tables, on_decisions=taken.append)
        yield _with_returns(game, taken, total)


class OnRecords:
    """A policy that acts on the records of the tables, by a function with the arguments of `rollout.act_of`."""

    def __init__(self, encoder: str, act_on: Callable[..., NDArray[np.int64]]) -> None:
        self.encoder, self.act_on = encoder, act_on

    def act(self, observations: NDArray[np.float32], masks: NDArray[np.int8]) -> NDArray[np.int64]:
        """Not called: it needs the records."""
        raise NotImplementedError


def _with_returns(game: Game, taken: Sequence[Decisions], total: NDArray[np.float64]) -> Demonstrations:
    rows, seats, observations, masks, actions, before = (np.concatenate(column) for column in zip(*taken, strict=True))
    returns = (total[rows, seats] - before) / game.payoffs.unit
    return Demonstrations(observations, masks, actions, returns.astype(np.float32))


class Monitor:
    """The callbacks of a learner. This one manages the limits, and the copies of the learner among the opponents.

    Args:
        learner: what learns.
        league: its opponents.
        timesteps: how many timesteps at most.
        minutes: how many minutes at most, from `on_start` on; None: no limit.

    Attributes:
        remaining: the share of the budget that is left, from 1 down to 0. It is updated in `on_rollout_start`.
    """

    def __init__(self, learner: "Learner", league: League, timesteps: int, minutes: float | None) -> None:
        self.remaining = 1.0
        self._learner, self._league, self._tables = learner, league, learner.tables
        self._timesteps, self._minutes = timesteps, minutes
        self._started = time.monotonic()
        self._counted = (0, 0.0)  # episodes and winnings of the earlier rollouts

    def on_start(self) -> None:
        """Called once, after the first reset of the tables, which compiles the game: start the clock."""
        self._started = time.monotonic()

    def on_rollout_start(self) -> None:
        """Called before each rollout: update the budget and the learner's copies."""
        self.remaining = 1 - self.used()
        self._league.update_self_play(self._learner, self._tables.policies)

    def goes_on(self) -> bool:
        """Called after every step of the tables: return whether learning continues, as there is time left."""
        return self._minutes is None or self.seconds() < self._minutes * 60

    def on_rollout_end(self) -> dict[str, float]:
        """Called after each rollout: return its metrics."""
        return {}

    def write(self, metrics: Mapping[str, Any]) -> None:
        """Write metrics by name, with the number of timesteps so far; here to nowhere."""

    def seconds(self) -> float:
        """Return the seconds since the start."""
        return time.monotonic() - self._started

    def used(self) -> float:
        """Return the used share, in timesteps or in time, whichever is greater: from 0 to 1."""
        in_time = 0.0 if self._minutes is None else self.seconds() / 60 / self._minutes
        return min(1.0, max(self._learner.timesteps / self._timesteps, in_time))

    def newly_counted(self) -> tuple[int, float]:
        """Return the episodes that have ended since the last call, and the learner's winnings in them."""
        before, self._counted = self._counted, (self._tables.episodes, self._tables.winnings)
        return self._counted[0] - before[0], self._counted[1] - before[1]


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

    @property
    def timesteps(self) -> int:
        """The number of decisions used for learning so far."""

    def fit(self, monitor: Monitor) -> None:
        """Learn from the tables until `config.total_timesteps` are reached or `monitor.goes_on` returns False."""

    def clone(self, demonstrations: Demonstrations, rate: float, random: np.random.Generator) -> float:
        """Make one epoch of gradient steps towards a teacher's decisions (behavioural cloning).

        Args:
            demonstrations: the decisions.
            rate: factor of `config.cloning_learning_rate`, 0 to 1.
            random: the generator that shuffles the decisions.

        Returns:
            The mean probability (geometric) of the teacher's actions in the last batch, 0 to 1.
        """

    def policy(self, seed: int | None = None) -> MlpPolicy:
        """Return a copy of the current policy, which plays without the learner."""

    def save(self, folder: Path) -> None:
        """Write the learner into a run folder. If the process dies meanwhile, the old files stay complete."""

    def close(self) -> None:
        """End the processes that the learner has started."""

    @classmethod
    def load(cls, folder: Path, config: Any, game: Game, league: League) -> Self:
        """Return the learner that `save` wrote into a run folder.

        Raises:
            FileNotFoundError: if there is none.
        """


def clone(
    learner: Learner, teacher: Iterator[Demonstrations], config: TrainConfig, progress: Callable[[float, str], None]
) -> float:
    """Fit a learner to a teacher, each decision used once. The learning rate falls to 0 in the second half.

    Args:
        learner: the learner.
        teacher: an endless iterator over the teacher's decisions.
        config: the number of decisions, a time limit, and the seed of their order. Whole matches are played.
        progress: called with the used share of decisions or minutes, 0 to 1, and a note.

    Returns:
        The geometric mean of the learner's probability of the teacher's actions in the last batch, 0 to 1.
    """
    random, started = np.random.default_rng(config.seed), time.monotonic()
    done, used, probability = 0, 0.0, 0.0
    while used < 1:
        taken = next(teacher)
        probability = learner.clone(taken, min(1.0, 2 - 2 * used), random)
        done += len(taken.actions)
        spent = (time.monotonic() - started) / (60 * (config.cloning_minutes or inf))
        used = min(1.0, max(done / config.demonstrations, spent))
        progress(used, f"{done:,} decisions, probability {probability:.3f}")
    return probability


EASY = 16
"""Of the other decisions, one in this number is kept."""


def corrections(game: Game, expert: Expert, learner: HasPolicy, encoder: str, seed: int) -> Iterator[Demonstrations]:
    """Yield the expert's decisions of `TABLES` whole matches at a time, without end.

    The expert plays the first half of the matches, the learner the second half. The demonstrations of both halves are
    the expert's actions.

    Args:
        game: the game with its options.
        expert: the expert, made for `TABLES` tables.
        learner: the learner, whose policy plays as it is when the matches begin.
        encoder: the name of the learner's encoder, which makes the observations.
        seed: seed of the matches.
    """
    tables, random = tables_with_seed(game, TABLES, seed), np.random.default_rng(seed)
    advice, taken = np.zeros(TABLES, np.int64), list[Decisions]()

    def act_on(
        tables: Any, rows: NDArray[np.int64], observations: NDArray[np.float32], masks: NDArray[np.int8]
    ) -> NDArray[np.int64]:
        advice[:] = expert.advise(tables)
        actions = advice[rows]
        own = np.flatnonzero((rows >= TABLES // 2) & expert.leaves_to_learner(tables)[rows])
        if len(own):
            actions[own] = player.act(observations[own], masks[own])
        return actions

    def note(decisions: Decisions) -> None:
        useful = expert.worth_copying(decisions.observations, decisions.masks)
        kept = useful | (random.random(len(decisions.tables)) < 1 / EASY)
        advised = decisions._replace(actions=advice[decisions.tables])
        taken.append(Decisions._make(column[kept] for column in advised))

    while True:
        player = learner.policy(int(random.integers(2**63)))
        expert.begin(tables)
        taken.clear()
        players = [OnRecords(encoder, act_on)]
        total = play_until_done(game, players, tables, begin=False, on_decisions=note)
        yield _with_returns(game, taken, total)
