"""An exact search for all ways to fill an outline with the seven pieces.

At the leftmost vertex of the empty region (the lowest of these), some piece must have a corner, with an edge along the
steepest side at that vertex. So each piece has only as many placements there as it has corners.
"""

from functools import partial
from typing import Any

import numpy as np

from ..core.compiled import compiled
from .generator import corners, overlaps
from .geometry import covered_area
from .lattice import (
    AREAS,
    BROWN,
    CORNER_AT,
    CORNERS,
    CREAM,
    EDGE_TO,
    GREEN,
    PURPLE,
    RED,
    SEGMENTS,
    YELLOW,
    boundary,
    copy,
    direction,
    leftmost,
    value,
)

_DIFFERENT = CORNERS.copy()  # corners that differ in more than the piece's rotation
_DIFFERENT[PURPLE], _DIFFERENT[BROWN] = 1, 2


@partial(compiled, allocates=True)
def solve(vertices: Any, ends: Any, steps: int, solutions: Any) -> int:
    """Fill an outline with the seven pieces.

    Args:
        vertices: int64[V, 2], the exact outline (see `lattice`).
        ends: int[R] of the outline.
        steps: the most placements to try; a search usually needs a few thousand.
        solutions: int64[N, 7, 3], written: by piece, ``(step, x, y)`` of each placement (see `lattice`). Red is left
            of, or below, its twin Cream, and so is Yellow of Green.

    Returns:
        The number of solutions written. It is all of them if it is below N and `steps` was enough.
    """
    flat = np.empty((len(vertices), 2))
    segments = np.empty((8, SEGMENTS, 5), np.int64)  # the border of what is empty, after each placement
    counts = np.zeros(8, np.int64)
    edges = np.empty((SEGMENTS + 4, 5), np.int64)
    counts[0] = boundary(edges, _write_edges(vertices, ends, flat, edges), segments[0])
    if counts[0] < 0:
        return 0
    shapes = np.empty((7, 4, 2))
    shape = np.empty((4, 2))
    order = np.empty(7, np.int64)
    place = np.empty((7, 3), np.int64)
    used = np.zeros(7, np.bool_)
    tried = np.zeros(8, np.int64)  # 4 · piece + corner, of the next try at each depth
    depth = found = 0
    while depth >= 0 and found < len(solutions) and steps > 0:
        if tried[depth] == 28:
            depth -= 1
            if depth >= 0:
                used[order[depth]] = False
            continue
        piece, corner = divmod(tried[depth], 4)
        tried[depth] += 1
        twin = (piece == CREAM and not used[RED]) or (piece == GREEN and not used[YELLOW])
        if used[piece] or twin or corner >= _DIFFERENT[piece]:
            continue
        steps -= 1
        empty = segments[depth]
        side = leftmost(empty, counts[depth])
        step = (EDGE_TO[piece, 0, corner] - empty[side, 4]) % 8
        x = empty[side, 0] - CORNER_AT[piece, step, corner, 0]
        y = empty[side, 1] - CORNER_AT[piece, step, corner, 1]
        corners(piece, step, x, y, shape)
        if covered_area(shape, flat, ends) < AREAS[piece] - 1e-6 or overlaps(shape, shapes, depth):
            continue
        place[piece, 0], place[piece, 1], place[piece, 2] = step, x, y
        if depth == 6:
            for i in range(7):
                copy(place, i, solutions[found], i)
            found += 1
            continue
        total = counts[depth]
        for i in range(total):
            copy(empty, i, edges, i)
        for i in range(CORNERS[piece]):
            j = i + 1 if i + 1 < CORNERS[piece] else 0
            edges[total, 0] = x + CORNER_AT[piece, step, j, 0]
            edges[total, 1] = y + CORNER_AT[piece, step, j, 1]
            edges[total, 2] = x + CORNER_AT[piece, step, i, 0]
            edges[total, 3] = y + CORNER_AT[piece, step, i, 1]
            edges[total, 4] = (EDGE_TO[piece, step, i] + 4) % 8
            total += 1
        counts[depth + 1] = boundary(edges, total, segments[depth + 1])
        if counts[depth + 1] > 0:
            for i in range(4):
                copy(shape, i, shapes[depth], i)
            order[depth] = piece
            used[piece] = True
            depth += 1
            tried[depth] = 0
    return found


@compiled
def _write_edges(vertices: Any, ends: Any, flat: Any, edges: Any) -> int:
    """Write the vertices of an outline as numbers, and its edges: x, y, x, y, direction. Return how many there are."""
    start = 0
    for ring in range(len(ends)):
        for i in range(start, ends[ring]):
            j = i + 1 if i + 1 < ends[ring] else start
            flat[i, 0], flat[i, 1] = value(vertices[i, 0]), value(vertices[i, 1])
            edges[i, 0], edges[i, 1] = vertices[i, 0], vertices[i, 1]
            edges[i, 2], edges[i, 3] = vertices[j, 0], vertices[j, 1]
            edges[i, 4] = direction(edges[i, 2] - edges[i, 0], edges[i, 3] - edges[i, 1])
        start = ends[ring]
    return start
