"""Decisions per second of the actors of the engine ray, on this machine: their sum beside one actor."""

import os
import time
from typing import Any

from parlour.envs import game as make_game
from parlour.envs.core.installed import install
from parlour.training.learning.league import League
from parlour.training.runs.config import load_config

from .base import Row, Seconds, ratios

ROUNDS = 5


def actors(seconds: Seconds) -> list[Row]:
    """Actors of self-play hold'em, one per core, beside one actor. Nothing is learned.

    Their batches stay in the object store, or this process reads and unpacks them as a learner does. The cores that
    actors and this process need are rarely all idle: the processor time of the actors shows what they share but cores.
    """
    what = "actors of the engine ray, heads-up hold'em, sum of all"
    try:
        import ray
        from parlour.training.algorithms.selfplay import Learner
        from parlour.training.learning.ray_engine import RemoteActor
        from parlour.training.parallel.tasks import connect
    except ImportError:
        return [Row("actors", what, None, "decisions/s", note=f"not installed: {install('ray')}")]

    class Timed(RemoteActor):
        """An actor that knows its processor time."""

        def spent(self) -> float:
            """Return the processor time of its process in seconds."""
            return time.process_time()

    most = max(2, os.cpu_count() or 1)
    config: Any = load_config("holdem", algorithm="selfplay")
    league = League(1, 1.0, {}, 0)
    weights = Learner(config, make_game("holdem", **config.options), league)._weights()
    connect("", most)
    try:
        kind: Any = ray.remote(num_cpus=1)(Timed)
        handles = [kind.remote(config, league.pool(), number) for number in range(most)]
        order = 0, ray.put(dict(weights)), {}, (0, 0)
        batch = ray.get([handle.rollout.remote(*order) for handle in handles])[0]
        found: dict[tuple[int, bool], list[tuple[float, float, float]]] = {}
        for _ in range(ROUNDS):
            for mode in ((1, False), (most, False), (most, True)):
                found.setdefault(mode, []).append(_times(handles[: mode[0]], order, mode[1], max(seconds, 2.0)))
    finally:
        ray.shutdown()
    alone, together, read = ([[batch.decisions / each for each in times] for times in found[mode]] for mode in found)
    columns = [list(zip(*rates, strict=True)) for rates in (alone, together, read)]
    note = f"{most} actors; one alone: {max(columns[0][0]):,.0f} decisions/s, in the same run; {os.cpu_count()} cores"
    busy = ratios(columns[1][1], columns[0][1])
    busy_note = f"one alone: {max(columns[0][1]):,.0f} decisions per second of its processor time"
    share = [processor / reader for _, processor, reader in read]
    shares = [one / most for one in ratios(columns[1][0], columns[0][0])]
    return [
        Row.of("actors", what, columns[1][0], "decisions/s", note=note),
        Row.of("actors-ratio", "the same, as a share of so many times one actor", shares, "times", 0.95),
        Row.of("actors-processor", "— in their processor time", busy, "times", 0.95, note=busy_note),
        Row.of("actors-read", "— while batches are read", ratios(columns[2][1], columns[1][1]), "times"),
        Row.of("actors-reader", "processor time to read, beside all actors'", share, "times", lower=True),
        Row("actors-bytes", "size of a decision", batch.nbytes / batch.decisions, "bytes", 591, lower=True),
    ]


def _times(handles: list[Any], order: tuple[Any, ...], read: bool, seconds: Seconds) -> tuple[float, float, float]:
    """Return the time of a batch: elapsed, of the actors' processors, and of this process's.

    Args:
        handles: the actors that play; each has one call at every time.
        order: the arguments of their calls.
        read: whether this process reads and unpacks every batch.
        seconds: for so long.
    """
    import ray

    before = sum(ray.get([handle.spent.remote() for handle in handles]))
    begun, own, batches = time.perf_counter(), time.process_time(), 0
    calls = {handle.rollout.remote(*order): handle for handle in handles}
    while calls:
        call = ray.wait(list(calls))[0][0]
        handle = calls.pop(call)
        if read:
            ray.get(call).unpacked()
        batches += 1
        if time.perf_counter() - begun < seconds:
            calls[handle.rollout.remote(*order)] = handle
    elapsed, own = time.perf_counter() - begun, time.process_time() - own
    return elapsed / batches, (sum(ray.get([one.spent.remote() for one in handles])) - before) / batches, own / batches
