"""Multi-issue bargaining: comparison of a policy's agreements with the Pareto frontier and with named points."""

from typing import TYPE_CHECKING

import numpy as np

from ....envs import Game
from ....envs.core.rollout import Policy
from ....envs.multi_issue_bargaining.theory import (
    egalitarian_point,
    gains,
    greatest_welfare,
    kalai_smorodinsky_point,
    nash_point,
    pareto_frontier,
)
from ..comparison import Comparison, Floats, Quantity, mean, play
from . import Measures

if TYPE_CHECKING:
    from matplotlib.axes import Axes

POINTS = {
    "nash": ("the Nash point", nash_point),
    "kalai_smorodinsky": ("the Kalai–Smorodinsky point", kalai_smorodinsky_point),
    "egalitarian": ("the egalitarian point", egalitarian_point),
}
MOST = 1_000
"""The most matches whose frontier is computed."""


def compare(policy: Policy, game: Game, *, matches: int, seed: int) -> Comparison:
    """Compare the agreements of a policy with cooperative bargaining theory, on the same preferences.

    Distances are Euclidean, in utilities. They are means over the agreements.
    """
    tables = play(policy, game, matches, seed)[:MOST]
    worth = [gains(table) for table in tables]
    best = np.array([greatest_welfare(one) for one in worth])
    possible = best > 0
    agreed = np.array(tables["agreed"])
    seats = game.seats
    reached = np.array(
        [one[:, max(int(k), 0)] for one, k in zip(worth, tables["current_offer"], strict=True)], np.float64
    ).reshape(-1, seats)
    realised = tables["rewards"][:, :seats].sum(axis=1)
    lines = [
        Quantity("agreement", "agreement, where all can gain", mean(100.0 * agreed[possible]), 100.0, "%"),
        Quantity(
            "efficiency",
            "sum of the utilities, beside the greatest",
            100 * float(realised.sum() / best.sum()) if best.any() else None,
            100.0,
            "%",
        ),
        Quantity("gini", "Gini coefficient of the utilities", _gini(tables["rewards"][agreed, :seats])),
        Quantity(
            "frontier", "distance of agreements to the Pareto frontier", _to_frontier(worth, reached, agreed), 0.0
        ),
    ]
    points = {name: np.array([solve(one) for one in worth]) for name, (_, solve) in POINTS.items()}
    for name, (what, _) in POINTS.items():
        there = agreed & (points[name] >= 0)
        distance = [np.linalg.norm(worth[row][:, points[name][row]] - reached[row]) for row in np.flatnonzero(there)]
        lines.append(Quantity(name, f"distance of agreements to {what}", mean(np.array(distance)), 0.0))
    turns = tables["moves"][agreed]
    lines.append(Quantity("turns", "turns until agreement", mean(turns), float(seats)))

    def panel(axes: "Axes") -> None:
        row = int(np.flatnonzero(agreed)[0]) if agreed.any() else 0
        first, second = worth[row][:2]
        axes.plot(first, second, ".", color="0.75", label="outcomes")
        on = pareto_frontier(worth[row])
        axes.plot(first[on], second[on], "k.", label="Pareto frontier")
        for name, (what, _) in POINTS.items():
            if (point := points[name][row]) >= 0:
                axes.plot(first[point], second[point], "o", fillstyle="none", markersize=9, label=what)
        if agreed[row]:
            axes.plot(*reached[row][:2], "r*", markersize=12, label="agreement")
        axes.set(title="one match", xlabel="gain of player_0", ylabel="gain of player_1")

    def when(axes: "Axes") -> None:
        axes.hist(turns, np.arange(0.5, seats * game.options["rounds"] + 1).tolist(), label="matches")
        axes.locator_params(axis="x", integer=True)
        axes.set(title="agreement", xlabel="turn", ylabel="matches")

    return Comparison(lines, [panel, when])


def _to_frontier(worth: list[Floats], reached: Floats, agreed: Floats) -> float | None:
    """Return the mean distance of the agreements to the nearest outcome on the frontier; None without agreements."""
    distances = [
        np.linalg.norm(worth[row][:, pareto_frontier(worth[row])] - reached[row][:, None], axis=0).min()
        for row in np.flatnonzero(agreed)
    ]
    return mean(np.array(distances))


def _gini(utilities: Floats) -> float | None:
    """Return the mean Gini coefficient of rows of utilities (float64[N, seats]) whose sum is above 0."""
    rows = np.maximum(utilities, 0)
    rows = rows[rows.sum(axis=1) > 0]
    spread = np.abs(rows[:, :, None] - rows[:, None, :]).sum(axis=(1, 2))
    return mean(spread / (2 * rows.shape[1] * rows.sum(axis=1)))


MEASURES = Measures(compare=compare)
