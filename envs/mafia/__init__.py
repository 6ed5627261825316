"""Mafia for 5 to 20 players (protocol: mafia.md and its notes)."""

from .game import game

__all__ = ["game"]
