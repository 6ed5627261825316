"""Placed pieces: vertices, common areas, collisions. Compiled, in board units, without allocation.

A polygon is float64[n, 2], counter-clockwise; a vertex may be repeated, as in a triangle with four rows.
An outline is one or more rings, ``vertices`` float64[V, 2] and ``ends`` int[R]: ring r is
``vertices[ends[r - 1]:ends[r]]`` (from 0 for the first), the inside on the left of every edge: outer rings run
counter-clockwise, holes clockwise. Rings that are not used have the end of the last one that is.
"""

from math import cos, radians, sin, sqrt
from typing import Any

import numpy as np

from ..core.compiled import compiled
from .pieces import BOARD, SHAPES

TOLERANCE = 0.01
"""Board units (0.03 pixels) by which pieces may reach into each other, or over the board's edge, and only touch."""

_HALF = 0.5**0.5
_COSINES = np.array([1.0, _HALF, 0.0, -_HALF, -1.0, -_HALF, 0.0, _HALF])


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
        cosine = _COSINES[step]
        sine = _COSINES[(step + 6) % 8]
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
    start = 0
    for ring in range(len(ends)):
        end = ends[ring]
        for i in range(start, end):
            j = i + 1 if i + 1 < end else start
            ax, ay, bx, by = vertices[i, 0], vertices[i, 1] - low, vertices[j, 0], vertices[j, 1] - low
            # Below the polygon, or beside it, an edge adds nothing.
            if (ay > 0.0 or by > 0.0) and max(ax, bx) > left and min(ax, bx) < right:
                for k in range(len(polygon)):
                    m = k + 1 if k + 1 < len(polygon) else 0
                    cx, cy, dx, dy = polygon[k, 0], polygon[k, 1] - low, polygon[m, 0], polygon[m, 1] - low
                    area += _under(ax, ay, bx, by, cx, cy, dx, dy)
        start = end
    return max(area, 0.0)


@compiled
def outline_area(vertices: Any, ends: Any) -> float:
    """Return the area of an outline in square board units: float64[V, 2] and int[R]."""
    twice = 0.0
    start = 0
    for ring in range(len(ends)):
        end = ends[ring]
        for i in range(start, end):
            j = i + 1 if i + 1 < end else start
            twice += (vertices[i, 0] - vertices[j, 0]) * (vertices[i, 1] + vertices[j, 1])
        start = end
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
    """Return how far two convex polygons reach into each other: the shortest move that parts them.

    Args:
        polygon: float64[n, 2], counter-clockwise.
        other: float64[n, 2], counter-clockwise.

    Returns:
        Board units; 0 if they touch, negative if they are apart.
    """
    return -max(gap(polygon, other), gap(other, polygon))


@compiled
def collides(polygon: Any, other: Any) -> bool:
    """Return whether pieces overlap by more than `TOLERANCE`; touching pieces do not. Arguments as in `depth`."""
    return gap(polygon, other) < -TOLERANCE and gap(other, polygon) < -TOLERANCE


@compiled
def on_board(polygon: Any) -> bool:
    """Return whether a piece is on the board, its edges included, within `TOLERANCE`; if not, it hits BOUNDARY.

    A polygon with a vertex that is not finite is not on the board.
    """
    for i in range(len(polygon)):
        for axis in range(2):
            if not -TOLERANCE <= polygon[i, axis] <= BOARD + TOLERANCE:
                return False
    return True
