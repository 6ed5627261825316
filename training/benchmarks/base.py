"""What every measurement needs: a row of the report, a rate, and a fresh process."""

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
        name: of the measurement.
        what: for people.
        value: in `unit`; None where it could not be measured.
        unit: such as ``"decisions/s"``.
        target: the bound to reach; None: shown for comparison only.
        lower: whether less is better.
        note: how it was measured, or why it was not.
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
        """Whether the target is reached; None where there is nothing to compare."""
        if self.value is None or self.target is None:
            return None
        return self.value <= self.target if self.lower else self.value >= self.target


Seconds = float
Measure = Callable[[Seconds], list[Row]]


def rate(run: Callable[[], int], seconds: Seconds, rounds: int = 20) -> float:
    """Return how many units `run` does in a second of this process's processor time, the best of `rounds`.

    Processor time, because other work on the machine is none of the program's speed; with one thread and an idle core
    it is the time on the clock.
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
    """Run `code` in a fresh Python process and return the numbers that it prints."""
    done = subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, **environment},
        cwd=tempfile.gettempdir(),
        capture_output=True,
        text=True,
        check=True,
    )
    return [float(number) for number in done.stdout.split()]
