"""Seats as an observer counts them. Compiled."""

from .compiled import compiled


@compiled
def relative(other: int, seat: int, seats: int) -> int:
    """Count seats from `seat` onwards: 0 is itself. (A remainder would do; division is slow.)"""
    away = other - seat
    return away + seats if away < 0 else away
