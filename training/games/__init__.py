"""Specifics: the parts of training and evaluation that belong to one game. One module per game, found by its name.

A module sets `SPECIFICS`. A game without specifics has no module here.
"""

from importlib import import_module
from pkgutil import iter_modules

from .base import Specifics


def specifics(game: str) -> Specifics:
    """Return the specifics of a game, by its name (``"holdem"``)."""
    if game not in _modules():
        return Specifics()
    found: Specifics = import_module(f".{game}", __name__).SPECIFICS
    return found


def games_with(part: str) -> list[str]:
    """Return the names of the games that have a part of `Specifics`, such as ``"held_out"``."""
    return [game for game in _modules() if getattr(specifics(game), part)]


def _modules() -> list[str]:
    return sorted(module.name for module in iter_modules(__path__) if module.name != "base")
