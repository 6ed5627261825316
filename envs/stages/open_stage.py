"""The rules of an open stage, compiled: seats act in turn until an action closes it or one seat is left."""

from typing import Any

from ..core.compiled import compiled
from .rules import begin_stage, choose, log


@compiled
def act(table: Any, move: Any) -> bool:
    """Apply the acting seat's move in a game whose last stage is open. Return whether the round is over."""
    if table.stage + 1 < table.stages:
        over = choose(table, move)
        if over and table.forced[table.stage] == 1:
            force(table)
            return False
        return bool(over)
    stage, seat, kind = table.stage, table.turn, move.kind
    log(table, kind, move.value)
    if kind == table.kinds - 1:
        return give_on(table)
    if table.gap[kind] > 0.0:
        if not table.keeps:
            clear(table)
        table.chosen[stage, seat] = 1 + kind
        table.chosen_in[stage, seat] = table.cycle
        table.number[stage, seat] = move.value
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
    """Write 0 as the choice of every seat that has not chosen in time, and begin the next stage."""
    stage, kind = table.stage, 0
    while (table.offers[stage] >> kind) & 1 == 0:
        kind += 1
    for seat in range(table.seats):
        if (table.actors[stage] >> seat) & 1 == 1 and table.chosen[stage, seat] == 0:
            table.chosen[stage, seat] = 1 + kind
            table.chosen_in[stage, seat] = table.limit[stage]
    table.timeout = False
    begin_stage(table, stage + 1)


@compiled
def clear(table: Any) -> None:
    """Remove the standing number."""
    for seat in range(table.seats):
        table.chosen[table.stage, seat] = 0
        table.number[table.stage, seat] = 0.0
    table.standing = table.start
    table.owner = -1
    if table.divides:
        table.within = (1 << table.seats) - 1


@compiled
def divide(table: Any, move: Any) -> None:
    """Write the shares of the other seats: those of the move, and what is left for the last one."""
    stage, seat, seats = table.stage, table.turn, table.seats
    rest = table.most[move.kind] - move.value
    for k in range(1, seats):
        share = rest
        if k < seats - 1:
            share = min(rest, move.second if k == 1 else move.third)  # a sum may be off by a hundredth
        other = (seat + k) % seats
        table.chosen[stage, other] = 1 + move.kind
        table.chosen_in[stage, other] = table.cycle
        table.number[stage, other] = max(share, 0.0)
        rest -= share


@compiled
def close(table: Any, seat: int, kind: int) -> None:
    """Close the stage; an action whose value is above 0 takes the standing number as its own."""
    table.closer = seat
    table.closed_by = kind
    if table.origin[kind] > 0.0:
        table.chosen[table.stage, seat] = 1 + kind
        table.chosen_in[table.stage, seat] = table.cycle
        table.number[table.stage, seat] = table.standing


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
    if table.cycle >= table.limit[table.stage]:
        table.timeout = True
        return True
    table.turn = seat
    return False
