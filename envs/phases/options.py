"""Options that several games in phases have."""

from collections import namedtuple
from collections.abc import Sequence
from typing import Any, get_args, get_type_hints

import numpy as np

from ..core.options import Options, Rule, number
from .fields import Parameter

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


PER_SEAT = Rule(lambda option, value, seats: shown(ranges(option, value, seats)), ("seats",))
"""The rule of private values of the option `seats`; `PER_SEAT_OF_TWO`: of two."""
PER_SEAT_OF_TWO = Rule(lambda option, value: shown(ranges(option, value, 2)))

SHOWN: Any = object()
"""Marks an option, a number, that payoffs depend on: ``table.parameter`` has these, in the order of the options."""


def shown_options(kind: type[Options]) -> list[str]:
    """Return the names of the options that are marked as `SHOWN`."""
    hints = get_type_hints(kind, include_extras=True)
    return [name for name, hint in hints.items() if SHOWN in get_args(hint)]


def shown_of(kind: type[Options]) -> tuple[Any, list[Parameter]]:
    """Return the indices of the `SHOWN` options in ``table.parameter``, for compiled code, and their fields."""
    names = shown_options(kind)
    places = namedtuple("Places", names)  # type: ignore[misc]  # the names are data
    return places(*range(len(names))), [Parameter(name, index) for index, name in enumerate(names)]
