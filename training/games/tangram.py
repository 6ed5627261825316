"""Tangram: held-out figures, and the expert that knows a solution of every figure."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...envs import Game, play_until_done
from ...envs.core.record import Tables
from ...envs.core.rng import streams
from ...envs.core.rollout import Decisions, Policy
from ...envs.tangram.figure_sets import own_figures
from ...envs.tangram.planning import TangramPlanning
from ...envs.tangram.table import LIBRARY, PLACES, SET, SOLVED
from ...envs.tangram.teacher import advise_batch, begin_batch
from ...wrappers.agents.search import SearchPolicy
from ..evaluation.scores import Score
from .base import HeldOut, Progress, Specifics

# Held-out figures.

TABLES = 1_024
"""Number of figures built at the same time."""

SETS: dict[str, dict[str, Any]] = {
    "random": {"figure": "random", "split": "test", "flip": False, "hidden": (0.0, 1.0)},
    "random, hard": {"figure": "random", "split": "test", "flip": False, "hidden": (0.5, 1.0)},
    "library": {"figure": "library", "split": "test", "flip": False},
}
"""Held-out figures: the options of the game for each set. Hard ones hide at least half of the pieces' edges."""


def sets(game: Game) -> dict[str, dict[str, Any]]:
    """Return the options of each set: `SETS`, and before them the game's own figures, if it has some."""
    return ({"own figures": {}} if own_figures(game.options) else {}) | SETS


def built(
    game: Game, policy: Policy, *, games: int, seed: int = 0, progress: Progress | None = None
) -> dict[str, Score | float]:
    """Play games with a policy in all seats.

    Args:
        game: tangram with its options. Random figures are played once each, those of a library or set equally often.
        policy: the policy, which plays every seat.
        games: the least number of games, 2 or more.
        seed: seed of the figures. Policies draw from their own streams.
        progress: called with the number of games just played.

    Returns:
        ``iou``, the intersection over union at the end, and ``solved``, the share of games in which the figure was
        solved, each with its 95 % interval over figures; ``turns``, the mean length of a game.
    """
    if games < 2:
        raise ValueError(f"games={games}: an interval needs at least 2")
    library = int(game.rules.blank[0].figures) if game.rules.blank[0].source in (LIBRARY, SET) else 0
    times = -(-games // library) if library else 1
    tables = game.tables(library * times or games)
    tables.stream = streams(seed, len(tables))
    if library:
        tables.first_figure += np.arange(len(tables)) // times
        tables.figures = 1
    for start in range(0, len(tables), TABLES):
        play_until_done(game, [policy], tables[start : start + TABLES].view(np.recarray))
        if progress is not None:
            progress(len(tables[start : start + TABLES]))
    solved = (tables.iou >= SOLVED).astype(float)
    iou, share = (values.reshape(-1, times).mean(1) for values in (tables.iou, solved))
    return {
        "iou": Score.of(iou, "intersection over union", len(tables)),
        "solved": Score.of(share, "solved figures per game", len(tables)),
        "turns": float(tables.turn_number.mean()),
    }


# The expert.

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


def _searching(policy: Policy, game: Game, *, seed: int | None) -> Policy:
    return SearchPolicy(game, policy, TangramPlanning(game))  # it draws nothing


SPECIFICS = Specifics(held_out=HeldOut(sets=sets, score=built), searching=_searching, experts={"expert": FigureExpert})
