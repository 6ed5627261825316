"""`parlour plot`: learning curves of runs as a picture."""

from pathlib import Path
from typing import Annotated

import tyro

from ..evaluation.curves import grouped, plot
from ..learning.run_folder import RUNS, find_folders

FORMATS = (".png", ".svg", ".pdf")


def command(
    *,
    which: Annotated[tyro.conf.Positional[tuple[str, ...]], tyro.conf.arg(metavar="RUN")],
    metric: tuple[str, ...] = ("rollout/return",),
    out: Path = Path("curves.png"),
    runs: Path = RUNS,
) -> None:
    """Draw learning curves. Runs that differ only in their seed are one curve: their mean and its 95 % interval.

    Args:
        which: Run folders, or their names below runs/.
        metric: Metrics of metrics.jsonl, such as eval/nash_conv or theory/efficiency. Each has a panel; the value in
            theory is a dashed line.
        out: File for the picture: .png, .svg or .pdf.
        runs: The folder of all run folders.
    """
    if out.suffix not in FORMATS:
        raise ValueError(f"out={str(out)!r}: need a file that ends in {', '.join(FORMATS)}")
    if not which:
        raise ValueError("name at least one run")
    folders = find_folders(which, runs)
    plot({name: grouped(folders, name) for name in metric}, out)
    print(out)
