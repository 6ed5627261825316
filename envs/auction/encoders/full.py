"""Full information: the slices of version 0, and all valuations and bids."""

from typing import Any

from ...core.compiled import compiled, inlined
from ...core.encoder import Encoder
from ...core.layout import per_seat, relative, shares
from ..actions import highest
from ..table import COMMON
from . import v0


def encoder(table: Any) -> Encoder:
    """Return the encoder for the options of `table`."""
    bidders, most = int(table.num_bidders), highest(table) / float(table.quantiles.max() + table.noise)
    slices = [
        per_seat("hidden.valuations", bidders, "by relative seat: what the good is worth to it"),
        per_seat("hidden.bids", bidders, "by relative seat: its bid; 0 before it bids", 0, max(most, 1)),
    ]
    if table.values < COMMON:
        return v0.encoder(table).extended(slices, observe, full_information=True)
    slices.append(shares("hidden.centre", (1,), "what the valuations are drawn around"))
    return v0.encoder(table).extended(slices, observe_with_centre, full_information=True)


@inlined
def observe(table: Any, seat: int, at: Any, out: Any) -> None:
    """Write the hidden slices."""
    for other in range(table.num_bidders):
        place = relative(other, seat, table.num_bidders)
        out[at.hidden_valuations + place] = table.valuation[other] * table.per_money
        out[at.hidden_bids + place] = table.bid[other] * table.per_money


@compiled
def observe_with_centre(table: Any, seat: int, at: Any, out: Any) -> None:
    """Write the hidden slices, and the centre."""
    observe(table, seat, at, out)
    out[at.hidden_centre] = table.centre * table.per_money
