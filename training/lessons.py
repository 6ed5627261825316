"""Lessons in tangram by the teacher who knows how every figure was made: in its own matches and in the learner's."""

from collections.abc import Iterator
from typing import Any

import numpy as np

from ..envs.core.game import Batch, Game
from ..envs.core.rng import streams
from ..envs.core.vector import STAY
from ..envs.tangram.table import PLACES
from ..envs.tangram.teacher import advise_batch, begin_batch
from ..wrappers.policy import Policy
from .imitation import TABLES, Lessons

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
    tables, batch = game.tables(TABLES), Batch.of(game, TABLES)
    records, boards = tables.view(np.ndarray), game.tables(8).view(np.ndarray)
    tables.stream = streams(seed, TABLES)
    tables.easiest, tables.hardest = np.resize(LEAST, TABLES), 1.0
    plans, advice = np.zeros((TABLES, 7, 4, 2)), np.zeros(TABLES, np.int64)
    random = np.random.default_rng(seed)
    while True:
        begin_batch(records, plans, batch)
        batch.dones[:] = False
        yield _matches(game, records, plans, boards, batch, advice, learner, random)


def _matches(
    game: Game,
    records: Any,
    plans: Any,
    boards: Any,
    batch: Batch,
    advice: Any,
    learner: Policy,
    random: np.random.Generator,
) -> Lessons:
    gained = np.zeros(TABLES, np.float32)
    taken: list[tuple[Any, ...]] = []
    while (live := np.flatnonzero(~batch.dones)).size:
        advise_batch(records, plans, boards, advice)
        actions = np.full(TABLES, STAY)
        actions[live] = advice[live]
        begins = batch.observations[live, 0] > 0
        choice = begins & (batch.masks[live, :PLACES].sum(1) > 1)
        rows = live[choice | (random.random(len(live)) < 1 / EASY)]
        taken.append((batch.observations[rows], batch.masks[rows], advice[rows], gained[rows].copy(), rows))
        own = live[begins & (live >= TABLES // 2)]
        if len(own):
            actions[own] = learner.act(batch.observations[own], batch.masks[own])
        game.step_batch(records, actions, batch, False)
        gained[live] += batch.rewards[live, 0]
    observations, masks, moves, before, rows = (np.concatenate(column) for column in zip(*taken, strict=True))
    return Lessons(observations, masks, moves, gained[rows] - before)
