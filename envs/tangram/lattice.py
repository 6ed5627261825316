"""Exact coordinates: every figure of this game has its vertices at numbers a/2 + b √2/2 u, with whole a and b.

Pieces stand in steps of 45°, where the vectors between their vertices are whole multiples of 1 and √2 u, and join by
edges and halves of edges. Such a number is held as one int64, ``a · 2²⁰ + b``: sums, differences and equality are those
of the integers, so that edges cancel exactly and an outline is the same, bit for bit, however it was built.

A placement is ``(piece, step, x, y)``: the piece's number, its rotation in steps of 45° clockwise, and its first
vertex, exact.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..core.compiled import compiled
from ..core.memory import local_array
from ..core.rng import GOLDEN, mix

PIECES = ("Red", "Cream", "Purple", "Brown", "Blue", "Yellow", "Green")
"""The names, in the protocol's order. Elsewhere a piece is an index into this tuple."""
RED, CREAM, PURPLE, BROWN, BLUE, YELLOW, GREEN = range(7)

BOARD = 100.0
"""Side of the board in board units."""

RASTER = (337.0, 322.0)
"""Width and height of the board in TangramCollaborativeAI, in pixels."""

_ROOT = 2**0.5
_SHAPES = (
    ((0, 1), (-2, -1), (2, -1)),
    ((0, 1), (-2, -1), (2, -1)),
    ((_ROOT / 2, _ROOT / 2), (-_ROOT / 2, _ROOT / 2), (-_ROOT / 2, -_ROOT / 2), (_ROOT / 2, -_ROOT / 2)),
    ((1.5, 0.5), (-0.5, 0.5), (-1.5, -0.5), (0.5, -0.5)),  # never flipped
    ((_ROOT / 2, _ROOT), (-_ROOT / 2, 0), (_ROOT / 2, -_ROOT)),
    ((0, 5 / 8), (-1, -3 / 8), (1, -3 / 8)),
    ((0, 1 / 2), (-1, -1 / 2), (1, -1 / 2)),
)
CORNERS = np.array([len(shape) for shape in _SHAPES])
"""int64[7]: how many vertices each piece has."""

SHAPES = np.array([shape + shape[:1] * (4 - len(shape)) for shape in _SHAPES], np.float64)
"""float64[7, 4, 2]: vertices around the centre at rotation 0 in u, y upwards, counter-clockwise; a triangle's first one
stands again at the end. The scene writes √2/2 u as 45.25 scene units; here it is exact, so that pieces fit."""

AREAS = np.array([4.0, 4.0, 2.0, 2.0, 2.0, 1.0, 1.0])
"""float64[7] in u²; 16 in all."""

PERIODS = np.array([360, 360, 90, 180, 360, 360, 360])
"""int64[7]: the rotation in degrees after which a piece looks the same."""

ASPECTS = {"square": (25.6 / 3.37, 25.6 / 3.37), "godot": (25.6 / 3.37, 25.6 / 3.22)}
"""Board units per u, in x and in y: uniform, or as in TangramCollaborativeAI, whose board is wider than high."""


VERTICES = 32
"""Most vertices of a figure's outline, all rings together."""
RINGS = 4
"""Most rings of a figure's outline: parts that touch in a point only, and holes."""

ONE = 2 << 20
"""1 u."""
ROOT = 2
"""√2 u."""

_BASE = 1 << 20
_SQRT2 = 2**0.5


