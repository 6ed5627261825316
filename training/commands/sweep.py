"""`parlour sweep`: runs over settings and seeds; Optuna proposes the settings."""

import json
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import tyro
from rich.table import Table

from ...envs.core.options import number, whole
from ..learning.settings import ALGORITHM, pair
from ..runs.sweep import Outcome, space, sweep
from ..terminal.console import Console
from .arguments import AsJson, WorkerArguments

FIRST = ("search", "settings", "algorithm", "trials", "seeds", "metric", "minimize", "folder", "processes", "json")


def command(
    *,
    source: Annotated[tyro.conf.Positional[str], tyro.conf.arg(metavar="GAME")],
    search: tuple[str, ...],
    settings: tuple[str, ...] = (),
    algorithm: str = ALGORITHM,
    trials: int = 20,
    seeds: tuple[int, ...] = (0,),
    metric: str = "rollout/return",
    last: float = 0.1,
    minimize: bool = False,
    folder: Path = Path("runs/sweep"),
    work: WorkerArguments,
    as_json: AsJson = False,
) -> None:
    """Train with many settings and seeds, and show the best. The runs lie in one folder, for compare.

    Args:
        source: The name of the game or of another preset, or a TOML file.
        search: What is searched: name=low:high, name=low:high:log, or name=a,b,c.
        settings: Settings of all runs, as name=value, such as total_timesteps=1000000.
        algorithm: The learning algorithm, by name.
        trials: Number of choices of settings. A sweep of a folder that has one continues it.
        seeds: Each choice is trained with each of these seeds.
        metric: The metric that is optimised, such as eval/nash_conv.
        last: The share of a run, at its end, over which the metric is averaged.
        minimize: Smaller is better.
        folder: The folder of the sweep. In a cluster, one that every node sees.
    """
    whole("trials", trials, 1)
    if not (search and seeds):
        raise ValueError("give at least one --search name=low:high and one of --seeds")
    console = Console()

    def done(outcome: Outcome) -> None:
        if not as_json:
            console.print(f"{outcome.number}: {_text(outcome)}: {outcome.mean:+.4f}", highlight=False)

    outcomes = sweep(
        source,
        space(search),
        folder,
        trials=trials,
        seeds=seeds,
        metric=metric,
        last=number("last", last, 0, 1, above=True),
        minimize=minimize,
        workers=work.workers,
        done=done,
        **{"algorithm": algorithm, **dict(map(pair, settings))},
    )
    if as_json:
        print(
            json.dumps({"metric": metric, "trials": [asdict(one) | {"mean": one.mean} for one in outcomes]}, indent=2)
        )
        return
    table = Table("trial", "settings", metric, "by seed")
    for trial in outcomes[:10]:
        table.add_row(
            str(trial.number), _text(trial), f"{trial.mean:+.4f}", " ".join(f"{value:+.4f}" for value in trial.values)
        )
    console.print(table)


def _text(outcome: Outcome) -> str:
    shown = {name: f"{value:.4g}" if isinstance(value, float) else value for name, value in outcome.settings.items()}
    return " ".join(f"{name}={value}" for name, value in shown.items())
