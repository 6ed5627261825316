"""Learning algorithms, one module each, found by its name. The module has a class `Learner` (see `base`)."""

from importlib import import_module
from pkgutil import iter_modules
from typing import cast

from ...envs.core.options import named
from ..learning.learner import Learner


def names() -> list[str]:
    """Return the names of the learning algorithms."""
    return sorted(module.name for module in iter_modules(__path__))


def find(name: str) -> type[Learner]:
    """Return the class `Learner` of the algorithm of this name.

    Raises:
        ValueError: for an unknown name, with the most similar one.
        ImportError: if a package that it needs is not installed.
    """
    return cast(type[Learner], import_module(f".{named('algorithm', name, names())}", __name__).Learner)
