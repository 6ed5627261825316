"""`make soak`: a host of poker and its agents under faults, for hours. ``ARGS=--help`` lists the options."""

import json
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Annotated

from cyclopts import App, Parameter
from parlour.training.commands.supervisor import until_done
from parlour.training.parser import one_by_one

from .poker import PokerSoak, PokerSoakSettings
from .report import text
from .soak import SoakSettings, soak


def run(
    poker: PokerSoakSettings,
    settings: SoakSettings,
    *,
    faults: float = 1.0,
    json_file: Annotated[Path | None, Parameter(name="--json")] = None,
) -> int:
    """Play for hours, with faults between a host and its agents, and check what is claimed of both.

    The host and the agents run in processes of their own. A proxy between them loses, breaks, delays, repeats and
    reorders frames and resets connections; in the first part of the time the processes are killed and started again.
    Exit code 1: a claim did not hold.

    Args:
        faults: All rates of faults are multiplied by it; 0: no faults.
        json_file: File for the report as JSON.
    """
    folder = settings.folder or Path(tempfile.mkdtemp(prefix="parlour-soak-"))
    folder.mkdir(parents=True, exist_ok=True)
    settings = replace(settings, folder=folder, rates=settings.rates.scaled(faults))
    print(f"logs and state in {folder}")
    report = until_done(soak(PokerSoak(poker, settings), settings, print))
    if json_file is not None:
        json_file.write_text(json.dumps(report, indent=2) + "\n", encoding="utf-8")
    print(text(report))
    return 1 if report["broken"] else 0


def main(args: Sequence[str] | None = None) -> int:
    """Return the exit code: 1 for a broken claim, 2 for a wrong argument."""
    app = App("make soak", result_action="return_value")
    app.default(one_by_one(run))
    return app(args)


if __name__ == "__main__":
    sys.exit(main())
