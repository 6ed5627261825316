"""The board as a picture: the silhouette, the placed pieces, the drawer with the others, and the messages.

All seats see the same; only "you" depends on the view.
"""

import struct
import zlib
from base64 import b64encode
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from math import cos, radians, sin
from typing import Any

import numpy as np
from msgspec.structs import replace
from numpy.typing import NDArray

from ..core.turn_state import TurnState
from ..render.svg import (
    FAINT,
    INK,
    LINE,
    PAPER,
    box,
    disc,
    document,
    group,
    latest,
    number,
    remembered,
    short,
    text,
    wrapped,
)
from .geometry import place, within
from .lattice import BOARD, CORNERS, PIECES, RASTER

Row = Mapping[str, Any]
Ring = Sequence[Sequence[float]]

LEFT, TOP, SIDE = 16.0, 44.0, 400.0
"""The area of the board in the picture."""
DRAWER, WIDE = 432.0, 192.0
PAINT = {
    "Red": "#d0473f", "Cream": "#ecd9a3", "Purple": "#8a5aa8", "Brown": "#8f6844", "Blue": "#3b76b5",
    "Yellow": "#eac13d", "Green": "#4a9a5c",
}  # fmt: skip
SHADE = "#c9c5b8"
WRONG = "#c23b4e"


def picture(states: Sequence[TurnState]) -> str:
    """Draw the board from `states` (see `Renderer.picture`)."""
    first = states[0]
    game = first.game_state
    own = first.agent_id if len(states) == 1 else ""
    moved = game.get("moved")
    lifted = moved["shape"] if moved else ""
    things = [
        text(LEFT, 29, short(str(game.get("objective") or "a figure").capitalize(), 44), 18, bold=True),
        text(624, 29, _turn(game), 13, fill=FAINT, anchor="end"),
        box(LEFT, TOP, SIDE, SIDE, "#fff", round=4, stroke=LINE, thick=1.5),
        _silhouette(game.get("silhouette") or ()),
    ]
    for name in PAINT:
        placed = game["on_board"].get(name)
        things.append(_piece(name, placed, moved=name == lifted) if placed else "")
    things.append(_came_from(game["on_board"].get(lifted), moved))
    things += [text(DRAWER, 60, "drawer", 12, fill=FAINT), *_drawer(game["off_board"])]
    things += [*_progress(game), *_talk(states), text(DRAWER, 436, _news(first, own), 13, bold=True)]
    things.append(text(LEFT, 466, _deed(first, moved), 12, fill=FAINT))
    return document(f"Tangram: {game.get('objective') or 'a figure'}; {_news(first, own)}", things)


def _turn(game: Row) -> str:
    if "turn_number" not in game:
        return ""
    return f"turn {game['turn_number']} of {game['turns']}"


def _news(state: TurnState, own: str) -> str:
    if state.game_over:
        return {"solved": "Solved"}.get((state.outcome or {}).get("reason", ""), "Over")
    if own and state.is_my_turn:
        return "Your turn"
    return f"{short(state.current_turn_agent_id or 'the other', 16)} is to play"


def _deed(state: TurnState, moved: Row | None) -> str:
    if moved is None:
        return ""
    plays = state.game_state.get("plays_left")
    left = f"; {plays} more in this turn" if plays else ""
    return f"{moved['shape']} {'was moved' if moved['from'] else 'came from the drawer'}{left}"


def _at(x: float, y: float) -> tuple[float, float]:
    return LEFT + SIDE * x / 100, TOP + SIDE * (1 - y / 100)


def _path(rings: Sequence[Ring]) -> str:
    return "".join(_ring(tuple(map(tuple, ring))) for ring in rings if ring)


@remembered
def _ring(ring: tuple[tuple[float, ...], ...]) -> str:
    return "M" + " ".join(f"{px:.5g},{py:.5g}" for px, py in (_at(x, y) for x, y in ring)) + "z"


