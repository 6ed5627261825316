"""`make bench`: speed and memory on one core, in a checkout beside other libraries."""

import argparse
import json
import os
import sys
from collections.abc import Sequence
from dataclasses import asdict
from importlib.util import find_spec
from pathlib import Path

from parlour.envs.core.installed import install
from parlour.envs.core.options import named
from parlour.envs.core.plain_start import PLAIN_START
from parlour.training.terminal.console import STDERR, Console
from rich.console import Group
from rich.table import Table
from rich.text import Text

from . import MEASURES, measure
from .base import Row


def main(args: Sequence[str] | None = None) -> int:
    """Measure and print; return the exit code."""
    parser = argparse.ArgumentParser(prog="make bench", description=__doc__)
    parser.add_argument(
        "names", nargs="*", metavar="NAME", help=f"the measurements: {', '.join(MEASURES)}; default: all"
    )
    parser.add_argument("--quick", action="store_true", help="shorter rounds, with less precise results")
    parser.add_argument("--plot", type=Path, help="draw the curves of growth into this file (.svg, .png)")
    parser.add_argument("--json", action="store_true", help="print JSON instead of tables")
    given = parser.parse_args(args)
    try:
        _measure(given.names, given.quick, given.plot, given.json)
    except (ValueError, ImportError) as error:
        parser.error(str(error))
    return 0


def _measure(names: Sequence[str], quick: bool, plot: Path | None, as_json: bool) -> None:
    os.environ["PARLOUR_COMPILE_FIRST"] = "1"  # what is measured is machine code, in other processes too
    PLAIN_START.compile_first()
    os.environ.update(dict.fromkeys(("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS"), "1"))
    chosen = [named("measurement", name, MEASURES) for name in names] or list(MEASURES)
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
        from .growth import picture

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
    table = Table(*heads, title="one core, per second of processor time")
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


if __name__ == "__main__":
    sys.exit(main())
