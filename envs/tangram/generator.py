"""Random silhouettes that the seven pieces fill: piece after piece joins the figure by an edge or half of one.

A silhouette of one split never comes up in another, whatever the seeds: its split is a function of its shape, the same
in every rotation (`split_of`), and `generate` passes over figures of other splits.

The measure of difficulty is the share of the pieces' edges, by length, that the silhouette hides, see `hidden`.
"""

from math import hypot
from typing import Any

import numpy as np

from ..core.compiled import compiled, inlined
from ..core.memory import local_array
from ..core.rng import GOLDEN, mix
from .geometry import gap
from .lattice import BOARD, CORNER_AT, CORNERS, EDGE_TO, RINGS, SHAPES, VERTICES, after, code, outline, value

SPLITS = ("train", "validation", "test")
"""70 %, 10 % and 20 % of all silhouettes."""
ANY = -1
"""The number of no split: `generate` then takes every figure."""

WIDEST = 10.0
"""u: the widest and highest that a generated figure is."""
SHORTEST = 0.25
"""u: the shortest edge of a generated figure's outline."""

_EDGES = np.hypot(*np.moveaxis(np.roll(SHAPES, -1, 1) - SHAPES, 2, 0))  # a triangle's fourth is 0
PERIMETER = float(_EDGES.sum())
"""u: all edges of the seven pieces."""

_UNIT = np.array([[np.cos(np.pi / 4 * way), np.sin(np.pi / 4 * way)] for way in range(8)])
# The points of both edges that are laid upon each other, in halves of each from its start; the edges run in opposite
# directions, and at (0, 0) and (2, 2) they would have no more than these points in common.
_JOINS = np.array([(0, 2), (0, 1), (1, 2), (1, 1), (1, 0), (2, 1), (2, 0)])
_TOUCH = 1e-6  # u; numbers of the lattice that occur here differ by more than 0.001


@compiled
def corners(piece: int, step: int, x: int, y: int, out: Any) -> None:
    """Write the vertices (float64[4, 2], u) of a piece whose first one is at the exact point (x, y)."""
    for i in range(4):
        out[i, 0] = value(x + CORNER_AT[piece, step, i, 0])
        out[i, 1] = value(y + CORNER_AT[piece, step, i, 1])


