"""`parlour soak`: a host and its agents under faults, for hours."""

import json
import tempfile
from pathlib import Path
from typing import Annotated

import tyro
from rich.console import Console

from ...envs.core.options import named
from ..learning.settings import pair
from ..soak import PROTOCOLS, protocol_of
from ..soak.faults import FaultRates
from ..soak.report import text
from ..soak.soak import SoakSettings, soak
from ..stopping import until_done


def command(
    *,
    protocol: Annotated[tyro.conf.Positional[str], tyro.conf.arg(metavar="PROTOCOL")],
    tables: int = 50,
    hours: float = 8.0,
    think: float = 1.0,
    timeout: float = 10.0,
    processes: int = 3,
    options: tuple[str, ...] = (),
    faults: float = 1.0,
    restarts: float = 0.5,
    warm_up: float = 600.0,
    growth_limit: float = 2.0,
    seed: int = 0,
    folder: Path | None = None,
    json_file: Annotated[Path | None, tyro.conf.arg(name="json")] = None,
) -> None:
    """Play for hours, with faults between a host and its agents, and check what is claimed of both.

    The host and the agents run in processes of their own. A proxy between them loses, breaks, delays, repeats and
    reorders frames and resets connections; in the first part of the time the processes are killed and started again.
    Exit code 1: a claim did not hold.

    Args:
        protocol: The protocol: poker.
        tables: Number of tables.
        hours: How long it runs.
        think: Seconds that an agent waits before it answers.
        timeout: Seconds to act.
        processes: Number of processes of agents.
        options: Further options of the protocol as name=value. Of poker: seats=3 (agents at a table), stack=200,
            hand_delay=1 (seconds between two hands), back_within=30 (seconds to a connection after a fault).
        faults: All rates of faults are multiplied by it; 0: no faults.
        restarts: Share of the time in which processes are killed, 0 to 1. Memory is measured afterwards.
        warm_up: Seconds after the start of a process in which its memory may grow.
        growth_limit: MB per hour by which the memory of a process may grow afterwards.
        seed: Seed of the faults, the cards and the bots.
        folder: For the logs and the host's state; it should be empty. Default: a temporary one.
        json_file: File for the report as JSON.
    """
    kind, settings_of = protocol_of(named("protocol", protocol, PROTOCOLS))
    own = dict(map(pair, options))
    try:
        played = settings_of(tables=tables, think=think, timeout=timeout, processes=processes, **own)
    except TypeError as error:
        raise ValueError(f"soak {protocol} has no such option: {error}") from None
    where = folder or Path(tempfile.mkdtemp(prefix="parlour-soak-"))
    where.mkdir(parents=True, exist_ok=True)
    settings = SoakSettings(
        hours=hours,
        rates=FaultRates().scaled(faults),
        restarts=restarts,
        warm_up=warm_up,
        growth_limit=growth_limit,
        seed=seed,
        folder=where,
    )
    console = Console(highlight=False, soft_wrap=True)
    console.print(f"logs and state in {where}", markup=False)
    report = until_done(soak(kind(played, settings), settings, lambda line: console.print(line, markup=False)))
    if json_file is not None:
        json_file.write_text(json.dumps(report, indent=2) + "\n", encoding="utf-8")
    console.print(text(report), markup=False)
    if report["broken"]:
        raise SystemExit(1)
