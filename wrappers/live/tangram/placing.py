"""Where a piece can go without a policy: out of a collision, or joined to the pieces on the board.

Poses are ``(x, y, rotation)`` by piece name in board units of the Godot game's aspect; a polygon is float64[4, 2].
"""

import math
from collections.abc import Iterator, Mapping
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from ....envs.tangram import geometry
from ....envs.tangram.pieces import AREAS, ASPECTS, BOARD, PIECES, SHAPES

Pose: TypeAlias = tuple[float, float, float]
Poses: TypeAlias = Mapping[str, Pose]
Polygon: TypeAlias = NDArray[np.float64]

SCALE = ASPECTS["godot"]
"""Board units per unit of the pieces in the Godot game."""
REACH = 5.0
"""Board units that `separated` moves a piece at most."""
CLOSE = 1.0
"""Board units between two pieces that belong together."""
ARM = 5.4
"""Least distance of the centres of two pieces that touch, in board units, at right angles to the common edge."""
NUDGES = (0.4, 0.2, 0.2, 0.1, 0.1, 0.05)
"""Board units of the moves of `roomiest`, one after another."""
WAYS = [np.array([math.cos(angle), math.sin(angle)]) for angle in np.arange(8) * math.pi / 4]
"""The eight directions of these moves."""
MIDDLE: Pose = (BOARD / 2, BOARD / 2, 0.0)
ORDER = sorted(PIECES, key=lambda name: -AREAS[PIECES.index(name)])
"""The pieces, large ones first, since they need the most room."""


def polygon(name: str, pose: Pose) -> Polygon:
    """Return the vertices of a piece in a pose."""
    out = np.zeros((4, 2))
    geometry.place(PIECES.index(name), *pose, SCALE, out)
    return out


def collisions(name: str, poses: Poses) -> list[str]:
    """Return what a piece on the board overlaps: names, and BOUNDARY last. Touching is not overlapping."""
    own = polygon(name, poses[name])
    found = [one for one in poses if one != name and geometry.collides(own, polygon(one, poses[one]))]
    return found if geometry.on_board(own) else [*found, "BOUNDARY"]


def separated(name: str, pose: Pose, others: Poses, gap: float) -> Pose | None:
    """Return the pose moved as little as needed to keep `gap` from other pieces and the board's edge; None: no room."""
    polygons = [polygon(one, other) for one, other in others.items()]
    start = own = polygon(name, pose)
    for _ in range(40):
        shift = np.maximum(gap - own.min(axis=0), 0) - np.maximum(own.max(axis=0) - (BOARD - gap), 0)
        overlap = float(np.abs(shift).max())
        for other in polygons:
            depth, axis = _separation(own + shift, other)
            missing = max(depth + gap, 0.0)
            shift = shift + axis * missing
            overlap = max(overlap, missing)
        if overlap < 1e-9:
            x, y = (own[0] - start[0]).tolist()
            return pose[0] + x, pose[1] + y, pose[2]
        own = own + shift
        if math.dist(own[0], start[0]) > REACH:
            return None
    return None


def spread(name: str, pose: Pose, anchor: Pose, others: Poses, gap: float) -> Pose:
    """Return the pose in a figure grown from `anchor` until its pieces keep `gap`; without room the pose itself."""
    x, y, _ = anchor
    grown = 1 + gap / ARM
    wider = (x + grown * (pose[0] - x), y + grown * (pose[1] - y), pose[2])
    return separated(name, wider, others, gap) or pose


def roomiest(name: str, pose: Pose, others: Poses) -> Pose | None:
    """Return the pose, moved a little (some `NUDGES`), with the largest distance to other pieces; None: it overlaps."""
    polygons = [polygon(one, other) for one, other in others.items()]
    start = polygon(name, pose)

    def room(shift: Polygon) -> float:
        own = start + shift
        edge = min(float(own.min()), float(BOARD - own.max()))
        return min([edge, *(-_separation(own, other)[0] for other in polygons)])

    best = np.zeros(2)
    most = room(best)
    for step in NUDGES:
        for way in WAYS:
            here = room(best + step * way)
            if here > most:
                best, most = best + step * way, here
    return (pose[0] + float(best[0]), pose[1] + float(best[1]), pose[2]) if most > 0 else None


