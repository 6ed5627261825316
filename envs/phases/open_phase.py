"""The rules of an open phase, compiled: seats act in turn until an action closes it or one seat is left."""

from typing import Any

from ..core.compiled import compiled
from .rules import begin_phase, choose, log


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
