"""`parlour compare`: runs beside each other, pooled over their seeds, as a table and as learning curves."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import tyro

from ...envs import game as make_game
from ...envs.core.options import number
from ...wrappers.policies.loading import make_policy
from ..evaluation.curves import comparison, comparison_table, grouped, plot
from ..learning.run_folder import RUNS, find_folders
from ..runs.config import load_config
from ..runs.evaluations import Evaluations
from ..terminal.console import Console
from .arguments import AsJson
from .lookup import located

FORMATS = (".png", ".svg", ".pdf")


def command(
    *,
    which: Annotated[tyro.conf.Positional[tuple[str, ...]], tyro.conf.arg(metavar="RUN")],
    metric: tuple[str, ...] = ("rollout/return",),
    picture: Path | None = None,
    baselines: tuple[str, ...] = (),
    last: float = 0.1,
    runs: Path = RUNS,
    as_json: AsJson = False,
) -> None:
    """Compare runs by metrics at their end, and draw their learning curves.

    Runs that differ only in their seed are pooled. The interval of a mean is Student's over the runs; the interval of a
    gain is Welch's. A single run has none.

    Args:
        which: Run folders, or their names below runs/.
        metric: Metrics of metrics.jsonl, such as eval/nash_conv or theory/efficiency.
        picture: File for a picture of the learning curves: .png, .svg or .pdf. Each metric has a panel with the mean of
            pooled runs (of five and more the interquartile mean) and its 95 % interval; the value in theory is a
            dashed line.
        baselines: Bots, runs or policies of the zoo whose evaluations (eval/..., theory/...) are drawn as dotted lines.
        last: The share of a run, at its end, over which the metric is averaged.
        runs: The folder of all run folders.
    """
    if not which or not metric:
        raise ValueError("name at least one run and one metric")
    if picture is not None and picture.suffix not in FORMATS:
        raise ValueError(f"picture={str(picture)!r}: need a file that ends in {', '.join(FORMATS)}")
    if baselines and picture is None:
        raise ValueError("--baselines are lines of a picture: name it with --picture")
    share, folders = number("last", last, 0, 1, above=True), find_folders(which, runs)
    groups = {name: grouped(folders, name) for name in metric}
    rows = {name: comparison(group, share) for name, group in groups.items()}
    if as_json:
        plain = {
            name: [{key: None if value != value else value for key, value in row.items()} for row in of_metric]
            for name, of_metric in rows.items()
        }
        print(json.dumps({"last": share, "metrics": plain}, indent=2))
    else:
        for name, of_metric in rows.items():
            Console().print(comparison_table(of_metric, name))
    if picture is not None:
        plot(groups, picture, _evaluated(baselines, folders[0], metric, runs))
        Console(stderr=True).print(f"picture: {picture}", markup=False, soft_wrap=True)


def _evaluated(names: Sequence[str], run: Path, metrics: Sequence[str], runs: Path) -> dict[str, dict[str, float]]:
    """Return what the evaluations of a run find for other policies, by their names and then by metric."""
    if not names:
        return {}
    config = load_config(run / "config.toml")
    game = make_game(config.game, **config.options)
    evaluations = Evaluations(config, game)
    policies = [make_policy(located(name, ["random", *game.bots], runs), game, seed=config.seed) for name in names]
    results = {name: evaluations.run(each) for name, each in zip(names, policies, strict=True)}
    if not {name for each in results.values() for name in each} & set(metrics):
        known = ", ".join(sorted({name for each in results.values() for name in each})) or "none"
        raise ValueError(f"--baselines: no policy has {', '.join(metrics)}; {run.name} evaluates {known}")
    return results
