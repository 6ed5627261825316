"""The observation, version 1: that of version 0, and what every action leads to.

For each legal action the observation tells what the board is like after it, if the turn ends with it: whether the
figure is solved, and the next focus. An action index means another move in every position, so a network does not see
by itself which of them leaves a corner that nothing fits.
"""

from typing import Any

from ...core.compiled import compiled
from ...core.encoder import Encoder
from ...core.layout import Slice, shares
from ...core.memory import local_array
from ..rules import decode, step
from ..table import PLACES, SOLVED, TABLE
from . import v0

ACTIONS = PLACES + 1
"""The number of actions: the places, and `finish`."""


def encoder(table: Any) -> Encoder:
    """Return the encoder for the options of `table`."""
    return v0.encoder(table).extended(slices(), observe)


def slices() -> list[Slice]:
    """Return the slices that version 0 does not have."""
    return [
        shares("after.solved", (ACTIONS,), "by legal action: the figure is solved", axes=("action",)),
        shares(
            "after.dead",
            (ACTIONS,),
            "by legal action: corners that nothing in the drawer fits, as a share of 8",
            axes=("action",),
        ),
        shares(
            "after.fitting",
            (ACTIONS,),
            "by legal action: the next open places fit; else nothing in the drawer fits, or the game is over",
            axes=("action",),
        ),
        shares(
            "after.open",
            (ACTIONS,),
            f"by legal action: the number of the next open places, as a share of {PLACES}",
            axes=("action",),
        ),
        shares(
            "after.width",
            (ACTIONS,),
            "by legal action: the open angle of the next focus, as a share of 360°",
            axes=("action",),
        ),
    ]


@compiled
def observe(table: Any, seat: int, at: Any, out: Any) -> None:
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
