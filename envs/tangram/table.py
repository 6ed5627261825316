"""The record: the whole state of one board. Names are those of TangramCollaborativeAI.

Lengths are board units (0 to 100, y upwards), rotations degrees from 0 to 360, clockwise. The solution
of a figure is not in the record: observations and rewards are computed from its outline.
"""

from ..core.record import record
from .lattice import BOARD, RINGS, VERTICES

SEATS = 4
"""The most players."""
SOLVED = 0.95
"""The intersection over union from which a figure counts as solved."""
BONUS = 1.0
"""The reward for a solved figure."""
SKIP = 0.01
"""The cost of a skipped turn."""

KINDS = ("play", "finish")
PLAY, FINISH = range(2)

RANDOM, LIBRARY, OWN, SET = range(4)
"""The sources of figures: drawn at random, drawn from the library, the one in the record, or drawn from a set of your
own."""

MODALITIES = ("numeric", "pixels", "both")
NUMERIC, PIXELS, BOTH = range(3)

BOUNDARY = 7
"""The bit of `hits` for the board's edge; the other seven bits are for the pieces."""

PLACES = 18
"""The number of places: pieces by their distinguishable corners. The action index `PLACES` is `finish`."""
ROWS = 64
"""The board as bits: rows from the bottom up, column c is bit c."""

CELLS = ROWS / BOARD
"""Columns or rows per board unit."""
POINTS = VERTICES + 4 * 7 + 4
"""The vertices of the outline and of the pieces, and four unused ones: 64."""

TABLE = record(
    ("stream", "u8"),
    ("turn", "i2"),
    ("turn_number", "i2"),  # from 1
    ("plays_left", "i2"),  # in this turn
    ("passes", "i2"),  # turns skipped in a row
    ("moved", "i1"),  # the piece played in this turn; −1: none
    ("was_on_board", "?"),  # whether the moved piece was on the board before the turn
    ("done", "?"),
    ("was", "f8", 3),  # x, y, rotation
    ("rewards", "f8", SEATS),
    ("score", "f8"),  # the sum of one seat's rewards
    ("iou", "f8"),
    # options
    ("seats", "i2"),
    ("turns", "i2"),
    ("plays", "i2"),
    ("modality", "i1"),
    ("aspect", "i1"),
    ("sparse", "?"),
    ("images", "?"),
    ("scale", "f8", 2),  # board units per u, in x and y
    ("per_unit", "f8", 2),  # u per board unit
    ("source", "i1"),  # of figures
    ("split", "i1"),  # of random ones; −1: any
    ("easiest", "f8"),  # least and most that a random figure hides of its pieces' edges (see generator.py)
    ("hardest", "f8"),
    ("first_figure", "i2"),  # the range of figures of the library, or of the set, to draw from
    ("figures", "i2"),
    # the figure
    ("figure", "i2"),  # its index in the library or in the set; −1: in neither
    ("ends", "i2", RINGS),
    ("outline", "f8", (VERTICES, 2)),
    ("area", "f8"),
    ("target", "u8", ROWS),
    # the pieces
    ("on_board", "i1", 7),
    ("x", "f8", 7),
    ("y", "f8", 7),
    ("rotation", "f8", 7),
    ("vertices", "f8", (7, 4, 2)),
    ("box", "f8", (7, 4)),  # left, low, right, high, wider by `NEAR` (see `sectors`)
    ("hits", "u1", 7),  # what a piece collides with: the bit of every such piece, and of `BOUNDARY`
    ("covered", "f8", 7),  # area inside the figure
    ("filled", "u8", ROWS),
    # sectors (see `sectors`) around the outline's vertices and, behind those, around the pieces'
    ("inside", "u1", POINTS),  # those in the figure
    ("covers", "u1", (7, POINTS)),  # those that each piece covers
    # the focus and the legal places of this turn
    ("focus", "f8", 2),
    ("ray", "i1"),  # the direction, in steps of 45° counter-clockwise from east, of the focus's right side
    ("width", "i1"),  # the angle left open at the focus, in steps of 45°; 0: there is no focus
    ("dead", "i1"),  # corners that no piece in the drawer fits: with any of them, there is no exact solution
    ("fitting", "?"),  # whether the legal places fit; else pieces may be moved or exceed the figure
    ("open", "i4"),  # the legal places, a bit each (see `corners`)
    ("gain", "f8", PLACES),  # change of the intersection over union
    ("snug", "f8", PLACES),  # share of the piece's border that would touch the outline or other pieces
)
