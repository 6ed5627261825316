"""Scores: means with confidence intervals, and their tables."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from math import sqrt
from typing import Any

import numpy as np
from numpy.typing import NDArray
from rich.table import Table


@dataclass(frozen=True)
class Score:
    """A mean with its 95 % confidence interval.

    Attributes:
        mean: mean return per game (hold'em: per hand).
        low: lower end of the interval.
        high: upper end.
        deals: number of independent deals, over which the interval is computed.
        games: number of games: each deal once per seat.
        unit: the unit of `mean`, such as ``"big blinds per hand"``.
    """

    mean: float
    low: float
    high: float
    deals: int
    games: int
    unit: str

    @classmethod
    def of(cls, results: NDArray[np.float64], unit: str, games: int) -> "Score":
        """Return the mean and Student's interval of one result per deal (float64[deals], at least 2)."""
        mean = float(results.mean())
        half = student_quantile(len(results) - 1) * float(results.std(ddof=1)) / sqrt(len(results))
        return cls(mean, mean - half, mean + half, len(results), games, unit)

    def times(self, factor: float, unit: str) -> "Score":
        """Return the same score in another unit; `factor` is above 0."""
        return replace(self, mean=factor * self.mean, low=factor * self.low, high=factor * self.high, unit=unit)

    def to_dict(self) -> dict[str, Any]:
        """Return the fields as a dict for JSON."""
        return asdict(self)

    def __str__(self) -> str:
        return f"{self.mean:+.3f} [{self.low:+.3f}, {self.high:+.3f}]"


@dataclass(frozen=True)
class Response:
    """What a best response wins, and where.

    Attributes:
        score: its mean with the interval.
        parts: the parts of the mean, by the place in the game where it ended and then by how it ended. Their sum is
            the mean (`unadjusted`, if there is one). Empty: not known.
        kind: ``"local"`` for a lower bound, ``"exact"``, or ``"approximate"``, which is no bound.
        unadjusted: the mean and interval with the luck that `score` is without; None: nothing was taken out.
    """

    score: Score
    parts: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    kind: str = "local"
    unadjusted: Score | None = None


def student_quantile(freedom: int) -> float:
    """Return the 97.5 % quantile of Student's t (Abramowitz and Stegun 26.7.5; within 1 % from 3 degrees on)."""
    if freedom < 3:
        return (12.706, 4.303)[freedom - 1]
    z = 1.959964
    first, second = (z**3 + z) / 4, (5 * z**5 + 16 * z**3 + 3 * z) / 96
    third = (3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / 384
    return z + first / freedom + second / freedom**2 + third / freedom**3


def in_two_lines(mean: float, low: float, high: float) -> str:
    """Return a mean with its interval below it."""
    return f"{mean:+.3f}\n{low:+.3f} to {high:+.3f}"


def score_table(scores: dict[str, Score], title: str) -> Table:
    """Return the scores by opponent as a table."""
    unit = next(iter(scores.values())).unit
    table = Table("against", unit, "95 % interval", "deals", title=title)
    for column in table.columns[1:]:
        column.justify = "right"
    for name, score in scores.items():
        colour = "green" if score.low > 0 else "red" if score.high < 0 else "yellow"
        table.add_row(
            name, f"[{colour}]{score.mean:+.2f}[/]", f"{score.low:+.2f} to {score.high:+.2f}", f"{score.deals:,}"
        )
    return table
