"""The legal places: a corner of the uncovered region, and the pieces that can be put into it.

At a vertex of the outline or of a placed piece, a sector (see `sectors`) is open if it is inside the figure and no
piece covers it. A run of up to three open sectors is a convex corner of the uncovered region. In an exact solution some
piece has a vertex in that corner and one side along its right side. So these placements are enough: every exact
solution can be played corner by corner.

The current corner, the **focus**, is the corner that the fewest pieces fit, the sharpest among equals. Corners that no
piece of the drawer fits come last. Every skipped turn moves the focus to the next corner.

At the focus a place is legal if a piece of the drawer fits there, inside the figure and over no other piece. If no
piece fits, pieces on the board that fit there may be moved, and pieces of the drawer may exceed the figure.
"""

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..core.compiled import compiled
from ..core.memory import local_array
from .forms import (
    ALL_PIECES,
    COUNT,
    EVERYTHING,
    FIGURE,
    FIRST,
    FORM,
    LINES,
    NARROW,
    NOBODY,
    OFFSET,
    PIECE,
    ROTATION,
    TWIN,
    clear,
    frame,
    free_at,
    snug,
)
from .geometry import NEAR, WHOLE, covered_area, on_board
from .geometry import place as put_shape
from .lattice import AREAS, CORNERS, VERTICES, values
from .table import PLACES, POINTS, ROWS

TOLERANCE = 0.04
"""u: how far an edge may be off in length, and its end beside its direction. The small triangle's legs are √2 u."""
KEPT = 20_000
"""Ways to snap half of the edges that are kept, the likeliest."""
OUTLINES = 8
"""Most outlines that are offered for one figure."""
_BASE = 1 << 20
_COUNTS = np.array([(a, b) for a in range(-10, 25) for b in range(-8, 17)])
_LENGTHS = 0.5 * _COUNTS[:, 0] + 0.5 * 2**0.5 * _COUNTS[:, 1]
"""u: what an edge can measure along an axis, a/2 + b √2/2."""
_ODDITY = 0.002 * np.abs(_COUNTS).sum(1)
"""u: edges of few halves are likelier than others; this counts as much as an error."""
_WAYS = np.array([(1, 0), (1, 1), (0, 1), (-1, 1), (-1, 0), (-1, -1), (0, -1), (1, -1)])
"""x and y of the eight directions, from east counter-clockwise."""

Points = NDArray[np.float64]
Ways = tuple[NDArray[np.int64], NDArray[np.float64]]
Sums = tuple[NDArray[np.int64], NDArray[np.float64], NDArray[np.int64]]


def snapped(points: Points) -> Iterator[list[tuple[int, int]]]:
    """Yield the outlines on the lattice that given points may stand for, as exact vertices (see `lattice`).

    The likeliest comes first: that with the least errors and the simplest lengths.

    Args:
        points: float64[V, 2], y upwards, in any unit, either way round. The first point may stand again at the end.

    Raises:
        ValueError: saying why they cannot be brought onto the lattice.
    """
    ring = _scaled(np.asarray(points, np.float64))
    edges = np.roll(ring, -1, axis=0) - ring
    ways: list[Ways] = []
    for number, edge in enumerate(edges):
        ways.append(_snap(edge))
        if not len(ways[-1][0]):
            (x, y), (right, up) = ring[number].tolist(), edge.tolist()
            raise ValueError(
                f"the edge from ({x:.3g}, {y:.3g}) by ({right:.3g}, {up:.3g}) u is no edge that pieces can make, "
                f"within {TOLERANCE:g} u"
            )
    middle = len(ways) // 2
    count = 0
    for moves in _closing(_sums(ways[:middle]), _sums(ways[middle:])):
        vertices = np.cumsum(moves, axis=0) - moves
        if abs(abs(_area(values(vertices))) - AREAS.sum()) < 1e-6:
            yield [(x, y) for x, y in vertices.tolist()]
            count += 1
            if count == OUTLINES:
                return
    if not count:
        raise ValueError(
            f"its edges, each within {TOLERANCE:g} u, close to no outline with the area of the seven pieces"
        )


