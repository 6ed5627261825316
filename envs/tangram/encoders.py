"""The observation, version 0. Seats are relative to the observer: 0 is the observer.

It is computed from the outline of the figure and the poses of the pieces. Lengths are shares of the board's side. The
focus (see `parlour.envs.tangram.corners`) is under ``allowed_actions``, because it describes the actions.
"""

from dataclasses import replace
from math import cos, radians, sin
from typing import Any

import numpy as np

from ..core.compiled import compiled
from ..core.encoder import Encoder, Layout, Slice, per_seat, relative, shares
from ..core.memory import local_array
from .geometry import COSINES, DRAWERS, toggle, unpack, unpack_shares
from .lattice import BOARD, CORNERS, PIECES, RINGS, VERTICES
from .rules import decode, step
from .table import BONUS, NUMERIC, PIXELS, PLACES, ROWS, SKIP, SOLVED, TABLE

COARSE = ROWS // 4
"""The number of cells of the coarse grids, in x and in y."""
PATCH = 16
"""The number of cells of the grid around the focus, in x and in y."""
CELL = 0.5
"""The side of these cells, in u."""
_RIGHT, _UP = 8.0 - 0.16, 4.0
"""Cells from the patch's lower left to the focus; not whole, so that diagonals through it miss the cell centres."""


def v0(table: Any) -> Encoder:
    """Return the encoder for the options of `table`."""
    observe = (observe_numeric, observe_pixels, observe_both)[int(table.modality)]
    return Encoder(Layout(slices(table)), observe)


def slices(table: Any) -> list[Slice]:
    """Return the slices of the observation for the options of `table`."""
    seats, modality = int(table.seats), int(table.modality)
    lowest, places = lowest_utility(table), ("place",)
    eighths = tuple(f"{45 * step}°" for step in range(8))
    rays, widths = (eighths,), (eighths[1:],)
    return [
        shares("phase", (2,), "one-hot: play, feedback", axes=(("play", "feedback"),)),
        shares("is_my_turn", (1,), "whether the observer decides next"),
        per_seat("current_turn_agent_id", seats, "one-hot by relative seat; all 0 when it is over"),
        shares("game_state.turns_left", (1,), "share of the turns, this one included"),
        shares("game_state.plays_left", (1,), "share of this turn's plays"),
        shares("game_state.passes", (1,), "turns skipped in a row, as a share of all turns"),
        shares("game_state.iou", (1,), "when the turn began"),
        shares("game_state.off_board", (7,), "by piece: in the drawer", axes=(PIECES,)),
        shares("game_state.moved", (7,), "one-hot: the piece played in this turn", axes=(PIECES,)),
        shares("allowed_actions.focus.position", (2,), "of the focus", axes=(("x", "y"),)),
        shares("allowed_actions.focus.ray", (8,), "one-hot: direction of its right side, from east to the left", rays),
        shares("allowed_actions.focus.width", (7,), "one-hot: its open angle, 45° to 315°; all 0: no focus", widths),
        shares("allowed_actions.dead", (1,), "corners that nothing in the drawer fits, as a share of 8"),
        shares("allowed_actions.play.fitting", (1,), "the open places fit; else nothing in the drawer fits"),
        shares("allowed_actions.play.open", (PLACES,), "the places that can be played, as in the mask", places),
        Slice("allowed_actions.play.gain", (PLACES,), -1, 1, "by open place: change of iou", axes=places),
        shares("allowed_actions.play.snug", (PLACES,), "by open place: share of its border that would touch", places),
        *(_numeric_slices() if modality != PIXELS else ()),
        *(_pixel_slices() if modality != NUMERIC else ()),
        shares("game_over", (1,), "whether the game is over"),
        per_seat("outcome.payoffs", seats, "utilities by relative seat", lowest, 1 + BONUS),
    ]


