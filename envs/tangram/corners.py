"""The menu of snap actions: a corner of what is still uncovered, and the pieces that can be laid into it.

Around a point the plane has eight sectors of 45°, a bit each, from east counter-clockwise. At a vertex of the outline or
of a placed piece those that lie inside the figure and that no piece covers are open; a run of up to three open sectors is
a convex corner of the uncovered region. In an exact solution some piece lies along the corner's right side with a
vertex in the corner. So it is enough to offer these: every exact solution can be played corner by corner.

The corner that is offered, the **focus**, is the one that the fewest pieces fit, the sharpest among equals; corners that
no piece in the drawer fits come last. Every turn that is skipped goes on to the next corner.

At the focus those places are open where a piece of the drawer fits: inside the figure, over no other piece. Where none
does, pieces of the board that fit there may be moved, and pieces of the drawer may stick out of the figure.

A corner has a frame of its own, in u: it lies at the origin and its right side runs along +x.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..core.compiled import compiled
from .geometry import covered_area, on_board, place
from .lattice import VERTICES, exact, value
from .pieces import AREAS, BLUE, BROWN, CORNERS, CREAM, GREEN, PERIODS, PURPLE, RED, SHAPES, YELLOW
from .table import PLACES

NEAR = 0.05
"""Board units from a vertex or an edge within which a point counts as lying on it; less than between any two points
that a figure built by `lattice` can have."""
SHRINK = 0.0005
"""u by which a piece is shrunk on all sides before it is held against the border: what fits then never collides, and
rounding does not matter. (At a corner of 45° this is 0.0013 u = TOLERANCE.)"""
REACH = 4.0 + SHRINK
"""u that a piece in a corner reaches from it at most."""
CONVEX = 3
"""Most sectors of a convex corner."""
LINES = VERTICES + 4 * 7
"""Most edges of a figure and all pieces."""
NO_CORNER = 1 << 20

_OFFERED = [
    *((piece, corner) for piece in (RED, CREAM) for corner in range(3)),
    (PURPLE, 0),  # its other corners look the same
    *((BROWN, corner) for corner in range(2)),
    *((piece, corner) for piece in (BLUE, YELLOW, GREEN) for corner in range(3)),
]
PIECE, CORNER = np.array(_OFFERED).T.copy()
"""int64[PLACES] each: the piece of a place, and its vertex that is laid into the corner."""
FIRST = np.searchsorted(PIECE, np.arange(8))
"""int64[8]: each piece's first place, and `PLACES`."""
TWIN = np.array([CREAM, RED, -1, -1, -1, GREEN, YELLOW])
"""int64[7]: the piece that is congruent to this one; −1: none."""
_EARLIER = [FIRST[min(piece, TWIN[piece])] - FIRST[piece] if TWIN[piece] >= 0 else 0 for piece in range(7)]
FORM = np.array([place + _EARLIER[piece] for place, (piece, _) in enumerate(_OFFERED)])
"""int64[PLACES]: the first place that looks like this one: twins share their forms."""
COUNT = CORNERS[PIECE]
"""int64[PLACES]: vertices of the piece."""


def _framed(piece: int, corner: int) -> list[tuple[float, float]]:
    """Return four vertices in the corner's frame, from this one on; a triangle's first one stands again at the end."""
    around = np.roll(SHAPES[piece, : CORNERS[piece]], -corner, 0)
    along = around[1] - around[0]
    cosine, sine = along / np.hypot(*along)
    turned = (around - around[0]) @ np.array([[cosine, -sine], [sine, cosine]])
    framed = [(value(exact(x)), value(exact(y))) for x, y in turned]
    return framed + framed[:1] * (4 - len(framed))


