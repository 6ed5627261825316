"""Liar's dice for two, by the conventions of OpenSpiel, shown as TurnState."""

from .game import game

__all__ = ["game"]
