"""Measurements of speed and size: a module per group of rows, loaded when it is measured."""

import sys
from functools import cache
from importlib import import_module
from pathlib import Path
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
}
"""Every measurement by name: its module here and its function there."""

CHECKOUT = Path(__file__).parents[2] / ".ci"
"""The folder of the package `checkout_benchmarks`: other libraries, live play, several processes. No wheel has it."""


def names() -> list[str]:
    """Return the names of all measurements."""
    return [*MEASURES, *_of_checkout()]


def measure(name: str) -> Measure:
    """Return the measurement of this name."""
    package, source = (__name__, MEASURES) if name in MEASURES else ("checkout_benchmarks", _of_checkout())
    module, function = source[name]
    return cast(Measure, getattr(import_module(f"{package}.{module}"), function))


@cache
def _of_checkout() -> dict[str, tuple[str, str]]:
    if not CHECKOUT.is_dir():
        return {}
    sys.path.append(str(CHECKOUT))
    return cast(dict[str, tuple[str, str]], import_module("checkout_benchmarks").MEASURES)
