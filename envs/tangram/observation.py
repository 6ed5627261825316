"""What a player sees, as slices of one flat float32 vector. Seats are counted from the observer: 0 is itself.

All of it follows from the outline of the figure and the poses of the pieces. Lengths are shares of the board's side.
What is said of the focus (see corners.py) stands under ``allowed_actions``, for that is what it is about.
"""

from typing import Any

import numpy as np

from ..core.compiled import compiled
from ..core.layout import Layout, Slice
from .forms import COSINES
from .lattice import RINGS, VERTICES
from .pieces import BOARD, CORNERS
from .raster import DRAWERS, toggle, unpack, unpack_shares
from .table import BONUS, NUMERIC, PIXELS, PLACES, ROWS

COARSE = ROWS // 4
"""Cells of the coarse grids, each way."""
PATCH = 16
"""Cells of the grid around the focus, each way."""
CELL = 0.5
"""u: their side."""
_RIGHT, _UP = 8.0 - 0.16, 4.0
"""Cells from the patch's lower left to the focus; off by a little, so that diagonals through it miss their middles."""


def layout(seats: int, modality: int, lowest: float) -> Layout:
    """Return the slices for `seats` seats; `modality` is one of `MODALITIES` by number, `lowest` the lowest utility."""
    numeric = [
        Slice("game_state.on_board", (7, 6), -1, 1, "by piece: on the board, x, y, cosine, sine, collides"),
        Slice("game_state.silhouette.outline", (VERTICES, 4), 0, 1, "by vertex: present, begins a ring, x, y"),
        Slice("game_state.silhouette.occupancy", (COARSE, COARSE), 0, 1, "share of each cell of the board, from below"),
        Slice("game_state.silhouette.uncovered", (COARSE, COARSE), 0, 1, "the same of what no piece covers"),
        Slice("game_state.silhouette.remaining", (1,), 0, 1, "share of its area that is uncovered"),
        Slice(
            "allowed_actions.focus.around",
            (PATCH, PATCH),
            0,
            1,
            f"which points around the focus are uncovered, every {CELL:g} u; rows along its right side, from below",
        ),
    ]
    pixels = [
        Slice("game_state.board_img", (2, ROWS, ROWS), 0, 1, "figure; pieces on the board; rows from below"),
        Slice("game_state.drawer_img", (7, ROWS, ROWS), 0, 1, "each piece, while it is in the drawer"),
    ]
    return Layout(
        [
            Slice("phase", (2,), 0, 1, "one-hot: play, feedback"),
            Slice("is_my_turn", (1,), 0, 1, "whether the observer decides next"),
            Slice("current_turn_agent_id", (seats,), 0, 1, "one-hot by relative seat; all 0 when it is over"),
            Slice("game_state.turns_left", (1,), 0, 1, "share of the turns, this one included"),
            Slice("game_state.plays_left", (1,), 0, 1, "share of this turn's plays"),
            Slice("game_state.passes", (1,), 0, 1, "turns skipped in a row, as a share of all turns"),
            Slice("game_state.iou", (1,), 0, 1, "when the turn began"),
            Slice("game_state.off_board", (7,), 0, 1, "by piece: in the drawer"),
            Slice("game_state.moved", (7,), 0, 1, "one-hot: the piece played in this turn"),
            Slice("allowed_actions.focus.position", (2,), 0, 1, "of the focus"),
            Slice(
                "allowed_actions.focus.ray", (8,), 0, 1, "one-hot: direction of its right side, from east to the left"
            ),
            Slice("allowed_actions.focus.width", (7,), 0, 1, "one-hot: its open angle, 45° to 315°; all 0: no focus"),
            Slice("allowed_actions.dead", (1,), 0, 1, "corners that nothing in the drawer fits, as a share of 8"),
            Slice("allowed_actions.play.fitting", (1,), 0, 1, "the open places fit; else nothing in the drawer fits"),
            Slice("allowed_actions.play.open", (PLACES,), 0, 1, "the places that can be played, as in the mask"),
            Slice("allowed_actions.play.gain", (PLACES,), -1, 1, "by open place: change of iou"),
            Slice("allowed_actions.play.snug", (PLACES,), 0, 1, "by open place: share of its border that would touch"),
            *(numeric if modality != PIXELS else ()),
            *(pixels if modality != NUMERIC else ()),
            Slice("game_over", (1,), 0, 1, "whether the game is over"),
            Slice("outcome.payoffs", (seats,), lowest, 1 + BONUS, "utilities by relative seat"),
        ]
    )


