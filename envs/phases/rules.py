"""The rules that all games in phases share, over one record, compiled.

`binding` binds a game's own functions to them, as `core.loops` does.
"""

from math import ceil, floor
from typing import Any, NamedTuple

from ..core.compiled import compiled
from ..core.rng import uniform
from .table import FACTS, LOG, MEMORY, NOTHING


@compiled
def act(table: Any, move: Any) -> bool:
    """Apply the acting seat's move in a game whose last phase is open. Return whether the round is over."""
    if table.phase + 1 < table.phases:
        over = choose(table, move)
        if over and table.forced[table.phase] == 1:
            force(table)
            return False
        return bool(over)
    phase, seat, kind = table.phase, table.turn, move.kind
    log(table, kind, move.value)
    if kind == table.kinds - 1:
        return give_on(table)
    if table.gap[kind] > 0.0:
        if not table.keeps:
            clear(table)
        table.chosen[phase, seat] = 1 + kind
        table.chosen_in[phase, seat] = table.cycle
        table.number[phase, seat] = move.value
        table.standing = move.value
        table.owner = seat
        if table.divides:
            divide(table, move)
    elif (table.closes >> kind) & 1 == 1:
        close(table, seat, kind)
        return True
    elif (table.leaves >> kind) & 1 == 1:
        table.within &= ~(1 << seat)
    elif (table.clears >> kind) & 1 == 1:
        clear(table)
    elif (table.recalls >> kind) & 1 == 1:
        table.within = (1 << table.seats) - 1
    return give_on(table)


@compiled
def force(table: Any) -> None:
    """Write 0 as the choice of every seat that has not chosen in time, and begin the next phase."""
    phase, kind = table.phase, 0
    while (table.offers[phase] >> kind) & 1 == 0:
        kind += 1
    for seat in range(table.seats):
        if (table.actors[phase] >> seat) & 1 == 1 and table.chosen[phase, seat] == 0:
            table.chosen[phase, seat] = 1 + kind
            table.chosen_in[phase, seat] = table.limit[phase]
    table.timeout = False
    begin_phase(table, phase + 1)


@compiled
def clear(table: Any) -> None:
    """Remove the standing number."""
    for seat in range(table.seats):
        table.chosen[table.phase, seat] = 0
        table.number[table.phase, seat] = 0.0
    table.standing = table.start
    table.owner = -1
    if table.divides:
        table.within = (1 << table.seats) - 1


@compiled
def divide(table: Any, move: Any) -> None:
    """Write the shares of the other seats: those of the move, and what is left for the last one."""
    phase, seat, seats = table.phase, table.turn, table.seats
    rest = table.most[move.kind] - move.value
    for k in range(1, seats):
        share = rest
        if k < seats - 1:
            share = min(rest, move.second if k == 1 else move.third)  # a sum may be off by a hundredth
        other = (seat + k) % seats
        table.chosen[phase, other] = 1 + move.kind
        table.chosen_in[phase, other] = table.cycle
        table.number[phase, other] = max(share, 0.0)
        rest -= share


@compiled
def close(table: Any, seat: int, kind: int) -> None:
    """Close the phase; an action whose value is above 0 takes the standing number as its own."""
    table.closer = seat
    table.closed_by = kind
    if table.origin[kind] > 0.0:
        table.chosen[table.phase, seat] = 1 + kind
        table.chosen_in[table.phase, seat] = table.cycle
        table.number[table.phase, seat] = table.standing


@compiled
def give_on(table: Any) -> bool:
    """Give the turn to the next seat that has not left. Return whether the round is over."""
    if table.within & (table.within - 1) == 0:  # one seat is left
        table.closer = 0
        while table.within >> table.closer != 1:
            table.closer += 1
        return True
    seat = table.turn + 1
    while (table.within >> seat) & 1 == 0:
        seat += 1
        if seat >= table.seats:
            seat = 0
            table.cycle += 1
    if table.cycle >= table.limit[table.phase]:
        table.timeout = True
        return True
    table.turn = seat
    return False


CLOSE = 1e-9
"""Rounding error in a comparison of a number with a bound, in steps of the grid."""


class Move(NamedTuple):
    """A move: the index of the action type, its number, and its further numbers."""

    kind: int
    value: float
    second: float = 0.0
    third: float = 0.0


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
    begin_match(table)


@compiled
def values_of(table: Any, seat: int) -> tuple[int, int]:
    """Return the lowest and the highest private value that a seat may have, in hundredths: two whole numbers."""
    return floor(100.0 * table.private_low[seat] + 0.5), ceil(100.0 * table.private_high[seat] + 0.5) - 1


@compiled
def not_dealt(table: Any) -> int:
    """Return the first seat whose private value is not dealt yet; −1: there is none."""
    for seat in range(table.seats):
        if table.private[seat] < 0.0:
            return seat
    return -1


@compiled
def begin_match(table: Any) -> None:
    """Begin the first round; nobody has won anything."""
    for seat in range(table.seats):
        table.total[seat] = 0.0
        table.rewards[seat] = 0.0
    table.round_number = 0
    table.done = False
    if table.rounds > 1:
        table.past[:] = NOTHING
    begin_round(table)


