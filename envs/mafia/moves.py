"""Action indices: their moves, and the action mask. Compiled.

The indices are in blocks of one per seat; the index in a block is the target's relative seat.
"""

from typing import Any

from ..core.compiled import compiled
from .ballots import row_of_round
from .rules import Choice
from .table import (
    ACCUSE,
    CLAIM_DOCTOR,
    CLAIM_SHERIFF,
    CLAIM_VILLAGER,
    CLEARED,
    DEFEND,
    DOCTOR,
    FOUND,
    GENERAL,
    MAFIA,
    NIGHT,
    SHERIFF,
    TARGET,
    VOTE,
    VOTING,
)


@compiled
def decode(table: Any, action: int) -> Choice:
    """Return the move of an action index (see `parlour.envs.mafia.actions`)."""
    seats = table.seats
    block = action // seats
    away = action - block * seats
    target = table.turn + away
    if target >= seats:
        target -= seats
    if block == 0:
        return Choice(TARGET, target)
    if block == 1:
        return Choice(VOTE, target if away > 0 else -1)
    if block == 3:
        return Choice(DEFEND, target)
    if block == 6:
        return Choice(CLAIM_VILLAGER + away, -1)
    if away > 0:
        return Choice(ACCUSE if block == 2 else CLEARED if block == 4 else FOUND, target)
    return Choice(GENERAL if block == 2 else CLAIM_SHERIFF if block == 4 else CLAIM_DOCTOR, -1)


@compiled
def legal(table: Any, mask: Any) -> None:
    """Write the action mask of the acting seat: targets are alive; only a doctor may choose itself.

    In werewolf a seer may too, werewolves choose others, everybody votes, and nobody claims to be a doctor.
    """
    seats = table.seats
    seat = table.turn
    mask[:] = 0
    if table.phase == NIGHT:
        _write_living(table, mask, 0)
        doctor = table.role[seat] == DOCTOR
        mask[0] = doctor or (table.werewolf and table.role[seat] == SHERIFF)
        if table.werewolf and table.role[seat] == MAFIA:
            for other in range(seats):
                if table.role[other] == MAFIA:
                    mask[other - seat if other >= seat else other - seat + seats] = 0
        if doctor and table.round_number > 1:
            last = table.night[row_of_round(table) - seats + seat]
            if last >= 0:
                mask[last - seat if last >= seat else last - seat + seats] = 0
    elif table.phase == VOTING:
        _write_living(table, mask, seats)
        if table.werewolf:
            mask[seats] = 0
    else:
        for block in range(2, 6):
            _write_living(table, mask, block * seats)
        mask[6 * seats] = 1
        mask[6 * seats + 1] = 1
        if table.werewolf:
            mask[5 * seats] = 0


@compiled
def _write_living(table: Any, mask: Any, first: int) -> None:
    """Write 1 for each living player from index `first` on, by relative seat."""
    turn = table.turn
    for seat in range(turn, table.seats):
        mask[first + seat - turn] = table.alive[seat]
    first += table.seats - turn
    for seat in range(turn):
        mask[first + seat] = table.alive[seat]