def _sums(ways: list[Ways]) -> Sums:
    """Return the likeliest ways to snap some edges: their sums, their costs, and the moves themselves."""
    sums, costs, moves = np.zeros((1, 2), np.int64), np.zeros(1), np.zeros((1, 0, 2), np.int64)
    for steps, errors in ways:
        total = (costs[:, None] + errors[None]).ravel()
        kept = np.argsort(total, kind="stable")[:KEPT]
        before, step = np.divmod(kept, len(errors))
        costs = total[kept]
        sums = sums[before] + steps[step]
        moves = np.concatenate([moves[before], steps[step][:, None]], axis=1)
    return sums, costs, moves


def _closing(first: Sums, second: Sums) -> Iterator[NDArray[np.int64]]:
    """Yield the moves of both halves that lead back to the start, the likeliest first."""
    back: dict[tuple[int, ...], list[int]] = {}
    for number, total in enumerate((-second[0]).tolist()):
        back.setdefault(tuple(total), []).append(number)
    pairs = [(i, j) for i, total in enumerate(first[0].tolist()) for j in back.get(tuple(total), ())]
    for i, j in sorted(pairs, key=lambda pair: float(first[1][pair[0]] + second[1][pair[1]])):
        yield np.concatenate([first[2][i], second[2][j]])


def _scaled(points: Points) -> Points:
    """Return the outline with the pieces' area and edges in steps of 45°, without repeated points."""
    if points.ndim != 2 or points.shape[1] != 2 or len(points) < 3 or not np.isfinite(points).all():
        raise ValueError("an outline is three or more points of two finite numbers")
    area = _area(points)
    if abs(area) < 1e-12:
        raise ValueError("the outline has no area")
    ring = points * (float(AREAS.sum()) / abs(area)) ** 0.5
    ring = ring[np.hypot(*(np.roll(ring, -1, axis=0) - ring).T) > TOLERANCE]
    edges = np.roll(ring, -1, axis=0) - ring
    lengths, angles = np.hypot(*edges.T), np.arctan2(edges[:, 1], edges[:, 0])
    off = float(np.angle((lengths**2 * np.exp(8j * angles)).sum())) / 8
    cosine, sine = np.cos(off), np.sin(off)
    return np.asarray(ring @ np.array([[cosine, -sine], [sine, cosine]]))


def _area(points: Points) -> float:
    after = np.roll(points, -1, axis=0)
    return float((points[:, 0] * after[:, 1] - after[:, 0] * points[:, 1]).sum()) / 2


def _snap(edge: Points) -> Ways:
    """Return the exact moves that an edge may stand for, int64[n, 2], and what each costs; none if it is far off."""
    way = round(float(np.arctan2(edge[1], edge[0])) / (np.pi / 4)) % 8
    per_axis = float(np.hypot(*_WAYS[way]))  # an edge along a diagonal is longer than what it measures along an axis
    unit = _WAYS[way] / per_axis
    along, beside = float(edge @ unit), abs(float(edge[0] * unit[1] - edge[1] * unit[0]))
    off = np.abs(_LENGTHS * per_axis - along)
    near = np.flatnonzero((off <= TOLERANCE) & (_LENGTHS > TOLERANCE) & (beside <= TOLERANCE))
    exact = _COUNTS[near, 0] * _BASE + _COUNTS[near, 1]
    return exact[:, None] * _WAYS[way], off[near] + _ODDITY[near]