@compiled
def begin_round(table: Any) -> None:
    """Begin a round: nobody has chosen, and the bounds are those of the grids."""
    for phase in range(table.phases):
        for seat in range(table.seats):
            table.chosen[phase, seat] = 0
            table.chosen_in[phase, seat] = 0
            table.number[phase, seat] = 0.0
    for kind in range(table.kinds):
        table.least[kind] = table.origin[kind]
        points = (table.first[kind + 1] - table.first[kind]) // table.block[kind]
        table.most[kind] = table.origin[kind] + table.gap[kind] * (points - 1)
        table.open[kind] = 1
    for fact in range(FACTS):
        table.fact[fact] = 0.0
    table.timeout = False
    table.revealed = False
    table.event = False
    table.standing = table.start
    table.owner = -1
    table.within = (1 << table.seats) - 1
    table.closer = -1
    table.closed_by = -1
    table.acts = 0
    begin_phase(table, 0)


@compiled
def begin_phase(table: Any, phase: int) -> None:
    """Begin a phase with its first seat."""
    table.phase = phase
    table.cycle = 0
    seat = 0
    while (table.actors[phase] >> seat) & 1 == 0:
        seat += 1
    table.turn = seat


@compiled
def choose(table: Any, move: Any) -> bool:
    """Store the acting seat's choice and give the turn to the next one. Return whether the round is over."""
    phase, seat = table.phase, table.turn
    if table.loops:
        log(table, move.kind, move.value)
    if move.kind < table.kinds - 1 or table.pass_is_final:
        table.chosen[phase, seat] = 1 + move.kind
        table.chosen_in[phase, seat] = table.cycle
        table.number[phase, seat] = move.value
        if table.block[move.kind] > 1:
            place = seat * table.further
            table.fact[place] = move.second
            if table.further > 1:
                table.fact[place + 1] = move.third
    for _ in range(table.seats):
        seat += 1
        if seat == table.seats:
            seat = 0
            table.cycle += 1
        if (table.actors[phase] >> seat) & 1 == 1 and table.chosen[phase, seat] == 0:
            if table.cycle >= table.limit[phase]:
                table.timeout = True
                return True
            table.turn = seat
            return False
    if phase + 1 == table.phases:
        return True
    begin_phase(table, phase + 1)
    return False


@compiled
def go_back(table: Any, phase: int) -> None:
    """Begin an earlier phase again: nobody has chosen in it and in later ones. `PhaseGame.loops` allows it."""
    for later in range(phase, table.phases):
        for seat in range(table.seats):
            table.chosen[later, seat] = 0
            table.chosen_in[later, seat] = 0
            table.number[later, seat] = 0.0
    begin_phase(table, phase)


@compiled
def log(table: Any, kind: int, number: float) -> None:
    """Add the acting seat's move to the history."""
    place = table.acts % LOG
    table.log_seat[place] = table.turn
    table.log_phase[place] = table.phase
    table.log_kind[place] = kind
    table.log_cycle[place] = table.cycle
    table.log_number[place] = number
    table.acts += 1


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
    """Add the choices and facts of a round to the history."""
    for age in range(MEMORY - 1, 0, -1):
        for fact in range(FACTS):
            table.past_fact[age, fact] = table.past_fact[age - 1, fact]
        for phase in range(table.phases):
            for seat in range(table.seats):
                table.past[age, phase, seat] = table.past[age - 1, phase, seat]
    for fact in range(FACTS):
        table.past_fact[0, fact] = table.fact[fact]
    for phase in range(table.phases):
        for seat in range(table.seats):
            has_chosen = table.chosen[phase, seat] > 0
            table.past[0, phase, seat] = table.number[phase, seat] if has_chosen else NOTHING


@compiled
def legal(table: Any, mask: Any) -> None:
    """Write the action mask of the acting seat: the action types of the phase, within the bounds of this turn."""
    mask[:] = 0
    for kind in range(table.kinds):
        if table.open[kind] == 1 and (table.offers[table.phase] >> kind) & 1 == 1:
            first, end = table.first[kind], table.first[kind + 1]
            gap, origin, block = table.gap[kind], table.origin[kind], table.block[kind]
            if gap > 0.0:  # the bounds are usually those of the grid
                if table.most[kind] < origin + gap * ((end - first) // block - 1):
                    end = first + block * (floor((table.most[kind] - origin) / gap + CLOSE) + 1)
                if table.least[kind] > origin:
                    first += block * ceil((table.least[kind] - origin) / gap - CLOSE)
            mask[first : max(first, end)] = 1


@compiled
def decode(table: Any, action: int) -> Move:
    """Return the move of an action index."""
    kind = 0
    while action >= table.first[kind + 1]:
        kind += 1
    inside, block = action - table.first[kind], table.block[kind]
    if block == 1:
        value, part = table.origin[kind] + table.gap[kind] * inside, 0.0
        if table.divides and table.seats > 2 and table.gap[kind] > 0.0:
            part = (table.most[kind] - value) / (table.seats - 1)
        return Move(kind, value, part, part if table.seats > 3 else 0.0)
    rest, points = inside % block, table.further_points[1]
    second, third = table.further_gap[0] * (rest // points), table.further_gap[1] * (rest % points)
    return Move(kind, table.origin[kind] + table.gap[kind] * (inside // block), second, third)


@compiled
def sum_of(table: Any, phase: int) -> float:
    """Return the sum of the numbers of a phase."""
    total = 0.0
    for seat in range(table.seats):
        total += table.number[phase, seat]
    return total


@compiled
def is_visible(table: Any, phase: int, other: int, seat: int) -> bool:
    """Return True if `seat` sees the number that `other` chose in a phase."""
    return other == seat or table.sealed[phase] == 0 or phase < table.phase
