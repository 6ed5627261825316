"""A teacher for demonstrations. It uses the solution of every figure, which players cannot see.

It makes each figure as `generate` does, together with a solution of seven poses, the **plan**. At the focus it plays
the piece that the plan has there. If a player has left the plan and the figure can still be solved, the new solution
replaces the plan. If it cannot be solved, the teacher follows the plan as far as the legal places allow: it moves
misplaced pieces, and skips turns until the focus is at a corner where this is possible.
"""

from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..core.compiled import compiled
from ..core.game import Game
from ..core.record import Tables
from . import geometry
from .bots import search
from .corners import pose
from .forms import PIECE, TWIN
from .generator import centre, corners, find
from .pieces import BOARD, CORNERS
from .rules import begin
from .sectors import NEAR
from .table import PLACES

STEPS = 2_000
"""The most placements in the search for a new plan."""
LEAST = (0.0, 0.4, 0.45, 0.5)
"""The least difficulties of the tables, in a cycle (see `generator.difficulty`)."""


class FigureExpert:
    """An `Expert` that knows a solution of every figure.

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

    def worth_copying(self, observations: NDArray[np.float32], masks: NDArray[np.int8]) -> NDArray[np.bool_]:
        """Return where a turn begins and more than one place is legal: bool[M]."""
        return np.asarray((observations[:, self._turn_begins] > 0) & (masks[:, :PLACES].sum(1) > 1))


@partial(compiled, compile_first=True)
def begin_batch(tables: Any, plans: Any) -> None:
    """Begin an episode on every table with a figure drawn at random, whatever the option `figure` is.

    Args:
        tables: N records; the options `split` and `hidden` apply.
        plans: float64[N, 7, 4, 2], written: by piece, the vertices of its pose in the figure.
    """
    for i in range(len(tables)):
        table = tables[i]
        _draw(table, plans[i])
        begin(table)


@partial(compiled, allocates=True)
def _draw(table: Any, plan: Any) -> None:
    """Draw a figure as `generator.generate` does, with its plan."""
    pieces = np.empty(7, np.int64)
    steps = np.empty(7, np.int64)
    at = np.empty((7, 2), np.int64)
    vertices = np.empty((len(table.outline), 2), np.int64)
    ends = np.empty(len(table.ends), np.int64)
    words = np.empty(1, np.uint64)
    words[0] = table.stream
    find(words, table.split, table.easiest, table.hardest, pieces, steps, at, vertices, ends)
    table.stream = words[0]
    centre(vertices, ends, table.scale, BOARD / 2, table.outline)
    for ring in range(len(ends)):
        table.ends[ring] = ends[ring]
    for i in range(7):
        corners(pieces[i], steps[i], at[i, 0], at[i, 1], plan[pieces[i]])
    for axis in range(2):
        low = plan[:, :, axis].min()
        middle = (low + plan[:, :, axis].max()) / 2
        for i in range(7):
            for k in range(4):
                plan[i, k, axis] = BOARD / 2 + table.scale[axis] * (plan[i, k, axis] - middle)


@partial(compiled, compile_first=True)
def advise_batch(tables: Any, plans: Any, boards: Any, actions: Any) -> None:
    """Write the teacher's action index for every table that is not done, at the beginning of a turn.

    Args:
        tables: N records.
        plans: float64[N, 7, 4, 2] as by `begin_batch`, changed where another solution is found.
        boards: 8 records of the same game as working memory, written.
        actions: int64[N], written.
    """
    for i in range(len(tables)):
        if not tables[i].done:
            actions[i] = PLACES if tables[i].moved >= 0 else _advise(tables[i], plans[i], boards)


@partial(compiled, allocates=True)
def _advise(table: Any, plan: Any, boards: Any) -> int:
    strayed = False
    for piece in range(7):
        strayed = strayed or (table.on_board[piece] > 0 and not _planned(piece, table.vertices[piece], plan))
    if strayed:
        boards[0] = table
        depth, first, _ = search(boards, STEPS)
        if depth >= 0:
            for piece in range(7):
                for k in range(4):
                    for axis in range(2):
                        plan[piece, k, axis] = boards[depth].vertices[piece, k, axis]
            return first
    shape = np.empty((4, 2))
    for place in range(PLACES):
        piece = PIECE[place]
        if table.open >> place & 1 and not (table.on_board[piece] and _planned(piece, table.vertices[piece], plan)):
            x, y, rotation = pose(table, place)
            geometry.place(piece, x, y, rotation, table.scale, shape)
            if _planned(piece, shape, plan):
                return place
    return PLACES


@compiled
def _planned(piece: int, shape: Any, plan: Any) -> bool:
    """Return whether the plan has an equal piece there."""
    for other in range(7):
        if other == piece or TWIN[other] == piece or TWIN[piece] == other:
            alike = True
            for k in range(CORNERS[piece]):
                near = False
                for m in range(CORNERS[piece]):
                    x, y = shape[k, 0] - plan[other, m, 0], shape[k, 1] - plan[other, m, 1]
                    near = near or (abs(x) < NEAR and abs(y) < NEAR)
                alike = alike and near
            if alike:
                return True
    return False
