"""What the actions mean, and the safe one. Action indices are the moves: pass, bet."""

from typing import Any

from .table import PASS

MEANINGS = {
    "pass": "put no chip in: check, or fold to a bet",
    "bet": "put one chip in: bet, or call a bet",
}


def safe(table: Any) -> int:
    """Return the action index of the safe action: pass."""
    return PASS
