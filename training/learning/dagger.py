"""DAgger: an expert says what it would have played, in its own matches and in the learner's.

Ross, Gordon and Bagnell, "A reduction of imitation learning and structured prediction to no-regret online learning",
AISTATS 2011. The learner so meets the situations that its own mistakes lead to.
"""

from collections.abc import Iterator
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from ...envs import Game, play_until_done
from ...envs.core.record import Tables
from ...envs.core.rollout import Decisions, Policy, tables_with_seed
from .demonstrations import TABLES, Demonstrations


class Expert(Protocol):
    """Says what is best at every table, from more than a seat may know. It plays no seat of a match that counts."""

    def begin(self, tables: Tables) -> None:
        """Begin an episode on every table (recarray of shape (N,))."""
        ...

    def advise(self, tables: Tables) -> NDArray[np.int64]:
        """Return the action index that is best for the deciding seat of every table: int64[N]; no matter where done."""
        ...

    def leaves_to_learner(self, tables: Tables) -> NDArray[np.bool_]:
        """Tell at which tables the learner may decide in its own matches; at others the advice is played: bool[N]."""
        ...

    def worth_copying(self, made: Decisions) -> NDArray[np.bool_]:
        """Tell which decisions teach something; of the others, few are copied: bool[M]."""
        ...


EASY = 16
"""One in so many decisions that teach nothing is a demonstration."""


def corrections(game: Game, expert: Expert, learner: Policy, encoder: str, seed: int) -> Iterator[Demonstrations]:
    """Yield the expert's decisions of `TABLES` whole matches at a time, without end.

    The expert plays the first half of the matches, the learner the other half; of both, the expert says what it would
    have played.

    Args:
        game: the game with its options.
        expert: who says what is best; made for `TABLES` tables.
        learner: the policy as it is at every moment.
        encoder: the name of the encoder whose observations are noted: the learner's.
        seed: of the matches.
    """
    tables = tables_with_seed(game, TABLES, seed)
    players, random = _ExpertAndLearner(expert, learner, encoder), np.random.default_rng(seed)
    while True:
        expert.begin(tables)
        yield _matches(game, tables, players, random)


class _ExpertAndLearner:
    """Plays what the expert says, and at the second half of the tables what the learner chooses."""

    def __init__(self, expert: Expert, learner: Policy, encoder: str) -> None:
        self.expert, self.learner, self.encoder = expert, learner, encoder
        self.advice = np.zeros(TABLES, np.int64)

    def act(self, observations: NDArray[np.float32], masks: NDArray[np.int8]) -> NDArray[np.int64]:
        """Not called: the expert needs the records."""
        raise NotImplementedError

    def act_on(
        self, tables: Any, rows: NDArray[np.int64], observations: NDArray[np.float32], masks: NDArray[np.int8]
    ) -> NDArray[np.int64]:
        """Return what is played at the tables `rows`; `advice` then holds what the expert says at all tables."""
        self.advice = self.expert.advise(tables)
        actions = self.advice[rows]
        own = np.flatnonzero((rows >= TABLES // 2) & self.expert.leaves_to_learner(tables)[rows])
        if len(own):
            actions[own] = self.learner.act(observations[own], masks[own])
        return actions


def _matches(game: Game, tables: Tables, players: _ExpertAndLearner, random: np.random.Generator) -> Demonstrations:
    taken: list[tuple[Any, ...]] = []

    def note(made: Decisions) -> None:
        kept = players.expert.worth_copying(made) | (random.random(len(made.tables)) < 1 / EASY)
        taken.append((*(column[kept] for column in made), players.advice[made.tables[kept]]))

    total = play_until_done(game, [players], tables, begin=False, on_decisions=note)
    rows, seats, observations, masks, _, before, advice = (np.concatenate(parts) for parts in zip(*taken, strict=True))
    returns = (total[rows, seats] - before) / game.payoffs.unit
    return Demonstrations(observations, masks, advice, returns.astype(np.float32))
