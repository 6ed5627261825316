"""Kuhn poker: three cards, one bet (Kuhn 1950), shown as TurnState."""

from .game import game

__all__ = ["game"]
