"""The marker `VCenter` of a piece, which the Godot game reports and which is not the piece's origin.

A play contains the position of the origin. The game's own dialect reports the marker. For Red, Cream and Blue it lies
1.0 to 1.2 board units from the origin; for the other pieces it is the origin.
"""

import math

from ....envs.tangram.pieces import BOARD, PIXELS

Point = tuple[float, float]

_PIXELS_PER_SCENE_UNIT = 0.4
_SCENE_OFFSETS: dict[str, Point] = {"Red": (-0.625, 10.0), "Cream": (0.0, 8.125), "Blue": (7.51301, 3.09359)}
"""From the origin to the marker at rotation 0, in units of the game's scene, y downwards."""


def marker_of(name: str, origin: Point, rotation: float) -> Point:
    """Return the marker of a piece in board units, from its origin and its rotation in degrees, clockwise."""
    right, up = _offset(name, rotation)
    return origin[0] + right, origin[1] + up


def origin_of(name: str, marker: Point, rotation: float) -> Point:
    """Return the origin of a piece from its marker: the inverse of `marker_of`."""
    right, up = _offset(name, rotation)
    return marker[0] - right, marker[1] - up


def _offset(name: str, rotation: float) -> Point:
    """Return the vector from origin to marker in board units, y upwards."""
    right, down = _SCENE_OFFSETS.get(name, (0.0, 0.0))
    angle = math.radians(rotation % 360.0)
    cosine, sine = math.cos(angle), math.sin(angle)
    wide, high = (BOARD * _PIXELS_PER_SCENE_UNIT / pixels for pixels in PIXELS)
    return wide * (right * cosine - down * sine), -high * (right * sine + down * cosine)
