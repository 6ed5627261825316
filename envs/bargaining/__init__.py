"""Two agents split a pie by alternating offers: the game `unfair-split` of the TurnState platforms."""

from .game import game

__all__ = ["game"]
