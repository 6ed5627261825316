"""Action indices: their moves, and the action mask. Compiled."""

from typing import Any

from ..core.compiled import compiled
from .corners import pose
from .forms import PIECE
from .rules import Placement
from .table import FINISH, PLACES, PLAY


@compiled
def decode(table: Any, action: int) -> Placement:
    """Return the move of an action index: a place (see `corners`); the last index is `finish`."""
    if action == PLACES:
        return Placement(FINISH, 0, 0.0, 0.0, 0.0)
    x, y, rotation = pose(table, action)
    return Placement(PLAY, PIECE[action], x, y, rotation)


@compiled
def legal(table: Any, mask: Any) -> None:
    """Write the action mask of the acting seat: the legal places, which are fixed for a turn, and `finish`."""
    for action in range(PLACES):
        mask[action] = table.open >> action & 1
    mask[PLACES] = 1
