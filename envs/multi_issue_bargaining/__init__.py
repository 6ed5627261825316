"""Agents negotiate several issues at once, in turn: NegMAS and Genius call it stacked alternating offers."""

from .game import game

__all__ = ["game"]
