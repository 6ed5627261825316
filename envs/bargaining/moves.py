"""Action indices: their moves, and the action mask. Compiled."""

from typing import Any

from ..core.compiled import compiled
from ..core.structured_talk import LIMIT, NUM_ACTIONS
from .rules import Move
from .table import ACCEPT, OFFER, TALK


@compiled
def decode(table: Any, action: int) -> Move:
    """Return the move of an action index: the grid of offers, accept, reject, pass, talk."""
    offers = table.offers
    if action < offers:
        return Move(OFFER, action * table.offer_step)
    if action <= offers + 2:
        return Move(ACCEPT + action - offers, 0.0)
    return Move(TALK, float(action - offers - 3))


@compiled
def legal(table: Any, mask: Any) -> None:
    """Write the action mask of the acting seat; accept and reject are legal if the other seat has a current offer."""
    offers = table.offers
    mask[:] = 1
    stands = table.last_offer_by == 1 - table.turn
    mask[offers] = stands
    mask[offers + 1] = stands
    if table.talk and table.spoken >= LIMIT:
        mask[offers + 3 : offers + 3 + NUM_ACTIONS] = 0