def _separation(own: Polygon, other: Polygon) -> tuple[float, Polygon]:
    """Return how deep two pieces overlap (negative: their distance), and the shortest way out for `own`."""
    best, way = math.inf, np.zeros(2)
    for one, another, sign in ((own, other, -1.0), (other, own, 1.0)):
        edges = np.roll(one, -1, axis=0) - one
        lengths = np.hypot(edges[:, 0], edges[:, 1])
        real = lengths > 1e-9
        normals = np.stack([edges[real, 1], -edges[real, 0]], axis=1) / lengths[real, None]  # outwards
        depths = (normals * one[real]).sum(axis=1) - (normals @ another.T).min(axis=1)
        least = int(depths.argmin())
        if depths[least] < best:
            best, way = float(depths[least]), sign * normals[least]
    return best, way


def figure_moves(poses: Poses, gap: float) -> Iterator[tuple[str, Pose]]:
    """Return moves towards a connected figure without collisions, best first; none where it is complete.

    A piece that collides or is not connected to the others goes first, then those in the drawer, large pieces first.
    """
    figure = _largest_group(poses, gap)
    misplaced = [name for name in ORDER if name in poses and (name not in figure or collisions(name, poses))]
    for name in (*misplaced, *(name for name in ORDER if name not in poses)):
        others = {one: pose for one, pose in poses.items() if one != name}
        for place in _places_along(name, {one: others[one] for one in figure if one != name}, others, gap):
            yield name, place


def _largest_group(poses: Poses, gap: float) -> set[str]:
    """Return the largest group of connected pieces."""
    polygons = {name: polygon(name, pose) for name, pose in poses.items()}
    groups: list[set[str]] = []
    for name, own in polygons.items():
        near = {one for one, other in polygons.items() if geometry.depth(own, other) > -CLOSE - gap}
        met = [group for group in groups if group & near]
        groups = [group for group in groups if group not in met] + [{name}.union(*met)]
    return max(groups, key=lambda group: sum(AREAS[PIECES.index(name)] for name in group), default=set())


def _places_along(name: str, figure: Poses, others: Poses, gap: float) -> Iterator[Pose]:
    """Return places on the board where an edge of a piece lies along an edge of the figure and nothing collides.

    Long common edges go first, and places near the figure's middle.
    """
    shape = SHAPES[PIECES.index(name)]
    polygons = [polygon(one, pose) for one, pose in figure.items()]
    centre = np.mean([one.mean(axis=0) for one in polygons] or [MIDDLE[:2]], axis=0)
    found: list[tuple[float, Pose]] = [] if figure else [(0.0, MIDDLE)]
    for theirs in polygons:
        for start, end in _edges(theirs / SCALE):  # in the pieces' units, where angles are undistorted
            for first, last in _edges(shape):
                common = min(math.dist(start, end), math.dist(first, last))
                turn = math.atan2(*(last - first)[::-1]) - math.atan2(*(start - end)[::-1])
                rotation = _snapped(math.degrees(turn))
                for ours, anchor in ((first, end), (last, start)):
                    x, y = (np.asarray(SCALE) * (anchor - _rotated(ours, rotation))).tolist()
                    found.append((math.dist((x, y), centre) - 4 * common, (x, y, rotation)))
    found.sort()
    for _, place in found:
        if not collisions(name, {**others, name: place}):
            moved = separated(name, place, others, gap) if gap > 0 else place
            if moved is not None and not collisions(name, {**others, name: moved}):
                yield moved


def _edges(polygon: Polygon) -> list[tuple[Polygon, Polygon]]:
    pairs = zip(polygon, np.roll(polygon, -1, axis=0), strict=True)
    return [(start, end) for start, end in pairs if math.dist(start, end) > 1e-9]


def _rotated(vector: Polygon, rotation: float) -> Polygon:
    angle = -math.radians(rotation)  # clockwise
    cosine, sine = math.cos(angle), math.sin(angle)
    return np.array([vector[0] * cosine - vector[1] * sine, vector[0] * sine + vector[1] * cosine])


def _snapped(degrees: float) -> float:
    """Return an angle in 0 to 360, and multiples of 45 as such."""
    nearest = 45.0 * round(degrees / 45.0)
    return (nearest if abs(degrees - nearest) < 1e-6 else degrees) % 360.0
