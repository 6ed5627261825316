"""Schedules: settings that change with the used share of a run's budget."""

from typing import Literal

Schedule = Literal["constant", "linear", "power"]


def scheduled(first: float, last: float, schedule: Schedule, used: float) -> float:
    """Return a setting's value after the share `used` (0 to 1) of the budget.

    ``constant``: always `first`; ``linear``: linear from `first` to `last`; ``power``: geometric from `first` to
    `last`.

    >>> scheduled(0.1, 0.001, "power", 0.5), scheduled(0.1, 0.0, "linear", 0.5)
    (0.01, 0.05)
    """
    if schedule == "constant":
        return first
    if schedule == "linear":
        return first + (last - first) * used
    return float(round(first ** (1 - used) * last**used, 12))
