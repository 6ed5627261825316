"""Comparison of a policy with the known equilibrium of its game.

The policy plays all seats, with random draws as usual. The numbers are computed from the finished tables.
"""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from rich.table import Table

from ...envs import Game, play_until_done
from ...envs.core.record import Tables
from ...envs.core.rollout import Policy, tables_with_seed

Floats = NDArray[np.float64]


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
    """

    lines: Sequence[Quantity]

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


def play(policy: Policy, game: Game, matches: int, seed: int) -> Tables:
    """Play `matches` with `policy` in all seats to the end and return the records, recarray of shape (matches,)."""
    tables = tables_with_seed(game, matches, seed)
    play_until_done(game, [policy], tables)
    return tables


def mean(values: NDArray[Any]) -> float | None:
    """Return the mean; None for an empty array."""
    return float(values.mean()) if len(values) else None


def gini(utilities: Floats) -> float | None:
    """Return the mean Gini coefficient of rows of utilities, float64[N, seats], whose sum is above 0."""
    rows = np.maximum(utilities, 0)
    rows = rows[rows.sum(axis=1) > 0]
    spread = np.abs(rows[:, :, None] - rows[:, None, :]).sum(axis=(1, 2))
    return mean(spread / (2 * rows.shape[1] * rows.sum(axis=1)))


class Fixed:
    """A policy that always plays one action index, or the nearest legal one."""

    encoder = "v0"

    def __init__(self, action: int) -> None:
        self._action = action

    def act(self, observations: NDArray[np.float32], masks: NDArray[np.int8]) -> NDArray[np.int64]:
        """Return the action index for every row."""
        distance = np.abs(np.arange(masks.shape[1]) - self._action)
        return np.asarray(np.argmin(np.where(masks > 0, distance, masks.shape[1]), axis=1))