FRAMED = np.array([_framed(*offered) for offered in _OFFERED])
"""float64[PLACES, 4, 2]: the piece's vertices in the corner's frame."""
_SIDES = np.roll(FRAMED, -1, 1) - FRAMED
_SIDES[COUNT == 3, 2] = FRAMED[COUNT == 3, 0] - FRAMED[COUNT == 3, 2]
_LENGTHS = np.hypot(*_SIDES.transpose(2, 0, 1))  # a triangle's fourth is 0
_PERIMETERS = _LENGTHS.sum(1)
_OUT = np.stack([_SIDES[..., 1], -_SIDES[..., 0]], -1) / np.where(_LENGTHS, _LENGTHS, 1)[..., None]
_ALONG = (_OUT * FRAMED).sum(-1)
"""Outward normals of the sides, and how far along them the sides lie."""
_BOXES = np.concatenate([FRAMED.min(1), FRAMED.max(1)], 1)
WIDTH = np.array([round(np.arctan2(framed[n - 1, 1], framed[n - 1, 0]) / (np.pi / 4)) for framed, n in zip(FRAMED, COUNT)])
"""int64[PLACES]: the angle of the piece's corner, in steps of 45°."""
_NARROW = np.array([sum(1 << number for number in range(PLACES) if WIDTH[number] <= width) for width in range(9)])
"""int64[9]: the places, a bit each, whose corner has at most so many sectors."""

_EIGHTHS = np.pi / 4 * np.arange(8)
_HALF = 0.5**0.5
COSINES = np.array([1.0, _HALF, 0.0, -_HALF, -1.0, -_HALF, 0.0, _HALF])
"""float64[8] of the angles in steps of 45°; the sine is that of six steps on."""


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

_MIDDLES = np.array([[np.cos(np.pi / 8 + angle), np.sin(np.pi / 8 + angle)] for angle in _EIGHTHS])
_WHOLE = 255


# Sectors.


@compiled
def _left_of(right: float, up: float) -> int:
    """Return the sectors to the left of a direction, in u (of a direction between two of them: by their middles)."""
    bits = 0
    for sector in range(8):
        if right * _MIDDLES[sector, 1] > up * _MIDDLES[sector, 0]:
            bits |= 1 << sector
    return bits


@compiled
def _side(table: Any, ax: float, ay: float, bx: float, by: float) -> int:
    """Return the sectors to the left of the edge from a to b, in board units."""
    return _left_of((bx - ax) * table.per_unit[0], (by - ay) * table.per_unit[1])


@compiled
def wedges(table: Any) -> None:
    """Write the sectors inside the figure around each vertex of its outline."""
    start = 0
    for ring in range(len(table.ends)):
        end = table.ends[ring]
        for i in range(start, end):
            before = i - 1 if i > start else end - 1
            after = i + 1 if i + 1 < end else start
            x, y = table.outline[i, 0], table.outline[i, 1]
            from_x, from_y = table.outline[before, 0], table.outline[before, 1]
            to_x, to_y = table.outline[after, 0], table.outline[after, 1]
            into = _side(table, from_x, from_y, x, y)
            out = _side(table, x, y, to_x, to_y)
            convex = (x - from_x) * (to_y - y) > (y - from_y) * (to_x - x)
            table.inside[i] = into & out if convex else into | out
        start = end


@compiled
def sectors_inside(table: Any, x: float, y: float) -> int:
    """Return the sectors inside the figure around a point; none around a vertex of the outline, which has its own."""
    within = False
    start = 0
    for ring in range(len(table.ends)):
        end = table.ends[ring]
        for i in range(start, end):
            after = i + 1 if i + 1 < end else start
            ax, ay = table.outline[i, 0] - x, table.outline[i, 1] - y
            bx, by = table.outline[after, 0] - x, table.outline[after, 1] - y
            if abs(ax) < NEAR and abs(ay) < NEAR:
                return 0
            right, up = bx - ax, by - ay
            aside = ax * by - ay * bx  # the distance times the length, positive where the point is on the left
            along = -(ax * right + ay * up)
            length = right * right + up * up
            if aside * aside < NEAR * NEAR * length and 0 < along < length:
                if not (abs(bx) < NEAR and abs(by) < NEAR):
                    return _left_of(right * table.per_unit[0], up * table.per_unit[1])
            elif (ay > 0) != (by > 0) and (aside > 0) == (by > ay):
                within = not within
        start = end
    return _WHOLE if within else 0


