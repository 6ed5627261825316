"""Specifics: the parts of training and evaluation that belong to one game. One module per game, found by its name.

A module sets `SPECIFICS`. A game without specifics has no module here. Games whose code lies together in a package of
`parlour.envs`, such as `economics`, share the module with the package's name.
"""

from importlib import import_module
from pkgutil import iter_modules

from ...envs import GAMES
from .base import Specifics


def specifics(game: str) -> Specifics:
    """Return the specifics of a game, by its name (``"holdem"``)."""
    module = _modules().get(game)
    if module is None:
        return Specifics()
    found: Specifics = import_module(f".{module}", __name__).SPECIFICS
    return found


def games_with(part: str) -> list[str]:
    """Return the names of the games that have a part of `Specifics`, such as ``"held_out"``."""
    return [game for game in _modules() if getattr(specifics(game), part)]


def packages() -> dict[str, str]:
    """Return the package of `parlour.envs` in which each registered game lies: ``"economics"`` for ``"cournot"``."""
    sources = {game_id.partition("-")[0]: source for game_id, source in GAMES.items() if isinstance(source, str)}
    return {game: source.partition(".")[0] for game, source in sorted(sources.items())}


def _modules() -> dict[str, str]:
    """Return the name of the module of each game that has one."""
    here = {module.name for module in iter_modules(__path__)} - {"base"}
    return {game: package for game, package in packages().items() if package in here}