def _numeric_slices() -> list[Slice]:
    pose, vertex = ("on the board", "x", "y", "cosine", "sine", "collides"), ("present", "begins a ring", "x", "y")
    around = f"which points around the focus are uncovered, every {CELL:g} u; rows along its right side, from below"
    coarse, grid = (COARSE, COARSE), ("row", "column")
    return [
        Slice("game_state.on_board", (7, 6), -1, 1, f"by piece: {', '.join(pose)}", axes=(PIECES, pose)),
        shares(
            "game_state.silhouette.outline", (VERTICES, 4), f"by vertex: {', '.join(vertex)}", axes=("vertex", vertex)
        ),
        shares("game_state.silhouette.occupancy", coarse, "share of each cell of the board, from below", axes=grid),
        shares("game_state.silhouette.uncovered", coarse, "the same of what no piece covers", axes=grid),
        shares("game_state.silhouette.remaining", (1,), "share of its area that is uncovered"),
        shares("allowed_actions.focus.around", (PATCH, PATCH), around, axes=grid),
    ]


def _pixel_slices() -> list[Slice]:
    board, planes = "figure; pieces on the board; rows from below", ("figure", "pieces")
    drawer = "each piece, while it is in the drawer"
    return [
        shares("game_state.board_img", (2, ROWS, ROWS), board, axes=(planes, "row", "column")),
        shares("game_state.drawer_img", (7, ROWS, ROWS), drawer, axes=(PIECES, "row", "column")),
    ]


def lowest_utility(table: Any) -> float:
    """Return the lowest return of a seat: every turn is skipped."""
    return 0.0 if table.sparse else -SKIP * int(table.turns)


@compiled
def observe_numeric(table: Any, seat: int, at: Any, out: Any) -> None:
    """Write what `seat` may know into `out` (float32[layout.size]), as numbers."""
    _observe_turn(table, seat, at, out)
    _observe_numbers(table, at, out)


@compiled
def observe_pixels(table: Any, seat: int, at: Any, out: Any) -> None:
    """Write what `seat` may know into `out` (float32[layout.size]), as pictures."""
    _observe_turn(table, seat, at, out)
    _observe_pixels(table, at, out)


@compiled
def observe_both(table: Any, seat: int, at: Any, out: Any) -> None:
    """Write what `seat` may know into `out` (float32[layout.size]), as numbers and as pictures."""
    _observe_turn(table, seat, at, out)
    _observe_numbers(table, at, out)
    _observe_pixels(table, at, out)


@compiled
def _observe_turn(table: Any, seat: int, at: Any, out: Any) -> None:
    """Write the turn, the drawer, the legal places and the end."""
    out[:] = 0
    seats = table.seats
    out[at.phase + (table.moved >= 0)] = 1
    if table.turn >= 0:
        out[at.is_my_turn] = table.turn == seat
        out[at.current_turn_agent_id + relative(table.turn, seat, seats)] = 1
    out[at.turns_left] = (table.turns - table.turn_number + 1) / table.turns
    out[at.plays_left] = table.plays_left / table.plays
    out[at.passes] = table.passes / table.turns
    out[at.iou] = table.iou
    for piece in range(7):
        out[at.off_board + piece] = not table.on_board[piece]
    if table.moved >= 0:
        out[at.moved + table.moved] = 1
    if table.width > 0:
        out[at.allowed_actions_focus_position] = table.focus[0] / BOARD
        out[at.allowed_actions_focus_position + 1] = table.focus[1] / BOARD
        out[at.allowed_actions_focus_ray + table.ray] = 1
        out[at.allowed_actions_focus_width + table.width - 1] = 1
    out[at.allowed_actions_dead] = min(1.0, table.dead / 8)
    out[at.allowed_actions_play_fitting] = table.fitting
    for place in range(PLACES):
        out[at.allowed_actions_play_open + place] = table.open >> place & 1
        out[at.allowed_actions_play_gain + place] = table.gain[place]
        out[at.allowed_actions_play_snug + place] = table.snug[place]
    if table.done:
        out[at.game_over] = 1
        for other in range(seats):
            out[at.outcome_payoffs + other] = table.score


