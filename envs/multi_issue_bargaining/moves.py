"""Action indices: their moves, and the action mask. Compiled."""

from typing import Any

from ..core.compiled import compiled
from .rules import Step
from .table import ACCEPT, NONE, OFFER


@compiled
def decode(table: Any, action: int) -> Step:
    """Return the move of an action index: all outcomes as offers, accept, walk away, pass."""
    if action < table.outcomes:
        return Step(OFFER, action)
    return Step(ACCEPT + action - table.outcomes, 0)


@compiled
def legal(table: Any, mask: Any) -> None:
    """Write the action mask of the acting seat; it may accept an offer of another once."""
    mask[:] = 1
    theirs = table.last_offer_by != NONE and table.last_offer_by != table.turn
    mask[table.outcomes] = theirs and (table.accepted >> table.turn) & 1 == 0
