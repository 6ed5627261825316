"""Places of a piece without a policy: out of a collision, or next to the pieces on the board.

Poses are ``(x, y, rotation)`` by piece name in board units of the Godot game's aspect; a polygon is float64[4, 2].
"""

import math
from collections.abc import Iterator, Mapping
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from ....envs.tangram import geometry
from ....envs.tangram.lattice import AREAS, ASPECTS, BOARD, PIECES, SHAPES

Pose: TypeAlias = tuple[float, float, float]
Poses: TypeAlias = Mapping[str, Pose]
Polygon: TypeAlias = NDArray[np.float64]

SCALE = ASPECTS["godot"]
"""Board units per unit of the pieces in the Godot game."""
REACH = 5.0
"""Most board units by which `separated` moves a piece."""
CLOSE = 1.0
"""Most board units between connected pieces."""
ARM = 5.4
"""Least distance of the centres of touching pieces, in board units, perpendicular to the common edge."""
NUDGES = (0.4, 0.2, 0.2, 0.1, 0.1, 0.05)
"""Board units of the moves of `roomiest`, one after another."""
WAYS = [np.array([math.cos(angle), math.sin(angle)]) for angle in np.arange(8) * math.pi / 4]
"""The eight directions of these moves."""
MIDDLE: Pose = (BOARD / 2, BOARD / 2, 0.0)
ORDER = sorted(PIECES, key=lambda name: -AREAS[PIECES.index(name)])
"""The pieces, large ones first, since they need the most room."""


def polygon(name: str, pose: Pose, shapes: Polygon = SHAPES) -> Polygon:
    """Return the vertices of a piece in a pose; its shape is one of float64[7, 4, 2], as in `SHAPES`."""
    vertices: Polygon = np.array(pose[:2]) + SCALE * (shapes[PIECES.index(name)] @ rotated(pose[2]).T)
    return vertices


def rotated(degrees: float) -> Polygon:
    """Return the matrix of a clockwise rotation with y upwards."""
    cosine, sine = math.cos(math.radians(degrees)), math.sin(math.radians(degrees))
    return np.array([[cosine, sine], [-sine, cosine]])


def collisions(name: str, poses: Poses, shapes: Polygon = SHAPES) -> list[str]:
    """Return the names that a piece on the board overlaps, BOUNDARY last. Touching is not overlapping."""
    own = polygon(name, poses[name], shapes)
    polygons = {other: polygon(other, there, shapes) for other, there in poses.items() if other != name}
    names = [other for other, shape in polygons.items() if geometry.collides(own, shape)]
    return names if geometry.on_board(own) else [*names, "BOUNDARY"]


def separated(name: str, pose: Pose, others: Poses, gap: float, shapes: Polygon = SHAPES) -> Pose | None:
    """Return the pose moved as little as needed to keep `gap` from other pieces and the board's edge; None: no room."""
    polygons = [polygon(other, there, shapes) for other, there in others.items()]
    start = own = polygon(name, pose, shapes)
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


def spread(name: str, pose: Pose, anchor: Pose, others: Poses, gap: float, shapes: Polygon = SHAPES) -> Pose:
    """Return the pose in a figure grown from `anchor` until its pieces keep `gap`; without room the pose itself."""
    x, y, _ = anchor
    grown = 1 + gap / ARM
    wider = (x + grown * (pose[0] - x), y + grown * (pose[1] - y), pose[2])
    return separated(name, wider, others, gap, shapes) or pose


