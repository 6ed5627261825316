"""Places and forms: each piece by each of its corners, and which of them fit into a corner of the figure.

A corner has its own frame, in u: the corner is the origin, its right side runs along +x, and the open region is to the
left of this side. A piece is put there with one side along +x, so that it is above that side.

A **place** is a piece and one of its corners; corners that look the same count once. Twins (two large, two small
triangles) look the same: a **form** is what a place looks like. Sets of places or forms are whole numbers, a bit each.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..core.compiled import compiled
from ..core.plain_python import constant
from .geometry import COSINES
from .lattice import BLUE, BROWN, CORNERS, CREAM, GREEN, PERIODS, PURPLE, RED, SHAPES, VERTICES, YELLOW, exact, value
from .table import CELLS, PLACES, ROWS

SHRINK = 0.0005
"""u by which a piece is shrunk on all sides before it is compared with others: then a fitting piece never collides, and
rounding does not matter. (At a corner of 45° this is 0.0013 u, the `TOLERANCE` of collisions.)"""
FIGURE, ALL_PIECES, EVERYTHING = 1, 2, 3
"""What a form is compared with."""
NOBODY = 7
"""In place of a piece: no piece is lifted."""
REACH = 4.0 + SHRINK
"""The largest distance in u of a point of a piece from its corner."""
LINES = VERTICES + 4 * 7
"""The most edges of a figure and all pieces."""

_OFFERED = [
    *((piece, corner) for piece in (RED, CREAM) for corner in range(3)),
    (PURPLE, 0),  # its other corners look the same
    *((BROWN, corner) for corner in range(2)),
    *((piece, corner) for piece in (BLUE, YELLOW, GREEN) for corner in range(3)),
]
PIECE = np.array([piece for piece, _ in _OFFERED])
"""int64[PLACES]: the piece of each place."""
FIRST = np.searchsorted(PIECE, np.arange(8))
"""int64[8]: each piece's first place, and `PLACES`."""
TWIN = np.full(7, -1)
"""int64[7]: the earlier piece that is congruent to this one; −1: none."""
TWIN[CREAM], TWIN[GREEN] = RED, YELLOW
ALIKE = np.array([[TWIN[a] == b or TWIN[b] == a or a == b for b in range(7)] for a in range(7)])
"""bool[7, 7]: whether two pieces are the same, or twins."""
_FORMS = [offered for offered in _OFFERED if TWIN[offered[0]] < 0]
FORMS = len(_FORMS)
"""The number of forms: 12."""
FORM = np.array([_FORMS.index((TWIN[piece] if TWIN[piece] >= 0 else piece, corner)) for piece, corner in _OFFERED])
"""int64[PLACES]: the form of each place; the forms of a piece follow one another as its places do."""
_CORNERS = CORNERS[[piece for piece, _ in _FORMS]]


def _framed(piece: int, corner: int) -> list[tuple[float, float]]:
    """Return four vertices in the corner's frame, from this one on; a triangle's first one stands again at the end."""
    around = np.roll(SHAPES[piece, : CORNERS[piece]], -corner, 0)
    along = around[1] - around[0]
    cosine, sine = along / np.hypot(*along)
    turned = (around - around[0]) @ np.array([[cosine, -sine], [sine, cosine]])
    framed = [(value(exact(x)), value(exact(y))) for x, y in turned]
    return framed + framed[:1] * (4 - len(framed))


_VERTICES = np.array([_framed(*form) for form in _FORMS])
_SIDES = np.roll(_VERTICES, -1, 1) - _VERTICES
_LENGTHS = np.hypot(*_SIDES.transpose(2, 0, 1))  # a triangle's fourth is 0
_PERIMETERS = _LENGTHS.sum(1)
# Outward normals of the sides, and how far along them the sides lie.
_OUT = np.stack([_SIDES[..., 1], -_SIDES[..., 0]], -1) / np.where(_LENGTHS, _LENGTHS, 1)[..., None]
_ALONG = (_OUT * _VERTICES).sum(-1)


def _angle(form: int) -> int:
    """Return the angle of a form's corner, in steps of 45°."""
    x, y = _VERTICES[form, _CORNERS[form] - 1]
    return round(np.arctan2(y, x) / (np.pi / 4))


def _bits(members: Any) -> int:
    return sum(1 << number for number, member in enumerate(members) if member)


