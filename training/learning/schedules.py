"""Schedules: how a setting changes as the budget of a run is used up."""

from typing import Literal

Schedule = Literal["constant", "linear", "power"]


def scheduled(first: float, last: float, schedule: Schedule, used: float) -> float:
    """Return a setting's value when the share `used` of the budget, 0 to 1, has been used.

    ``constant`` stays at `first`; ``linear`` goes to `last` in a straight line; ``power`` multiplies it by the same
    factor in equal shares of the budget.

    >>> scheduled(0.1, 0.001, "power", 0.5), scheduled(0.1, 0.0, "linear", 0.5)
    (0.01, 0.05)
    """
    if schedule == "constant":
        return first
    if schedule == "linear":
        return first + (last - first) * used
    return float(round(first ** (1 - used) * last**used, 12))
