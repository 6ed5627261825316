"""A soak test of any protocol: runs the ends, applies the faults for some hours, and reports."""

import asyncio
import contextlib
import json
import time
from abc import ABC, abstractmethod
from collections.abc import AsyncIterator, Callable
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from .claims import Claims, Growth, growth
from .faults import Dice, FaultRates
from .processes import RestartableProcess
from .proxy import clock

SAMPLE_SECONDS = 10.0
ERRORS = ("Traceback", " ERROR ", " CRITICAL ")
"""What shows an error in a log."""


@dataclass(frozen=True, kw_only=True)
class SoakSettings:
    """A soak test.

    Attributes:
        hours: how long it runs.
        rates: how often each fault happens.
        restarts: share of the time in which processes are killed; afterwards memory is measured.
        warm_up: seconds after a start that do not count for memory.
        growth_limit: MB an hour by which the memory of a process may grow.
        seed: of the faults and of the bots.
        folder: for logs and the host's state; it should be empty. None: a temporary one.
        report_every: seconds between status lines.
    """

    hours: float = 8.0
    rates: FaultRates = field(default_factory=FaultRates)
    restarts: float = 0.5
    warm_up: float = 600.0
    growth_limit: float = 2.0
    seed: int = 0
    folder: Path | None = None
    report_every: float = 60.0


class Soaked(ABC):
    """The two ends of a protocol under test. `ends` has the host first, as ``host``.

    Attributes:
        claims: what is claimed and measured.
        ends: the processes by name.
    """

    claims: Claims
    ends: dict[str, RestartableProcess]

    @abstractmethod
    def running(self) -> contextlib.AbstractAsyncContextManager[None]:
        """Start proxies and ends; at the exit, stop them and check what can be checked then."""

    @abstractmethod
    async def restart(self, name: str, seconds: float) -> None:
        """Kill an end, and start it again after some seconds."""

    @abstractmethod
    def look(self) -> None:
        """Read logs and check claims; called every second."""

    @abstractmethod
    def status(self) -> str:
        """Return the figures for a status line."""

    @abstractmethod
    def figures(self) -> dict[str, Any]:
        """Return the figures for the report."""


async def soak(soaked: Soaked, settings: SoakSettings, tell: Callable[[str], None]) -> dict[str, Any]:
    """Run a soak test and return its report.

    Args:
        soaked: the ends.
        settings: see there.
        tell: prints a status line.
    """
    memory = Memory(soaked.ends, settings.warm_up)
    async with soaked.running():
        began, processor = clock(), time.process_time()
        ended = began + 3600 * settings.hours
        async with _background(_restarts(soaked, settings, began), _samples(memory)):
            told = began
            while clock() < ended:
                await asyncio.sleep(min(1.0, max(0.0, ended - clock())))
                soaked.look()
                for case in soaked.claims.news():
                    tell(f"{_hours(clock() - began)} BROKEN {case}")
                if clock() - told >= settings.report_every:
                    told = clock()
                    tell(f"{_hours(told - began)} {soaked.status()}; {memory.line()}; broken: {soaked.claims.broken}")
        seconds = clock() - began
        spent = {name: end.processor + end.processor_now() for name, end in soaked.ends.items()}
    _check_logs(soaked)
    growths = memory.growths()
    for name, found in growths.items():
        verdict = found.verdict(settings.growth_limit)
        if verdict != "undecided":
            soaked.claims.check("memory", verdict == "flat", f"{name}: {found.plain()}")
    spent["proxy"] = time.process_time() - processor
    return {
        "seconds": round(seconds, 1),
        "broken": soaked.claims.broken,
        "claims": {name: asdict(claim) for name, claim in soaked.claims.claims.items()},
        "figures": soaked.figures(),
        "counts": dict(sorted(soaked.claims.counts.items())),
        "seconds_measured": soaked.claims.times(),
        "memory": {
            name: {**found.plain(), "verdict": found.verdict(settings.growth_limit), "mb": memory.latest(name)}
            for name, found in growths.items()
        },
        "starts": {name: end.starts for name, end in soaked.ends.items()},
        "processor_share": {name: round(value / seconds, 4) for name, value in spent.items()},
        "settings": json.loads(json.dumps(asdict(settings), default=str)),
    }


class Memory:
    """Samples of the memory of all processes.

    Args:
        ends: the processes.
        warm_up: seconds after a start that do not count.
    """

    def __init__(self, ends: dict[str, RestartableProcess], warm_up: float) -> None:
        self._ends = ends
        self._warm_up = warm_up
        self._samples: dict[str, list[tuple[float, float]]] = {name: [] for name in ends}
        self._starts: dict[str, tuple[int, float]] = {}

    def sample(self) -> None:
        """Measure every process now. The samples of one that was started again begin anew."""
        for name, end in self._ends.items():
            if self._starts.get(name, (0, 0.0))[0] != end.starts:
                self._starts[name] = end.starts, clock()
                self._samples[name] = []
            size = end.memory()
            if size is not None:
                self._samples[name].append((clock(), size))

    def latest(self, name: str) -> float | None:
        """Return the latest sample in MB."""
        return round(self._samples[name][-1][1], 1) if self._samples[name] else None

    def line(self) -> str:
        """Return the latest samples as text."""
        return "MB " + " ".join(f"{name} {self.latest(name) or 0:.0f}" for name in self._ends)

    def growths(self) -> dict[str, Growth]:
        """Return the growth of every process since its latest start, after the warm-up."""
        return {
            name: growth([one for one in samples if one[0] - self._starts[name][1] >= self._warm_up])
            for name, samples in self._samples.items()
            if samples
        }


async def _samples(memory: Memory) -> None:
    while True:
        memory.sample()
        await asyncio.sleep(SAMPLE_SECONDS)


async def _restarts(soaked: Soaked, settings: SoakSettings, began: float) -> None:
    """Kill the host and the agents' processes from time to time, one after another, in the first part of the run."""
    dice, rates = Dice(settings.rates, f"{settings.seed} restarts"), settings.rates
    agents = [name for name in soaked.ends if name != "host"]
    last = began + settings.restarts * 3600 * settings.hours
    host, agent = (began + dice.wait(rate) for rate in (rates.host_restarts, rates.agent_restarts))
    while min(host, agent) < last:
        await asyncio.sleep(max(0.0, min(host, agent) - clock()))
        if host <= agent:
            await soaked.restart("host", dice.down())
            host = clock() + dice.wait(rates.host_restarts)
        else:
            await soaked.restart(agents[dice.pick(len(agents))], dice.down())
            agent = clock() + dice.wait(rates.agent_restarts)


@contextlib.asynccontextmanager
async def _background(*work: Any) -> AsyncIterator[None]:
    """Run coroutines beside a block; an error in one ends the block."""
    async with asyncio.TaskGroup() as group:
        tasks = [group.create_task(one) for one in work]
        yield
        for task in tasks:
            task.cancel()


def _check_logs(soaked: Soaked) -> None:
    for name, end in soaked.ends.items():
        with end.errors.open(encoding="utf-8", errors="replace") as lines:
            found = [line.strip() for line in lines if any(sign in line for sign in ERRORS)]
        soaked.claims.check("logs", not found, f"{name}: {len(found)} errors in {end.errors}; first {found[:1]}")


def _hours(seconds: float) -> str:
    return f"{int(seconds // 3600)}:{int(seconds // 60 % 60):02}:{int(seconds % 60):02}"
