"""DAgger: demonstrations of an expert's actions, in its own matches and in the learner's.

Ross, Gordon and Bagnell, "A reduction of imitation learning and structured prediction to no-regret online learning",
AISTATS 2011. So the demonstrations include the states that the learner's own mistakes lead to.
"""

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...envs import Game, play_until_done
from ...envs.core.capabilities import Expert
from ...envs.core.record import Tables
from ...envs.core.rollout import Decisions, Policy, tables_with_seed
from .demonstrations import TABLES, Demonstrations

EASY = 16
"""Of the other decisions, one in this number is kept."""


def corrections(game: Game, expert: Expert, learner: Policy, encoder: str, seed: int) -> Iterator[Demonstrations]:
    """Yield the expert's decisions of `TABLES` whole matches at a time, without end.

    The expert plays the first half of the matches, the learner the second half. The demonstrations of both halves are
    the expert's actions.

    Args:
        game: the game with its options.
        expert: the expert, made for `TABLES` tables.
        learner: the learner's live policy.
        encoder: the name of the learner's encoder, which makes the observations.
        seed: seed of the matches.
    """
    tables = tables_with_seed(game, TABLES, seed)
    players, random = _ExpertAndLearner(expert, learner, encoder), np.random.default_rng(seed)
    while True:
        expert.begin(tables)
        yield _matches(game, tables, players, random)


class _ExpertAndLearner:
    """Plays the expert's actions, and at the second half of the tables the learner's."""

    def __init__(self, expert: Expert, learner: Policy, encoder: str) -> None:
        self.expert, self.learner, self.encoder = expert, learner, encoder
        self.advice = np.zeros(TABLES, np.int64)

    def act(self, observations: NDArray[np.float32], masks: NDArray[np.int8]) -> NDArray[np.int64]:
        """Not called: the expert needs the records."""
        raise NotImplementedError

    def act_on(
        self, tables: Any, rows: NDArray[np.int64], observations: NDArray[np.float32], masks: NDArray[np.int8]
    ) -> NDArray[np.int64]:
        """Return the actions at the tables `rows`, and store the expert's actions at all tables in `advice`."""
        self.advice = self.expert.advise(tables)
        actions = self.advice[rows]
        own = np.flatnonzero((rows >= TABLES // 2) & self.expert.leaves_to_learner(tables)[rows])
        if len(own):
            actions[own] = self.learner.act(observations[own], masks[own])
        return actions


def _matches(game: Game, tables: Tables, players: _ExpertAndLearner, random: np.random.Generator) -> Demonstrations:
    taken: list[tuple[Any, ...]] = []

    def note(decisions: Decisions) -> None:
        useful = players.expert.worth_copying(decisions.observations, decisions.masks)
        kept = useful | (random.random(len(decisions.tables)) < 1 / EASY)
        taken.append((*(column[kept] for column in decisions), players.advice[decisions.tables[kept]]))

    total = play_until_done(game, [players], tables, begin=False, on_decisions=note)
    rows, seats, observations, masks, _, before, advice = (np.concatenate(parts) for parts in zip(*taken, strict=True))
    returns = (total[rows, seats] - before) / game.payoffs.unit
    return Demonstrations(observations, masks, advice, returns.astype(np.float32))
