"""Sealed-bid auctions, version 0: a PettingZoo version module. Options: see `parlour.envs.auction.game`."""

from .auction import game
from .core.expose import expose

env, raw_env, vector_env = expose(game)

__all__ = ["env", "game", "raw_env", "vector_env"]
