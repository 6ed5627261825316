"""Mafia for 5 to 20 players. Its states and payloads are those of mafia-ai-benchmark's agent interface."""

from .game import game

__all__ = ["game"]
