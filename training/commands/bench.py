"""`parlour bench`: speed and memory on one core, also of other libraries."""

import json
import os
from dataclasses import asdict
from typing import Annotated

import tyro
from rich.console import Console, Group
from rich.table import Table
from rich.text import Text

from ...envs.core.options import named
from ..benchmarks import MEASURES, measure
from ..benchmarks.base import Row
from ..progress import STDERR
from .arguments import AsJson


def command(
    *,
    names: Annotated[tyro.conf.Positional[tuple[str, ...]], tyro.conf.arg(metavar="NAME")] = (),
    quick: bool = False,
    as_json: AsJson = False,
) -> None:
    """Measure speed and memory on one core and print them with their targets and other libraries' results.

    Args:
        names: The measurements: vector aec openspiel pettingzoo learner protocol tangram godot arena mafia-host replay
            start memory. Default: all.
        quick: Shorter rounds, with less precise results.
    """
    os.environ.update(dict.fromkeys(("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS"), "1"))
    chosen = [named("measurement", name, MEASURES) for name in names] or list(MEASURES)
    rows: list[Row] = []
    for name in chosen:
        with STDERR.status(f"measuring {name} …"):
            rows += measure(name)(0.5 if quick else 3.0)
    if as_json:
        print(json.dumps([{**asdict(row), "met": row.met} for row in rows], indent=2))
    else:
        Console().print(report(rows))


def report(rows: list[Row]) -> Group:
    """Return the rows as a table, with the notes below."""
    table = Table("what", "measured", "target", "", title="parlour bench, one core, per second of processor time")
    table.columns[1].justify = table.columns[2].justify = "right"
    notes: list[Text] = []
    for row in rows:
        sign = "≤" if row.lower else "≥"
        table.add_row(
            row.what,
            "—" if row.value is None else f"{_figure(row.value)} {row.unit}",
            "" if row.target is None else f"{sign} {_figure(row.target)}",
            {True: "[green]met[/]", False: "[red]missed[/]", None: ""}[row.met],
        )
        if row.note:
            notes.append(Text(f"{row.what}: {row.note}", "dim"))
    return Group(table, *notes)


def _figure(value: float) -> str:
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"
