"""Werewolf, as strategic-agent-games plays it: a view of mafia.

Record, encoders, bots, statements and symmetry are those of `parlour.envs.mafia`; the werewolves are its mafia, and the
seer is its sheriff. The field `werewolf` of the record selects the rules in which the games differ.
"""

from .game import game

__all__ = ["game"]
