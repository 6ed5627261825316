"""Two agents split a pie by alternating offers (protocol: turnstate.md and its notes, unfair-split)."""

from .game import game

__all__ = ["game"]
