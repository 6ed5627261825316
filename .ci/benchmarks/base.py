"""Common parts of measurements: a row of the report, a rate, and a new process."""

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any


@dataclass
class Row:
    """One line of the report.

    Attributes:
        name: the measurement's name.
        what: its description.
        value: the result in `unit`, of several rounds the best; None if it could not be measured.
        unit: such as ``"decisions/s"``.
        target: the target value; None: for comparison only.
        lower: whether a lower value is better.
        note: how it was measured, or why it was not measured.
        median: the median of the rounds; None: there was only one.
        worst: the worst of the rounds; None: there was only one.
    """

    name: str
    what: str
    value: float | None
    unit: str
    target: float | None = None
    lower: bool = False
    note: str = ""
    median: float | None = None
    worst: float | None = None

    @classmethod
    def of(
        cls, name: str, what: str, rounds: Sequence[float], unit: str, target: float | None = None, **more: Any
    ) -> "Row":
        """Return the row of a measurement in rounds: the best, the median and the worst."""
        best, worst = (min, max) if more.get("lower") else (max, min)
        return cls(name, what, best(rounds), unit, target, median=median(rounds), worst=worst(rounds), **more)

    @property
    def met(self) -> bool | None:
        """Whether the target is reached; None without a value or a target."""
        if self.value is None or self.target is None:
            return None
        return self.value <= self.target if self.lower else self.value >= self.target


Seconds = float
Measure = Callable[[Seconds], list[Row]]
Meter = Callable[[Seconds], float]
"""Works for so many seconds, of processor time if nothing else is said, and returns the units per second."""


def rates(*runs: Callable[[], int], seconds: Seconds, rounds: int = 20) -> list[list[float]]:
    """Return the number of units of each function per second of this process's CPU time, for each round.

    The functions take turns in every round, so that the machine is the same for all of them. CPU time does not count
    other processes. With one thread and an idle core it equals wall time.

    Args:
        runs: functions that work and return the number of units that they did.
        seconds: time for each function.
        rounds: number of rounds.

    Returns:
        For each function, its rates in the rounds.
    """
    return alternate(*(meter(run) for run in runs), seconds=seconds, rounds=rounds)


def alternate(*meters: Meter, seconds: Seconds, rounds: int = 20) -> list[list[float]]:
    """Return the rates of every meter in the rounds, in which they take turns (see `rates`)."""
    for each in meters:
        each(0)  # loads compiled code, fills caches
    rates_of_rounds = [[each(seconds / rounds) for each in meters] for _ in range(rounds)]
    return [list(of) for of in zip(*rates_of_rounds, strict=True)]


def meter(run: Callable[[], int], clock: Callable[[], Seconds] = time.process_time) -> Meter:
    """Return the meter of a function that works and returns the number of units that it did, by a clock."""

    def measured(seconds: Seconds) -> float:
        begun, units, spent = clock(), 0, 0.0
        while spent <= seconds:
            units += run()
            spent = clock() - begun
        return units / spent

    return measured


def rate(run: Callable[[], int], seconds: Seconds, rounds: int = 20) -> float:
    """Return the best rate of one function (see `rates`)."""
    return max(rates(run, seconds=seconds, rounds=rounds)[0])


def ratios(ours: Sequence[float], theirs: Sequence[float]) -> list[float]:
    """Return our rate as a multiple of theirs, round by round."""
    return [our / their for our, their in zip(ours, theirs, strict=True)]


def fresh(code: str, **environment: str) -> list[float]:
    """Run `code` in a new Python process, which can import this package, and return the numbers that it prints."""
    done = subprocess.run(
        [sys.executable, "-P", "-c", code],
        env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[1]), **environment},
        cwd=tempfile.gettempdir(),
        capture_output=True,
        text=True,
        check=True,
    )
    return [float(number) for number in done.stdout.split()]
