"""Following the person: the live game has no silhouette, and people put pieces where they like, and never exactly.

So the figure is moved to where the person began it, and a piece that lies about where a solution of the figure has it
is taken to lie there. Poses are in board units of the real game.
"""

import math
from collections.abc import Iterator

import numpy as np

from ....envs.tangram.pieces import BOARD, PERIODS, PIECES
from ....envs.tangram.silhouettes import Silhouette
from .placing import Polygon, Pose, Poses, polygon

ABOUT = 3.0
"""Board units from a place of a solution within which a piece is taken to lie there."""
TURNED = 15.0
"""Degrees likewise."""
THERE = 0.05
"""Board units between vertices that meet: such a piece was laid with care, and lies where it lies."""

Shift = tuple[float, float]


def begun(figure: Silhouette, name: str, pose: Pose) -> Shift:
    """Return how far the figure goes from the middle of the board, so that a first piece is part of it.

    It stays, (0, 0), where the piece is laid in one of its corners or is turned as in no solution, and where it would
    leave the board.
    """
    if _settled(figure, (0.0, 0.0), name, pose, {}):
        return 0.0, 0.0
    outline = _outline(figure, (0.0, 0.0))
    shifts = [(pose[0] - x, pose[1] - y) for x, y, _ in _places(figure, name, pose)]
    fitting = [one for one in shifts if (outline + one).min() >= 0 and (outline + one).max() <= BOARD]
    return min(fitting, key=lambda one: math.hypot(*one), default=(0.0, 0.0))


def taken(figure: Silhouette, shift: Shift, name: str, pose: Pose, others: Poses) -> Pose | None:
    """Return the place of a solution that a piece is taken to lie in; None where it is near none, or lies exactly."""
    if _settled(figure, shift, name, pose, others):
        return None
    places = ((x + shift[0], y + shift[1], turned) for x, y, turned in _places(figure, name, pose))
    nearest = min(places, key=lambda place: math.dist(place[:2], pose[:2]), default=None)
    return nearest if nearest is not None and math.dist(nearest[:2], pose[:2]) < ABOUT else None


def _places(figure: Silhouette, name: str, pose: Pose) -> Iterator[Pose]:
    """Return where the solutions have a piece that is turned about like this."""
    piece = PIECES.index(name)
    period = float(PERIODS[piece])
    for solution in range(len(figure.solutions)):
        x, y, rotation = figure.poses(solution, "godot")[piece].tolist()
        off = (pose[2] - rotation) % period
        if min(off, period - off) < TURNED:
            yield x, y, rotation


def _settled(figure: Silhouette, shift: Shift, name: str, pose: Pose, others: Poses) -> bool:
    """Tell whether a vertex of a piece meets one of the figure's or of another piece's."""
    vertices = [_outline(figure, shift), *(polygon(one, other) for one, other in others.items())]
    apart = polygon(name, pose)[:, None] - np.concatenate(vertices)
    return bool((np.hypot(apart[..., 0], apart[..., 1]) < THERE).any())


def _outline(figure: Silhouette, shift: Shift) -> Polygon:
    return figure.outline("godot")[: figure.ends[-1]] + shift
