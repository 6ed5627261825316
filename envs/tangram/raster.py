"""Shapes as bits: rows of a grid from the bottom up, a uint64 each, column c at bit c. A cell belongs to a shape if its
middle does. Lengths are in cells."""

from typing import Any

import numpy as np

from ..core.compiled import compiled
from .geometry import place
from .pieces import ASPECTS, BOARD, CORNERS
from .table import ROWS

_PER_UNIT = ROWS / BOARD
_ALL = np.uint64(0xFFFFFFFFFFFFFFFF)
_ONE = np.uint64(1)
_BITS = np.array([bin(nibble).count("1") for nibble in range(16)])


@compiled
def toggle(rows: Any, ax: float, ay: float, bx: float, by: float) -> None:
    """Invert all that lies right of the edge from a to b: all edges of a shape fill it."""
    if ay > by:
        ax, ay, bx, by = bx, by, ax, ay
    first = max(0, int(np.ceil(ay - 0.5)))
    last = min(len(rows), int(np.ceil(by - 0.5)))
    if first >= last:
        return
    slope = (bx - ax) / (by - ay)
    column = ax + (first + 0.5 - ay) * slope - 0.5
    for row in range(first, last):
        left = int(np.ceil(column))
        if left < 64:
            rows[row] ^= _ALL << np.uint64(max(left, 0))
        column += slope


@compiled
def fill_outline(table: Any, rows: Any) -> None:
    """Write the figure on the board into uint64[ROWS]."""
    rows[:] = 0
    start = 0
    for ring in range(len(table.ends)):
        end = table.ends[ring]
        for i in range(start, end):
            j = i + 1 if i + 1 < end else start
            ax, ay = table.outline[i, 0] * _PER_UNIT, table.outline[i, 1] * _PER_UNIT
            toggle(rows, ax, ay, table.outline[j, 0] * _PER_UNIT, table.outline[j, 1] * _PER_UNIT)
        start = end


@compiled
def _fill_piece(vertices: Any, corners: int, rows: Any) -> None:
    for i in range(corners):
        j = i + 1 if i + 1 < corners else 0
        ax, ay = vertices[i, 0] * _PER_UNIT, vertices[i, 1] * _PER_UNIT
        toggle(rows, ax, ay, vertices[j, 0] * _PER_UNIT, vertices[j, 1] * _PER_UNIT)


@compiled
def fill_pieces(table: Any, rows: Any) -> None:
    """Write the pieces on the board into uint64[ROWS]."""
    one = np.zeros(ROWS, np.uint64)
    rows[:] = 0
    for piece in range(7):
        if table.on_board[piece]:
            _fill_piece(table.vertices[piece], CORNERS[piece], one)
            for row in range(ROWS):
                rows[row] |= one[row]
                one[row] = 0


def _drawers() -> Any:
    drawers = np.zeros((len(ASPECTS), 7, ROWS), np.uint64)
    shape = np.empty((4, 2))
    for aspect, scale in enumerate(ASPECTS.values()):
        for piece in range(7):
            place(piece, BOARD / 2, BOARD / 2, 0.0, np.array(scale), shape)
            _fill_piece(shape, CORNERS[piece], drawers[aspect, piece])
    return drawers


DRAWERS = _drawers()
"""uint64[aspects, 7, ROWS]: each piece as it lies in the drawer, in the middle of a board of its own."""


@compiled
def unpack(rows: Any, size: int, out: Any, k: int) -> None:
    """Write the first `size` columns of every row as 0 and 1 into float32 `out` from index `k`."""
    for row in range(len(rows)):
        bits = rows[row]
        for column in range(size):
            out[k + row * size + column] = (bits >> np.uint64(column)) & _ONE


@compiled
def unpack_shares(rows: Any, out: Any, k: int) -> None:
    """Write which share of each block of 4 × 4 cells is filled, ROWS / 4 to a row, into float32 `out` from index `k`."""
    blocks = ROWS // 4
    for block in range(blocks):
        for column in range(blocks):
            shift = np.uint64(4 * column)
            count = 0
            for row in range(4 * block, 4 * block + 4):
                count += _BITS[(rows[row] >> shift) & np.uint64(15)]
            out[k + block * blocks + column] = count * 0.0625