def mirrored(points: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """Return exact points seen in a mirror: x changes its sign."""
    return [(-x, y) for x, y in points]


CONVEX = 3
"""The most sectors of a convex corner."""
NOTHING_FITS = 31
NO_CORNER = 1 << 20


def _runs(bits: int) -> list[tuple[int, int]]:
    """Return the start and the length of every run in a set of sectors, counter-clockwise."""
    rays = [ray for ray in range(8) if bits >> ray & 1 and not bits >> (ray + 7) % 8 & 1]
    runs = [(ray, next(width for width in range(1, 9) if not bits >> (ray + width) % 8 & 1)) for ray in rays]
    return runs + [(0, 0)] * (4 - len(runs))


_RUNS = np.array([_runs(bits) for bits in range(256)])


# The focus.


@compiled
def _drawer(table: Any) -> int:
    """Return the forms of the pieces in the drawer."""
    forms = 0
    for place in range(PLACES):
        if not table.on_board[PIECE[place]]:
            forms |= 1 << FORM[place]
    return forms


@compiled
def _point(table: Any, index: int) -> tuple[float, float]:
    """Return a point of possible corners: a vertex of the outline or, with higher indices, of a piece."""
    if index < VERTICES:
        return table.outline[index, 0], table.outline[index, 1]
    piece, vertex = (index - VERTICES) >> 2, (index - VERTICES) & 3
    return table.vertices[piece, vertex, 0], table.vertices[piece, vertex, 1]


@compiled
def _find(table: Any, widest: int, found: Any) -> int:
    """Write the corners of up to `widest` sectors into `found` (int64[POINTS]); return how many there are.

    A corner is a number: its angle, its point and the direction of its right side.
    """
    around = local_array(POINTS, np.uint8)
    for index in range(POINTS):
        around[index] = table.inside[index]
    for piece in range(7):
        for index in range(POINTS):
            around[index] &= ~table.covers[piece, index]
    count = 0
    for index in range(POINTS):
        bits = around[index]
        if bits == 0 or bits == WHOLE or (index >= VERTICES and _seen(table, index)):
            continue
        for run in range(4):
            width = _RUNS[bits, run, 1]
            if 0 < width <= widest and count < len(found):
                found[count] = (width * POINTS + index) * 8 + _RUNS[bits, run, 0]
                count += 1
    return count


@compiled
def _seen(table: Any, index: int) -> bool:
    """Return True if an earlier piece has a vertex at the same point."""
    x, y = _point(table, index)
    for piece in range((index - VERTICES) >> 2):
        if table.on_board[piece]:
            for i in range(CORNERS[piece]):
                if abs(table.vertices[piece, i, 0] - x) < NEAR and abs(table.vertices[piece, i, 1] - y) < NEAR:
                    return True
    return False


@compiled
def _rank(table: Any, found: Any, count: int, forms: int, free: Any, lines: Any) -> None:
    """Put the number of fitting forms before each corner in `found`, so that the least one comes first."""
    table.dead = 0
    for i in range(count):
        fits = _fitting(table, found[i], forms, free, lines)
        found[i] |= (int(COUNT[fits]) if fits else NOTHING_FITS) << 12
        table.dead += fits == 0


@compiled
def _least(found: Any, count: int, rank: int) -> int:
    """Return the element with the given rank (0: the least)."""
    least = -1
    for _ in range(rank + 1):
        last, least = least, NO_CORNER
        for i in range(count):
            if last < found[i] < least:
                least = found[i]
    return least


@compiled
def _fitting(table: Any, corner: int, forms: int, free: Any, lines: Any) -> int:
    """Return those of `forms` that fit into a corner."""
    x, y = _point(table, corner >> 3 & 63)
    forms = free_at(free, table.scale, x, y, corner & 7, forms & NARROW[corner >> 9 & 7])
    if forms:
        forms = clear(lines, frame(table, x, y, corner & 7, lines), forms, NOBODY, EVERYTHING)
    return forms


@compiled
def clear_places(table: Any) -> None:
    """Write the fields of a table without a focus: no place is legal."""
    table.width = 0
    table.ray = 0
    table.focus[:] = 0.0
    table.dead = 0
    table.fitting = False
    table.open = 0
    table.gain[:] = 0.0
    table.snug[:] = 0.0


@compiled
def survey(table: Any) -> None:
    """Write the focus and the legal places of a new turn."""
    clear_places(table)
    lines = local_array((LINES, 5), np.float64)
    corners = local_array(POINTS, np.int64)
    free = local_array(ROWS, np.uint64)
    for row in range(ROWS):
        free[row] = table.target[row] & ~table.filled[row]
    forms = _drawer(table)
    count = _find(table, CONVEX, corners)
    if count == 0:
        count = _find(table, 7, corners)
        if count == 0:
            return
    _rank(table, corners, count, forms, free, lines)
    corner = _least(corners, count, table.passes % count)
    table.ray = corner & 7
    table.width = corner >> 9 & 7
    x, y = _point(table, corner >> 3 & 63)
    table.focus[0] = x
    table.focus[1] = y
    lying = frame(table, x, y, table.ray, lines)
    if corner >> 12 < NOTHING_FITS:
        table.fitting = True
        forms = _fitting(table, corner, forms, free, lines)
        _offer_fitting(table, forms, lines, lying)
    else:
        _offer_any(table, forms & NARROW[table.width], lines, lying)


@compiled
def _offered(table: Any, piece: int) -> bool:
    """Return True if a piece is in the drawer, and its earlier twin is not."""
    twin = TWIN[piece]
    return not table.on_board[piece] and (twin < 0 or table.on_board[twin])


@compiled
def _offer_fitting(table: Any, fits: int, lines: Any, lying: int) -> None:
    """Make the fitting places of the drawer's pieces legal."""
    covered, placed = totals(table)
    for place in range(PLACES):
        piece = PIECE[place]
        if fits >> FORM[place] & 1 and _offered(table, piece):
            area = AREAS[piece] * table.scale[0] * table.scale[1]
            table.open |= 1 << place
            table.gain[place] = iou(table, covered + area, placed + area) - table.iou
            table.snug[place] = snug(lines, lying, FORM[place], NOBODY)


@compiled
def _offer_any(table: Any, forms: int, lines: Any, lying: int) -> None:
    """Make legal: fitting places of pieces on the board, and places of the drawer's pieces without collision."""
    x, y = table.focus
    loose = clear(lines, lying, forms, NOBODY, ALL_PIECES)
    bounded = free_at(table.target, table.scale, x, y, table.ray, NARROW[table.width])
    bounded = clear(lines, lying, bounded, NOBODY, FIGURE)
    for piece in range(7):
        first = FORM[FIRST[piece]]
        own = (1 << (first + FIRST[piece + 1] - FIRST[piece])) - (1 << first)
        if table.on_board[piece]:
            fits = own & bounded
            if fits:
                fits = clear(lines, lying, fits, piece, ALL_PIECES)
        else:
            fits = own & loose if _offered(table, piece) else 0
        for place in range(FIRST[piece], FIRST[piece + 1]):
            if fits >> FORM[place] & 1:
                _offer(table, place, lines, lying)


@compiled
def _offer(table: Any, place: int, lines: Any, lying: int) -> None:
    """Make a place legal if the piece is inside the board there."""
    piece = PIECE[place]
    x, y, rotation = pose(table, place)
    shape = local_array((4, 2), np.float64)
    put_shape(piece, x, y, rotation, table.scale, shape)
    if not on_board(shape):
        return
    covered, placed = totals(table)
    area = covered_area(shape, table.outline, table.ends)
    if table.on_board[piece]:
        covered -= table.covered[piece]
    else:
        placed += AREAS[piece] * table.scale[0] * table.scale[1]
    table.open |= 1 << place
    table.gain[place] = iou(table, covered + area, placed) - table.iou
    table.snug[place] = snug(lines, lying, FORM[place], piece)


@compiled
def pose(table: Any, place: int) -> tuple[float, float, float]:
    """Return the pose of a place's piece in the focus: its centre in board units, and its rotation in degrees."""
    x = table.focus[0] + table.scale[0] * OFFSET[place, table.ray, 0]
    y = table.focus[1] + table.scale[1] * OFFSET[place, table.ray, 1]
    return x, y, float(ROTATION[place, table.ray])


# Areas.


@compiled
def totals(table: Any) -> tuple[float, float]:
    """Return the area that the pieces cover inside the figure, and their own, in square board units."""
    covered = 0.0
    placed = 0.0
    for piece in range(7):
        if table.on_board[piece]:
            covered += table.covered[piece]
            placed += AREAS[piece] * table.scale[0] * table.scale[1]
    return covered, placed


@compiled
def measure(table: Any) -> None:
    """Write the intersection over union of the figure and the pieces on the board."""
    covered, placed = totals(table)
    table.iou = iou(table, covered, placed)


@compiled
def iou(table: Any, covered: float, placed: float) -> float:
    """Return the intersection over union, for pieces of the area `placed`, of which `covered` is in the figure."""
    return min(1.0, covered / (table.area + placed - covered))
