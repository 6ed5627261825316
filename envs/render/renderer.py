"""Renderer: draws a table for people, as text and as a picture."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from ..core.checks import require_functions
from ..core.turn_state import TurnState
from . import svg


def plain(states: Sequence[TurnState]) -> str:
    """Return the state of any game as text: the default."""
    return "\n".join(f"{state.agent_id}: {state.game_state}".removeprefix(": ") for state in states)


@dataclass(frozen=True)
class Renderer:
    """The functions that draw a table for people, from TurnStates of the same moment.

    One state shows what that agent (or an observer) may see; the states of all seats show everything.

    Attributes:
        text: ``text(states) -> str``: the table as text; by default the game state of each.
        picture: ``picture(states) -> str``: the table as SVG (see `svg`).
    """

    text: Callable[[Sequence[TurnState]], str] = plain
    picture: Callable[[Sequence[TurnState]], str] = svg.plain

    def __post_init__(self) -> None:
        """Check the parts."""
        require_functions("Renderer", {"text": self.text, "picture": self.picture})
