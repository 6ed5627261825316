"""`parlour compare`: runs beside each other, pooled over their seeds."""

import json
from pathlib import Path
from typing import Annotated

import tyro

from ...envs.core.options import number
from ..evaluation.curves import comparison, comparison_table, grouped
from ..learning.run_folder import RUNS, find_folders
from ..terminal.console import Console
from .arguments import AsJson


def command(
    *,
    which: Annotated[tyro.conf.Positional[tuple[str, ...]], tyro.conf.arg(metavar="RUN")],
    metric: str = "rollout/return",
    last: float = 0.1,
    runs: Path = RUNS,
    as_json: AsJson = False,
) -> None:
    """Compare runs by a metric at their end. Runs that differ only in their seed are pooled.

    The interval of a mean is Student's over the runs; the interval of a gain is Welch's. A single run has none.

    Args:
        which: Run folders, or their names below runs/.
        metric: A metric of metrics.jsonl, such as eval/nash_conv.
        last: The share of a run, at its end, over which the metric is averaged.
        runs: The folder of all run folders.
    """
    if len(which) < 2:
        raise ValueError("name at least two runs")
    share = number("last", last, 0, 1, above=True)
    rows = comparison(grouped(find_folders(which, runs), metric), share)
    if as_json:
        known = [{key: None if value != value else value for key, value in row.items()} for row in rows]
        print(json.dumps({"metric": metric, "last": share, "groups": known}, indent=2))
    else:
        Console().print(comparison_table(rows, metric))
