"""The deal as a picture: both players with their card and moves, the open card, and the pot."""

from collections.abc import Sequence

from ..core.turn_state import TurnState
from ..render.two_hands import two_hands

WORDS = {"fold": "folds", "call": "calls", "raise": "raises"}


def picture(states: Sequence[TurnState]) -> str:
    """Draw the table from `states` (see `Renderer.picture`)."""
    return two_hands("Leduc hold'em", states, WORDS)