NARROW = np.array([_bits(_angle(form) <= width for form in range(FORMS)) for width in range(9)])
"""int64[9]: the forms whose corner has at most so many sectors of 45°."""
COUNT = constant([bin(forms).count("1") for forms in range(1 << FORMS)], np.int8)
"""int8[4096]: how many there are in a set of forms."""
_LOWEST = constant([(forms & -forms).bit_length() - 1 for forms in range(1 << FORMS)], np.int8)

_FINE = 8.0
_BINS = int(2 * _FINE * REACH) + 2


def _bin_edges() -> NDArray[np.float64]:
    return np.arange(_BINS + 1) / _FINE - REACH


_BEFORE = np.array([_bits(_VERTICES[..., 0].min(1) < edge) for edge in _bin_edges()[1:]])
_BEHIND = np.array([_bits(_VERTICES[..., 0].max(1) > edge) for edge in _bin_edges()[:-1]])
_ABOVE = np.array([_bits(_VERTICES[..., 1].max(1) > edge) for edge in _bin_edges()[:-1]])
# The forms that a line may enter: whose box begins before its right end, ends behind its left and above its lower end.


def _poses() -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Return rotations and offsets, below."""
    rotations = np.zeros((PLACES, 8), np.int64)
    offsets = np.zeros((PLACES, 8, 2))
    for number, (piece, corner) in enumerate(_OFFERED):
        right, up = SHAPES[piece, corner + 1] - SHAPES[piece, corner]
        first = round(np.arctan2(up, right) / (np.pi / 4))
        for ray in range(8):
            turn = (first - ray) % 8
            cosine, sine = COSINES[turn], COSINES[(turn + 6) % 8]
            x, y = SHAPES[piece, corner]
            rotations[number, ray] = 45 * turn % PERIODS[piece]
            offsets[number, ray] = -(x * cosine + y * sine), -(y * cosine - x * sine)
    return rotations, offsets


ROTATION, OFFSET = _poses()
"""int64[PLACES, 8]: degrees clockwise that lay a place's piece along a right side of each direction; and
float64[PLACES, 8, 2]: from the corner to the piece's centre then, in u."""


# Points inside each form, at least `_INSET` u from its sides, the farthest from the corner first; see `free_at`.
_INSET = 0.15


def _samples() -> NDArray[np.float64]:
    samples = np.zeros((FORMS, 8, SAMPLES, 2))
    for form, corners in enumerate(_CORNERS):
        centre = _VERTICES[form, :corners].mean(0)
        pairs = [[(side - 1) % corners, side] for side in range(corners)]
        inset = np.array([np.linalg.solve(_OUT[form, pair], _ALONG[form, pair] - _INSET) for pair in pairs])
        points = [*inset[1:], *(inset + np.roll(inset, -1, 0)) / 2, centre, inset[0]]
        points = sorted(points, key=lambda point: -np.hypot(*point))[:SAMPLES]
        points += points[:1] * (SAMPLES - len(points))
        for ray in range(8):
            cosine, sine = COSINES[ray], COSINES[(ray + 6) % 8]
            samples[form, ray] = np.array(points) @ np.array([[cosine, sine], [-sine, cosine]])
    return samples


SAMPLES = 8
_SAMPLES = _samples()


@compiled
def free_at(rows: Any, scale: Any, x: float, y: float, ray: int, forms: int) -> int:
    """Return those of `forms` that may fit into a corner: inside each of the others some cell of the board is taken.

    Args:
        rows: uint64[ROWS], the free cells.
        scale: board units per u.
        x: of the corner, board units.
        y: of the corner, board units.
        ray: direction of its right side.
        forms: a bit each.
    """
    rest = forms
    while rest:
        form = int(_LOWEST[rest])
        rest &= rest - 1
        for sample in range(SAMPLES):
            column = int((x + scale[0] * _SAMPLES[form, ray, sample, 0]) * CELLS)
            row = int((y + scale[1] * _SAMPLES[form, ray, sample, 1]) * CELLS)
            if not (0 <= row < ROWS and 0 <= column < ROWS and rows[row] >> np.uint64(column) & np.uint64(1)):
                forms &= ~(1 << form)
                break
    return forms


@compiled
def frame(table: Any, x: float, y: float, ray: int, lines: Any) -> int:
    """Write the figure's edges and the pieces' in the frame of a corner; leave out those that no piece there can touch.

    Args:
        table: the board.
        x: of the corner, board units.
        y: of the corner, board units.
        ray: direction of its right side, in steps of 45° counter-clockwise from east.
        lines: float64[LINES, 5], written: from x, y to x, y; and whose it is, a piece's number or −1 for the figure.

    Returns:
        How many there are.
    """
    count = 0
    start = 0
    for ring in range(len(table.ends)):
        end = table.ends[ring]
        if end > start:
            count = _frame_ring(table.outline, start, end, table.per_unit, x, y, ray, -1.0, lines, count)
        start = end
    for piece in range(7):
        if table.on_board[piece]:
            vertices = table.vertices[piece]
            count = _frame_ring(vertices, 0, CORNERS[piece], table.per_unit, x, y, ray, float(piece), lines, count)
    return count


