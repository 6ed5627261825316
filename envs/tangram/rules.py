"""The rules of building a tangram together, over one record, compiled.

The turns are those of TangramCollaborativeAI (https://github.com/GAIPS/TangramCollaborativeAI); the reward is defined
here. Seats take turns. In a turn one piece moves: it can be played several times, up to the limit of plays; a play of
another piece puts it back first. `finish` ends the turn. If the moved piece collides then, it goes back and the turn
counts as skipped, as it does if no piece was moved, or if it is where it was before. The last play of a turn finishes
it. Every seat may play every piece.

All seats get the same reward: the change of the intersection over union of pieces and figure in the turn, a small
penalty for a skipped turn, and a bonus for a solved figure, which ends the game. The game also ends after the last
turn; the number of turns left is observed.
"""

from collections.abc import Callable
from functools import cache
from typing import Any, NamedTuple, cast

import numpy as np
from numba import njit

from ..core.compiled import compiled, inlined
from ..core.rng import draw
from .corners import clear_places, measure, pose, survey
from .forms import PIECE
from .generator import SPLITS, centre, generate
from .geometry import (
    collides,
    covered_area,
    fill_outline,
    fill_piece,
    fill_pieces,
    mark,
    on_board,
    outline_area,
    place,
    unmark,
    wedges,
)
from .lattice import BOARD, RINGS
from .silhouettes import Silhouette, library
from .table import BONUS, BOUNDARY, FINISH, LIBRARY, PLACES, PLAY, RANDOM, SKIP, SOLVED


class Placement(NamedTuple):
    """A move: `PLAY` a piece with its centre at (x, y), in board units, rotated clockwise by `rotation` degrees (from 0
    to below 360); or `FINISH`.
    """

    kind: int
    piece: int
    x: float
    y: float
    rotation: float


@compiled
def normal(rotation: float) -> float:
    """Return the same angle from 0 to below 360 degrees."""
    turned = rotation % 360.0
    return turned if turned < 360.0 else 0.0  # just below 0, the remainder is rounded to 360


FIGURES = sorted(library().values(), key=lambda figure: SPLITS.index(figure.split))
"""The library, ordered by split. The record holds a figure's index in it."""
_VERTICES = np.array([figure.vertices for figure in FIGURES])
_ENDS = np.array([figure.ends for figure in FIGURES])


@compiled
def reset(table: Any) -> None:
    """Begin with a figure and an empty board."""
    if table.source == RANDOM:
        generate(table, table.split, table.easiest, table.hardest, table.scale, table.outline, table.ends)
    elif table.source == LIBRARY:
        _draw_from(table, _VERTICES, _ENDS)
    begin(table)


@compiled
def _draw_from(table: Any, vertices: Any, ends: Any) -> None:
    """Draw a figure from ``table.figures`` of these outlines, from ``table.first_figure`` on."""
    table.figure = table.first_figure + draw(table, table.figures)
    centre(vertices[table.figure], ends[table.figure], table.scale, BOARD / 2, table.outline)
    for ring in range(RINGS):  # a loop: Numba takes seconds to compile an assignment of arrays
        table.ends[ring] = ends[table.figure, ring]


@cache
def reset_from(figures: tuple[Silhouette, ...]) -> Callable[[Any], None]:
    """Return `reset` for a set of figures.

    Each set has a function of its own, which holds its outlines; it is compiled anew in every process.
    """
    all_vertices = np.array([figure.vertices for figure in figures])
    all_ends = np.array([figure.ends for figure in figures])

    def reset_in_set(table: Any) -> None:
        _draw_from(table, all_vertices, all_ends)
        begin(table)

    return cast(Callable[[Any], None], njit(reset_in_set))


@inlined
def begin(table: Any) -> None:
    """Begin with the figure in the record."""
    table.area = outline_area(table.outline, table.ends)
    wedges(table)
    fill_outline(table, table.target)
    for piece in range(7):
        _take(table, piece)
    table.filled[:] = 0
    table.moved = -1
    table.iou = 0.0
    table.score = 0.0
    table.rewards[:] = 0.0
    table.turn = 0
    table.turn_number = 1
    table.plays_left = table.plays
    table.passes = 0
    table.done = False
    survey(table)


@compiled
def lift(table: Any, piece: int) -> None:
    """Take a piece back to the drawer."""
    _take(table, piece)
    fill_pieces(table)