@compiled
def _covered(table: Any, piece: int, x: float, y: float) -> int:
    """Return the sectors around a point that a piece covers."""
    bits = _WHOLE
    corners = CORNERS[piece]
    for i in range(corners):
        j = i + 1 if i + 1 < corners else 0
        ax, ay = table.vertices[piece, i, 0], table.vertices[piece, i, 1]
        right, up = table.vertices[piece, j, 0] - ax, table.vertices[piece, j, 1] - ay
        aside = right * (y - ay) - up * (x - ax)
        if aside * aside < NEAR * NEAR * (right * right + up * up):
            bits &= _left_of(right * table.per_unit[0], up * table.per_unit[1])
        elif aside < 0:
            return 0
        if bits == 0:
            return 0
    return bits


@compiled
def _open_around(table: Any, x: float, y: float, inside: int) -> int:
    """Return those of the sectors `inside` the figure around a point that no piece covers."""
    for piece in range(7):
        if inside and table.on_board[piece]:
            inside &= ~_covered(table, piece, x, y)
    return inside


# What fits into a corner.


@compiled
def _frame(table: Any, x: float, y: float, ray: int, lines: Any) -> int:
    """Write the figure's edges and the pieces' in the frame of a corner at (x, y); leave out what no piece there meets.

    Args:
        table: the board.
        x: of the corner, board units.
        y: of the corner, board units.
        ray: direction of its right side, in steps of 45°.
        lines: float64[LINES, 5], written: from x, y to x, y; the piece, −1 for the figure.

    Returns:
        How many there are.
    """
    count = 0
    start = 0
    for ring in range(len(table.ends)):
        end = table.ends[ring]
        if end > start:
            count = _ring(table.outline, start, end, table.per_unit, x, y, ray, -1, lines, count)
        start = end
    for piece in range(7):
        if table.on_board[piece]:
            count = _ring(table.vertices[piece], 0, CORNERS[piece], table.per_unit, x, y, ray, piece, lines, count)
    return count


@compiled
def _ring(
    ring: Any, start: int, end: int, per_unit: Any, x: float, y: float, ray: int, owner: int, lines: Any, count: int
) -> int:
    cosine, sine = COSINES[ray], COSINES[(ray + 6) % 8]
    right = (ring[end - 1, 0] - x) * per_unit[0]
    up = (ring[end - 1, 1] - y) * per_unit[1]
    ax, ay = right * cosine + up * sine, up * cosine - right * sine
    for i in range(start, end):
        right = (ring[i, 0] - x) * per_unit[0]
        up = (ring[i, 1] - y) * per_unit[1]
        bx, by = right * cosine + up * sine, up * cosine - right * sine
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
def _clear(lines: Any, count: int, places: int, lifted: int, bounded: bool) -> int:
    """Return those of `places` (a bit each) whose piece no line enters: none of a piece but `lifted`, and, if `bounded`,
    none of the figure.
    """
    for i in range(count):
        owner = lines[i, 4]
        if owner == lifted or (owner < 0 and not bounded):
            continue
        ax, ay, bx, by = lines[i, 0], lines[i, 1], lines[i, 2], lines[i, 3]
        if max(ay, by) <= SHRINK:
            continue
        left, right = min(ax, bx), max(ax, bx)
        low, high = min(ay, by), max(ay, by)
        number = 0
        rest = places
        while rest:
            if (
                rest & 1
                and right > _BOXES[number, 0]
                and left < _BOXES[number, 2]
                and high > _BOXES[number, 1]
                and low < _BOXES[number, 3]
                and _enters(number, ax, ay, bx, by)
            ):
                places ^= 1 << number
            rest >>= 1
            number += 1
        if places == 0:
            break
    return places


