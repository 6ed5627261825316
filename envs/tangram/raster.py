"""Shapes as bits: the rows of a grid from below, one uint64 each, with column c at bit c. A cell belongs to a shape if
its centre does. Lengths are in cells."""

from math import ceil
from typing import Any

import numpy as np

from ..core.compiled import compiled
from ..core.memory import local_array
from .geometry import place
from .pieces import ASPECTS, BOARD, CORNERS
from .table import CELLS, ROWS

_ALL = np.uint64(0xFFFFFFFFFFFFFFFF)
_THREE, _TWO, _ONE = np.uint64(0x7777777777777777), np.uint64(0x3333333333333333), np.uint64(0x1111111111111111)
_S1, _S2, _S3, _S4 = np.uint64(1), np.uint64(2), np.uint64(3), np.uint64(4)
_NIBBLES, _BYTE = np.uint64(0x0F0F0F0F0F0F0F0F), np.uint64(0xFF)


@compiled
def toggle(rows: Any, ax: float, ay: float, bx: float, by: float) -> None:
    """Invert all cells to the right of the edge from a to b; done for all edges, this fills a shape."""
    if ay > by:
        ax, ay, bx, by = bx, by, ax, ay
    first = max(0, ceil(ay - 0.5))
    last = min(len(rows), ceil(by - 0.5))
    if first >= last:
        return
    if min(ax, bx) >= 64.0:
        return
    slope = (bx - ax) / (by - ay)
    column = ax + (first + 0.5 - ay) * slope - 0.5
    for row in range(first, last):
        left = ceil(column)
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
            ax, ay = table.outline[i, 0] * CELLS, table.outline[i, 1] * CELLS
            toggle(rows, ax, ay, table.outline[j, 0] * CELLS, table.outline[j, 1] * CELLS)
        start = end


@compiled
def _fill_piece(vertices: Any, corners: int, rows: Any) -> None:
    for i in range(corners):
        j = i + 1 if i + 1 < corners else 0
        ax, ay = vertices[i, 0] * CELLS, vertices[i, 1] * CELLS
        toggle(rows, ax, ay, vertices[j, 0] * CELLS, vertices[j, 1] * CELLS)


@compiled
def fill_piece(table: Any, piece: int) -> None:
    """Add a piece on the board to ``table.filled``."""
    cells = local_array(ROWS, np.uint64)
    cells[:] = 0
    _fill_piece(table.vertices[piece], CORNERS[piece], cells)
    for row in range(ROWS):
        table.filled[row] |= cells[row]


@compiled
def fill_pieces(table: Any) -> None:
    """Write the pieces on the board into ``table.filled``."""
    table.filled[:] = 0
    for piece in range(7):
        if table.on_board[piece]:
            fill_piece(table, piece)


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
def unpack(rows: Any, out: Any, k: int) -> None:
    """Write the bits of uint64[R] as 0 and 1 into float32 `out` from index `k`: R columns of each row."""
    size = len(rows)
    for row in range(size):
        for half in range(0, size, 16):
            bits = np.int32((rows[row] >> np.uint64(half)) & np.uint64(0xFFFF))
            for column in range(16):
                out[k + row * size + half + column] = np.float32((bits >> column) & 1)


@compiled
def unpack_shares(rows: Any, out: Any, k: int) -> None:
    """Write the filled share of each block of 4 × 4 cells into float32 `out` from index `k`: ROWS / 4 of each row."""
    for block in range(ROWS // 4):
        even = odd = np.uint64(0)  # a byte for every second column
        for row in range(4 * block, 4 * block + 4):
            bits = rows[row]
            counts = bits - ((bits >> _S1) & _THREE) - ((bits >> _S2) & _TWO) - ((bits >> _S3) & _ONE)  # of every four
            even += counts & _NIBBLES
            odd += (counts >> _S4) & _NIBBLES
        for column in range(0, ROWS // 4, 2):
            at = k + ROWS // 4 * block + column
            shift = np.uint64(4 * column)
            out[at] = np.float64((even >> shift) & _BYTE) * 0.0625
            out[at + 1] = np.float64((odd >> shift) & _BYTE) * 0.0625
