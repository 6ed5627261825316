"""The round as text."""

from typing import Any

from .actions import bid_of
from .table import SEATS
from .view import dice_of


def render(table: Any, seat: int | None) -> str:
    """Return a few lines of text. `seat` sees its own dice, and all of them at the end; None sees all."""
    lines = [f"liar's dice · {int(table.dice)} of {int(table.faces)} faces each"]
    for one in range(SEATS):
        shown = table.done or seat in (None, one)
        dice = " ".join(map(str, dice_of(table, one))) if shown else " ".join("?" * int(table.dice))
        lines.append(f"{'>' if table.turn == one else ' '} player_{one}  {dice}")
    for i in range(int(table.bids)):
        bid = bid_of(table, table.log[i])
        lines.append(f"  player_{i % SEATS} bids {bid['quantity']} x {bid['face']}")
    if table.done:
        lines.append(f"  player_{int(table.bids) % SEATS} says liar")
        gains = ", ".join(f"player_{i} {float(table.rewards[i]):+g}" for i in range(SEATS))
        lines.append(f"over: {gains}")
    return "\n".join(lines)
