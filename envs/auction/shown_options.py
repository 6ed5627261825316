"""What a live table of auctions shows of its options, beside those of a policy's training."""

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from ..core.turn_state import TurnState

TERMS: dict[str, tuple[str, Any]] = {
    "reserve": ("reserve_price", 0.0),
    "entry_fee": ("entry_fee", 0.0),
    "units": ("units", 1),
    "values": ("values", "private"),
    "noise": ("noise", 0.0),
    "risk_aversion": ("risk_aversion", 0.0),
}
"""By option: its field in `game_state`, and the value where that is missing."""


def differences(options: Mapping[str, Any], state: TurnState, first: bool) -> dict[str, Any]:
    """Return the options that differ at a live table: the number of bidders, the terms, and the range of valuations."""
    shown = state.game_state
    different: dict[str, Any] = {}
    if shown["num_bidders"] != options["seats"]:
        different["seats"] = shown["num_bidders"]
    for name, (field, usual) in TERMS.items():
        if shown.get(field, usual) != options[name]:
            different[name] = shown.get(field, usual)
    highest = float(max(map(np.max, options["valuations"]))) + options["noise"]
    if shown["my_valuation"] > highest:
        different["valuations"] = [0, math.ceil(shown["my_valuation"])]
    return different
