"""The seven pieces and the board, as the scene of the game TangramCollaborativeAI has them.

Lengths of a piece are in u = 64 scene units = 25.6 pixels, so that a small triangle has the area 1 u² and all seven
together 16 u². The board is 100 × 100 board units, origin at the lower left, y upwards.

A pose is ``(x, y, rotation)``: the piece's centre (its node's origin, not its centroid) in board units, and degrees,
clockwise positive as seen.
"""

import numpy as np

PIECES = ("Red", "Cream", "Purple", "Brown", "Blue", "Yellow", "Green")
"""The names, in the document's order; elsewhere a piece is its number here."""
RED, CREAM, PURPLE, BROWN, BLUE, YELLOW, GREEN = range(7)

BOARD = 100.0
"""Side of the board in board units."""

PIXELS = (337.0, 322.0)
"""Width and height of the board in the real game, in pixels."""

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
"""Board units per u, in x and in y: uniform, or as in the real game, whose board is a little wider than high."""