@compiled
def _enters(number: int, ax: float, ay: float, bx: float, by: float) -> bool:
    """Tell whether the line from a to b enters the piece of a place, shrunk by `SHRINK` (Cyrus and Beck's clipping)."""
    enter, leave = 0.0, 1.0
    for side in range(COUNT[number]):
        start = _OUT[number, side, 0] * ax + _OUT[number, side, 1] * ay - _ALONG[number, side] + SHRINK
        stop = _OUT[number, side, 0] * bx + _OUT[number, side, 1] * by - _ALONG[number, side] + SHRINK
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
def _snug(lines: Any, count: int, number: int, lifted: int) -> float:
    """Return the share of a place's border that lies along lines."""
    length = 0.0
    for i in range(count):
        if lines[i, 4] == lifted:
            continue
        for side in range(COUNT[number]):
            right, up = _OUT[number, side, 0], _OUT[number, side, 1]
            if (
                abs(right * lines[i, 0] + up * lines[i, 1] - _ALONG[number, side]) < SHRINK
                and abs(right * lines[i, 2] + up * lines[i, 3] - _ALONG[number, side]) < SHRINK
            ):
                x, y = FRAMED[number, side, 0], FRAMED[number, side, 1]
                start = right * (lines[i, 1] - y) - up * (lines[i, 0] - x)
                stop = right * (lines[i, 3] - y) - up * (lines[i, 2] - x)
                length += max(0.0, min(max(start, stop), _LENGTHS[number, side]) - max(min(start, stop), 0.0))
    return min(1.0, length / _PERIMETERS[number])


# The focus.


@compiled
def _drawer(table: Any) -> int:
    """Return the forms (see `FORM`) of the pieces in the drawer, a bit each."""
    forms = 0
    for number in range(PLACES):
        if not table.on_board[PIECE[number]]:
            forms |= 1 << FORM[number]
    return forms


@compiled
def _point(table: Any, index: int) -> tuple[float, float]:
    """Return a point where corners may be: a vertex of the outline, or behind them of a piece."""
    if index < VERTICES:
        return table.outline[index, 0], table.outline[index, 1]
    piece, vertex = (index - VERTICES) >> 2, (index - VERTICES) & 3
    return table.vertices[piece, vertex, 0], table.vertices[piece, vertex, 1]


@compiled
def _next(table: Any, forms: int, widest: int, last: int, lines: Any) -> tuple[int, int]:
    """Go on to the next corner.

    Corners are numbered in the order in which they are offered: by what fits, then by their angle, then by where they
    stand in the record; a number tells its corner (see `survey`).

    Args:
        table: the board.
        forms: what the drawer holds.
        widest: the most sectors that a corner may have.
        last: number of the last corner; −1: begin.
        lines: for `_frame`.

    Returns:
        The lowest number above `last` (`NO_CORNER` if there is none), and how many corners there are.
    """
    count = 0
    first = NO_CORNER
    for index in range(VERTICES + 28):
        if index < VERTICES:
            inside = table.inside[index] if index < table.ends[-1] else 0
        else:
            piece = (index - VERTICES) >> 2
            inside = table.within[piece, (index - VERTICES) & 3] if table.on_board[piece] else 0
        if inside == 0:
            continue
        x, y = _point(table, index)
        around = _open_around(table, x, y, inside)
        if around == 0 or around == _WHOLE or (index >= VERTICES and _seen(table, index, x, y)):
            continue
        for ray in range(8):
            if around >> ray & 1 and not around >> (ray + 7) % 8 & 1:
                width = 1
                while around >> (ray + width) % 8 & 1:
                    width += 1
                if width <= widest:
                    count += 1
                    fits = _clear(lines, _frame(table, x, y, ray, lines), forms & _NARROW[width], -2, True)
                    options = 0
                    while fits:
                        options += fits & 1
                        fits >>= 1
                    number = (((options if options else 31) * 8 + width) * 64 + index) * 8 + ray
                    if last < number < first:
                        first = number
    return first, count


@compiled
def _seen(table: Any, index: int, x: float, y: float) -> bool:
    """Tell whether an earlier piece has a vertex at a point, too."""
    for piece in range((index - VERTICES) >> 2):
        if table.on_board[piece]:
            for i in range(CORNERS[piece]):
                if abs(table.vertices[piece, i, 0] - x) < NEAR and abs(table.vertices[piece, i, 1] - y) < NEAR:
                    return True
    return False


@compiled
def clear_menu(table: Any) -> None:
    """Write a menu without a focus."""
    table.width = 0
    table.ray = 0
    table.focus[:] = 0.0
    table.open = 0
    table.gain[:] = 0.0
    table.snug[:] = 0.0


