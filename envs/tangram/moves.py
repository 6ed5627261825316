"""Action indices: the move that each stands for, and which are legal. Compiled."""

from typing import Any

from ..core.compiled import compiled
from .corners import pose
from .forms import PIECE
from .rules import Placement
from .table import FINISH, PLACES, PLAY


@compiled
def decode(table: Any, action: int) -> Placement:
    """Return the move that an action index stands for: a place (see `corners`) or, as the last, `finish`."""
    if action == PLACES:
        return Placement(FINISH, 0, 0.0, 0.0, 0.0)
    x, y, rotation = pose(table, action)
    return Placement(PLAY, PIECE[action], x, y, rotation)


@compiled
def legal(table: Any, mask: Any) -> None:
    """Write the acting seat's legal action indices: the open places, the same throughout a turn, and `finish`."""
    for action in range(PLACES):
        mask[action] = table.open >> action & 1
    mask[PLACES] = 1
