"""Ballots: the targets of the mafia at night, and of the votes of the day. Compiled."""

from typing import Any

from ..core.compiled import compiled
from .table import MAFIA


@compiled
def row_of_round(table: Any) -> int:
    """Return the index at which this round begins in `night` and `votes`."""
    return (table.round_number - 1) * table.seats


@compiled
def choice_of_most(table: Any) -> int:
    """Return the target of more than half of the living mafia; −1 if there is none."""
    row = row_of_round(table)
    chosen = -1
    for seat in range(table.seats):
        target = table.night[row + seat]
        if table.role[seat] == MAFIA and target >= 0 and target != chosen:
            count = 0
            for other in range(table.seats):
                count += table.role[other] == MAFIA and table.night[row + other] == target
            if 2 * count > table.living_mafia:
                return target
            chosen = target
    return -1


@compiled
def choice_of_mafia(table: Any, n: int) -> int:
    """Return the target of the n-th living mafia."""
    seat = -1
    while n >= 0:
        seat += 1
        n -= table.role[seat] == MAFIA and table.alive[seat]
    return table.night[row_of_round(table) + seat]


@compiled
def most_votes(table: Any) -> tuple[int, int]:
    """Return the largest number of votes for a living player, at least 1, and how many players have it."""
    row = row_of_round(table)
    most = 1
    tied = 0
    for seat in range(table.seats):
        if table.alive[seat]:
            count = _votes_for(table, row, seat)
            if count > most:
                most = count
                tied = 1
            elif count == most:
                tied += 1
    return most, tied


@compiled
def tied_seat(table: Any, most: int, n: int) -> int:
    """Return the n-th living player with `most` votes."""
    row = row_of_round(table)
    seat = -1
    while n >= 0:
        seat += 1
        if table.alive[seat] and _votes_for(table, row, seat) == most:
            n -= 1
    return seat


@compiled
def _votes_for(table: Any, row: int, target: int) -> int:
    count = 0
    for seat in range(table.seats):
        count += table.votes[row + seat] == target
    return count
