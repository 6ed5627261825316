"""Schedules: settings that change with the used share of a run's budget."""

from collections.abc import Iterable
from typing import Any, Self

LINEAR = "linear"


class Schedule(tuple[Any, ...]):
    """A setting's start and end, and ``"linear"`` as a third element if it changes linearly between two above 0.

    Without it, the setting changes geometrically between two values above 0, and linearly from or to 0.

    Args:
        values: the elements, as numbers or text; or one number, for a setting that does not change.

    Raises:
        ValueError: for other elements.

    >>> Schedule([0.1, 0.001]).at(0.5), Schedule([0.1, 0]).at(0.5), Schedule([3, 1, "linear"]).at(0.5), Schedule(2)
    (0.01, 0.05, 2.0, (2.0, 2.0))
    """

    def __new__(cls, values: Any) -> Self:
        """Check the values and return them as a schedule."""
        parts = [values] if isinstance(values, str) or not isinstance(values, Iterable) else list(values)
        way = parts[2:]
        try:
            ends = [] if any(isinstance(part, bool) for part in parts) else [float(part) for part in parts[:2]]
        except (TypeError, ValueError):
            ends = []
        if not ends or way not in ([], [LINEAR]):
            raise ValueError(f"{values!r}: need the start and the end, such as [0.1, 0.003], or one number")
        return super().__new__(cls, (ends[0], ends[-1], *way))

    @property
    def start(self) -> float:
        """The value at the start."""
        return float(self[0])

    def at(self, used: float) -> float:
        """Return the value after the share `used` (0 to 1) of the budget."""
        start, end = self[:2]
        if start == end or min(start, end) == 0 or LINEAR in self:
            return float(start + (end - start) * used)
        return float(round(start ** (1 - used) * end**used, 12))
