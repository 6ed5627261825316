"""Measurements of speed and size, beside other libraries: a module per group of rows, loaded when it is measured."""

from importlib import import_module
from typing import cast

from .base import Measure

MEASURES = {
    "vector": ("environments", "vector_tables"),
    "threads": ("environments", "threads"),
    "cuda": ("cuda", "cuda_holdem"),
    "cuda-games": ("cuda", "cuda_games"),
    "jax": ("jax_tables", "jax_tables"),
    "aec": ("environments", "aec"),
    "learner": ("learner", "learner"),
    "selfplay": ("selfplay", "selfplay"),
    "protocol": ("poker", "protocol"),
    "tangram": ("tangram", "tangram"),
    "start": ("process", "start"),
    "first-use": ("process", "first_use"),
    "first-decision": ("process", "first_decision"),
    "memory": ("process", "memory"),
    "growth": ("growth", "growth"),
    "peers": ("peers", "peers"),
    "solve": ("solvers", "solvers"),
    "search": ("search", "search"),
    "sibling": ("sibling", "sibling"),
    "actors": ("actors", "actors"),
    "godot": ("godot", "godot"),
    "arena": ("arena", "arena"),
    "mafia-host": ("mafia", "mafia_host"),
    "replay": ("replay", "replay"),
}
"""Every measurement by name: its module here and its function there."""


def measure(name: str) -> Measure:
    """Return the measurement of this name."""
    module, function = MEASURES[name]
    return cast(Measure, getattr(import_module(f".{module}", __name__), function))
