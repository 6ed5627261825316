"""Full information: the slices of version 0, and the other player's dice."""

from typing import Any

from ...core.compiled import compiled
from ...core.encoder import Encoder
from ...core.layout import Slice
from . import v0


def encoder(table: Any) -> Encoder:
    """Return the encoder for the options of `table`."""
    slices = [
        Slice(
            "hidden.dice",
            (int(table.faces),),
            0,
            1,
            "the other's dice, as own dice are shown",
            axes=(v0.face_names(int(table.faces)),),
        )
    ]
    return v0.encoder(table).extended(slices, observe, full_information=True)


@compiled
def observe(table: Any, seat: int, at: Any, out: Any) -> None:
    """Write the hidden slice."""
    v0.write_dice(table, 1 - seat, at.hidden_dice, out)
