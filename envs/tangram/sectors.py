"""Sectors: the surroundings of a vertex. Compiled.

The plane around a point has eight sectors of 45°, one bit each, counter-clockwise from east. For every vertex of the
outline and of the placed pieces, the record holds the sectors inside the figure and those that each piece covers.
"""

from typing import Any

import numpy as np

from ..core.compiled import compiled
from .lattice import VERTICES
from .pieces import CORNERS

NEAR = 0.05
"""Board units from a vertex or an edge within which a point counts as lying on it; less than between any two points
that a figure built by `lattice` can have."""

_EIGHTHS = np.pi / 4 * np.arange(8)
_MIDDLES = np.array([[np.cos(np.pi / 8 + angle), np.sin(np.pi / 8 + angle)] for angle in _EIGHTHS])
WHOLE = 255
"""All eight sectors."""


@compiled
def _left_of(right: float, up: float) -> int:
    """Return the sectors to the left of a direction, in u (of a direction between two of them: by their middles)."""
    bits = 0
    for sector in range(8):
        if right * _MIDDLES[sector, 1] > up * _MIDDLES[sector, 0]:
            bits |= 1 << sector
    return bits


@compiled
def _within(table: Any, x: float, y: float) -> bool:
    """Return whether a point, on no edge of the outline, is inside the figure, by the number of edges to its right."""
    odd = False
    start = 0
    for ring in range(len(table.ends)):
        end = table.ends[ring]
        for i in range(start, end):
            j = i + 1 if i + 1 < end else start
            ax, ay = table.outline[i, 0] - x, table.outline[i, 1] - y
            bx, by = table.outline[j, 0] - x, table.outline[j, 1] - y
            odd ^= (ay > 0.0) != (by > 0.0) and (ax * by > ay * bx) == (by > ay)
        start = end
    return odd


@compiled
def wedges(table: Any) -> None:
    """Write the sectors inside the figure around each vertex of its outline; where rings touch, for the first one."""
    table.inside[:] = 0
    for i in range(table.ends[-1]):
        x, y = table.outline[i, 0], table.outline[i, 1]
        bits = 0
        first = True
        for j in range(i):
            first = first and not (abs(table.outline[j, 0] - x) < NEAR and abs(table.outline[j, 1] - y) < NEAR)
        for sector in range(8 if first else 0):
            aside, above = _MIDDLES[sector, 0] * table.scale[0], _MIDDLES[sector, 1] * table.scale[1]
            if _within(table, x + NEAR / 8 * aside, y + NEAR / 8 * above):
                bits |= 1 << sector
        table.inside[i] = bits


@compiled
def _inside(table: Any, x: float, y: float) -> int:
    """Return the sectors inside the figure around a point; none around a vertex of the outline, which has its own."""
    beside = WHOLE
    start = 0
    for ring in range(len(table.ends)):
        end = table.ends[ring]
        for i in range(start, end):
            j = i + 1 if i + 1 < end else start
            ax, ay = table.outline[i, 0] - x, table.outline[i, 1] - y
            bx, by = table.outline[j, 0] - x, table.outline[j, 1] - y
            if abs(ax) < NEAR and abs(ay) < NEAR:
                return 0
            right, up = bx - ax, by - ay
            aside = ax * by - ay * bx
            length = right * right + up * up
            if aside * aside < NEAR * NEAR * length and 0.0 < -(ax * right + ay * up) < length:
                beside &= _left_of(right * table.per_unit[0], up * table.per_unit[1])
        start = end
    if beside != WHOLE:
        return beside
    return WHOLE if _within(table, x, y) else 0


@compiled
def box(table: Any, piece: int) -> None:
    """Write the box in which points can lie in a piece or at its border."""
    for axis in range(2):
        low = high = table.vertices[piece, 0, axis]
        for i in range(1, 4):
            low = min(low, table.vertices[piece, i, axis])
            high = max(high, table.vertices[piece, i, axis])
        table.box[piece, axis] = low - NEAR
        table.box[piece, 2 + axis] = high + NEAR


@compiled
def _covered(table: Any, piece: int, x: float, y: float) -> int:
    """Return the sectors around a point that a piece covers."""
    edges = table.box[piece]
    if not (edges[0] < x < edges[2] and edges[1] < y < edges[3]):
        return 0
    bits = WHOLE
    corners = CORNERS[piece]
    for i in range(corners):
        j = i + 1 if i + 1 < corners else 0
        ax, ay = table.vertices[piece, i, 0], table.vertices[piece, i, 1]
        right, up = table.vertices[piece, j, 0] - ax, table.vertices[piece, j, 1] - ay
        aside = right * (y - ay) - up * (x - ax)
        if aside * aside < NEAR * NEAR * (right * right + up * up):
            bits &= _left_of(right * table.per_unit[0], up * table.per_unit[1])
        elif aside < 0:
            return 0
        if bits == 0:
            return 0
    return bits


@compiled
def mark(table: Any, piece: int) -> None:
    """Write the sectors that a piece just put on the board covers, and the sectors around its own vertices."""
    box(table, piece)
    first = VERTICES + 4 * piece
    for i in range(CORNERS[piece]):
        x, y = table.vertices[piece, i, 0], table.vertices[piece, i, 1]
        table.inside[first + i] = _inside(table, x, y)
        for other in range(7):
            if table.on_board[other] and other != piece:
                table.covers[other, first + i] = _covered(table, other, x, y)
    for i in range(table.ends[-1]):
        table.covers[piece, i] = _covered(table, piece, table.outline[i, 0], table.outline[i, 1])
    for other in range(7):
        if table.on_board[other]:
            for i in range(CORNERS[other]):
                x, y = table.vertices[other, i, 0], table.vertices[other, i, 1]
                table.covers[piece, VERTICES + 4 * other + i] = _covered(table, piece, x, y)


@compiled
def unmark(table: Any, piece: int) -> None:
    """Undo `mark`."""
    first = VERTICES + 4 * piece
    table.box[piece] = 0.0
    table.inside[first : first + 4] = 0
    table.covers[piece] = 0
    for other in range(7):
        table.covers[other, first : first + 4] = 0
