"""The deal as a picture: both players with their card, chips and moves, and the pot."""

from collections.abc import Sequence

from ..core.turn_state import TurnState
from ..render.two_hands import two_hands

WORDS = {"pass": "passes", "bet": "bets"}


def picture(states: Sequence[TurnState]) -> str:
    """Draw the table from `states` (see `Renderer.picture`)."""
    return two_hands("Kuhn poker", states, WORDS)
