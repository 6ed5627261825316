"""Comparison of a policy with the known equilibrium of its game, in numbers and in a picture.

The policy plays all seats, with random draws as usual. The numbers are computed from the finished tables. The picture
needs matplotlib: the extra `plot`.
"""

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from os import PathLike
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from rich.table import Table

from ...envs import Game, play_until_done
from ...envs.core.record import Tables
from ...envs.core.rollout import Policy, tables_with_seed

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Floats = NDArray[np.float64]

BINS = 50
"""Number of bins of equal width, in which one quantity is averaged over another."""


@dataclass(frozen=True)
class Quantity:
    """A number that is compared.

    Attributes:
        name: its name in JSON.
        what: its description.
        learned: the policy's value in `unit`; None if there is no data.
        theory: the equilibrium's value on the same deals; None if there is none.
        unit: such as ``"%"``; empty: money.
    """

    name: str
    what: str
    learned: float | None
    theory: float | None = None
    unit: str = ""


@dataclass(frozen=True)
class Comparison:
    """The result of a comparison.

    Attributes:
        lines: the numbers.
        panels: functions that draw the panels of the picture, from left to right.
    """

    lines: Sequence[Quantity]
    panels: Sequence["Callable[[Axes], None]"]

    def to_dict(self) -> dict[str, Any]:
        """Return the numbers by name, for JSON."""
        return {line.name: {key: value for key, value in asdict(line).items() if key != "name"} for line in self.lines}

    def table(self, title: str) -> Table:
        """Return the numbers as a table."""
        table = Table("", "learned", "theory", title=title)
        table.columns[1].justify = table.columns[2].justify = "right"
        for line in self.lines:
            values = ["—" if value is None else f"{value:.2f} {line.unit}" for value in (line.learned, line.theory)]
            table.add_row(line.what, *values)
        return table

    def save(self, path: str | PathLike[str]) -> None:
        """Draw the picture into a file; the extension decides the format.

        Raises:
            ImportError: if matplotlib is not installed.
        """
        from matplotlib.backends.backend_agg import FigureCanvasAgg  # no display, no global state
        from matplotlib.figure import Figure

        figure = Figure(figsize=(6 * len(self.panels), 4.5), layout="constrained")
        FigureCanvasAgg(figure)
        axes = np.atleast_1d(figure.subplots(1, len(self.panels)))
        for panel, place in zip(self.panels, axes, strict=True):
            panel(place)
            place.legend(frameon=False)
            place.grid(alpha=0.3)
        figure.savefig(path, dpi=120)


def play(policy: Policy, game: Game, matches: int, seed: int) -> Tables:
    """Play `matches` with `policy` in all seats to the end and return the records, recarray of shape (matches,)."""
    tables = tables_with_seed(game, matches, seed)
    play_until_done(game, [policy], tables)
    return tables


def mean(values: NDArray[Any]) -> float | None:
    """Return the mean; None for an empty array."""
    return float(values.mean()) if len(values) else None


def _classes(by: Floats) -> tuple[Floats, NDArray[np.intp]]:
    """Return the centres of `BINS` bins over the range of `by`, and the bin of each of its values."""
    low, width = by.min(), max(float(np.ptp(by)), 1e-9) / BINS
    middles = low + width * (np.arange(BINS) + 0.5)
    return middles, np.minimum((by - low) / width, BINS - 1).astype(np.intp).ravel()


def means(by: Floats, *values: Floats) -> tuple[Floats, ...]:
    """Return centres and counts of the non-empty bins of `by`, and the mean of each of `values` in them."""
    middles, which = _classes(by)
    counts = np.bincount(which, minlength=BINS)
    filled = counts > 0
    sums = (np.bincount(which, each.ravel(), BINS) for each in values)
    return middles[filled], counts[filled].astype(float), *(each[filled] / counts[filled] for each in sums)


def quantiles(by: Floats, values: Floats, levels: Sequence[float]) -> Floats:
    """Return quantiles of `values` in the non-empty bins of `by`: float64[levels, bins]."""
    _middles, which = _classes(by)
    return np.stack([np.quantile(values.ravel()[which == k], levels) for k in np.unique(which)], axis=1)