@compiled
def _take(table: Any, piece: int) -> None:
    unmark(table, piece)
    table.on_board[piece] = 0
    table.x[piece] = table.y[piece] = table.rotation[piece] = table.covered[piece] = 0.0
    table.vertices[piece] = 0.0
    table.hits[piece] = 0
    for other in range(7):
        table.hits[other] &= 255 ^ 1 << piece


@compiled
def put(table: Any, piece: int, x: float, y: float, rotation: float) -> None:
    """Put a piece on the board, from the drawer or from where it is."""
    moved = table.on_board[piece]
    _take(table, piece)
    shape = table.vertices[piece]
    place(piece, x, y, rotation, table.scale, shape)
    table.on_board[piece] = 1
    table.x[piece], table.y[piece], table.rotation[piece] = x, y, rotation
    table.covered[piece] = covered_area(shape, table.outline, table.ends)
    mark(table, piece)
    if moved:
        fill_pieces(table)
    else:
        fill_piece(table, piece)
    if not on_board(shape):
        table.hits[piece] = 1 << BOUNDARY
    for other in range(7):
        if other != piece and table.on_board[other] and collides(shape, table.vertices[other]):
            table.hits[piece] |= 1 << other
            table.hits[other] |= 1 << piece


@compiled
def hold(table: Any, piece: int) -> None:
    """Make a piece the moved piece of this turn, and store its old pose."""
    table.moved = piece
    table.was_on_board = table.on_board[piece] > 0
    table.was[0], table.was[1], table.was[2] = table.x[piece], table.y[piece], table.rotation[piece]


@inlined
def _put_back(table: Any) -> None:
    """Undo the turn's move."""
    piece = int(table.moved)
    if table.was_on_board:
        put(table, piece, table.was[0], table.was[1], table.was[2])
    else:
        lift(table, piece)
    _forget(table)


@compiled
def _forget(table: Any) -> None:
    table.moved = -1
    table.was_on_board = False
    table.was[:] = 0.0


@inlined
def step(table: Any, move: Any) -> None:
    """Apply the acting seat's legal move, up to the next decision."""
    table.rewards[:] = 0.0
    if move.kind == PLAY:
        piece = move.piece
        if table.moved >= 0 and table.moved != piece:
            _put_back(table)
        if table.moved < 0:
            hold(table, piece)
        put(table, piece, move.x, move.y, move.rotation)
        table.plays_left -= 1
        if table.plays_left > 0:
            return
    _finish(table)


@compiled
def _unmoved(table: Any) -> bool:
    """Return True if the turn's piece is where it was before."""
    piece = table.moved
    same = table.x[piece] == table.was[0] and table.y[piece] == table.was[1] and table.rotation[piece] == table.was[2]
    return bool(table.was_on_board and same)


@inlined
def _finish(table: Any) -> None:
    """End the turn: undo a move that collides, reward all seats, and give the turn to the next seat or end the game."""
    skipped = table.moved < 0
    if table.moved >= 0:
        if table.hits[table.moved]:
            _put_back(table)
            skipped = True
        else:
            skipped = _unmoved(table)
            _forget(table)
    before = table.iou
    measure(table)
    solved = table.iou >= SOLVED
    reward = BONUS if solved else 0.0
    if not table.sparse:
        reward += table.iou - before - (SKIP if skipped else 0.0)
    for seat in range(table.seats):
        table.rewards[seat] = reward
    table.score += reward
    table.passes = table.passes + 1 if skipped else 0
    table.plays_left = table.plays
    if solved or table.turn_number == table.turns:
        table.turn = -1
        table.done = True
        clear_places(table)
    else:
        table.turn_number += 1
        table.turn = table.turn + 1 if table.turn + 1 < table.seats else 0
        survey(table)


@compiled
def decode(table: Any, action: int) -> Placement:
    """Return the move of an action index: a place (see `corners`); the last index is `finish`."""
    if action == PLACES:
        return Placement(FINISH, 0, 0.0, 0.0, 0.0)
    x, y, rotation = pose(table, action)
    return Placement(PLAY, PIECE[action], x, y, rotation)


@compiled
def legal(table: Any, mask: Any) -> None:
    """Write the action mask of the acting seat: the legal places, which are fixed for a turn, and `finish`."""
    for action in range(PLACES):
        mask[action] = table.open >> action & 1
    mask[PLACES] = 1
