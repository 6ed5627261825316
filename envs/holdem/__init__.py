"""No-limit Texas hold'em for 2 to 10 seats (protocol: poker.md and its notes)."""

from .game import game

__all__ = ["game"]
