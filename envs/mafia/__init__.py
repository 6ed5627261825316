"""Mafia for 5 to 20 players (the protocol is the AgentPolicy document of mafia-ai-benchmark)."""

from .game import game

__all__ = ["game"]
