"""Action indices: their moves, and the action mask. Compiled."""

from typing import Any

import numpy as np

from ..core.compiled import compiled
from .rules import Move
from .table import CALL, CALL_ACTION, FIRST_FRACTION, FOLD, FOLD_ACTION, LEAST_RAISE, RAISE


@compiled
def decode(table: Any, action: int) -> Move:
    """Return the move of an action index: fold, check or call, least raise, pot fractions, all-in."""
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
    """Return the total of a raise by a fraction of the pot after the call; half a chip rounds up."""
    return table.current_bet + int(table.fractions[index] * (table.pot + table.to_call) + 0.5)


@compiled
def legal(table: Any, mask: Any) -> None:
    """Write the action mask of the acting seat. Of several raises to one amount, only one is legal."""
    least, most = table.raise_min, table.raise_max
    bet, pot = table.current_bet, np.float64(table.pot + table.to_call)
    mask[FOLD_ACTION] = 1
    mask[CALL_ACTION] = 1
    mask[LEAST_RAISE] = least < most
    before = least
    count = np.int64(table.num_fractions)
    for index in range(count):  # the fractions rise. No branch: the processor would mispredict it
        amount = bet + np.int64(table.fractions[index] * pot + 0.5)
        mask[FIRST_FRACTION + index] = (amount > max(before, least)) & (amount < most)
        before = amount
    mask[FIRST_FRACTION + count] = most > 0