def _silhouette(rings: Sequence[Ring]) -> str:
    return (
        f'<path d="{_path(rings)}" fill="{SHADE}" fill-rule="evenodd" stroke="#a9a596" stroke-width="1.5"/>'
        if rings
        else ""
    )


def _piece(name: str, placed: Row, *, moved: bool) -> str:
    """Return a piece on the board: with a dark edge if it was just played, with a red one if it collides."""
    edge, thick = (WRONG, 3.0) if placed.get("collisions") else (INK, 2.5) if moved else (PAPER, 1.2)
    x, y = _at(*placed["position"])
    return group(
        f'<path d="{_path([placed["vertices"]])}" fill="{PAINT[name]}" fill-opacity="0.88" stroke="{edge}" '
        f'stroke-width="{thick:g}" stroke-linejoin="round"/>',
        disc(x, y, 2.2, INK),
    )


def _came_from(placed: Row | None, moved: Row | None) -> str:
    """Return the old outline of the piece just played, dashed."""
    if placed is None or moved is None or moved["from"] is None:
        return ""
    (x, y), (old_x, old_y) = placed["position"], moved["from"]["position"]
    turn = radians(placed["rotation"] - moved["from"]["rotation"])  # clockwise as seen, so back is counter-clockwise
    there = [
        (
            old_x + (px - x) * cos(turn) - (py - y) * sin(turn),
            old_y + (px - x) * sin(turn) + (py - y) * cos(turn),
        )
        for px, py in placed["vertices"]
    ]
    return f'<path d="{_path([there])}" fill="none" stroke="{INK}" stroke-width="1.2" stroke-dasharray="5 4"/>'


