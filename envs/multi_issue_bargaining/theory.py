"""What cooperative bargaining theory says of a negotiation: all utilities, the Pareto frontier and named points.

Gains are utilities less the reservation values. The solutions are the best outcomes by their own criterion among those
that give nobody a loss. The set of outcomes is finite, so they need no randomisation, and each is on the frontier.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


def outcome_values(table: Any, outcome: int) -> list[int]:
    """Return the value of each issue in an outcome."""
    values: list[int] = []
    for count in reversed([int(count) for count in table.values[: int(table.issues)]]):
        values.insert(0, outcome % count)
        outcome //= count
    return values


def outcome_index(table: Any, values: Any) -> int:
    """Return the index of the outcome with these values."""
    index = 0
    for count, value in zip(table.values[: int(table.issues)], values, strict=True):
        index = index * int(count) + int(value)
    return index


def utilities(table: Any) -> Floats:
    """Return every seat's utility of every outcome, reservation values not subtracted: float64[seats, outcomes]."""
    seats, issues = int(table.seats), int(table.issues)
    worth = np.asarray(table.worth)
    totals = np.zeros((seats, 1))
    for issue in range(issues):
        totals = (totals[:, :, None] + worth[:seats, issue, None, : int(table.values[issue])]).reshape(seats, -1)
    return totals


def gains(table: Any) -> Floats:
    """Return the utilities less the reservation values: float64[seats, outcomes]."""
    return utilities(table) - np.asarray(table.reservation)[: int(table.seats), None]


def pareto_frontier(gains: Floats) -> NDArray[np.bool_]:
    """Return the outcomes on the Pareto frontier: no other is better for a seat and worse for none.

    Args:
        gains: float64[seats, outcomes].

    Returns:
        bool[outcomes].
    """
    points = gains.T
    on = np.ones(len(points), np.bool_)
    for index, point in enumerate(points):
        on[index] = not np.any((points >= point).all(axis=1) & (points > point).any(axis=1))
    return on


def nash_point(gains: Floats) -> int:
    """Return the outcome with the greatest product of gains (Nash 1950); −1 if every outcome is a loss for a seat."""
    return _best(gains, np.prod(np.maximum(gains, 0), axis=0))


def egalitarian_point(gains: Floats) -> int:
    """Return the outcome with the greatest least gain (Kalai 1977); −1 if every outcome is a loss for a seat."""
    return _best(gains, gains.min(axis=0))


def kalai_smorodinsky_point(gains: Floats) -> int:
    """Return the outcome with the greatest least share of what a seat can gain at most; −1 as `nash_point`.

    Kalai and Smorodinsky 1975. What a seat can gain is its greatest gain among the outcomes without a loss.
    """
    fine = (gains >= 0).all(axis=0)
    if not fine.any():
        return -1
    most = np.maximum(gains[:, fine].max(axis=1), 1e-12)
    return _best(gains, (gains / most[:, None]).min(axis=0))


def greatest_welfare(gains: Floats) -> float:
    """Return the greatest sum of gains among the outcomes without a loss, and at least 0: no agreement."""
    fine = (gains >= 0).all(axis=0)
    return float(gains[:, fine].sum(axis=0).max()) if fine.any() else 0.0


def _best(gains: Floats, scores: Floats) -> int:
    """Return the outcome with the highest score; among equals the one with the greatest sum, which is not dominated."""
    fine = (gains >= 0).all(axis=0)
    if not fine.any():
        return -1
    scores = np.where(fine, scores, -np.inf)
    best = scores >= scores.max() - 1e-12
    return int(np.argmax(np.where(best, gains.sum(axis=0), -np.inf)))
