"""Aligning the figure with the person's pieces. The live game has no silhouette, and people do not place pieces
exactly.

The figure is moved to where the person began it. A piece that lies near a place where a solution has it is treated as
if it lay there. Poses are in board units of the Godot game.
"""

import math
from collections.abc import Iterator

import numpy as np

from ....envs.tangram.pieces import BOARD, PERIODS, PIECES
from ....envs.tangram.silhouettes import Silhouette
from .placing import Polygon, Pose, Poses, polygon

NEAR = 3.0
"""Board units from a place of a solution within which a piece counts as lying there."""
NEAR_DEGREES = 15.0
"""The same for its rotation."""
MEETING = 0.05
"""Board units between vertices that meet. A piece with such a vertex was placed exactly, and stays where it is."""

Shift = tuple[float, float]


def figure_shift(figure: Silhouette, name: str, pose: Pose) -> Shift:
    """Return how far the figure is moved from the middle of the board, so that the first piece is part of it.

    It is not moved, (0, 0), where the piece lies in one of its corners, is rotated as in no solution, or where the
    figure would leave the board.
    """
    if _aligned(figure, (0.0, 0.0), name, pose, {}):
        return 0.0, 0.0
    outline = _outline(figure, (0.0, 0.0))
    shifts = [(pose[0] - x, pose[1] - y) for x, y, _ in _places(figure, name, pose)]
    fitting = [one for one in shifts if (outline + one).min() >= 0 and (outline + one).max() <= BOARD]
    return min(fitting, key=lambda one: math.hypot(*one), default=(0.0, 0.0))


def nearest_place(figure: Silhouette, shift: Shift, name: str, pose: Pose, others: Poses) -> Pose | None:
    """Return the place of a solution near which a piece lies; None where it is near none, or was placed exactly."""
    if _aligned(figure, shift, name, pose, others):
        return None
    places = ((x + shift[0], y + shift[1], rotation) for x, y, rotation in _places(figure, name, pose))
    nearest = min(places, key=lambda place: math.dist(place[:2], pose[:2]), default=None)
    return nearest if nearest is not None and math.dist(nearest[:2], pose[:2]) < NEAR else None


def _places(figure: Silhouette, name: str, pose: Pose) -> Iterator[Pose]:
    """Return where the solutions have a piece with about this rotation."""
    piece = PIECES.index(name)
    period = float(PERIODS[piece])
    for solution in range(len(figure.solutions)):
        x, y, rotation = figure.poses(solution, "godot")[piece].tolist()
        off = (pose[2] - rotation) % period
        if min(off, period - off) < NEAR_DEGREES:
            yield x, y, rotation


def _aligned(figure: Silhouette, shift: Shift, name: str, pose: Pose, others: Poses) -> bool:
    """Return whether a vertex of a piece meets one of the figure's or of another piece's."""
    vertices = [_outline(figure, shift), *(polygon(one, other) for one, other in others.items())]
    between = polygon(name, pose)[:, None] - np.concatenate(vertices)
    return bool((np.hypot(between[..., 0], between[..., 1]) < MEETING).any())


def _outline(figure: Silhouette, shift: Shift) -> Polygon:
    return figure.outline("godot")[: figure.ends[-1]] + shift
