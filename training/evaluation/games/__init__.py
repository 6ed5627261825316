"""Measures that belong to one game: one module per game, found by its name.

A module sets `MEASURES`. A game without measures of its own has no module here. Games whose code lies together in a
package of `parlour.envs`, such as `economics`, share the module with the package's name.
"""

from importlib import import_module
from pkgutil import iter_modules

from ....envs.core.registry import packages
from .base import Measures


def measures(game: str) -> Measures:
    """Return the measures of a game, by its name (``"holdem"``)."""
    module = _modules().get(game)
    if module is None:
        return Measures()
    own: Measures = import_module(f".{module}", __name__).MEASURES
    return own


def games_with(part: str) -> list[str]:
    """Return the names of the games that have a part of `Measures`, such as ``"held_out"``."""
    return [game for game in _modules() if getattr(measures(game), part)]


def _modules() -> dict[str, str]:
    """Return the name of the module of each game that has one."""
    here = {module.name for module in iter_modules(__path__)} - {"base"}
    return {game: package for game, package in packages().items() if package in here}
