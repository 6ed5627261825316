"""`parlour bench`: speed and memory on one core, in a checkout beside other libraries."""

import json
import os
from dataclasses import asdict
from typing import Annotated

import tyro
from rich.console import Group
from rich.table import Table
from rich.text import Text

from ...envs import GAMES
from ...envs import game as make_game
from ...envs.core.options import named
from ..benchmarks import measure
from ..benchmarks import names as measurements
from ..benchmarks.base import Row
from ..benchmarks.gpu_code import machine_code
from ..terminal.console import Console
from ..terminal.progress import STDERR
from .arguments import AsJson


def command(
    *,
    names: Annotated[tyro.conf.Positional[tuple[str, ...]], tyro.conf.arg(metavar="NAME")] = (),
    quick: bool = False,
    as_json: AsJson = False,
    compile_only: Annotated[bool, tyro.conf.arg(name="compile")] = False,
) -> None:
    """Measure speed and memory on one core and print them with their targets; in a checkout, beside other libraries.

    Args:
        names: The measurements: vector threads sibling cuda aec learner selfplay actors protocol tangram godot arena
            mafia-host replay start first-use memory; in a checkout also openspiel openspiel-auction pettingzoo.
            Default: all.
        quick: Shorter rounds, with less precise results.
        compile_only: With cuda alone: compile the GPU kernels of every game to machine code and print what they take.
            This needs the extra cuda, and no GPU.

    Raises:
        ValueError: if a measurement is unknown, or `compile_only` is set for another one than cuda.
    """
    if compile_only:
        if names != ("cuda",):
            raise ValueError("--compile is for one measurement: parlour bench cuda --compile")
        _print_machine_code(as_json)
        return
    os.environ.update(dict.fromkeys(("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS"), "1"))
    chosen = [named("measurement", name, measurements()) for name in names] or measurements()
    rows: list[Row] = []
    for name in chosen:
        with STDERR.status(f"measuring {name} …"):
            rows += measure(name)(0.5 if quick else 3.0)
    if as_json:
        print(json.dumps([{**asdict(row), "met": row.met} for row in rows], indent=2))
    else:
        Console().print(report(rows))


def _print_machine_code(as_json: bool) -> None:
    """Compile the GPU kernels of every game and print what they take."""
    found = []
    with STDERR.status("compiling kernels …"):
        for code in machine_code([make_game(game_id) for game_id in GAMES]):
            found.append(code)
    if as_json:
        print(json.dumps([asdict(code) for code in found], indent=2))
        return
    titles = ["game", "kernel", "GPU", "PTX, bytes", "registers", "stack", "spills", "constant memory", "tables"]
    table = Table(*titles, title="parlour bench cuda --compile, bytes but for registers")
    for column in table.columns[3:]:
        column.justify = "right"
    for code in found:
        table.add_row(
            *(f"{value:,}" if isinstance(value, int) else value or "no ptxas" for value in asdict(code).values())
        )
    Console(width=110).print(table)


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