@compiled
def observe(table: Any, seat: int, out: Any) -> None:
    """Write what `seat` may know into `out` (float32[layout.size]), in the layout's order."""
    out[:] = 0
    seats = table.seats
    if table.moved >= 0:
        out[1] = 1
    else:
        out[0] = 1
    if table.turn >= 0:
        out[2] = table.turn == seat
        out[3 + (table.turn - seat if table.turn >= seat else table.turn - seat + seats)] = 1
    k = 3 + seats
    out[k] = (table.turns - table.turn_number + 1) / table.turns
    out[k + 1] = table.plays_left / table.plays
    out[k + 2] = table.passes / table.turns
    out[k + 3] = table.iou
    k += 4
    for piece in range(7):
        out[k + piece] = not table.on_board[piece]
    k += 7
    if table.moved >= 0:
        out[k + table.moved] = 1
    k += 7
    if table.width > 0:
        out[k] = table.focus[0] / BOARD
        out[k + 1] = table.focus[1] / BOARD
        out[k + 2 + table.ray] = 1
        out[k + 9 + table.width] = 1
    k += 17
    out[k] = min(1.0, table.dead / 8)
    out[k + 1] = table.fitting
    k += 2
    for place in range(PLACES):
        out[k + place] = table.open >> place & 1
        out[k + PLACES + place] = table.gain[place]
        out[k + 2 * PLACES + place] = table.snug[place]
    k += 3 * PLACES
    if table.modality != PIXELS:
        k = _observe_numbers(table, out, k)
    if table.modality != NUMERIC:
        k = _observe_pixels(table, out, k)
    if table.done:
        out[k] = 1
        for other in range(seats):
            out[k + 1 + other] = table.score


@compiled
def _observe_numbers(table: Any, out: Any, k: int) -> int:
    covered = 0.0
    for piece in range(7):
        if table.on_board[piece]:
            angle = np.radians(table.rotation[piece])
            out[k] = 1
            out[k + 1] = table.x[piece] / BOARD
            out[k + 2] = table.y[piece] / BOARD
            out[k + 3] = np.cos(angle)
            out[k + 4] = np.sin(angle)
            out[k + 5] = table.hits[piece] > 0
            covered += table.covered[piece]
        k += 6
    start = 0
    for ring in range(RINGS):
        end = table.ends[ring]
        for i in range(start, end):
            out[k + 4 * i] = 1
            out[k + 4 * i + 1] = i == start
            out[k + 4 * i + 2] = table.outline[i, 0] / BOARD
            out[k + 4 * i + 3] = table.outline[i, 1] / BOARD
        start = end
    k += 4 * VERTICES
    unpack_shares(table.target, out, k)
    k += COARSE * COARSE
    uncovered = np.empty(ROWS, np.uint64)
    for row in range(ROWS):
        uncovered[row] = table.target[row] & ~table.filled[row]
    unpack_shares(uncovered, out, k)
    k += COARSE * COARSE
    out[k] = max(0.0, 1.0 - covered / table.area)
    k += 1
    if table.width > 0:
        _observe_around(table, out, k)
    return k + PATCH * PATCH


@compiled
def _observe_around(table: Any, out: Any, k: int) -> None:
    """Write what is uncovered around the focus."""
    inside = np.zeros(PATCH, np.uint64)
    start = 0
    for ring in range(RINGS):
        end = table.ends[ring]
        if end > start:
            _toggle_ring(table, table.outline, start, end, inside)
        start = end
    one = np.zeros(PATCH, np.uint64)
    for piece in range(7):
        if table.on_board[piece]:
            _toggle_ring(table, table.vertices[piece], 0, CORNERS[piece], one)
            for row in range(PATCH):
                inside[row] &= ~one[row]
                one[row] = 0
    unpack(inside, out, k)


@compiled
def _toggle_ring(table: Any, ring: Any, start: int, end: int, rows: Any) -> None:
    cosine, sine = COSINES[table.ray] / CELL, COSINES[(table.ray + 6) % 8] / CELL
    right = (ring[end - 1, 0] - table.focus[0]) * table.per_unit[0]
    up = (ring[end - 1, 1] - table.focus[1]) * table.per_unit[1]
    ax, ay = right * cosine + up * sine + _RIGHT, up * cosine - right * sine + _UP
    for i in range(start, end):
        right = (ring[i, 0] - table.focus[0]) * table.per_unit[0]
        up = (ring[i, 1] - table.focus[1]) * table.per_unit[1]
        bx, by = right * cosine + up * sine + _RIGHT, up * cosine - right * sine + _UP
        toggle(rows, ax, ay, bx, by)
        ax, ay = bx, by


@compiled
def _observe_pixels(table: Any, out: Any, k: int) -> int:
    unpack(table.target, out, k)
    unpack(table.filled, out, k + ROWS * ROWS)
    k += 2 * ROWS * ROWS
    for piece in range(7):
        if not table.on_board[piece]:
            unpack(DRAWERS[table.aspect, piece], out, k)
        k += ROWS * ROWS
    return k
