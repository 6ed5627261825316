"""Multi-issue bargaining: comparison of a policy's agreements with the Pareto frontier and with named points."""

import numpy as np

from ....envs import Game, Policy
from ....envs.multi_issue_bargaining import theory
from . import Comparison, Measures, Quantity, gini, mean, play

POINTS = {
    "nash": ("the Nash point", theory.nash_point),
    "kalai_smorodinsky": ("the Kalai–Smorodinsky point", theory.kalai_smorodinsky_point),
    "egalitarian": ("the egalitarian point", theory.egalitarian_point),
}
MOST = 1_000
"""The most matches whose frontier is computed."""


def compare(policy: Policy, game: Game, *, matches: int, seed: int) -> Comparison:
    """Compare the agreements of a policy with cooperative bargaining theory, on the same preferences.

    Distances are Euclidean, in utilities. They are means over the agreements.
    """
    tables = play(policy, game, matches, seed)[:MOST]
    worth = [theory.gains(table) for table in tables]
    best = np.array([theory.greatest_welfare(one) for one in worth])
    possible = best > 0
    agreed = np.array(tables["agreed"])
    seats = game.seats
    reached = np.array(
        [one[:, max(int(k), 0)] for one, k in zip(worth, tables["current_offer"], strict=True)], np.float64
    ).reshape(-1, seats)
    realised = tables["rewards"][:, :seats].sum(axis=1)
    share = 100 * float(realised.sum() / best.sum()) if best.any() else None
    to_frontier = [
        np.linalg.norm(worth[row][:, theory.pareto_frontier(worth[row])] - reached[row][:, None], axis=0).min()
        for row in np.flatnonzero(agreed)
    ]
    lines = [
        Quantity("agreement", "agreement, where all can gain", mean(100.0 * agreed[possible]), 100.0, "%"),
        Quantity("efficiency", "sum of the utilities, beside the greatest", share, 100.0, "%"),
        Quantity("gini", "Gini coefficient of the utilities", gini(tables["rewards"][agreed, :seats])),
        Quantity("frontier", "distance of agreements to the Pareto frontier", mean(np.array(to_frontier)), 0.0),
    ]
    points = {name: np.array([solve(one) for one in worth]) for name, (_, solve) in POINTS.items()}
    for name, (what, _) in POINTS.items():
        there = agreed & (points[name] >= 0)
        distance = [np.linalg.norm(worth[row][:, points[name][row]] - reached[row]) for row in np.flatnonzero(there)]
        lines.append(Quantity(name, f"distance of agreements to {what}", mean(np.array(distance)), 0.0))
    lines.append(Quantity("turns", "turns until agreement", mean(tables["moves"][agreed]), float(seats)))
    return Comparison(lines)


MEASURES = Measures(compare=compare)
