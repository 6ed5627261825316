"""Full information: the slices of version 0, and the other player's card."""

from typing import Any

from ...core.compiled import compiled
from ...core.encoder import Encoder
from ...core.layout import Slice
from ..table import RANKS
from . import v0

SLICES = [Slice("hidden.card", (len(RANKS),), 0, 1, "the other's card, one-hot", axes=(RANKS,))]


def encoder(table: Any) -> Encoder:
    """Return the encoder."""
    return v0.encoder(table).extended(SLICES, observe, full_information=True)


@compiled
def observe(table: Any, seat: int, at: Any, out: Any) -> None:
    """Write the hidden slice."""
    if table.card[1 - seat] >= 0:
        out[at.hidden_card + table.card[1 - seat]] = 1
