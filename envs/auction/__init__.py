"""Sealed-bid auctions for 2 to 16 bidders (protocol: turnstate.md and its notes, first-price-auction)."""

from .game import game

__all__ = ["game"]
