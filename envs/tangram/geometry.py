"""Placed pieces: vertices, common areas, collisions. Compiled, in board units, without allocation.

A polygon is float64[n, 2], counter-clockwise; a vertex may be repeated, as in a triangle with four rows.
An outline is one or more rings, ``vertices`` float64[V, 2] and ``ends`` int[R]: ring r is
``vertices[ends[r - 1]:ends[r]]`` (from 0 for the first), the inside on the left of every edge: outer rings run
counter-clockwise, holes clockwise. Rings that are not used have the end of the last one that is.
"""

from math import ceil, cos, radians, sin, sqrt
from typing import Any

import numpy as np

from ..core.compiled import compiled
from ..core.memory import local_array
from .lattice import ASPECTS, BOARD, CORNERS, SHAPES, VERTICES, after
from .table import CELLS, ROWS

TOLERANCE = 0.01
"""Board units (0.03 pixels) by which pieces may reach into each other, or over the board's edge, and only touch."""

_HALF = 0.5**0.5
COSINES = np.array([1.0, _HALF, 0.0, -_HALF, -1.0, -_HALF, 0.0, _HALF])
"""float64[8] of the angles in steps of 45°; the sine is that of six steps on."""


@compiled
def place(piece: int, x: float, y: float, rotation: float, scale: Any, out: Any) -> None:
    """Write the vertices of a piece in a pose, counter-clockwise.

    Args:
        piece: its number.
        x: of its centre, board units.
        y: of its centre, board units.
        rotation: degrees, clockwise positive, any finite number. Multiples of 45 are exact: the same vertices, bit for
            bit, whatever whole turns are added.
        scale: board units per u in x and y, one of `ASPECTS` (a piece is rotated before it is scaled).
        out: float64[4, 2]; of a triangle the first vertex stands again at the end.
    """
    eighth = rotation / 45.0 % 8.0
    step = int(eighth)
    if step == eighth and step < 8:  # just below 0, the remainder is rounded to 8
        cosine = COSINES[step]
        sine = COSINES[(step + 6) % 8]
    else:
        angle = radians(rotation % 360.0)
        cosine = cos(angle)
        sine = sin(angle)
    for i in range(4):
        right = SHAPES[piece, i, 0]
        up = SHAPES[piece, i, 1]
        out[i, 0] = x + scale[0] * (right * cosine + up * sine)
        out[i, 1] = y + scale[1] * (up * cosine - right * sine)


@compiled
def _under(ax: float, ay: float, bx: float, by: float, cx: float, cy: float, dx: float, dy: float) -> float:
    """Return the area below both edges, a → b and c → d, and above y = 0; negative if they run in opposite x.

    The common area of two polygons is the sum of this over all pairs of their edges (Green's theorem for each of them).
    Nothing is clipped, so touching edges and shared vertices are not special cases.
    """
    sign = 1.0
    if ax > bx:
        ax, ay, bx, by, sign = bx, by, ax, ay, -sign
    if cx > dx:
        cx, cy, dx, dy, sign = dx, dy, cx, cy, -sign
    left = max(ax, cx)
    right = min(bx, dx)
    if left >= right:
        return 0.0
    first = (by - ay) / (bx - ax)
    second = (dy - cy) / (dx - cx)
    a_left = ay + first * (left - ax)
    a_right = ay + first * (right - ax)
    c_left = cy + second * (left - cx)
    c_right = cy + second * (right - cx)
    lowest = min(a_left, c_left) + min(a_right, c_right)
    at_left = a_left - c_left
    at_right = a_right - c_right
    if at_left * at_right < 0.0:
        # They cross: add the height of the crossing over the line from the lower left end to the lower right one.
        lowest -= at_left * at_right / (abs(at_left) + abs(at_right))
    return sign * 0.5 * (right - left) * lowest


@compiled
def covered_area(polygon: Any, vertices: Any, ends: Any) -> float:
    """Return the area that a polygon and an outline have in common.

    Args:
        polygon: float64[n, 2], counter-clockwise.
        vertices: float64[V, 2] of the outline.
        ends: int[R] of the outline.

    Returns:
        Square board units, within 1e-9 of the exact area on the board; never below 0.
    """
    left = right = polygon[0, 0]
    low = polygon[0, 1]
    for i in range(1, len(polygon)):
        left = min(left, polygon[i, 0])
        right = max(right, polygon[i, 0])
        low = min(low, polygon[i, 1])
    area = 0.0
    for i in range(ends[-1]):
        j = after(ends, i)
        ax, ay, bx, by = vertices[i, 0], vertices[i, 1] - low, vertices[j, 0], vertices[j, 1] - low
        # Below the polygon, or beside it, an edge adds nothing.
        if (ay > 0.0 or by > 0.0) and max(ax, bx) > left and min(ax, bx) < right:
            for k in range(len(polygon)):
                m = k + 1 if k + 1 < len(polygon) else 0
                cx, cy, dx, dy = polygon[k, 0], polygon[k, 1] - low, polygon[m, 0], polygon[m, 1] - low
                area += _under(ax, ay, bx, by, cx, cy, dx, dy)
    return max(area, 0.0)