@compiled
def _along(piece: int, step: int, corner: int, halves: int, axis: int) -> int:
    """Return x or y of the point that many halves along the edge from `corner`, exact, from the first vertex."""
    start = CORNER_AT[piece, step, corner, axis]
    return int(start + (CORNER_AT[piece, step, (corner + 1) % CORNERS[piece], axis] - start) // 2 * halves)


@compiled
def overlaps(shape: Any, shapes: Any, count: int) -> bool:
    """Return True if a shape overlaps any of the first `count` of `shapes`."""
    hit = False
    for i in range(count):
        hit = hit or (gap(shape, shapes[i]) < -_TOUCH and gap(shapes[i], shape) < -_TOUCH)
    return hit


@compiled
def _contact(piece: int, step: int, shape: Any, pieces: Any, steps: Any, shapes: Any, count: int) -> float:
    """Return the length, in u, along which a shape's edges lie on those of the first `count` pieces."""
    length = 0.0
    for i in range(CORNERS[piece]):
        way = EDGE_TO[piece, step, i]
        for other in range(count):
            for j in range(CORNERS[pieces[other]]):
                if EDGE_TO[pieces[other], steps[other], j] == (way + 4) % 8:
                    right = shapes[other, j, 0] - shape[i, 0]
                    up = shapes[other, j, 1] - shape[i, 1]
                    if abs(right * _UNIT[way, 1] - up * _UNIT[way, 0]) < _TOUCH:
                        far = right * _UNIT[way, 0] + up * _UNIT[way, 1]
                        near = far - _EDGES[pieces[other], j]
                        length += max(0.0, min(far, _EDGES[piece, i]) - max(near, 0.0))
    return length


@compiled
def _draw(words: Any, n: int) -> int:
    """Draw a whole number from 0 to `n` − 1 from the stream ``words[0]``, as `rng.draw` does from a record's.

    With an array in place of records, the generator is compiled once for all of them.
    """
    words[0] += GOLDEN
    return np.int64(((mix(words[0]) >> np.uint64(32)) * np.uint64(n)) >> np.uint64(32))  # type: ignore[return-value]


@compiled
def assemble(words: Any, pieces: Any, steps: Any, at: Any) -> None:
    """Join the seven pieces in random order to a figure, by draws from the stream ``words[0]``.

    How closely is drawn too: of one to four random joins of a piece, the one with the longest contact is taken.

    Args:
        words: uint64[1], the stream.
        pieces: int64[7], written: the pieces in the order in which they joined.
        steps: int64[7], written: their rotations in steps of 45°.
        at: int64[7, 2], written: their first vertices, exact.
    """
    shapes = local_array((7, 4, 2), np.float64)
    shape = local_array((4, 2), np.float64)
    for i in range(7):
        pieces[i] = i
    for i in range(6, 0, -1):
        j = _draw(words, i + 1)
        pieces[i], pieces[j] = pieces[j], pieces[i]
    steps[0] = _draw(words, 8)
    at[0, 0] = at[0, 1] = 0
    corners(pieces[0], steps[0], 0, 0, shapes[0])
    choices = 1 + _draw(words, 4)
    count = 1
    while count < 7:
        piece = pieces[count]
        best = -1.0
        left = choices
        while left:
            host = _draw(words, count)
            edge = _draw(words, CORNERS[pieces[host]])
            side = _draw(words, CORNERS[piece])
            join = _draw(words, len(_JOINS))
            step = (EDGE_TO[piece, 0, side] - EDGE_TO[pieces[host], steps[host], edge] + 4) % 8
            x = at[host, 0] + _along(pieces[host], steps[host], edge, _JOINS[join, 0], 0)
            y = at[host, 1] + _along(pieces[host], steps[host], edge, _JOINS[join, 0], 1)
            x -= _along(piece, step, side, _JOINS[join, 1], 0)
            y -= _along(piece, step, side, _JOINS[join, 1], 1)
            corners(piece, step, x, y, shape)
            if overlaps(shape, shapes, count):
                continue
            left -= 1
            length = _contact(piece, step, shape, pieces, steps, shapes, count) if choices > 1 else 0.0
            if length > best:
                best = length
                steps[count] = step
                at[count, 0] = x
                at[count, 1] = y
        corners(piece, steps[count], at[count, 0], at[count, 1], shapes[count])
        count += 1


@compiled
def centre(vertices: Any, ends: Any, scale: Any, middle: float, out: Any) -> None:
    """Write an exact outline as floats, the middle of its bounding box at (`middle`, `middle`).

    Args:
        vertices: int64[V, 2] of an outline whose bounding box begins at (0, 0).
        ends: int[R] of the outline.
        scale: board units per u in x and y, one of `ASPECTS`.
        middle: board units, `BOARD` / 2 on the board.
        out: float64[V, 2], written; 0 behind the last vertex.
    """
    wide = 0.0
    high = 0.0
    for i in range(ends[-1]):
        wide = max(wide, value(vertices[i, 0]))
        high = max(high, value(vertices[i, 1]))
    for i in range(len(out)):
        if i < ends[-1]:
            out[i, 0] = middle + scale[0] * (value(vertices[i, 0]) - wide / 2.0)
            out[i, 1] = middle + scale[1] * (value(vertices[i, 1]) - high / 2.0)
        else:
            out[i, 0] = out[i, 1] = 0.0


@compiled
def split_of(vertices: Any, ends: Any) -> int:
    """Return the split, a number in `SPLITS`, of the silhouette with this exact outline, in whatever rotation."""
    tenth = int(code(vertices, ends) % np.uint64(10))
    return 0 if tenth < 7 else 1 if tenth == 7 else 2


@compiled
def hidden(vertices: Any, ends: Any) -> float:
    """Return the share of the pieces' edges that an outline (float64[V, 2] in u) hides: 1 − perimeter / `PERIMETER`.

    The fewer edges show, the harder the figure: from 0 (no two pieces share an edge) to 0.69 (a square or octagon).
    """
    length = 0.0
    for i in range(ends[-1]):
        j = after(ends, i)
        length += hypot(vertices[j, 0] - vertices[i, 0], vertices[j, 1] - vertices[i, 1])
    return 1.0 - length / PERIMETER


@compiled
def _fits(vertices: Any, ends: Any) -> bool:
    """Return True if an outline (float64[V, 2] in u) is small enough and has no short edge."""
    for i in range(ends[-1]):
        j = after(ends, i)
        if abs(vertices[i, 0]) > WIDEST / 2 or abs(vertices[i, 1]) > WIDEST / 2:
            return False
        if hypot(vertices[j, 0] - vertices[i, 0], vertices[j, 1] - vertices[i, 1]) < SHORTEST:
            return False
    return True


@inlined
def find(
    words: Any, split: int, easiest: float, hardest: float, pieces: Any, steps: Any, at: Any, vertices: Any, ends: Any
) -> None:
    """Draw figures from the stream ``words[0]`` until one fits; write it with its solution.

    Args:
        words: uint64[1], the stream.
        split: its number in `SPLITS`, or `ANY`.
        easiest: the least that may be `hidden`.
        hardest: the most that may be `hidden`; see `difficulty`.
        pieces: int64[7], written as by `assemble`.
        steps: int64[7], written as by `assemble`.
        at: int64[7, 2], written as by `assemble`.
        vertices: int64[VERTICES, 2], the exact outline, written.
        ends: int[RINGS] of the outline, written.
    """
    flat = local_array((VERTICES, 2), np.float64)
    while True:
        assemble(words, pieces, steps, at)
        if outline(pieces, steps, at, 7, vertices, ends) > 0:
            centre(vertices, ends, (1.0, 1.0), 0.0, flat)
            wanted = easiest <= hidden(flat, ends) <= hardest and _fits(flat, ends)
            if wanted and (split == ANY or split == split_of(vertices, ends)):
                return


@inlined
def generate(table: Any, split: int, easiest: float, hardest: float, scale: Any, vertices: Any, ends: Any) -> None:
    """Draw a silhouette from ``table.stream`` and write its outline, in the middle of the board.

    Nothing of the solution is kept. One takes some 25 µs (training split, any difficulty), 80 µs (test split).

    Args:
        table: a record with a stream.
        split: its number in `SPLITS`, or `ANY`.
        easiest: the least that may be `hidden`.
        hardest: the most that may be `hidden`; see `difficulty`.
        scale: board units per u in x and y, one of `ASPECTS`.
        vertices: float64[VERTICES, 2], written in board units; 0 behind the last one.
        ends: int[RINGS], written.
    """
    # Arrays of one type, whatever the record's are: so all of this is compiled once.
    pieces = local_array(7, np.int64)
    steps = local_array(7, np.int64)
    at = local_array((7, 2), np.int64)
    exact = local_array((VERTICES, 2), np.int64)
    exact_ends = local_array(RINGS, np.int64)
    words = local_array(1, np.uint64)
    words[0] = table.stream
    find(words, split, easiest, hardest, pieces, steps, at, exact, exact_ends)
    table.stream = words[0]
    centre(exact, exact_ends, scale, BOARD / 2, vertices)
    for ring in range(len(ends)):
        ends[ring] = exact_ends[ring]


def difficulty(easiest: float, hardest: float) -> tuple[float, float]:
    """Check a range of difficulties, as shares that are `hidden`, for `generate`.

    Raises:
        ValueError: where figures are too rare to be drawn in good time.
    """
    if not (0.0 <= easiest <= 0.55 and 0.3 <= hardest <= 1.0 and hardest - easiest > 0.0499):
        raise ValueError(
            f"figures that hide {easiest:g} to {hardest:g} of their edges are too rare: "
            "give a range from at most 0.55 to at least 0.3, 0.05 wide or more"
        )
    return float(easiest), float(hardest)
