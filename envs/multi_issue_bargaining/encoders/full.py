"""Full information: the slices of version 0, and the preferences of the other seats."""

from typing import Any

from ...core.compiled import compiled
from ...core.encoder import Encoder
from . import v0
from .v0 import write_others


def encoder(table: Any) -> Encoder:
    """Return the encoder for the options of `table`."""
    base = v0.encoder(table)
    shape = base.layout["game_state.my_preferences"].shape
    slices = v0.other_preferences("hidden", int(table.seats), (shape[0], shape[1]))
    return base.extended(slices, observe, full_information=True)


@compiled
def observe(table: Any, seat: int, at: Any, out: Any) -> None:
    """Write the hidden slices."""
    write_others(table, seat, out, at.hidden_preferences, at.hidden_reservation_values)