@compiled
def outline_area(vertices: Any, ends: Any) -> float:
    """Return the area of an outline in square board units: float64[V, 2] and int[R]."""
    twice = 0.0
    for i in range(ends[-1]):
        j = after(ends, i)
        twice += (vertices[i, 0] - vertices[j, 0]) * (vertices[i, 1] + vertices[j, 1])
    return twice / 2.0


@compiled
def gap(polygon: Any, other: Any) -> float:
    """Return the widest gap between any edge's line of `polygon` and all of `other`, which lies beyond; or negative."""
    widest = -np.inf
    for i in range(len(polygon)):
        j = i + 1 if i + 1 < len(polygon) else 0
        right = polygon[j, 0] - polygon[i, 0]
        up = polygon[j, 1] - polygon[i, 1]
        length = sqrt(right * right + up * up)
        if length == 0.0:
            continue
        nearest = np.inf
        for k in range(len(other)):
            nearest = min(nearest, (other[k, 0] - polygon[i, 0]) * up - (other[k, 1] - polygon[i, 1]) * right)
        widest = max(widest, nearest / length)
    return widest


@compiled
def depth(polygon: Any, other: Any) -> float:
    """Return the depth of overlap of two convex polygons: the shortest move that parts them.

    Args:
        polygon: float64[n, 2], counter-clockwise.
        other: float64[n, 2], counter-clockwise.

    Returns:
        Board units; 0 if they touch, negative if they are apart.
    """
    return -max(gap(polygon, other), gap(other, polygon))


@compiled
def collides(polygon: Any, other: Any) -> bool:
    """Return True if pieces overlap by more than `TOLERANCE`; touching pieces do not. Arguments as in `depth`."""
    return gap(polygon, other) < -TOLERANCE and gap(other, polygon) < -TOLERANCE


@compiled
def on_board(polygon: Any) -> bool:
    """Return True if a piece is on the board, its edges included, within `TOLERANCE`; if not, it hits BOUNDARY.

    A polygon with a vertex that is not finite is not on the board.
    """
    for i in range(len(polygon)):
        for axis in range(2):
            if not -TOLERANCE <= polygon[i, axis] <= BOARD + TOLERANCE:
                return False
    return True


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
def within(table: Any, x: float, y: float) -> bool:
    """Return True if a point, on no edge of the outline, is inside the figure, by the number of edges to its right."""
    odd = False
    for i in range(table.ends[-1]):
        j = after(table.ends, i)
        ax, ay = table.outline[i, 0] - x, table.outline[i, 1] - y
        bx, by = table.outline[j, 0] - x, table.outline[j, 1] - y
        odd ^= (ay > 0.0) != (by > 0.0) and (ax * by > ay * bx) == (by > ay)
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
            if within(table, x + NEAR / 8 * aside, y + NEAR / 8 * above):
                bits |= 1 << sector
        table.inside[i] = bits


@compiled
def _inside(table: Any, x: float, y: float) -> int:
    """Return the sectors inside the figure around a point; none around a vertex of the outline, which has its own."""
    beside = WHOLE
    for i in range(table.ends[-1]):
        j = after(table.ends, i)
        ax, ay = table.outline[i, 0] - x, table.outline[i, 1] - y
        bx, by = table.outline[j, 0] - x, table.outline[j, 1] - y
        if abs(ax) < NEAR and abs(ay) < NEAR:
            return 0
        right, up = bx - ax, by - ay
        aside = ax * by - ay * bx
        length = right * right + up * up
        if aside * aside < NEAR * NEAR * length and 0.0 < -(ax * right + ay * up) < length:
            beside &= _left_of(right * table.per_unit[0], up * table.per_unit[1])
    if beside != WHOLE:
        return beside
    return WHOLE if within(table, x, y) else 0


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
    for i in range(table.ends[-1]):
        j = after(table.ends, i)
        ax, ay = table.outline[i, 0] * CELLS, table.outline[i, 1] * CELLS
        toggle(rows, ax, ay, table.outline[j, 0] * CELLS, table.outline[j, 1] * CELLS)


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
