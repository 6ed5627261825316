"""Tangram, version 0: a PettingZoo version module. Options: see `parlour.envs.tangram.game`."""

from .core.expose import expose
from .tangram import game

env, raw_env, vector_env = expose(game)

__all__ = ["env", "game", "raw_env", "vector_env"]