@compiled
def _observe_numbers(table: Any, at: Any, out: Any) -> None:
    covered = 0.0
    for piece in range(7):
        if table.on_board[piece]:
            k = at.on_board + 6 * piece
            angle = radians(table.rotation[piece])
            out[k] = 1
            out[k + 1] = table.x[piece] / BOARD
            out[k + 2] = table.y[piece] / BOARD
            out[k + 3] = cos(angle)
            out[k + 4] = sin(angle)
            out[k + 5] = table.hits[piece] > 0
            covered += table.covered[piece]
    start = 0
    for ring in range(RINGS):
        end = table.ends[ring]
        for i in range(start, end):
            k = at.silhouette_outline + 4 * i
            out[k] = 1
            out[k + 1] = i == start
            out[k + 2] = table.outline[i, 0] / BOARD
            out[k + 3] = table.outline[i, 1] / BOARD
        start = end
    unpack_shares(table.target, out, at.silhouette_occupancy)
    uncovered = local_array(ROWS, np.uint64)
    for row in range(ROWS):
        uncovered[row] = table.target[row] & ~table.filled[row]
    unpack_shares(uncovered, out, at.silhouette_uncovered)
    out[at.silhouette_remaining] = max(0.0, 1.0 - covered / table.area)
    if table.width > 0:
        _observe_around(table, out, at.allowed_actions_focus_around)


@compiled
def _observe_around(table: Any, out: Any, k: int) -> None:
    """Write the uncovered cells around the focus."""
    inside = local_array(PATCH, np.uint64)
    inside[:] = 0
    start = 0
    for ring in range(RINGS):
        end = table.ends[ring]
        if end > start:
            _toggle_ring(table, table.outline, start, end, inside)
        start = end
    cells = local_array(PATCH, np.uint64)
    cells[:] = 0
    for piece in range(7):
        if table.on_board[piece]:
            _toggle_ring(table, table.vertices[piece], 0, CORNERS[piece], cells)
            for row in range(PATCH):
                inside[row] &= ~cells[row]
                cells[row] = 0
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
def _observe_pixels(table: Any, at: Any, out: Any) -> None:
    unpack(table.target, out, at.board_img)
    unpack(table.filled, out, at.board_img + ROWS * ROWS)
    for piece in range(7):
        if not table.on_board[piece]:
            unpack(DRAWERS[table.aspect, piece], out, at.drawer_img + piece * ROWS * ROWS)


ACTIONS = PLACES + 1
"""The number of actions: the places, and `finish`."""


def v1(table: Any) -> Encoder:
    """The observation, version 1: that of version 0, and what every action leads to.

    For each legal action the observation tells what the board is like after it, if the turn ends with it: whether the
    figure is solved, and the next focus. An action index means another move in every position, so a network does not
    see by itself which of them leaves a corner that nothing fits.
    """
    return v0(table).extended(slices_v1(), observe_v1)


def slices_v1() -> list[Slice]:
    """Return the slices that version 0 does not have."""
    words = {
        "solved": "the figure is solved",
        "dead": "corners that nothing in the drawer fits, as a share of 8",
        "fitting": "the next open places fit; else nothing in the drawer fits, or the game is over",
        "open": f"the number of the next open places, as a share of {PLACES}",
        "width": "the open angle of the next focus, as a share of 360°",
    }
    return [
        shares(f"after.{key}", (ACTIONS,), f"by legal action: {what}", axes=("action",)) for key, what in words.items()
    ]


@compiled
def observe_v1(table: Any, seat: int, at: Any, out: Any) -> None:
    """Write the slices that version 0 does not have."""
    if table.turn < 0:
        return
    copies = local_array(1, TABLE)
    for action in range(ACTIONS):
        if action < PLACES and not table.open >> action & 1:
            continue
        copies[0] = table
        after = copies[0]
        for number in (action, PLACES):  # and `finish`, if the turn goes on
            step(after, decode(after, number))
            if after.moved < 0:  # the turn has ended
                break
        out[at.after_solved + action] = after.iou >= SOLVED
        out[at.after_dead + action] = min(1.0, after.dead / 8)
        out[at.after_fitting + action] = after.fitting
        out[at.after_open + action] = _open(after) / PLACES
        out[at.after_width + action] = after.width / 8


@compiled
def _open(table: Any) -> int:
    count = 0
    for place in range(PLACES):
        count += table.open >> place & 1
    return count


def full(table: Any) -> Encoder:
    """Full information: the slices of version 0, because tangram has no hidden information."""
    return replace(v0(table), full_information=True)


def full_v1(table: Any) -> Encoder:
    """Full information for critics of version 1: its slices, because tangram has no hidden information."""
    return replace(v1(table), full_information=True)


ENCODERS = {"v0": v0, "v1": v1, "full": full, "full_v1": full_v1}
