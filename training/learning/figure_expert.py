"""FigureExpert: the expert of tangram, which knows a solution of every figure."""

import numpy as np
from numpy.typing import NDArray

from ...envs import Game
from ...envs.core.record import Tables
from ...envs.core.rollout import Decisions
from ...envs.tangram.table import PLACES
from ...envs.tangram.teacher import advise_batch, begin_batch

LEAST = (0.0, 0.4, 0.45, 0.5)
"""The least difficulties of the tables, in a cycle (see `generator.difficulty`)."""


class FigureExpert:
    """An expert that knows a solution of every figure (see `parlour.envs.tangram.teacher`).

    Args:
        game: tangram; figures are drawn at random from its `split`.
        encoder: the name of the learner's encoder.
        count: number of tables.
    """

    def __init__(self, game: Game, encoder: str, count: int) -> None:
        self._plans = np.zeros((count, 7, 4, 2))
        self._advice = np.zeros(count, np.int64)
        self._boards = game.tables(8).view(np.ndarray)
        self._turn_begins = game.encoders[encoder].layout["phase"].start

    def begin(self, tables: Tables) -> None:
        """Begin an episode on every table with a random figure."""
        tables.easiest, tables.hardest = np.resize(LEAST, len(tables)), 1.0
        begin_batch(tables.view(np.ndarray), self._plans)

    def advise(self, tables: Tables) -> NDArray[np.int64]:
        """Return the action index that is best at every table: int64[N]."""
        advise_batch(tables.view(np.ndarray), self._plans, self._boards, self._advice)
        return self._advice

    def leaves_to_learner(self, tables: Tables) -> NDArray[np.bool_]:
        """Return where a turn begins; only there the learner may decide: bool[N]."""
        return np.asarray(tables.moved < 0)

    def worth_copying(self, made: Decisions) -> NDArray[np.bool_]:
        """Return where a turn begins and more than one place is legal: bool[M]."""
        return np.asarray((made.observations[:, self._turn_begins] > 0) & (made.masks[:, :PLACES].sum(1) > 1))
