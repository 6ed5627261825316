"""Lessons in tangram by the teacher who knows how every figure was made: in its own matches and in the learner's."""

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...envs import Game, play_until_done
from ...envs.core.record import Tables
from ...envs.core.rollout import Decisions, tables_with_seed
from ...envs.tangram.table import PLACES
from ...envs.tangram.teacher import advise_batch, begin_batch
from ...wrappers.policies.base import Policy
from .behavioural_cloning import TABLES, Lessons

LEAST = (0.0, 0.4, 0.45, 0.5)
"""Least difficulties (see `generator.difficulty`), which the matches take in turn."""
EASY = 16
"""One in so many decisions is a lesson where there is no choice, or a play is done and its turn to be finished."""


def taught(game: Game, learner: Policy, seed: int) -> Iterator[Lessons]:
    """Yield the lessons of `TABLES` whole matches at a time, without end.

    In the first half of the matches the teacher plays, in the other one the learner, who so meets its own mistakes;
    the teacher says what it would have played (Ross, Gordon and Bagnell, "A reduction of imitation learning and
    structured prediction to no-regret online learning", AISTATS 2011).

    Args:
        game: tangram; figures are drawn at random from its `split`.
        learner: the policy as it is at every moment.
        seed: of the figures.
    """
    tables = tables_with_seed(game, TABLES, seed)
    tables.easiest, tables.hardest = np.resize(LEAST, TABLES), 1.0
    expert, random = _Expert(game, learner), np.random.default_rng(seed)
    while True:
        begin_batch(tables.view(np.ndarray), expert.plans)
        yield _matches(game, tables, expert, random)


class _Expert:
    """Plays as the teacher says, and as the learner where it is the learner's turn."""

    def __init__(self, game: Game, learner: Policy) -> None:
        self.plans = np.zeros((TABLES, 7, 4, 2))
        self.advice = np.zeros(TABLES, np.int64)
        self._boards = game.tables(8).view(np.ndarray)
        self._learner = learner

    def act(self, observations: NDArray[np.float32], masks: NDArray[np.int8]) -> NDArray[np.int64]:
        """Not called: the teacher needs the records."""
        raise NotImplementedError

    def act_on(
        self, tables: Any, rows: NDArray[np.int64], observations: NDArray[np.float32], masks: NDArray[np.int8]
    ) -> NDArray[np.int64]:
        """Return what is played at the tables `rows`; `advice` then holds what the teacher says at all tables."""
        advise_batch(tables.view(np.ndarray), self.plans, self._boards, self.advice)
        actions = self.advice[rows]
        own = np.flatnonzero((observations[:, 0] > 0) & (rows >= TABLES // 2))
        if len(own):
            actions[own] = self._learner.act(observations[own], masks[own])
        return actions


def _matches(game: Game, tables: Tables, expert: _Expert, random: np.random.Generator) -> Lessons:
    taken: list[tuple[Any, ...]] = []

    def note(made: Decisions) -> None:
        choice = (made.observations[:, 0] > 0) & (made.masks[:, :PLACES].sum(1) > 1)
        kept = choice | (random.random(len(made.tables)) < 1 / EASY)
        taken.append((*(column[kept] for column in made), expert.advice[made.tables[kept]]))

    total = play_until_done(game, [expert], tables, begin=False, on_decisions=note)
    rows, seats, observations, masks, _, before, advice = (np.concatenate(parts) for parts in zip(*taken, strict=True))
    return Lessons(observations, masks, advice, (total[rows, seats] - before).astype(np.float32))
