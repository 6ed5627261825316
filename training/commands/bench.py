"""`parlour bench`: speed and memory on one core, in a checkout beside other libraries."""

import json
import os
from collections.abc import Sequence
from dataclasses import asdict
from importlib.util import find_spec
from pathlib import Path
from typing import Annotated

import tyro
from rich.console import Group
from rich.table import Table
from rich.text import Text

from ...envs.core.installed import install
from ...envs.core.options import named
from ...envs.core.plain_start import PLAIN_START
from ..benchmarks import measure
from ..benchmarks import names as measurements
from ..benchmarks.base import Row
from ..terminal.console import Console
from ..terminal.progress import STDERR
from .arguments import AsJson


def command(
    *,
    names: Annotated[tyro.conf.Positional[tuple[str, ...]], tyro.conf.arg(metavar="NAME")] = (),
    quick: bool = False,
    plot: Path | None = None,
    as_json: AsJson = False,
) -> None:
    """Measure speed and memory on one core and print them with their targets; in a checkout, beside other libraries.

    Args:
        names: The measurements: vector threads cuda cuda-games jax aec learner selfplay protocol tangram start
            first-use first-decision memory growth; in a checkout also peers solve search sibling actors godot arena
            mafia-host replay. Default: all.
        quick: Shorter rounds, with less precise results.
        plot: Draw the curves of growth into this file (.svg, .png). Needs the extra plot.

    Raises:
        ValueError: if a measurement is unknown, or there is nothing to draw.
        ImportError: if matplotlib is not installed, for a picture.
    """
    os.environ["PARLOUR_COMPILE_FIRST"] = "1"  # what is measured is machine code, in other processes too
    PLAIN_START.compile_first()
    os.environ.update(dict.fromkeys(("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS"), "1"))
    chosen = [named("measurement", name, measurements()) for name in names] or measurements()
    if plot is not None:
        _check_plot(plot, chosen)
    rows: list[Row] = []
    for name in chosen:
        with STDERR.status(f"measuring {name} …"):
            rows += measure(name)(0.5 if quick else 3.0)
    if as_json:
        print(json.dumps([{**asdict(row), "met": row.met} for row in rows], indent=2))
    else:
        Console().print(report(rows))
    if plot is not None:
        from ..benchmarks.growth import picture

        picture(rows, plot)


def _check_plot(plot: Path, chosen: Sequence[str]) -> None:
    """Raise the errors of a picture before the measurements, which take minutes."""
    if plot.suffix not in (".svg", ".png") or not plot.parent.is_dir():
        raise ValueError(f"{plot}: write to a .svg or .png, in a folder that is there")
    if "growth" not in chosen:
        raise ValueError("nothing to draw: measure growth, too")
    if find_spec("matplotlib") is None:
        raise ImportError(f"a picture needs matplotlib: {install('plot')}")


def report(rows: list[Row]) -> Group:
    """Return the rows as a table, with the notes below."""
    heads = "what", "best", "median", "worst", "", "target", ""
    table = Table(*heads, title="parlour bench, one core, per second of processor time")
    for column in (1, 2, 3, 5):
        table.columns[column].justify = "right"
    notes: list[Text] = []
    for row in rows:
        sign = "≤" if row.lower else "≥"
        table.add_row(
            row.what,
            *("" if value is None else _figure(value) for value in (row.value, row.median, row.worst)),
            "not measured" if row.value is None else row.unit,
            "" if row.target is None else f"{sign} {_figure(row.target)}",
            {True: "[green]met[/]", False: "[red]missed[/]", None: ""}[row.met],
        )
        if row.note:
            notes.append(Text(f"{row.name}: {row.note}", "dim"))
    return Group(table, *notes)


def _figure(value: float) -> str:
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"
