"""What a live program tells about itself: its connection, memory, status lines."""

import asyncio
import ctypes
import os
import platform
import sys
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path
from typing import Any

from ...envs.core.counted import counted
from ...wrappers.agents.language_model import ModelStatistics
from ...wrappers.live.common.client import Link
from ...wrappers.live.common.player import AgentStatistics

TRIM_SECONDS = 60.0
"""Seconds between two times at which free memory is given back to the system."""


def resident_bytes() -> int | None:
    """Return the memory of this process in bytes; None where the system does not tell it as Linux does."""
    if sys.platform != "linux":
        return None
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


async def trim_memory(seconds: float = TRIM_SECONDS) -> None:
    """Give free memory back to the system every so many seconds, until cancelled.

    glibc keeps freed memory between blocks that are in use, so the memory of a program that opens and closes many
    connections grows for hours. Other C libraries are left alone.
    """
    if platform.libc_ver()[0] != "glibc":
        return
    libc = ctypes.CDLL(None)
    while True:
        await asyncio.sleep(seconds)
        libc.malloc_trim(0)


COUNTERS = {
    "hands": "Hands that have ended.",
    "matches": "Matches or games that have ended.",
    "lost": "Matches that could not be played to their end.",
    "turns": "Turns that were played.",
    "decisions": "Turns that the agent answered, safe actions included.",
    "replaced": "Turns in which the safe action replaced an answer that was late, failed, or could not be played.",
    "refused": "Answers that the platform, or this host, refused.",
    "reconnects": "Connections after a lost one.",
}
"""What is counted, by name."""
GAUGES = {
    "chips": "Chips won, less those lost.",
    "tables": "Open tables, or running matches.",
    "connections": "Open connections.",
}
"""What may rise and fall, by name."""
REPLACED_IN_A_ROW = 20
"""Turns in a row with the safe action after which the agent counts as broken."""


@dataclass(frozen=True, kw_only=True)
class Activity:
    """What a live agent or host has done since its start."""

    counts: Callable[[], Mapping[str, float]] = dict
    score: Callable[[], str] = str
    statistics: AgentStatistics | None = None
    models: Callable[[], Mapping[str, ModelStatistics]] = dict
    link: Link | None = None
    patience: float = 300.0
    failing: Callable[[], str | None] = lambda: None
    started: float = field(default_factory=time.monotonic)

    def numbers(self) -> dict[str, float]:
        """Return the numbers by name, in the order of a status line."""
        numbers = dict(self.counts())
        if self.statistics is not None:
            agent = self.statistics
            numbers |= {"decisions": agent.decisions, "replaced": agent.replaced, "refused": agent.rejected}
        if self.link is not None:
            numbers["reconnects"] = self.link.reconnects
        return {name: numbers[name] for name in [*COUNTERS, *GAUGES] if name in numbers}

    def fields(self) -> dict[str, Any]:
        """Return `numbers` with latencies, memory, time and language models, for a structured log line."""
        numbers: dict[str, Any] = self.numbers()
        if score := self.score():
            numbers["score"] = score
        if self.statistics is not None and self.statistics.decisions:
            for name, share in (("median_seconds", 0.5), ("p99_seconds", 0.99)):
                numbers[name] = round(self.statistics.latency(share) or 0.0, 4)
        if (memory := resident_bytes()) is not None:
            numbers["memory_mb"] = round(memory / 2**20)
        if models := self.models():
            numbers["models"] = {name: statistics.row() for name, statistics in models.items()}
        return numbers | {"up_seconds": round(time.monotonic() - self.started)}

    def line(self) -> str:
        """Return a status line, such as ``12 hands, 0 replaced, +45 chips, 210 MB of memory, after 0:12:00``."""
        fields = self.fields()
        parts = [counted(fields[name], name) for name in COUNTERS if name in fields]
        if "chips" in fields:
            parts.append(f"{'+' if fields['chips'] >= 0 else ''}{counted(fields['chips'], 'chips')}")
        parts += [counted(fields[name], f"open {name}") for name in ("tables", "connections") if name in fields]
        if "score" in fields:
            parts.append(fields["score"])
        if "median_seconds" in fields:
            half, most = fields["median_seconds"], fields["p99_seconds"]
            parts.append(f"half of the decisions within {half:.3f} s, 99 % within {most:.3f} s")
        if "memory_mb" in fields:
            parts.append(f"{fields['memory_mb']:,.0f} MB of memory")
        return ", ".join([*parts, f"after {timedelta(seconds=fields['up_seconds'])}"])

    def problem(self) -> str | None:
        """Return why the agent is not healthy; None: it is healthy."""
        if self.link is not None and self.link.away > self.patience:
            return f"no connection to the platform for {self.link.away:.0f} s"
        if self.statistics is not None and self.statistics.broken:
            return "an error of ours: see the log"
        if self.statistics is not None and self.statistics.replaced_in_a_row >= REPLACED_IN_A_ROW:
            return f"the safe action replaced the agent's last {self.statistics.replaced_in_a_row} answers"
        return self.failing()
