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
from ..core.turn_state import Action
from . import geometry
from .bots import search, towards
from .corners import measure, survey
from .pieces import AREAS, BOARD, CORNERS, PIECES
from .rules import Placement, lift
from .table import PLACES, PLAY, SOLVED

STEPS = 4_000
"""The most placements in the search for a solution: about 0.2 s if there is none, usually a millisecond."""
LIFTED = 2
"""Most pieces that a mended board of `TangramPlanning` has lost."""
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


class TangramPlanning:
    """Tangram's part of a search (see `parlour.wrappers.agents.search`).

    Args:
        game: tangram with its options.
    """

    settle = PLACES
    """The action index that ends a turn in which a piece was played."""

    def __init__(self, game: Game) -> None:
        self._game = game
        self._board = game.tables(1)

    def key(self, table: Tables) -> bytes:
        """Return what tells the position at one table (recarray of shape (1,)): figure, pieces and focus."""
        return b"".join(table[name].tobytes() for name in ("outline", "ends", "vertices", "focus", "ray"))

    def unsettled(self, tables: Tables) -> NDArray[np.bool_]:
        """Tell where a piece was played in the turn and nothing else remains to be done but to end it: bool[N]."""
        return np.asarray((tables.moved >= 0) & ~tables.done)

    def solved(self, tables: Tables) -> NDArray[np.bool_]:
        """Tell which boards are solved: bool[N]."""
        return np.asarray(tables.iou >= SOLVED)

    def hopeless(self, tables: Tables) -> NDArray[np.bool_]:
        """Tell from which boards no exact solution can be reached with the pieces in the drawer: bool[N]."""
        return np.asarray((tables.dead > 0) | ~tables.fitting | tables.done)

    def candidates(self, masks: NDArray[np.int8]) -> NDArray[np.bool_]:
        """Tell which actions a plan may hold: bool[N, A], the places; a turn that is skipped leads nowhere."""
        wanted = masks > 0
        wanted[:, PLACES] = False
        return wanted

    def mended(self, table: Any) -> Iterator[tuple[tuple[int, ...], Tables]]:
        """Yield boards without the fewest pieces that may lie wrong: those pieces, and the board (one record)."""
        there = np.flatnonzero(table.on_board).tolist()
        for count in range(1, min(LIFTED, len(there)) + 1):
            for lifted in combinations(there, count):
                board = self._game.tables(1)
                without(table, lifted, board)
                board.turn_number = 1  # the plan is for its solved board, whatever turns are left
                yield lifted, board

    def first_step(self, table: Any, mask: NDArray[np.int8], solved: Any, lifted: tuple[int, ...]) -> int | None:
        """Return the legal action index that brings a board nearer to a solved one, or None; see `bots.towards`."""
        self._board[0] = table
        return towards(self._board[0], mask, solved.vertices.copy(), lifted)

    def exact_step(self, table: Any, solved: Any, lifted: tuple[int, ...]) -> Action | None:
        """Return the same as an exact move, which need not be on the menu, or None; see `moves_towards`."""
        for move in moves_towards(table, Completion(solved, lifted)):
            place = {"shape": PIECES[move.piece], "position": [move.x, move.y], "rotation": move.rotation}
            return Action("play", place)
        return None
