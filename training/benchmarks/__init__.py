"""Measurements of speed and size: a module per group of rows, loaded when it is measured."""

from functools import cache
from importlib import import_module
from pathlib import Path
from runpy import run_path
from typing import cast

from .base import Measure

MEASURES = {
    "vector": ("environments", "vector_tables"),
    "threads": ("environments", "threads"),
    "sibling": ("sibling", "sibling"),
    "cuda": ("cuda", "cuda_tables"),
    "aec": ("environments", "aec"),
    "learner": ("learner", "learner"),
    "selfplay": ("selfplay", "selfplay"),
    "actors": ("actors", "actors"),
    "protocol": ("poker", "protocol"),
    "tangram": ("tangram", "tangram"),
    "godot": ("godot", "godot"),
    "arena": ("arena", "arena"),
    "mafia-host": ("mafia", "mafia_host"),
    "replay": ("replay", "replay"),
    "start": ("process", "start"),
    "first-use": ("process", "first_use"),
    "memory": ("process", "memory"),
}
"""Every measurement by name: its module here and its function there."""


PEERS = Path(__file__).parents[2] / ".ci" / "peers.py"
"""The measurements of other libraries. Only a checkout has them."""


def names() -> list[str]:
    """Return the names of all measurements."""
    return [*MEASURES, *_of_peers()]


def measure(name: str) -> Measure:
    """Return the measurement of this name."""
    if name in MEASURES:
        module, function = MEASURES[name]
        return cast(Measure, getattr(import_module(f".{module}", __name__), function))
    return _of_peers()[name]


@cache
def _of_peers() -> dict[str, Measure]:
    if not PEERS.is_file():
        return {}
    return cast(dict[str, Measure], run_path(str(PEERS))["MEASURES"])
