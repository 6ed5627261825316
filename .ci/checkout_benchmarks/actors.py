"""Decisions per second of the actors of the engine ray, on this machine: their sum beside one actor."""

import os
import time
from typing import Any

from parlour.envs import game as make_game
from parlour.envs.core.installed import install
from parlour.training.benchmarks.base import Row, Seconds
from parlour.training.learning.league import League
from parlour.training.runs.config import load_config

ROUNDS = 3


def actors(seconds: Seconds) -> list[Row]:
    """Actors of self-play hold'em, one per core, beside one actor, by the clock on the wall; nothing is learned.

    Another program on the machine shows. The process that receives the batches takes a part of a core.
    """
    what = "actors of the engine ray, heads-up hold'em, sum of all"
    try:
        import ray
        from parlour.training.algorithms.selfplay import Learner
    except ImportError:
        return [Row("actors", what, None, "decisions/s", note=f"not installed: {install('ray')}")]
    most = max(2, os.cpu_count() or 1)
    rates: dict[int, list[float]] = {}
    for _ in range(ROUNDS):
        for count in (1, most):
            config: Any = load_config("holdem", algorithm="selfplay", engine="ray", actors=count)
            learner: Any = Learner(config, make_game("holdem", **config.options), League(1, 1.0, {}, 0))
            learner.engine.begin()
            rates.setdefault(count, []).append(_rate(learner, count, seconds))
            learner.close()
            ray.shutdown()
    alone, together = max(rates[1]), max(rates[most])
    note = f"{most} actors; one alone: {alone:,.0f} decisions/s, in the same run"
    return [
        Row.of("actors", what, rates[most], "decisions/s", note=note),
        Row("actors-ratio", "the same, as a share of so many times one actor", together / alone / most, "times", 0.95),
    ]


def _rate(learner: Any, count: int, seconds: Seconds) -> float:
    """Return decisions per second after the actors have started."""
    weights = learner._weights()
    started: set[int] = set()
    while len(started) < count:
        started |= {batch.actor for batch in learner.engine.rollout(0, weights)}
    begun, decisions = time.perf_counter(), 0
    while (spent := time.perf_counter() - begun) < max(2 * seconds, 2.0):
        decisions += sum(batch.decisions for batch in learner.engine.rollout(0, weights))
    return decisions / spent