@compiled
def _frame_ring(
    ring: Any, start: int, end: int, per_unit: Any, x: float, y: float, ray: int, owner: float, lines: Any, count: int
) -> int:
    cosine, sine = COSINES[ray], COSINES[(ray + 6) % 8]
    right_x, right_y = cosine * per_unit[0], sine * per_unit[1]
    up_x, up_y = -sine * per_unit[0], cosine * per_unit[1]
    right, up = ring[end - 1, 0] - x, ring[end - 1, 1] - y
    ax, ay = right * right_x + up * right_y, right * up_x + up * up_y
    for i in range(start, end):
        right, up = ring[i, 0] - x, ring[i, 1] - y
        bx, by = right * right_x + up * right_y, right * up_x + up * up_y
        if max(ay, by) > -SHRINK and min(ay, by) < REACH and max(ax, bx) > -REACH and min(ax, bx) < REACH:
            lines[count, 0] = ax
            lines[count, 1] = ay
            lines[count, 2] = bx
            lines[count, 3] = by
            lines[count, 4] = owner
            count += 1
        ax, ay = bx, by
    return count


@compiled
def clear(lines: Any, count: int, forms: int, lifted: int, against: int) -> int:
    """Return those of `forms` that no line enters: of `FIGURE`, `ALL_PIECES` but the one that is `lifted`, or both."""
    for i in range(count):
        owner = lines[i, 4]
        if owner == lifted or not against & (FIGURE if owner < 0.0 else ALL_PIECES):
            continue
        ax, ay, bx, by = lines[i, 0], lines[i, 1], lines[i, 2], lines[i, 3]
        if max(ay, by) <= SHRINK:
            continue
        right = min(_BINS - 1, int((max(ax, bx) + REACH) * _FINE))
        left = max(0, int((min(ax, bx) + REACH) * _FINE))
        low = max(0, int((min(ay, by) + REACH) * _FINE))
        met = forms & _BEFORE[right] & _BEHIND[left] & _ABOVE[low]
        while met:
            form = int(_LOWEST[met])
            met &= met - 1
            if _enters(form, ax, ay, bx, by):
                forms &= ~(1 << form)
        if forms == 0:
            break
    return forms


@compiled
def _enters(form: int, ax: float, ay: float, bx: float, by: float) -> bool:
    """Return True if the line from a to b enters a form, shrunk by `SHRINK` (Cyrus and Beck's clipping)."""
    enter, leave = 0.0, 1.0
    for side in range(_CORNERS[form]):
        start = _OUT[form, side, 0] * ax + _OUT[form, side, 1] * ay - _ALONG[form, side] + SHRINK
        stop = _OUT[form, side, 0] * bx + _OUT[form, side, 1] * by - _ALONG[form, side] + SHRINK
        if start >= 0.0 and stop >= 0.0:
            return False
        if start > 0.0:
            enter = max(enter, start / (start - stop))
        elif stop > 0.0:
            leave = min(leave, start / (start - stop))
        if enter >= leave:
            return False
    return True


@compiled
def snug(lines: Any, count: int, form: int, lifted: int) -> float:
    """Return the share of a form's border that lies on lines, without those of the piece `lifted`."""
    length = 0.0
    for i in range(count):
        if lines[i, 4] == lifted:
            continue
        for side in range(_CORNERS[form]):
            right, up = _OUT[form, side, 0], _OUT[form, side, 1]
            if (
                abs(right * lines[i, 0] + up * lines[i, 1] - _ALONG[form, side]) < SHRINK
                and abs(right * lines[i, 2] + up * lines[i, 3] - _ALONG[form, side]) < SHRINK
            ):
                x, y = _VERTICES[form, side, 0], _VERTICES[form, side, 1]
                start = right * (lines[i, 1] - y) - up * (lines[i, 0] - x)
                stop = right * (lines[i, 3] - y) - up * (lines[i, 2] - x)
                length += max(0.0, min(max(start, stop), _LENGTHS[form, side]) - max(min(start, stop), 0.0))
    return min(1.0, length / _PERIMETERS[form])
