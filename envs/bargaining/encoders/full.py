"""Full information: the slices of version 0, and the opponent's reservation value."""

from typing import Any

from ...core.compiled import compiled
from ...core.encoder import Encoder
from ...core.layout import shares
from . import v0


def encoder(table: Any) -> Encoder:
    """Return the encoder for the options of `table`."""
    slices = [shares("hidden.opponent_reservation_value", (1,), "the opponent's, as a share of the total")]
    return v0.encoder(table).extended(slices, observe, full_information=True)


@compiled
def observe(table: Any, seat: int, at: Any, out: Any) -> None:
    """Write the hidden slice."""
    out[at.hidden_opponent_reservation_value] = table.my_reservation_value[1 - seat] * table.per_total
