"""No-limit Texas hold'em, version 0: a PettingZoo version module. Options: see `parlour.envs.holdem.game`."""

from .core.expose import expose
from .holdem import game

env, raw_env, vector_env = expose(game)

__all__ = ["env", "game", "raw_env", "vector_env"]
