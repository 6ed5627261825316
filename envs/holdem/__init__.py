"""No-limit Texas hold'em for 2 to 10 seats. Its states and payloads are those of Moltpoker's agent format."""

from .game import game

__all__ = ["game"]
