"""Action indices: the move that each stands for, and which are legal. Compiled."""

from typing import Any

from ..core.compiled import compiled
from .rules import Move
from .table import CALL, CALL_ACTION, FIRST_FRACTION, FOLD, FOLD_ACTION, LEAST_RAISE, RAISE


@compiled
def decode(table: Any, action: int) -> Move:
    """Return the move that an action index stands for: fold, check or call, least raise, pot fractions, all-in."""
    if action == FOLD_ACTION:
        return Move(FOLD, 0)
    if action == CALL_ACTION:
        return Move(CALL, 0)
    if action == LEAST_RAISE:
        return Move(RAISE, table.raise_min)
    if action < FIRST_FRACTION + table.num_fractions:
        return Move(RAISE, _fraction_of_pot(table, action - FIRST_FRACTION))
    return Move(RAISE, table.raise_max)


@compiled
def _fraction_of_pot(table: Any, index: int) -> int:
    """A raise by a fraction of the pot, counted after the call; half a chip rounds up."""
    return table.current_bet + int(table.fractions[index] * (table.pot + table.to_call) + 0.5)


@compiled
def legal(table: Any, mask: Any) -> None:
    """Write the acting seat's legal action indices. Of several for one amount only one is legal: all-in, then least."""
    all_in = FIRST_FRACTION + table.num_fractions
    mask[:] = 0
    mask[FOLD_ACTION] = 1
    mask[CALL_ACTION] = 1
    if table.raise_max == 0:
        return
    mask[all_in] = 1
    mask[LEAST_RAISE] = table.raise_min < table.raise_max
    highest = table.raise_min
    for index in range(table.num_fractions):
        amount = _fraction_of_pot(table, index)
        if highest < amount < table.raise_max:
            mask[FIRST_FRACTION + index] = 1
            highest = amount
