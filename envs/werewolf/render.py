"""A match as text: that of mafia, in the words of werewolf."""

from typing import Any

from ..mafia import render as mafia
from .mafia_terms import labelled


def render(table: Any, seat: int | None) -> str:
    """Return a few lines of text. `seat`: whose known roles and votes are shown; None: all."""
    return labelled(mafia.render(table, seat))