def roomiest(name: str, pose: Pose, others: Poses, shapes: Polygon = SHAPES) -> Pose | None:
    """Return the pose, moved a little (some `NUDGES`), with the largest distance to other pieces; None: it overlaps."""
    polygons = [polygon(other, there, shapes) for other, there in others.items()]
    start = polygon(name, pose, shapes)

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
    """Return the depth of an overlap (negative: the distance), and the direction of the shortest way out for `own`."""
    best, way = math.inf, np.zeros(2)
    for first, second, sign in ((own, other, -1.0), (other, own, 1.0)):
        edges = np.roll(first, -1, axis=0) - first
        lengths = np.hypot(edges[:, 0], edges[:, 1])
        real = lengths > 1e-9
        normals = np.stack([edges[real, 1], -edges[real, 0]], axis=1) / lengths[real, None]  # outwards
        depths = (normals * first[real]).sum(axis=1) - (normals @ second.T).min(axis=1)
        least = int(depths.argmin())
        if depths[least] < best:
            best, way = float(depths[least]), sign * normals[least]
    return best, way


def figure_moves(poses: Poses, gap: float) -> Iterator[tuple[str, Pose]]:
    """Yield moves towards a connected figure without collisions, best first; none if it is complete.

    Pieces that collide or are not connected come first, then those in the drawer, large pieces first.
    """
    figure = _largest_group(poses, gap)
    misplaced = [name for name in ORDER if name in poses and (name not in figure or collisions(name, poses))]
    for name in (*misplaced, *(name for name in ORDER if name not in poses)):
        others = {other: pose for other, pose in poses.items() if other != name}
        for place in _places_along(name, {other: others[other] for other in figure if other != name}, others, gap):
            yield name, place


def _largest_group(poses: Poses, gap: float) -> set[str]:
    """Return the largest group of connected pieces."""
    polygons = {name: polygon(name, pose) for name, pose in poses.items()}
    groups: list[set[str]] = []
    for name, own in polygons.items():
        near = {other for other, theirs in polygons.items() if geometry.depth(own, theirs) > -CLOSE - gap}
        met = [group for group in groups if group & near]
        groups = [group for group in groups if group not in met] + [{name}.union(*met)]
    return max(groups, key=lambda group: sum(AREAS[PIECES.index(name)] for name in group), default=set())


def _places_along(name: str, figure: Poses, others: Poses, gap: float) -> Iterator[Pose]:
    """Yield places on the board with an edge of a piece along an edge of the figure, and without collisions.

    Places with long common edges come first, and those near the figure's middle.
    """
    shape = SHAPES[PIECES.index(name)]
    polygons = [polygon(other, pose) for other, pose in figure.items()]
    centre = np.mean([vertices.mean(axis=0) for vertices in polygons] or [MIDDLE[:2]], axis=0)
    places: list[tuple[float, Pose]] = [] if figure else [(0.0, MIDDLE)]
    for theirs in polygons:
        for start, end in _edges(theirs / SCALE):  # in the pieces' units, where angles are undistorted
            for first, last in _edges(shape):
                common = min(math.dist(start, end), math.dist(first, last))
                turn = math.atan2(*(last - first)[::-1]) - math.atan2(*(start - end)[::-1])
                rotation = _snapped(math.degrees(turn))
                for ours, anchor in ((first, end), (last, start)):
                    x, y = (np.asarray(SCALE) * (anchor - rotated(rotation) @ ours)).tolist()
                    places.append((math.dist((x, y), centre) - 4 * common, (x, y, rotation)))
    places.sort()
    for _, place in places:
        if not collisions(name, {**others, name: place}):
            moved = separated(name, place, others, gap) if gap > 0 else place
            if moved is not None and not collisions(name, {**others, name: moved}):
                yield moved


def _edges(polygon: Polygon) -> list[tuple[Polygon, Polygon]]:
    pairs = zip(polygon, np.roll(polygon, -1, axis=0), strict=True)
    return [(start, end) for start, end in pairs if math.dist(start, end) > 1e-9]


def _snapped(degrees: float) -> float:
    """Return an angle in 0 to 360, rounded to a multiple of 45 if it is close to one."""
    nearest = 45.0 * round(degrees / 45.0)
    return (nearest if abs(degrees - nearest) < 1e-6 else degrees) % 360.0
