"""Relative seats: seats counted from an observer. Compiled."""

from .compiled import compiled


@compiled
def relative(other: int, seat: int, seats: int) -> int:
    """Return the relative seat of `other`: 0 is `seat`, 1 the next one. (`%` does the same, but is slower.)"""
    away = other - seat
    return away + seats if away < 0 else away
