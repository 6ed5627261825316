"""What would complete a figure from any board: the fewest pieces to lift, and exact moves that bring it nearer.

The moves are exact placements. They need not be on the menu of snap actions, which offers one corner at a time.
"""

from collections.abc import Iterator
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..core.game import Game
from ..core.record import Tables
from . import geometry
from .bots import search
from .corners import measure, survey
from .pieces import AREAS, BOARD, CORNERS
from .rules import Placement, lift
from .table import PLAY, SOLVED

STEPS = 4_000
"""The most placements in the search for a solution: about 0.2 s if there is none, usually a millisecond."""
SPACING = 4.0
"""Board units between the places that are tried for a piece that must go out of the way."""


class Completion(NamedTuple):
    """A solved board, and the pieces (indices) that must be moved for it."""

    solved: Any
    lifted: tuple[int, ...]


def without(table: Any, pieces: tuple[int, ...], boards: Tables) -> None:
    """Write `table` without some of its pieces, at the beginning of a turn, into the first of `boards`."""
    boards[0] = table
    board = boards[0]
    for piece in pieces:
        lift(board, piece)
    board.passes = 0
    measure(board)
    survey(board)


def completion(game: Game, table: Any, steps: int = STEPS) -> Completion | None:
    """Return how the figure of a table can be completed with the fewest pieces lifted; None if nothing is found.

    Args:
        game: tangram.
        table: a record; it is not changed.
        steps: the most pieces to place in search of it.
    """
    boards = game.tables(8)
    there = np.flatnonzero(table.on_board).tolist()
    for count in range(len(there) + 1):
        for lifted in combinations(there, count):
            without(table, lifted, boards)
            depth, _, steps = search(boards.view(np.ndarray), steps)
            if depth >= 0:
                return Completion(boards[depth].copy(), lifted)
            if steps == 0:
                return None
    return None


def useful_moves(game: Game, table: Any) -> Iterator[Placement]:
    """Yield moves towards a solution of a board, best first; none if it is solved or no solution is found.

    First come pieces that lie wrong and can go to their places, then pieces of the drawer. Pieces that lie wrong and
    whose places are covered go out of the figure, last.
    """
    solution = None if table.iou >= SOLVED else completion(game, table)
    if solution is not None:
        yield from moves_towards(table, solution)


def moves_towards(table: Any, found: Completion) -> Iterator[Placement]:
    """Yield exact moves from a board towards a completion of it, in the order of `useful_moves`."""
    shape = np.empty((4, 2))
    drawer = [piece for piece in np.argsort(-AREAS).tolist() if not table.on_board[piece]]
    for piece in (*found.lifted, *drawer):
        if not found.solved.on_board[piece]:
            continue
        x, y, rotation = (float(found.solved[name][piece]) for name in ("x", "y", "rotation"))
        geometry.place(piece, x, y, rotation, table.scale, shape)
        if _free(table, piece, shape):
            yield Placement(PLAY, piece, x, y, rotation)
    for piece in found.lifted:
        yield from _out_of_the_way(table, piece)


def _out_of_the_way(table: Any, piece: int) -> Iterator[Placement]:
    """Yield the place outside the figure that is nearest to a piece's position, if there is one."""
    shape = np.empty((4, 2))
    here, rotation = np.array([table.x[piece], table.y[piece]]), float(table.rotation[piece])
    lines = np.arange(SPACING, BOARD, SPACING)
    spots = sorted(
        ((x, y) for x in lines.tolist() for y in lines.tolist()), key=lambda at: float(np.hypot(*(here - at)))
    )
    for x, y in spots:
        geometry.place(piece, x, y, rotation, table.scale, shape)
        beside = geometry.on_board(shape) and geometry.covered_area(shape, table.outline, table.ends) < 1e-6
        if beside and _free(table, piece, shape):
            yield Placement(PLAY, piece, x, y, rotation)
            return


def _free(table: Any, piece: int, shape: NDArray[np.float64]) -> bool:
    """Return whether no other piece on the board overlaps this shape."""
    others = (other for other in range(len(CORNERS)) if other != piece and table.on_board[other])
    return not any(geometry.collides(shape, table.vertices[other]) for other in others)
