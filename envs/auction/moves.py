"""Action indices: their moves, and the action mask. Compiled."""

from typing import Any

from ..core.compiled import compiled
from ..core.structured_talk import LIMIT, NUM_ACTIONS
from .rules import Move
from .table import BID, PASS, TALK


@compiled
def decode(table: Any, action: int) -> Move:
    """Return the move of an action index: the grid of bids, pass, talk."""
    if action < table.bids:
        return Move(BID, action * table.bid_step)
    if action == table.bids:
        return Move(PASS, 0.0)
    return Move(TALK, float(action - table.bids - 1))


@compiled
def legal(table: Any, mask: Any) -> None:
    """Write the action mask of the acting seat: all actions are legal, except talk after `LIMIT` messages."""
    mask[:] = 1
    if table.talk and table.spoken >= LIMIT:
        mask[table.bids + 1 : table.bids + 1 + NUM_ACTIONS] = 0
