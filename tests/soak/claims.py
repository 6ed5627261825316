"""What a soak test claims, how often each claim was checked, and what broke it."""

from array import array
from collections import Counter
from collections.abc import Mapping
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
    """

    def __init__(self, texts: Mapping[str, str]) -> None:
        self.claims = {name: Claim(text) for name, text in texts.items()}
        self.counts: Counter[str] = Counter()
        self.seconds: dict[str, array[float]] = {}
        self._told: set[str] = set()

    def check(self, name: str, holds: bool, case: str) -> None:
        """Count a check of a claim; `case` says what was found, for the report if it does not hold."""
        claim = self.claims[name]
        claim.checks += 1
        if not holds:
            claim.broken += 1
            if len(claim.examples) < MOST_EXAMPLES:
                claim.examples.append(case)

    def measure(self, name: str, seconds: float) -> None:
        """Add a measured time."""
        self.seconds.setdefault(name, array("d")).append(seconds)

    def news(self) -> list[str]:
        """Return the examples of broken claims since the last call."""
        told = [f"{name}: {case}" for name, claim in self.claims.items() for case in claim.examples]
        new = [case for case in told if case not in self._told]
        self._told.update(new)
        return new

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


@dataclass(frozen=True)
class Growth:
    """MB an hour by which memory grows, with the ends of its 95 % interval; None where the samples are too few."""

    per_hour: float
    low: float | None
    high: float | None
    samples: int
    hours: float

    def verdict(self, limit: float) -> str:
        """Return ``flat`` (the interval is below `limit` MB an hour), ``grows`` (above it) or ``undecided``."""
        if self.low is None or self.high is None:
            return "undecided"
        return "grows" if self.low > limit else "flat" if self.high <= limit else "undecided"

    def plain(self) -> dict[str, Any]:
        """Return it for JSON."""
        ends = [None if end is None else round(end, 3) for end in (self.low, self.high)]
        rate, hours = round(self.per_hour, 3), round(self.hours, 3)
        return {"mb_per_hour": rate, "interval_95": ends, "samples": self.samples, "hours": hours}


def growth(samples: list[tuple[float, float]]) -> Growth:
    """Return the growth of a process's memory, from times in seconds and sizes in MB.

    Neighbouring samples are alike, so that they count for less: the standard error is that of n·(1-r)/(1+r) independent
    ones, where r is the correlation of neighbouring residuals.
    """
    count = len(samples)
    if count < 3:
        return Growth(0.0, None, None, count, 0.0)
    times, sizes = np.array(samples).T
    hours = times / 3600
    slope, start = np.polyfit(hours, sizes, 1)
    rest = sizes - start - slope * hours
    squares, spread = float(rest @ rest), float(((hours - hours.mean()) ** 2).sum())
    alike = float(rest[:-1] @ rest[1:]) / squares if squares else 0.0
    independent = count * (1 - alike) / (1 + alike)
    if independent < 5:
        return Growth(float(slope), None, None, count, hours[-1] - hours[0])
    error = NORMAL_95 * sqrt(squares / count / (independent - 2) / (spread / count))
    return Growth(float(slope), float(slope - error), float(slope + error), count, float(hours[-1] - hours[0]))
