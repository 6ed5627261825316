"""The rules that all games in stages share, over one record, compiled.

A game's own `step` calls `choose`, writes `rewards` when the last stage is over, and calls `end_round`.
"""

from math import ceil, floor
from typing import Any, NamedTuple

from ..core.compiled import compiled
from ..core.rng import uniform
from .table import MEMORY, NOTHING

PLAYING, OVER, TIMEOUT = range(3)
"""What `choose` returns: the round goes on, the last stage is over, or a stage has reached its limit of cycles."""
CLOSE = 1e-9
"""Rounding error in a comparison of a number with a bound, in steps of the grid."""


class Move(NamedTuple):
    """A move: the index of the action type, and its number."""

    kind: int
    value: float


@compiled
def cents(amount: float) -> float:
    """Round to hundredths; half a hundredth rounds up."""
    return floor(100.0 * amount + 0.5) / 100.0


@compiled
def rounded(table: Any, utility: float) -> float:
    """Round a utility as the platform does; half a unit rounds up."""
    return floor(table.per_unit * utility + 0.5) / table.per_unit


@compiled
def reset(table: Any) -> None:
    """Begin a match: draw the private values, which stay the same in all rounds."""
    for seat in range(table.seats):
        low = table.private_low[seat]
        table.private[seat] = cents(low + uniform(table) * (table.private_high[seat] - low))
        table.total[seat] = 0.0
        table.rewards[seat] = 0.0
    table.round_number = 0
    table.done = False
    table.truncated = False
    if table.rounds > 1:
        table.past[:] = NOTHING
    begin_round(table)


@compiled
def begin_round(table: Any) -> None:
    """Begin a round: nobody has chosen, and the bounds are those of the grids."""
    for stage in range(table.stages):
        for seat in range(table.seats):
            table.chosen[stage, seat] = 0
            table.chosen_in[stage, seat] = 0
            table.number[stage, seat] = 0.0
    for kind in range(table.kinds):
        table.least[kind] = table.origin[kind]
        table.most[kind] = table.origin[kind] + table.gap[kind] * (table.first[kind + 1] - table.first[kind] - 1)
        table.open[kind] = 1
    table.timeout = False
    table.revealed = False
    begin_stage(table, 0)


@compiled
def begin_stage(table: Any, stage: int) -> None:
    """Begin a stage with its first seat."""
    table.stage = stage
    table.cycle = 0
    seat = 0
    while (table.actors[stage] >> seat) & 1 == 0:
        seat += 1
    table.turn = seat


@compiled
def choose(table: Any, move: Any) -> int:
    """Store the acting seat's choice and give the turn to the next one; see `PLAYING`."""
    stage, seat = table.stage, table.turn
    if table.rounds > 1:
        for other in range(table.seats):
            table.rewards[other] = 0.0
    if move.kind < table.kinds - 1 or table.pass_is_final:
        table.chosen[stage, seat] = 1 + move.kind
        table.chosen_in[stage, seat] = table.cycle
        table.number[stage, seat] = move.value
    for _ in range(table.seats):
        seat += 1
        if seat == table.seats:
            seat = 0
            table.cycle += 1
        if (table.actors[stage] >> seat) & 1 == 1 and table.chosen[stage, seat] == 0:
            if table.cycle >= table.limit[stage]:
                table.timeout = True
                return TIMEOUT
            table.turn = seat
            return PLAYING
    if stage + 1 == table.stages:
        table.revealed = True
        return OVER
    begin_stage(table, stage + 1)
    return PLAYING


@compiled
def end_round(table: Any) -> None:
    """Round and add up the rewards of a round, and begin the next one or end the match."""
    table.round_number += 1
    for seat in range(table.seats):
        table.rewards[seat] = rounded(table, table.rewards[seat])
        table.total[seat] = rounded(table, table.total[seat] + table.rewards[seat])
    if table.rounds > 1:
        remember(table)
    if table.round_number == table.rounds:
        table.turn = -1
        table.done = True
    else:
        begin_round(table)


@compiled
def remember(table: Any) -> None:
    """Add the choices of a round to the history."""
    for age in range(MEMORY - 1, 0, -1):
        for stage in range(table.stages):
            for seat in range(table.seats):
                table.past[age, stage, seat] = table.past[age - 1, stage, seat]
    for stage in range(table.stages):
        for seat in range(table.seats):
            made = table.chosen[stage, seat] > 0
            table.past[0, stage, seat] = table.number[stage, seat] if made else NOTHING


@compiled
def legal(table: Any, mask: Any) -> None:
    """Write the action mask of the acting seat: the action types of the stage, within the bounds of this turn."""
    mask[:] = 0
    for kind in range(table.kinds):
        if table.open[kind] == 1 and (table.offers[table.stage] >> kind) & 1 == 1:
            first, end = table.first[kind], table.first[kind + 1]
            gap, origin = table.gap[kind], table.origin[kind]
            if gap > 0.0:  # the bounds are usually those of the grid
                if table.most[kind] < origin + gap * (end - first - 1):
                    end = first + floor((table.most[kind] - origin) / gap + CLOSE) + 1
                if table.least[kind] > origin:
                    first += ceil((table.least[kind] - origin) / gap - CLOSE)
            mask[first : max(first, end)] = 1


@compiled
def decode(table: Any, action: int) -> Move:
    """Return the move of an action index."""
    kind = 0
    while action >= table.first[kind + 1]:
        kind += 1
    return Move(kind, table.origin[kind] + table.gap[kind] * (action - table.first[kind]))


@compiled
def sum_of(table: Any, stage: int) -> float:
    """Return the sum of the numbers of a stage."""
    total = 0.0
    for seat in range(table.seats):
        total += table.number[stage, seat]
    return total


@compiled
def is_visible(table: Any, stage: int, other: int, seat: int) -> bool:
    """Return whether `seat` sees the number that `other` chose in a stage."""
    return other == seat or table.sealed[stage] == 0 or stage < table.stage
