"""What a soak test claims, how often each claim was checked, and what broke it."""

from array import array
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from math import sqrt
from typing import Any

import numpy as np

MOST_EXAMPLES = 20
"""Broken cases of a claim that are kept in words; further ones are counted."""
NORMAL_95 = 1.96


@dataclass
class Claim:
    """One claim in words, how often it was checked, how often it did not hold, and the first such cases in words."""

    text: str
    checks: int = 0
    broken: int = 0
    examples: list[str] = field(default_factory=list)


class Claims:
    """All claims of a run by name.

    Attributes:
        counts: what happened and is no claim: faults, reconnects, refusals.
        seconds: measured times by name.
        tell: is called with the first cases of each claim that do not hold.
    """

    def __init__(self, texts: Mapping[str, str], tell: Callable[[str], None] = print) -> None:
        self.claims = {name: Claim(text) for name, text in texts.items()}
        self.tell = tell
        self.counts: Counter[str] = Counter()
        self.seconds: dict[str, array[float]] = {}

    def check(self, name: str, holds: bool, case: str) -> None:
        """Count a check of a claim; `case` says what was found, for the report if it does not hold."""
        claim = self.claims[name]
        claim.checks += 1
        if not holds:
            claim.broken += 1
            if len(claim.examples) < MOST_EXAMPLES:
                claim.examples.append(case)
                self.tell(f"BROKEN {name}: {case}")

    def measure(self, name: str, seconds: float) -> None:
        """Add a measured time."""
        self.seconds.setdefault(name, array("d")).append(seconds)

    @property
    def broken(self) -> int:
        """The number of broken cases of all claims."""
        return sum(claim.broken for claim in self.claims.values())

    def times(self) -> dict[str, dict[str, float]]:
        """Return count, quantiles and maximum of each measured time, in seconds."""
        return {name: summary(sorted(values)) for name, values in self.seconds.items()}


def summary(ordered: list[float]) -> dict[str, float]:
    """Return count, quantiles and maximum of sorted values; at least one."""
    found: dict[str, float] = {"count": len(ordered)}
    for share in (0.5, 0.9, 0.99, 0.999):
        found[f"p{100 * share:g}"] = round(ordered[min(len(ordered) - 1, int(share * len(ordered)))], 4)
    return {**found, "max": round(ordered[-1], 4)}


def growth(samples: list[tuple[float, float]], limit: float) -> dict[str, Any]:
    """Return the growth of a process's memory, from times in seconds and sizes in MB.

    Neighbouring samples are alike, so that they count for less: the standard error is that of n·(1-r)/(1+r) independent
    ones, where r is the correlation of neighbouring residuals. ``verdict``: ``flat`` (the 95 % interval is below
    `limit` MB an hour), ``grows`` (above it) or ``undecided``, also where the samples are too few for an interval.
    """
    count = len(samples)
    if count < 3:
        return {"samples": count, "verdict": "undecided"}
    times, sizes = np.array(samples).T
    hours = times / 3600
    slope, start = map(float, np.polyfit(hours, sizes, 1))
    rest = sizes - start - slope * hours
    squares, spread = float(rest @ rest), float(((hours - hours.mean()) ** 2).sum())
    alike = float(rest[:-1] @ rest[1:]) / squares if squares else 0.0
    found = {"mb_per_hour": round(slope, 3), "samples": count, "hours": round(float(hours[-1] - hours[0]), 3)}
    independent = count * (1 - alike) / (1 + alike)
    if independent < 5:
        return {**found, "verdict": "undecided"}
    error = NORMAL_95 * sqrt(squares / count / (independent - 2) / (spread / count))
    verdict = "grows" if slope - error > limit else "flat" if slope + error <= limit else "undecided"
    return {**found, "interval_95": [round(slope - error, 3), round(slope + error, 3)], "verdict": verdict}
