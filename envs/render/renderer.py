"""Renderer: draws a table for people, as text and as a picture."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from ..core.checks import require_functions
from ..core.turn_state import TurnState
from . import svg


@dataclass(frozen=True)
class Renderer:
    """The functions that draw a table for people.

    Attributes:
        text: ``text(table, seat) -> str``: the table as text. `seat` None shows everything, −1 the public view.
        picture: ``picture(states) -> str``: the table as SVG (see `svg`), drawn from TurnStates of the same
            moment. One state shows what that agent (or an observer) may see; the states of all seats show everything.
    """

    text: Callable[[Any, int | None], str]
    picture: Callable[[Sequence[TurnState]], str] = svg.plain

    def __post_init__(self) -> None:
        """Check the parts."""
        require_functions("Renderer", {"text": self.text, "picture": self.picture})
