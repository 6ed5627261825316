"""The board as text, and as PNG pictures like those of TangramCollaborativeAI, made with zlib alone."""

import struct
import zlib
from base64 import b64encode
from collections.abc import Sequence
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .geometry import place
from .pieces import BOARD, CORNERS, PIECES, PIXELS
from .table import SOLVED

LETTERS = "RCPNBYG"
"""A letter for each piece; Brown is N."""
COLOURS = (
    (214, 63, 52),
    (240, 222, 173),
    (132, 76, 160),
    (133, 90, 56),
    (58, 110, 196),
    (240, 196, 48),
    (78, 156, 84),
)
"""Red, green and blue of each piece."""
BACKGROUND = (250, 250, 247)
_COLUMNS, _ROWS = 50, 25  # of the text: a character is twice as high as wide

Points = NDArray[np.float64]


def inside(points: Points, polygon: Points) -> NDArray[np.bool_]:
    """Return which points are in a convex polygon, counter-clockwise: float64[…, 2], float64[n, 2] → bool[…]."""
    sides = np.roll(polygon, -1, 0) - polygon
    away = points[..., None, :] - polygon
    return np.asarray((sides[:, 0] * away[..., 1] >= sides[:, 1] * away[..., 0]).all(-1))


def within(points: Points, outline: Points, ends: Any) -> NDArray[np.bool_]:
    """Return which points are inside an outline (see `geometry`): float64[…, 2] → bool[…]."""
    odd = np.zeros(points.shape[:-1], np.bool_)
    x, y = points[..., 0], points[..., 1]
    for start, end in zip([0, *ends[:-1]], ends, strict=True):
        ring = outline[start:end]
        for (ax, ay), (bx, by) in zip(ring, np.roll(ring, -1, 0), strict=True):
            if ay != by:
                odd ^= ((ay > y) != (by > y)) & (x < ax + (y - ay) * (bx - ax) / (by - ay))
    return odd


def words(title: str, names: Sequence[str], table: Any) -> str:
    """Return the figure in words: its name among `names`, those of the set that is drawn from; or `title`."""
    return names[int(table.figure)] if table.figure >= 0 else title


def render(title: str, names: Sequence[str], table: Any, seat: int | None) -> str:
    """Return the board in letters (`LETTERS`; a dot is an uncovered part of the figure) and a few lines on the turn."""
    x = (np.arange(_COLUMNS) + 0.5) * BOARD / _COLUMNS
    y = BOARD - (np.arange(_ROWS) + 0.5) * BOARD / _ROWS
    points = np.stack(np.meshgrid(x, y), -1)
    canvas = np.where(within(points, table.outline, table.ends.tolist()), ".", " ")
    for piece in np.flatnonzero(table.on_board):
        canvas[inside(points, table.vertices[piece, : CORNERS[piece]])] = LETTERS[piece]
    lines = [
        f"{words(title, names, table)} · turn {int(table.turn_number)} of {int(table.turns)} · "
        f"iou {float(table.iou):.3f}"
    ]
    lines += ["".join(row).rstrip() for row in canvas]
    drawer = [name for name, there in zip(PIECES, table.on_board, strict=True) if not there]
    lines.append(f"drawer: {', '.join(drawer) or 'empty'}")
    if table.moved >= 0:
        hits = "; it collides" if table.hits[table.moved] else ""
        lines.append(f"moved: {PIECES[int(table.moved)]}{hits}; plays left: {int(table.plays_left)}")
    if table.done:
        lines.append(
            f"over: {'solved' if table.iou >= SOLVED else 'unsolved'}; each seat has {float(table.score):+.3f}"
        )
    else:
        x, y = table.focus
        where = f"corner at ({x:.1f}, {y:.1f})" if table.width else "no corner is left"
        lines.append(f"> player_{int(table.turn)}; {where}")
    return "\n".join(lines)


def png(pixels: NDArray[np.uint8], palette: Any) -> bytes:
    """Return a PNG file (8 bits a pixel, indexed): uint8[height, width] into `palette`, (red, green, blue) each."""
    height, width = pixels.shape
    rows = np.zeros((height, width + 1), np.uint8)  # each row begins with its filter: none
    rows[:, 1:] = pixels

    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    header = struct.pack(">IIBBBBB", width, height, 8, 3, 0, 0, 0)
    colours = np.array(palette, np.uint8).tobytes()
    data = zlib.compress(rows.tobytes(), 1)
    return b"\x89PNG\r\n\x1a\n" + b"".join(
        chunk(kind, part) for kind, part in ((b"IHDR", header), (b"PLTE", colours), (b"IDAT", data), (b"IEND", b""))
    )


def _paint(canvas: NDArray[np.uint8], polygon: Points, colour: int) -> None:
    """Paint a convex polygon in pixels, y upwards, on uint8[height, width]."""
    height, width = canvas.shape
    left, low = np.maximum(np.floor(polygon.min(0)), 0).astype(int)
    right, high = np.minimum(np.ceil(polygon.max(0)), (width, height)).astype(int)
    points = np.stack(np.meshgrid(np.arange(left, right) + 0.5, np.arange(low, high) + 0.5), -1)
    canvas[::-1][low:high, left:right][inside(points, polygon)] = colour


def board_image(table: Any) -> str:
    """Return the pieces on the board as TangramCollaborativeAI draws them, 337 × 322 pixels: base64 PNG."""
    width, height = (int(side) for side in PIXELS)
    canvas = np.zeros((height, width), np.uint8)
    for piece in np.flatnonzero(table.on_board):
        _paint(canvas, table.vertices[piece, : CORNERS[piece]] * (width / BOARD, height / BOARD), 1 + int(piece))
    return b64encode(png(canvas, (BACKGROUND, *COLOURS))).decode()


def drawer_image(table: Any) -> str:
    """Return the pieces in the drawer, each in a box of its own, 112 × 112 pixels: base64 PNG."""
    there = tuple(bool(one) for one in table.on_board)
    return _drawer(there, tuple(table.scale.tolist()))


_BOX = 112


@cache
def _drawer(on_board: tuple[bool, ...], scale: tuple[float, float]) -> str:
    canvas = np.zeros((_BOX, _BOX * len(PIECES)), np.uint8)
    shape = np.empty((4, 2))
    for piece, there in enumerate(on_board):
        if not there:
            place(piece, 0.0, 0.0, 0.0, np.array(scale), shape)
            pixels = shape[: CORNERS[piece]] * (PIXELS[0] / BOARD, PIXELS[1] / BOARD) + (_BOX * (piece + 0.5), _BOX / 2)
            _paint(canvas, pixels, 1 + piece)
    return b64encode(png(canvas, (BACKGROUND, *COLOURS))).decode()
