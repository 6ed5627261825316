"""What a live table of bargaining shows of its options, beside those of a policy's training."""

from collections.abc import Mapping
from typing import Any

from ..core.turn_state import TurnState


def differences(options: Mapping[str, Any], state: TurnState, first: bool) -> dict[str, Any]:
    """Return the options that differ at a live table: the pie, the rounds where they are shown, and reservation values
    that were never drawn in training."""
    shown, total = state.game_state, options["total"]
    different: dict[str, Any] = {}
    if shown["total"] != total:
        different["total"] = shown["total"]
    if shown.get("max_rounds", options["rounds"]) != options["rounds"]:
        different["rounds"] = shown["max_rounds"]
    ranges = options["reservations"] or [[0, total / 2]]
    mine = shown["my_reservation_value"]
    if not any(low <= mine <= high for low, high in ranges):
        different["reservations"] = [min(0, mine), shown["total"]]
    return different
