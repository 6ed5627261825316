"""Outlines drawn by hand or by other programs, brought onto the lattice of the pieces.

An outline is scaled so that it has the area of the seven pieces, and turned so that its edges run in steps of 45°. Then
every edge is snapped to an edge that pieces can make, which may differ by `TOLERANCE`. Of the ways to snap all edges,
the likeliest that closes and has the right area is taken.
"""

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from .lattice import halves, values
from .pieces import AREAS

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
    turned = []
    for x, y in points:
        a, b = halves(x)
        turned.append((-a * _BASE - b, y))
    return turned