@compiled
def survey(table: Any) -> None:
    """Write the menu of a turn that begins: the focus, and what can be laid into it."""
    clear_menu(table)
    lines = np.empty((LINES, 5))
    forms = _drawer(table)
    widest = CONVEX
    number, count = _next(table, forms, widest, -1, lines)
    if count == 0:
        widest = 7
        number, count = _next(table, forms, widest, -1, lines)
        if count == 0:
            return
    for _ in range(table.passes % count):
        number, count = _next(table, forms, widest, number, lines)
    table.ray = number & 7
    table.width = number >> 9 & 7
    x, y = _point(table, number >> 3 & 63)
    table.focus[0] = x
    table.focus[1] = y
    lying = _frame(table, x, y, table.ray, lines)
    fits = _clear(lines, lying, forms & _NARROW[table.width], -2, True)
    if fits:
        _offer_fitting(table, fits, lines, lying)
    else:
        _offer_any(table, forms & _NARROW[table.width], lines, lying)


@compiled
def _offer_fitting(table: Any, fits: int, lines: Any, lying: int) -> None:
    """Open the places of the drawer's pieces whose forms fit; of twins in the drawer only the first one's."""
    covered, placed = totals(table)
    for number in range(PLACES):
        piece = PIECE[number]
        twin = TWIN[piece]
        if fits >> FORM[number] & 1 and not table.on_board[piece] and not (0 <= twin < piece and not table.on_board[twin]):
            area = AREAS[piece] * table.scale[0] * table.scale[1]
            table.open |= 1 << number
            table.gain[number] = iou(table, covered + area, placed + area) - table.iou
            table.snug[number] = _snug(lines, lying, number, -2)


@compiled
def _offer_any(table: Any, forms: int, lines: Any, lying: int) -> None:
    """Open the places of pieces on the board that fit, and those of pieces in the drawer that collide with nothing."""
    covered, placed = totals(table)
    shape = np.empty((4, 2))
    loose = _clear(lines, lying, forms, -2, False)
    for piece in range(7):
        twin = TWIN[piece]
        bits = 0
        if table.on_board[piece]:
            own = (1 << FIRST[piece + 1]) - (1 << FIRST[piece])
            bits = _clear(lines, lying, own & _NARROW[table.width], piece, True)
        elif not (0 <= twin < piece and not table.on_board[twin]):
            for number in range(FIRST[piece], FIRST[piece + 1]):
                bits |= (loose >> FORM[number] & 1) << number
        for number in range(FIRST[piece], FIRST[piece + 1]):
            if bits >> number & 1:
                x, y, rotation = pose(table, number)
                place(piece, x, y, rotation, table.scale, shape)
                if on_board(shape):
                    area = covered_area(shape, table.outline, table.ends)
                    if table.on_board[piece]:
                        gain = iou(table, covered - table.covered[piece] + area, placed)
                    else:
                        gain = iou(table, covered + area, placed + AREAS[piece] * table.scale[0] * table.scale[1])
                    table.open |= 1 << number
                    table.gain[number] = gain - table.iou
                    table.snug[number] = _snug(lines, lying, number, piece)


@compiled
def pose(table: Any, number: int) -> tuple[float, float, float]:
    """Return the pose of a place's piece in the focus: its centre in board units, and its rotation in degrees."""
    x = table.focus[0] + table.scale[0] * OFFSET[number, table.ray, 0]
    y = table.focus[1] + table.scale[1] * OFFSET[number, table.ray, 1]
    return x, y, float(ROTATION[number, table.ray])


# Areas.


@compiled
def totals(table: Any) -> tuple[float, float]:
    """Return the area that the pieces cover inside the figure, and their own, in square board units."""
    covered = 0.0
    placed = 0.0
    for piece in range(7):
        if table.on_board[piece]:
            covered += table.covered[piece]
            placed += AREAS[piece] * table.scale[0] * table.scale[1]
    return covered, placed


@compiled
def measure(table: Any) -> None:
    """Write the intersection over union of the figure and the pieces on the board."""
    covered, placed = totals(table)
    table.iou = iou(table, covered, placed)


@compiled
def iou(table: Any, covered: float, placed: float) -> float:
    """Return the intersection over union of the figure and pieces of which so much lies inside it."""
    return min(1.0, covered / (table.area + placed - covered))
