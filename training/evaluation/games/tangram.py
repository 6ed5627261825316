"""Tangram: held-out figures."""

from typing import Any

import numpy as np

from ....envs import Game, Policy, play_until_done, streams
from ....envs.tangram.figure_sets import own_figures
from ....envs.tangram.table import LIBRARY, SET, SOLVED
from ...parallel.tasks import Tick, ignore
from ..duplicate import Score
from . import HeldOut, Measures

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
    game: Game, policy: Policy, *, games: int, seed: int = 0, progress: Tick = ignore
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
        progress(len(tables[start : start + TABLES]))
    solved = (tables.iou >= SOLVED).astype(float)
    iou, share = (values.reshape(-1, times).mean(1) for values in (tables.iou, solved))
    return {
        "iou": Score.of(iou, "intersection over union", len(tables)),
        "solved": Score.of(share, "solved figures per game", len(tables)),
        "turns": float(tables.turn_number.mean()),
    }


MEASURES = Measures(held_out=HeldOut(sets=sets, score=built))
