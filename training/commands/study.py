"""`parlour study`: methods of learning beside each other, in several games, with several seeds."""

import json
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

import tyro
from rich.table import Table

from ...envs.core.options import whole
from ..runs.study import Study, cells, plans, read_study, run_study
from ..terminal.console import Console
from ..terminal.progress import counting_bar
from .arguments import AsJson, WorkerArguments


def command(
    *,
    source: Annotated[tyro.conf.Positional[str], tyro.conf.arg(metavar="STUDY")] = "learning",
    total_timesteps: int | None = None,
    seeds: tuple[int, ...] = (),
    methods: tuple[str, ...] = (),
    games: tuple[str, ...] = (),
    train: bool = True,
    folder: Path = Path("runs/study"),
    work: WorkerArguments,
    as_json: AsJson = False,
) -> None:
    """Train each method in each game with each seed, and show interquartile means with 95 % bootstrap intervals.

    The same command again trains what is missing. A run that is finished is not trained again.

    Args:
        source: A study of Parlour, by its name, or a TOML file with methods, games and a metric.
        total_timesteps: Decisions of each run, in place of the study's.
        seeds: Seeds, in place of the study's.
        methods: Only these methods.
        games: Only these games.
        train: With --no-train the command only shows what there is.
        folder: The folder of the runs. Choose another one for other settings.
    """
    study = read_study(source)
    study.seeds = list(seeds) or study.seeds
    study.methods = _chosen("method", study.methods, methods)
    study.games = _chosen("game", study.games, games)
    more = {} if total_timesteps is None else {"total_timesteps": whole("total_timesteps", total_timesteps, 1)}
    runs = plans(study, folder, more)
    if train:
        with counting_bar("study", len(runs)) as done:
            run_study(runs, work.workers, done)
    results = cells(study, runs)
    if as_json:
        print(json.dumps({"metrics": study.metrics, "cells": [asdict(cell) for cell in results]}, indent=2))
        return
    Console().print(_table(study, {(cell.game, cell.method): cell for cell in results}))


def _chosen(what: str, known: dict[str, Any], wanted: tuple[str, ...]) -> dict[str, Any]:
    if missing := set(wanted) - set(known):
        raise ValueError(f"no {what} {', '.join(sorted(missing))} in the study; it has {', '.join(known)}")
    return {name: known[name] for name in wanted or known}


def _table(study: Study, results: dict[tuple[str, str], Any]) -> Table:
    columns = [f"{game}, {study.metrics[game]}" for game in study.games]
    table = Table("method", *columns, title="interquartile mean [95 % bootstrap interval], runs")
    for column in table.columns[1:]:
        column.justify = "right"
    for method in study.methods:
        row = []
        for game in study.games:
            cell = results[game, method]
            interval = f" [{cell.low:.3f}, {cell.high:.3f}]" if len(cell.values) > 1 else ""
            row.append(f"{cell.mean:.3f}{interval}, {len(cell.values)}" if cell.values else "—")
        table.add_row(method, *row)
    return table
