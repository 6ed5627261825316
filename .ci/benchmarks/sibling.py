"""How much slower a core is while another one plays, too: both share memory and caches."""

import os
import signal
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from multiprocessing import get_context
from multiprocessing.synchronize import Event
from typing import Any

from parlour.envs import game as make_game
from parlour.envs.core.vector import VectorGame

from .base import Row, Seconds

ROUNDS = 10
GAMES: tuple[tuple[str, dict[str, Any]], ...] = (("holdem", {"seats": 6}), ("mafia", {"seats": 10}), ("tangram", {}))


def sibling(seconds: Seconds) -> list[Row]:
    """One process beside another one that plays the same game, by the clock on the wall: their rates in turn."""
    rows = []
    for name, options in GAMES:
        what = f"{name}, 4,096 tables, while another process plays the same"
        if not hasattr(signal, "SIGSTOP"):
            rows.append(Row(f"sibling-{name}", what, None, "times", note="needs a POSIX system"))
            continue
        tables = _reset(name, options)
        rates: dict[bool, list[float]] = {False: [], True: []}
        with _other(name, options) as play:
            for _ in range(ROUNDS):
                for busy in rates:
                    play(busy)
                    rates[busy].append(_rate(tables, seconds / 2 / ROUNDS))
        alone, beside = max(rates[False]), max(rates[True])
        note = f"{alone:,.0f} decisions/s alone, in the same run; {os.cpu_count()} cores"
        rows.append(Row(f"sibling-{name}", what, beside / alone, "times", 0.6, note=note))
    return rows


@contextmanager
def _other(name: str, options: dict[str, Any]) -> Iterator[Callable[[bool], None]]:
    """Start another process that plays; yield a function that lets it play or stops it."""
    context = get_context("spawn")
    ready = context.Event()
    process = context.Process(target=_play, args=(name, options, ready), daemon=True)
    process.start()
    try:
        if not ready.wait(300) or process.pid is None:
            raise RuntimeError(f"the process that plays {name} has not started within 300 seconds")
        pid = process.pid
        yield lambda busy: os.kill(pid, signal.SIGCONT if busy else signal.SIGSTOP)
    finally:
        process.kill()
        process.join()


def _play(name: str, options: dict[str, Any], ready: Event) -> None:
    tables = _reset(name, options)
    tables.step(tables.sample())
    ready.set()
    while True:
        tables.step(tables.sample())


def _reset(name: str, options: dict[str, Any]) -> VectorGame:
    tables = VectorGame(make_game(name, **options), 4_096)
    tables.reset(seed=0)
    tables.step(tables.sample())
    return tables


def _rate(tables: VectorGame, seconds: Seconds) -> float:
    begun, decisions = time.perf_counter(), 0
    while (spent := time.perf_counter() - begun) < seconds:
        tables.step(tables.sample())
        decisions += tables.num_envs
    return decisions / spent
