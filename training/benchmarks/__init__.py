"""Measurements of speed and size: a module per group of rows, loaded when it is measured."""

from importlib import import_module
from typing import cast

from .base import Measure

MEASURES = {
    "vector": ("environments", "vector_tables"),
    "threads": ("environments", "threads"),
    "sibling": ("sibling", "sibling"),
    "cuda": ("cuda", "cuda_tables"),
    "aec": ("environments", "aec"),
    "openspiel": ("peers", "openspiel"),
    "openspiel-auction": ("peers", "openspiel_auction"),
    "pettingzoo": ("peers", "pettingzoo"),
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


def measure(name: str) -> Measure:
    """Return the measurement of this name."""
    module, function = MEASURES[name]
    return cast(Measure, getattr(import_module(f".{module}", __name__), function))
