"""What the actions mean, and the safe one. Action indices are the moves: fold, call, raise."""

from typing import Any

from .table import CALL, FOLD

MEANINGS = {
    "fold": "give the pot up; only after a raise",
    "call": "put in as much as the other has; nothing, if there was no raise",
    "raise": "call, and put in two chips more, four in the second round; at most two raises in a round",
}


def safe(table: Any) -> int:
    """Return the action index of the safe action: call if it costs nothing, else fold."""
    return CALL if table.chips[0] == table.chips[1] else FOLD
