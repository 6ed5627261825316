"""`parlour soak poker`: a poker host and its agents under faults, for hours."""

import json
import tempfile
from pathlib import Path
from typing import Annotated

import tyro
from rich.console import Console

from ...soak.faults import FaultRates
from ...soak.poker import PokerSoak, PokerSoakSettings
from ...soak.report import text
from ...soak.soak import SoakSettings, soak
from ...stopping import until_done


def command(
    *,
    tables: int = 50,
    seats: int = 3,
    hours: float = 8.0,
    think: float = 1.0,
    timeout: float = 10.0,
    hand_delay: float = 1.0,
    stack: int = 200,
    processes: int = 3,
    faults: float = 1.0,
    warm_up: float = 600.0,
    growth_limit: float = 2.0,
    seed: int = 0,
    folder: Path | None = None,
    json_file: Annotated[Path | None, tyro.conf.arg(name="json")] = None,
) -> None:
    """Play poker for hours, with faults between the host and its agents, and check what is claimed of both.

    The host, with --state, and the agents run in processes of their own. Between them a proxy loses, breaks, delays,
    repeats and reorders frames and resets connections; in the first half of the time the processes are killed and
    started again. Exit code 1: a claim did not hold.

    Args:
        tables: Number of tables.
        seats: Number of agents at each table, 2 to 10.
        hours: How long it runs.
        think: Seconds that an agent waits before it answers.
        timeout: Seconds to act.
        hand_delay: Seconds between two hands.
        stack: Chips of a new player.
        processes: Number of processes of agents.
        faults: All rates of faults are multiplied by it; 0: no faults.
        warm_up: Seconds after the start of a process in which its memory may grow.
        growth_limit: MB per hour by which the memory of a process may grow afterwards.
        seed: Seed of the faults, the cards and the bots.
        folder: For the logs and the host's state; it should be empty. Default: a temporary one.
        json_file: File for the report as JSON.
    """
    usual = FaultRates()
    rates = FaultRates(
        drop=faults * usual.drop,
        broken=faults * usual.broken,
        delay=faults * usual.delay,
        duplicate=faults * usual.duplicate,
        reorder=faults * usual.reorder,
        cuts=faults * usual.cuts,
        host_restarts=faults * usual.host_restarts,
        agent_restarts=faults * usual.agent_restarts,
    )
    where = folder or Path(tempfile.mkdtemp(prefix="parlour-soak-"))
    where.mkdir(parents=True, exist_ok=True)
    settings = SoakSettings(
        hours=hours, rates=rates, warm_up=warm_up, growth_limit=growth_limit, seed=seed, folder=where
    )
    poker = PokerSoakSettings(
        tables=tables,
        seats=seats,
        stack=stack,
        think=think,
        timeout=timeout,
        hand_delay=hand_delay,
        processes=processes,
    )
    console = Console(highlight=False, soft_wrap=True)
    console.print(f"logs and state in {where}", markup=False)
    report = until_done(soak(PokerSoak(poker, settings), settings, lambda line: console.print(line, markup=False)))
    if json_file is not None:
        json_file.write_text(json.dumps(report, indent=2) + "\n", encoding="utf-8")
    console.print(text(report), markup=False)
    if report["broken"]:
        raise SystemExit(1)
