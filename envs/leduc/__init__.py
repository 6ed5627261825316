"""Leduc hold'em: six cards, two rounds of bets (Southey et al. 2005), shown as TurnState."""

from .game import game

__all__ = ["game"]
