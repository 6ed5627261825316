"""`parlour compare`: runs beside each other, pooled over their seeds, as a table and as learning curves."""

import json
from pathlib import Path
from typing import Annotated

import tyro

from ...envs.core.options import number
from ..evaluation.curves import comparison, comparison_table, grouped, plot
from ..learning.run_folder import RUNS, find_folders
from ..terminal.console import Console
from .arguments import AsJson

FORMATS = (".png", ".svg", ".pdf")


def command(
    *,
    which: Annotated[tyro.conf.Positional[tuple[str, ...]], tyro.conf.arg(metavar="RUN")],
    metric: tuple[str, ...] = ("rollout/return",),
    picture: Path | None = None,
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
            pooled runs and its 95 % interval; the value in theory is a dashed line.
        last: The share of a run, at its end, over which the metric is averaged.
        runs: The folder of all run folders.
    """
    if not which or not metric:
        raise ValueError("name at least one run and one metric")
    if picture is not None and picture.suffix not in FORMATS:
        raise ValueError(f"picture={str(picture)!r}: need a file that ends in {', '.join(FORMATS)}")
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
        plot(groups, picture)
        Console(stderr=True).print(f"picture: {picture}", markup=False, soft_wrap=True)
