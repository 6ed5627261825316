"""Common parts of measurements: a row of the report, a rate, and a new process."""

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
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
    rates_of_runs: list[list[float]] = [[] for _ in runs]
    for run in runs:
        run()  # loads compiled code, fills caches
    for _ in range(rounds):
        for run, of in zip(runs, rates_of_runs, strict=True):
            begun, units, spent = time.process_time(), 0, 0.0
            while spent <= seconds / rounds:
                units += run()
                spent = time.process_time() - begun
            of.append(units / spent)
    return rates_of_runs


def rate(run: Callable[[], int], seconds: Seconds, rounds: int = 20) -> float:
    """Return the best rate of one function (see `rates`)."""
    return max(rates(run, seconds=seconds, rounds=rounds)[0])


def ratios(ours: Sequence[float], theirs: Sequence[float]) -> list[float]:
    """Return our rate as a multiple of theirs, round by round."""
    return [our / their for our, their in zip(ours, theirs, strict=True)]


def fresh(code: str, **environment: str) -> list[float]:
    """Run `code` in a new Python process and return the numbers that it prints."""
    done = subprocess.run(
        [sys.executable, "-P", "-c", code],
        env={**os.environ, **environment},
        cwd=tempfile.gettempdir(),
        capture_output=True,
        text=True,
        check=True,
    )
    return [float(number) for number in done.stdout.split()]
