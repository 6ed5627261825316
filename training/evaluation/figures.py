"""`parlour figures`: how many tangram figures a policy solves, of sets that it was not trained on, beside the bots."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...envs import Game, play_until_done
from ...envs.core.rng import streams
from ...envs.tangram.table import LIBRARY, SOLVED
from ...wrappers.policies.base import Policy
from .scores import Score

TABLES = 1_024
"""Figures built side by side."""

SETS: dict[str, dict[str, Any]] = {
    "random": {"figure": "random", "split": "test", "hidden": (0.0, 1.0)},
    "random, hard": {"figure": "random", "split": "test", "hidden": (0.5, 1.0)},
    "library": {"figure": "library", "split": "test"},
}
"""Held-out figures: the options of the game that give them. The hard ones hide half of their pieces' edges or more."""


@dataclass(frozen=True)
class Built:
    """How a policy built the figures of a set.

    Attributes:
        iou: the mean intersection over union in the end, with its 95 % interval over figures.
        solved: the share of games in which the figure was solved, with its 95 % interval over figures.
        turns: the mean length of a game.
    """

    iou: Score
    solved: Score
    turns: float


def built(
    game: Game, policy: Policy, *, games: int, seed: int = 0, progress: Callable[[int], None] | None = None
) -> Built:
    """Let a policy play all seats.

    Args:
        game: tangram with its options. Random figures are played once each, those of the library equally often.
        policy: plays every seat.
        games: how many at least, 2 or more.
        seed: of the figures; policies draw from their own streams.
        progress: called with the number of games just played.
    """
    if games < 2:
        raise ValueError(f"games={games}: an interval needs at least 2")
    library = int(game.rules.blank[0].figures) if game.rules.blank[0].source == LIBRARY else 0
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
    return Built(
        Score.of(iou, "intersection over union", len(tables)),
        Score.of(share, "solved figures per game", len(tables)),
        float(tables.turn_number.mean()),
    )
