"""Common parts of measurements: a row of the report, a rate, and a new process."""

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass


@dataclass
class Row:
    """One line of the report.

    Attributes:
        name: the measurement's name.
        what: its description.
        value: the result in `unit`; None if it could not be measured.
        unit: such as ``"decisions/s"``.
        target: the target value; None: for comparison only.
        lower: whether a lower value is better.
        note: how it was measured, or why it was not measured.
    """

    name: str
    what: str
    value: float | None
    unit: str
    target: float | None = None
    lower: bool = False
    note: str = ""

    @property
    def met(self) -> bool | None:
        """Whether the target is reached; None without a value or a target."""
        if self.value is None or self.target is None:
            return None
        return self.value <= self.target if self.lower else self.value >= self.target


Seconds = float
Measure = Callable[[Seconds], list[Row]]


def rate(run: Callable[[], int], seconds: Seconds, rounds: int = 20) -> float:
    """Return the number of units of `run` per second of this process's CPU time, the best of `rounds`.

    CPU time does not depend on other processes. With one thread and an idle core it equals wall time.
    """
    run()  # loads compiled code, fills caches
    best = 0.0
    for _ in range(rounds):
        begun, units = time.process_time(), 0
        while (spent := time.process_time() - begun) < seconds / rounds:
            units += run()
        best = max(best, units / spent)
    return best


def fresh(code: str, **environment: str) -> list[float]:
    """Run `code` in a new Python process and return the numbers that it prints."""
    done = subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, **environment},
        cwd=tempfile.gettempdir(),
        capture_output=True,
        text=True,
        check=True,
    )
    return [float(number) for number in done.stdout.split()]
