"""Engines: where a learner's decisions are collected, one module each, found by its name.

``local`` plays in the learner's process, ``process`` in other processes of this machine, ``ray`` in a Ray cluster,
``gpu`` on the learner's GPU.
"""

from importlib import import_module
from typing import cast

from .base import Engine


def find(name: str) -> type[Engine]:
    """Return the class of the engine of this name.

    Raises:
        ImportError: if a package that it needs is not installed.
    """
    return cast(type[Engine], import_module(f".{name}", __name__).ENGINE)
