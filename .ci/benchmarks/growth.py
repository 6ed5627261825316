"""How rate and memory grow with tables, seats and threads; and a picture of it."""

import gc
import os
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from parlour.envs import VectorGame
from parlour.envs import game as make_game
from parlour.training.commands.activity import resident_bytes

from .base import Meter, Row, Seconds, alternate, meter
from .environments import random_play

TABLES = tuple(round(10 ** (half / 2)) for half in range(4, 13))
"""Numbers of tables, 100 to a million."""
SEATS = tuple(range(2, 11))
"""Numbers of seats of hold'em, with `TABLES_OF_SEATS` tables."""
THREADS = (1, 2, 3, 4)
"""Numbers of threads, with `TABLES_OF_THREADS` tables."""
TABLES_OF_SEATS, TABLES_OF_THREADS = 4_096, 16_384
MEMORY = 5e9
"""Bytes that the tables of one game may take, all sizes together; larger ones are left out."""
ROUNDS = 5
PANELS = ("tables", "memory", "seats", "threads")
"""The parts of the picture, each drawn if it was measured."""


def growth(seconds: Seconds) -> list[Row]:
    """Rate and memory for 100 to a million tables; the rate for 2 to 10 seats, and for 1 to 4 threads."""
    rows = _of_tables("leduc", {}, seconds) + _of_tables("holdem", {"seats": 2}, seconds)
    tables = [VectorGame(make_game("holdem", seats=seats), TABLES_OF_SEATS) for seats in SEATS]
    what = f"hold'em, {TABLES_OF_SEATS:,} tables, {{}} seats"
    rows += _rates("growth-seats", what, SEATS, [meter(random_play(one)) for one in tables], seconds)
    tables = [VectorGame(make_game("holdem", seats=2), TABLES_OF_THREADS, threads=threads) for threads in THREADS]
    what = f"hold'em, {TABLES_OF_THREADS:,} tables, {{}} threads on {os.cpu_count()} cores, elapsed time"
    meters = [meter(random_play(one), time.perf_counter) for one in tables]  # processor time adds up over threads
    return rows + _rates("growth-threads", what, THREADS, meters, seconds)


def _of_tables(name: str, options: dict[str, Any], seconds: Seconds) -> list[Row]:
    game = make_game(name, **options)
    meters, memory, counts, held = [], [], [], 0.0
    first = VectorGame(game, 1)
    meter(random_play(first))(0)  # compiles
    one = first.tables.nbytes + first.observations.nbytes + first.action_masks.nbytes
    for count in TABLES:
        held += count * one
        if held > MEMORY:
            break
        gc.collect()
        before = resident_bytes()
        meters.append(meter(random_play(VectorGame(game, count))))
        meters[-1](0)
        counts.append(count)
        memory.append(None if before is None else ((resident_bytes() or 0) - before) / 1e6)
    rows = _rates(f"growth-{name}", f"{name}, {{:,}} tables", counts, meters, seconds)
    note = f"{one:,} bytes of record, observation and mask in a table"
    key, what = f"growth-{name}-memory", f"memory of {name}, {{:,}} tables"
    return rows + [
        Row(f"{key}-{count}", what.format(count), megabytes, "MB", lower=True, note=note if count == counts[-1] else "")
        for count, megabytes in zip(counts, memory, strict=True)
    ]


def _rates(key: str, what: str, counts: Sequence[int], meters: Sequence[Meter], seconds: Seconds) -> list[Row]:
    rates = alternate(*meters, seconds=seconds, rounds=ROUNDS)
    return [
        Row.of(f"{key}-{count}", what.format(count), of_count, "decisions/s")
        for count, of_count in zip(counts, rates, strict=True)
    ]


def picture(rows: Sequence[Row], path: Path) -> None:
    """Draw the median rates and the memory of `growth`, with the least and the most as whiskers.

    Args:
        rows: what `growth` returned; other rows are left out.
        path: the file, such as ``growth.svg``.

    Raises:
        ImportError: if matplotlib is not installed.
    """
    from matplotlib.backends.backend_agg import FigureCanvasAgg  # no display, no global state
    from matplotlib.figure import Figure

    curves: dict[str, list[tuple[int, Row]]] = {}
    for row in rows:
        kind, _, count = row.name.removeprefix("growth-").rpartition("-")
        if row.name.startswith("growth-") and row.value is not None:
            curves.setdefault(kind, []).append((int(count), row))
    named = {kind: next((one for one in PANELS if kind.endswith(one)), "tables") for kind in curves}
    panels = [panel for panel in PANELS if panel in named.values()]
    figure = Figure(figsize=(3 * len(panels), 3.2), layout="constrained")
    FigureCanvasAgg(figure)
    plots: Any = dict(zip(panels, figure.subplots(1, len(panels), squeeze=False)[0], strict=True))
    for kind, points in curves.items():
        plot = plots[named[kind]]
        counts, measured = zip(*points, strict=True)
        medians = [row.median or row.value for row in measured]
        lows, highs = ([max(0.0, sign * ((row.median or 0) - (getattr(row, end) or 0))) for row in measured]
                       for sign, end in ((1, "worst"), (-1, "value")))  # fmt: skip
        whiskers = None if measured[0].median is None else (lows, highs)
        plot.errorbar(counts, medians, whiskers, marker=".", capsize=2, label=kind.removesuffix("-memory"))
    for kind, plot in plots.items():
        plot.set_xlabel("tables" if kind == "memory" else kind)
        plot.set_title("MB" if kind == "memory" else "decisions/s", fontsize="medium")
        plot.grid(alpha=0.3)
        if kind in ("tables", "memory"):
            plot.set_xscale("log")
            plot.legend()
        if kind == "memory":
            plot.set_yscale("log")
        else:
            plot.set_ylim(bottom=0)
    figure.savefig(path, metadata={"Date": None} if path.suffix == ".svg" else None)
