"""Sealed-bid auctions for 2 to 16 bidders: the game `first-price-auction` of the TurnState platforms, and variants."""

from .game import game

__all__ = ["game"]