def _drawer(pieces: Row) -> list[str]:
    """Return the pieces in the drawer in two columns, each at its fixed place."""
    drawn = []
    for slot, name in enumerate(PAINT):
        x, y = DRAWER + WIDE * (0.25 + 0.5 * (slot % 2)), 98.0 + 58 * (slot // 2)
        spot = box(x - 44, y - 27, 88, 54, "#f3f0e6", round=5)
        shape = (pieces.get(name) or {}).get("vertices")
        outline = ""
        if shape:
            outline = _small(tuple(map(tuple, shape)), x, y, PAINT[name])
        elif name in pieces:
            outline = text(x, y + 4, name, 12, anchor="middle")
        drawn.append(group(spot, outline))
    return drawn


@remembered
def _small(shape: tuple[tuple[float, ...], ...], x: float, y: float, fill: str) -> str:
    """Return a small piece around (`x`, `y`)."""
    across, down = (max(1e-9, *(abs(point[axis]) for point in shape)) for axis in (0, 1))
    scale = min(1.7, 38 / across, 22 / down)
    points = " ".join(f"{x + scale * px:.5g},{y - scale * py:.5g}" for px, py in shape)
    return f'<polygon points="{points}" fill="{fill}" stroke="{PAPER}"/>'


def _progress(game: Row) -> list[str]:
    """Return the intersection over union as a bar."""
    if game.get("iou") is None:
        return [""]
    share = min(max(float(game["iou"]), 0.0), 1.0)
    return [
        group(
            text(DRAWER, 322, "overlap of pieces and figure", 11, fill=FAINT),
            text(DRAWER + WIDE, 322, f"{number(100 * share)} %", 12, anchor="end", bold=True),
            box(DRAWER, 328, WIDE, 9, "#e7e3d6", round=4),
            box(DRAWER, 328, WIDE * share, 9, "#4a9a5c", round=4) if share > 0.02 else "",
        )
    ]


def _talk(states: Sequence[TurnState]) -> list[str]:
    """Return the last messages, the latest at the bottom."""
    rows: list[str] = []
    for message in latest(states)[-3:]:
        rows += wrapped(f"{short(message.sender_id, 14)}: {message.content}", 33, 4)
    rows = rows[-4:]
    return [text(DRAWER, 358 + 16 * i, rows[i], 11, fill=FAINT) if i < len(rows) else "" for i in range(4)]


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
    """Return True for points in a convex polygon, counter-clockwise: float64[…, 2], float64[n, 2] → bool[…]."""
    sides = np.roll(polygon, -1, 0) - polygon
    away = points[..., None, :] - polygon
    return np.asarray((sides[:, 0] * away[..., 1] >= sides[:, 1] * away[..., 0]).all(-1))


def words(title: str, names: Sequence[str], table: Any) -> str:
    """Return the figure in words: its name among `names`, those of the set that is drawn from; or `title`."""
    return names[int(table.figure)] if table.figure >= 0 else title


def render(load: Callable[[TurnState], tuple[Any, int]], states: Sequence[TurnState]) -> str:
    """Return the board in letters (`LETTERS`; a dot is an uncovered part of the figure) and a few lines on the turn
    (see `Renderer.text`)."""
    first, game = states[0], states[0].game_state
    seen = replace(first, agent_id=first.agent_id or first.current_turn_agent_id or "player_0")  # all see the same
    table = load(seen)[0][0]
    x = (np.arange(_COLUMNS) + 0.5) * BOARD / _COLUMNS
    y = BOARD - (np.arange(_ROWS) + 0.5) * BOARD / _ROWS
    points = np.stack(np.meshgrid(x, y), -1)
    canvas = np.array([["." if within(table, right, up) else " " for right in x] for up in y])
    for name, piece in game["on_board"].items():
        canvas[inside(points, np.array(piece["vertices"]))] = LETTERS[PIECES.index(name)]
    lines = [f"{game['objective']} · turn {game['turn_number']} of {game['turns']} · iou {game['iou']:.3f}"]
    lines += ["".join(row).rstrip() for row in canvas]
    lines.append(f"drawer: {', '.join(game['off_board']) or 'empty'}")
    if moved := game["moved"]:
        hits = "; it collides" if game["on_board"][moved["shape"]]["collisions"] else ""
        lines.append(f"moved: {moved['shape']}{hits}; plays left: {game['plays_left']}")
    if first.outcome is not None:
        solved = "solved" if first.outcome["reason"] == "solved" else "unsolved"
        lines.append(f"over: {solved}; each seat has {float(table.score):+.3f}")
    else:
        x, y = table.focus
        where = f"corner at ({x:.1f}, {y:.1f})" if table.width else "no corner is left"
        lines.append(f"> {first.current_turn_agent_id}; {where}")
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
    width, height = (int(side) for side in RASTER)
    canvas = np.zeros((height, width), np.uint8)
    for piece in np.flatnonzero(table.on_board):
        _paint(canvas, table.vertices[piece, : CORNERS[piece]] * (width / BOARD, height / BOARD), 1 + int(piece))
    return b64encode(png(canvas, (BACKGROUND, *COLOURS))).decode()


def drawer_image(table: Any) -> str:
    """Return the pieces in the drawer, each in a box of its own, 112 × 112 pixels: base64 PNG."""
    there = tuple(bool(one) for one in table.on_board)
    return _drawer_text(there, tuple(table.scale.tolist()))


_BOX = 112


@cache
def _drawer_text(on_board: tuple[bool, ...], scale: tuple[float, float]) -> str:
    canvas = np.zeros((_BOX, _BOX * len(PIECES)), np.uint8)
    shape = np.empty((4, 2))
    for piece, there in enumerate(on_board):
        if not there:
            place(piece, 0.0, 0.0, 0.0, np.array(scale), shape)
            pixels = shape[: CORNERS[piece]] * (RASTER[0] / BOARD, RASTER[1] / BOARD) + (_BOX * (piece + 0.5), _BOX / 2)
            _paint(canvas, pixels, 1 + piece)
    return b64encode(png(canvas, (BACKGROUND, *COLOURS))).decode()
