"""Checks of options that several games have."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..core.options import number

Ranges = Sequence[float] | Sequence[Sequence[float]]
"""A lowest and a highest value for all seats, or such a pair for each seat."""


def ranges(option: str, value: Any, seats: int, highest: float = 1e6) -> tuple[tuple[float, float], ...]:
    """Return a checked range of private values for every seat.

    Raises:
        ValueError: unless it is a pair of numbers from 0 to `highest`, low first, or a pair for each seat.
    """
    try:
        pairs = [value] * seats if all(np.ndim(entry) == 0 for entry in value) else list(value)
        intervals = tuple((number(option, low, 0, highest), number(option, high, 0, highest)) for low, high in pairs)
    except (TypeError, ValueError):
        intervals = ()
    if len(intervals) != seats or any(low > high for low, high in intervals):
        raise ValueError(
            f"{option}={value!r}: give a lowest and a highest value from 0 to {highest:,g}, or {seats} such pairs"
        )
    return intervals


def shown(checked: tuple[tuple[float, float], ...]) -> list[Any]:
    """Return checked ranges as an option is stored: one pair if all seats have the same."""
    return [list(pair) for pair in checked] if len(set(checked)) > 1 else list(checked[0])
