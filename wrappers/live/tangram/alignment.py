"""Alignment of the figure with the pieces: the live game has no silhouette, and people do not place pieces exactly.

The figure is moved so that most of the pieces are part of it. A piece near its place in a solution, or near its twin's,
is treated as if it lay there. Poses are in board units of the Godot game.
"""

import math
from collections.abc import Iterator

import numpy as np

from ....envs.tangram.forms import TWIN
from ....envs.tangram.geometry import place
from ....envs.tangram.pieces import AREAS, BOARD, PERIODS, PIECES
from ....envs.tangram.silhouettes import Silhouette
from .placing import SCALE, Polygon, Pose, Poses, polygon

NEAR = 3.0
"""Most distance of a piece from its place in a solution, in board units."""
NEAR_DEGREES = 15.0
"""Most difference of its rotation, in degrees."""
MEETING = 0.05
"""Most distance of vertices that meet, in board units. A piece with such a vertex was placed exactly."""

Shift = tuple[float, float]
CENTRED: Shift = (0.0, 0.0)
"""The shift of a figure in the middle of the board."""


def figure_shift(figure: Silhouette, poses: Poses) -> Shift:
    """Return how far the figure is moved from the middle of the board, so that most of the pieces are part of it.

    Pieces count by their area. Among equal shifts, the one nearest to the pieces is taken, then the one nearest to the
    middle. The shift is (0, 0) if no piece has the rotation of a solution, or the figure would leave the board.
    """
    outline = _outline(figure, CENTRED)
    shifts = [CENTRED]
    for name, pose in poses.items():
        shifts += [(pose[0] - x, pose[1] - y) for x, y, _ in _places(figure, name, pose)]
    fitting = [shift for shift in shifts if (outline + shift).min() >= 0 and (outline + shift).max() <= BOARD]
    costs = {shift: (round(_unexplained(figure, shift, poses), 3), math.hypot(*shift)) for shift in fitting}
    return min(costs, key=lambda shift: costs[shift], default=CENTRED)


def nearest_place(figure: Silhouette, shift: Shift, name: str, pose: Pose, others: Poses) -> Pose | None:
    """Return the place in a solution near which a piece lies; None if there is none, or it was placed exactly."""
    return None if _aligned(figure, shift, name, pose, others) else _nearest(figure, shift, name, pose)


def _nearest(figure: Silhouette, shift: Shift, name: str, pose: Pose) -> Pose | None:
    places = ((x + shift[0], y + shift[1], rotation) for x, y, rotation in _places(figure, name, pose))
    nearest = min(places, key=lambda place: math.dist(place[:2], pose[:2]), default=None)
    return nearest if nearest is not None and math.dist(nearest[:2], pose[:2]) < NEAR else None


def _unexplained(figure: Silhouette, shift: Shift, poses: Poses) -> float:
    """Return how far the pieces lie from their places, in board units, each up to `NEAR` and times its area."""
    total = 0.0
    for name, pose in poses.items():
        if not _aligned(figure, shift, name, pose, {}):
            nearest = _nearest(figure, shift, name, pose)
            off = NEAR if nearest is None else math.dist(nearest[:2], pose[:2])
            total += off * float(AREAS[PIECES.index(name)])
    return total


def _places(figure: Silhouette, name: str, pose: Pose) -> Iterator[Pose]:
    """Yield the places of a piece, or its twin, in the solutions with about this rotation."""
    piece = PIECES.index(name)
    period = float(PERIODS[piece])
    alike = [other for other in range(7) if other == piece or TWIN[other] == piece or TWIN[piece] == other]
    for solution in range(len(figure.solutions)):
        poses = figure.poses(solution, "godot")
        for other in alike:
            x, y, rotation = poses[other].tolist()
            off = (pose[2] - rotation) % period
            if min(off, period - off) < NEAR_DEGREES:
                right, up = _between_centres(piece, other, rotation)
                yield x + right, y + up, rotation


def _between_centres(piece: int, other: int, rotation: float) -> Shift:
    """Return the vector from the centre of a piece's twin to its own, if both cover the same area."""
    own, theirs = np.zeros((4, 2)), np.zeros((4, 2))
    place(piece, 0.0, 0.0, rotation, SCALE, own)
    place(other, 0.0, 0.0, rotation, SCALE, theirs)
    right, up = (theirs[0] - own[0]).tolist()
    return right, up


def _aligned(figure: Silhouette, shift: Shift, name: str, pose: Pose, others: Poses) -> bool:
    """Return whether a vertex of a piece meets one of the figure's or of another piece's."""
    vertices = [_outline(figure, shift), *(polygon(other, there) for other, there in others.items())]
    between = polygon(name, pose)[:, None] - np.concatenate(vertices)
    return bool((np.hypot(between[..., 0], between[..., 1]) < MEETING).any())


def _outline(figure: Silhouette, shift: Shift) -> Polygon:
    return figure.outline("godot")[: figure.ends[-1]] + shift