@compiled
def halves(number: int) -> tuple[int, int]:
    """Return a and b of an exact number a/2 + b √2/2."""
    b = ((number + _BASE // 2) & (_BASE - 1)) - _BASE // 2
    return (number - b) // _BASE, b


@compiled
def value(number: int) -> float:
    """Return an exact number as a float, in u."""
    a, b = halves(number)
    return 0.5 * float(a) + 0.5 * _SQRT2 * float(b)


def values(numbers: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return an array of exact numbers as floats, in u."""
    b = ((numbers + _BASE // 2) & (_BASE - 1)) - _BASE // 2
    return 0.5 * ((numbers - b) // _BASE) + 0.5 * _SQRT2 * b


def rings_of(vertices: NDArray[Any], ends: NDArray[Any]) -> list[Any]:
    """Return the rings of an outline, each as a list of its vertices."""
    return [ring.tolist() for ring in np.split(vertices[: ends[-1]], ends[:-1]) if len(ring)]


@compiled
def after(ends: Any, i: int) -> int:
    """Return the vertex that follows vertex `i` in its ring of an outline, whose rings have these `ends`."""
    start = 0
    for ring in range(len(ends)):
        end = ends[ring]
        if i < end:
            return i + 1 if i + 1 < end else start
        start = end
    return start


def exact(length: float, tolerance: float = 1e-6) -> int:
    """Return the exact number nearest to a `length` in u; b from -20 to 20 is tried.

    Raises:
        ValueError: if there is none within `tolerance` (at most 0.002: then there are never two).
    """
    b = np.arange(-20, 21)
    rest = 2 * length - b * _SQRT2
    off = np.abs(rest - np.rint(rest))
    nearest = int(off.argmin())
    if not off[nearest] <= 2 * tolerance:
        raise ValueError(f"{length} u is no sum of halves of 1 and of √2")
    return int(np.rint(rest[nearest])) * _BASE + int(b[nearest])


def _exact_shapes() -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    shapes = np.zeros((7, 8, 4, 2), np.int64)
    directions = np.zeros((7, 8, 4), np.int64)
    for piece, shape in enumerate(SHAPES):
        for step in range(8):
            angle = np.pi / 4 * step
            turn = np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])
            vertices = (shape - shape[0]) @ turn  # clockwise
            shapes[piece, step] = [[exact(x), exact(y)] for x, y in vertices]
            right, up = (np.roll(vertices[: CORNERS[piece]], -1, 0) - vertices[: CORNERS[piece]]).T
            directions[piece, step, : CORNERS[piece]] = np.rint(np.arctan2(up, right) / (np.pi / 4)) % 8
    return shapes, directions


CORNER_AT, EDGE_TO = _exact_shapes()
"""int64[7, 8, 4, 2]: the vertices of each piece in each step, from its first one; and int64[7, 8, 4]: the direction of
the edge from each vertex to the next, in steps of 45° counter-clockwise from east."""

_EDGES = 4 * 7
"""Most edges of seven pieces."""
SEGMENTS = 64
"""Room for the segments that they break into; of 300,000 drawn figures none had more than 25 in its border."""


@compiled
def _between(x: int, y: int, way: int, to_x: int, to_y: int) -> float:
    """Return the distance along direction `way` of the point (x, y) from the origin, as a share of the edge to
    (to_x, to_y); −1 if it lies on no such edge.
    """
    if way % 4 == 0:
        on = y == 0
    elif way % 4 == 2:
        on = x == 0
    elif way % 4 == 1:
        on = x == y
    else:
        on = x == -y
    if not on:
        return -1.0
    return value(y) / value(to_y) if way % 4 == 2 else value(x) / value(to_x)


@compiled
def copy(source: Any, i: int, target: Any, j: int) -> None:
    """Copy row i of `source` to row j of `target`; ``target[j] = source[i]`` takes Numba a long time to compile."""
    for axis in range(source.shape[1]):
        target[j, axis] = source[i, axis]


@compiled
def boundary(edges: Any, count: int, segments: Any) -> int:
    """Break edges where others begin, and cancel what runs there and back: the border of the figure remains.

    Args:
        edges: int64[≥ count, 5], ``(x, y, to_x, to_y, direction)``, the inside on the left.
        count: how many.
        segments: int64[SEGMENTS, 5], written likewise.

    Returns:
        How many segments were written; −1 if there was no room.
    """
    segment_count = 0
    for i in range(count):
        way = edges[i, 4]
        long_x = edges[i, 2] - edges[i, 0]
        long_y = edges[i, 3] - edges[i, 1]
        here_x, here_y, here = edges[i, 0], edges[i, 1], 0.0
        while here < 1.0:
            next_x, next_y, nearest = edges[i, 2], edges[i, 3], 1.0
            for j in range(count):
                along = _between(edges[j, 0] - edges[i, 0], edges[j, 1] - edges[i, 1], way, long_x, long_y)
                if here + 1e-6 < along < nearest - 1e-6:
                    next_x, next_y, nearest = edges[j, 0], edges[j, 1], along
            back = -1
            for k in range(segment_count):
                if (
                    segments[k, 0] == next_x
                    and segments[k, 1] == next_y
                    and segments[k, 2] == here_x
                    and segments[k, 3] == here_y
                ):
                    back = k
            if back >= 0:
                segment_count -= 1
                copy(segments, segment_count, segments, back)
            elif segment_count == len(segments):
                return -1
            else:
                segments[segment_count, 0] = here_x
                segments[segment_count, 1] = here_y
                segments[segment_count, 2] = next_x
                segments[segment_count, 3] = next_y
                segments[segment_count, 4] = way
                segment_count += 1
            here_x, here_y, here = next_x, next_y, nearest
    return segment_count


@compiled
def _before(vertices: Any, i: int, j: int) -> bool:
    """Return True if vertex i is left of vertex j, or below it on the same vertical line."""
    if vertices[i, 0] != vertices[j, 0]:
        return value(vertices[i, 0]) < value(vertices[j, 0])
    return value(vertices[i, 1]) < value(vertices[j, 1])


@compiled
def leftmost(segments: Any, count: int) -> int:
    """Return the segment of the first `count` that begins farthest left, lowest there, steepest down there."""
    first = 0
    for i in range(1, count):
        same = segments[i, 0] == segments[first, 0] and segments[i, 1] == segments[first, 1]
        # Directions there are −90° to 90°: 6, 7, 0, 1, 2.
        if _before(segments, i, first) or (same and (segments[i, 4] + 2) % 8 < (segments[first, 4] + 2) % 8):
            first = i
    return first


@compiled
def _emit(path: Any, start: int, stop: int, vertices: Any, begin: int) -> int:
    """Write ``path[start:stop]`` as a ring behind vertex `begin`, from its leftmost vertex; return the ring's end.

    Vertices on a straight line are left out. −1 if there is no room.
    """
    end = begin
    first = begin
    for i in range(start, stop):
        before = i - 1 if i > start else stop - 1
        if path[i, 4] != path[before, 4]:
            if end == len(vertices):
                return -1
            vertices[end, 0] = path[i, 0]
            vertices[end, 1] = path[i, 1]
            if _before(vertices, end, first):
                first = end
            end += 1
    # Rotate by three reversals.
    for low, high in ((begin, first), (first, end), (begin, end)):
        high -= 1
        while low < high:
            for axis in range(2):
                vertices[low, axis], vertices[high, axis] = vertices[high, axis], vertices[low, axis]
            low += 1
            high -= 1
    return end


@compiled
def _arrange(loose: Any, loose_ends: Any, made: int, vertices: Any, ends: Any) -> None:
    """Copy `made` rings in the order of their first vertices, or of their second ones where they share the first."""
    end = 0
    taken = local_array(RINGS, np.bool_)
    taken[:] = False
    for ring in range(len(ends)):
        least = -1
        first = 0
        for other in range(made):
            begin = loose_ends[other - 1] if other else 0
            same = loose[begin, 0] == loose[first, 0] and loose[begin, 1] == loose[first, 1]
            if not taken[other] and (
                least < 0 or _before(loose, begin, first) or (same and _before(loose, begin + 1, first + 1))
            ):
                least = other
                first = begin
        if least >= 0:
            taken[least] = True
            for i in range(first, loose_ends[least]):
                copy(loose, i, vertices, end)
                end += 1
        ends[ring] = end


@compiled
def rings(segments: Any, count: int, vertices: Any, ends: Any) -> int:
    """Join a border's segments to rings, each of which meets no vertex twice.

    Outer rings run counter-clockwise and holes clockwise, each from its leftmost vertex, lowest there; the rings come
    in the order of these vertices. Where parts meet in a point only, they are rings of their own.

    Args:
        segments: int64[≥ count, 5] from `boundary`; used up.
        count: how many.
        vertices: int64[V, 2], written.
        ends: int64[R], written; rings that are not used get the end of the last one.

    Returns:
        How many rings; −1 if there was no room.
    """
    path = local_array((SEGMENTS, 5), np.int64)
    loose = local_array((VERTICES, 2), np.int64)[: len(vertices)]
    loose_ends = local_array(RINGS, np.int64)
    ring_count = begin = 0
    while count:
        length = 0
        follow = leftmost(segments, count)
        while True:
            copy(segments, follow, path, length)
            count -= 1
            copy(segments, count, segments, follow)
            length += 1
            x, y = path[length - 1, 2], path[length - 1, 3]
            start = length - 1
            while start >= 0 and not (path[start, 0] == x and path[start, 1] == y):
                start -= 1
            if start >= 0:
                if ring_count == len(ends):
                    return -1
                begin = _emit(path, start, length, loose, begin)
                if begin < 0:
                    return -1
                loose_ends[ring_count] = begin
                ring_count += 1
                length = start
                if length == 0:
                    break
            way = path[length - 1, 4]
            # Keep to the same part: the sharpest turn to the left.
            follow = -1
            sharpest = -1
            for i in range(count):
                turn = (segments[i, 4] - way + 3) % 8
                if segments[i, 0] == x and segments[i, 1] == y and turn > sharpest:
                    follow = i
                    sharpest = turn
    _arrange(loose, loose_ends, ring_count, vertices, ends)
    return ring_count


@compiled
def outline(pieces: Any, steps: Any, at: Any, count: int, vertices: Any, ends: Any) -> int:
    """Write the outline of placed pieces that do not overlap.

    It depends on nothing but the figure's shape: moved so that its bounding box begins at (0, 0), in the order of
    `rings`.

    Args:
        pieces: int[≥ count].
        steps: int[≥ count], rotations in steps of 45°.
        at: int64[≥ count, 2], the pieces' first vertices, exact.
        count: how many pieces.
        vertices: int64[V, 2], written, exact.
        ends: int64[R], written as by `rings`.

    Returns:
        How many rings; −1 if there was no room.
    """
    edges = local_array((_EDGES, 5), np.int64)
    total = 0
    for i in range(count):
        corners = CORNERS[pieces[i]]
        for j in range(corners):
            to = j + 1 if j + 1 < corners else 0
            for axis in range(2):
                edges[total, axis] = at[i, axis] + CORNER_AT[pieces[i], steps[i], j, axis]
                edges[total, 2 + axis] = at[i, axis] + CORNER_AT[pieces[i], steps[i], to, axis]
            edges[total, 4] = EDGE_TO[pieces[i], steps[i], j]
            total += 1
    segments = local_array((SEGMENTS, 5), np.int64)
    segment_count = boundary(edges, total, segments)
    ring_count = -1 if segment_count < 0 else rings(segments, segment_count, vertices, ends)
    if ring_count > 0:
        low_x = vertices[0, 0]  # of all, the first vertex lies farthest left
        low_y = vertices[0, 1]
        for i in range(1, ends[-1]):
            if value(vertices[i, 1]) < value(low_y):
                low_y = vertices[i, 1]
        for i in range(ends[-1]):
            vertices[i, 0] -= low_x
            vertices[i, 1] -= low_y
    return ring_count


@compiled
def code(vertices: Any, ends: Any) -> Any:
    """Return 64 bits (uint64) that stand for an exact outline in any place and any rotation by steps of 45°."""
    total = np.uint64(0)
    start = 0
    for ring in range(len(ends)):
        end = ends[ring]
        count = end - start
        if count == 0:
            continue
        # Each side as its length and direction; the least of the codes that begin at each of the vertices.
        sides = local_array((VERTICES, 2), np.int64)
        for i in range(count):
            j = i + 1 if i + 1 < count else 0
            right = vertices[start + j, 0] - vertices[start + i, 0]
            up = vertices[start + j, 1] - vertices[start + i, 1]
            sides[i, 1] = direction(right, up)
            length = right if right != 0 else up
            if value(length) < 0.0:
                length = -length
            if sides[i, 1] % 2:  # times √2
                a, b = halves(length)
                length = 2 * b * _BASE + a
            sides[i, 0] = length
        least = ~np.uint64(0)
        for first in range(count):
            word = GOLDEN
            for k in range(count):
                i = first + k if first + k < count else first + k - count
                turn = (sides[i, 1] - sides[first, 1]) % 8
                word = mix(word + np.uint64(sides[i, 0] * 8 + turn))
            least = min(least, word)
        total += mix(least)
        start = end
    return mix(total)


@compiled
def direction(right: int, up: int) -> int:
    """Return the direction of an exact vector, in steps of 45° counter-clockwise from east."""
    east = value(right)
    north = value(up)
    if up == 0:
        return 0 if east > 0.0 else 4
    if right == 0:
        return 2 if north > 0.0 else 6
    if east > 0.0:
        return 1 if north > 0.0 else 7
    return 3 if north > 0.0 else 5
