"""Counterfactual regret minimisation on a flat tree: CFR+, DCFR and PCFR+.

CFR+: Tammelin, "Solving large imperfect information games using CFR+", 2014. DCFR: Brown and Sandholm, "Solving
imperfect-information games via discounted regret minimization", AAAI 2019, with α = 1.5, β = 0, γ = 2. PCFR+: Farina,
Kroer and Sandholm, "Faster game solving via predictive Blackwell approachability", AAAI 2021. All update the seats in
turn and return the average of their strategies, weighed by a power of the iteration.

With two seats whose rewards sum to zero NashConv falls to 0. In other games nothing promises that, so it is measured:
a solution with a NashConv of (nearly) 0 is an equilibrium in any game, and one of several there may be.
"""

from dataclasses import dataclass
from functools import partial
from time import perf_counter
from typing import Any, NamedTuple

import numpy as np

from ...envs.core.compiled import compiled
from ...envs.core.options import named
from ..evaluation.exact import Floats, Tree, add_gains, nash_conv, values


class Method(NamedTuple):
    """The settings of an algorithm.

    Attributes:
        floor: whether regrets below 0 become 0.
        discount: whether regrets are discounted as in DCFR.
        predict: whether the latest regrets are expected once more.
        power: the strategy of iteration t counts t to this power.
    """

    floor: bool
    discount: bool
    predict: bool
    power: float


class Sequences(NamedTuple):
    """The arrays of a tree in sequence form; see `parlour.training.evaluation.exact.Tree`."""

    seat: Any
    parent: Any
    first: Any
    ends: Any
    payoffs: Any


METHODS = {
    "cfr+": Method(True, False, False, 1.0),
    "dcfr": Method(False, True, False, 2.0),
    "pcfr+": Method(True, False, True, 2.0),
}
"""The algorithms by name."""


@dataclass(frozen=True)
class Solution:
    """The result of `solve`.

    Attributes:
        strategy: float64[Q], the average strategy.
        values: float64[seats], what every seat wins on average.
        nash_conv: see `parlour.training.evaluation.exact.nash_conv`.
        iterations: how many there were; each updates every seat.
        seconds: that they took, with the measuring of NashConv.
    """

    strategy: Floats
    values: Floats
    nash_conv: float
    iterations: int
    seconds: float


class TabularSolver:
    """Regrets and strategies of all seats at a tree.

    Args:
        tree: the game.
        method: a name of `METHODS`.

    Raises:
        ValueError: for an unknown method.
    """

    def __init__(self, tree: Tree, method: str = "pcfr+") -> None:
        self.tree = tree
        self.iterations = 0
        self._method = METHODS[named("method", method, METHODS)]
        self._sequences = Sequences(tree.seat, tree.parent, tree.first, tree.ends, tree.payoffs)
        self._strategy = tree.uniform()
        self._regrets = np.zeros(len(tree.action))
        self._sums = np.zeros(len(tree.action))

    def run(self, iterations: int) -> None:
        """Go on for so many iterations."""
        done, self.iterations = self.iterations, self.iterations + iterations
        iterate(self._sequences, self._method, self._strategy, self._regrets, self._sums, done, iterations)

    def average(self) -> Floats:
        """Return the average strategy: float64[Q]; uniform where an information set was never reached."""
        strategy = self.tree.uniform()
        normalise(self.tree.first, self._sums, strategy)
        return strategy


def solve(
    tree: Tree, method: str = "pcfr+", *, target: float = 1e-6, iterations: int = 10_000_000, seconds: float = 60.0
) -> Solution:
    """Iterate until NashConv is below `target`, or iterations or time are used up.

    Args:
        tree: the game.
        method: a name of `METHODS`.
        target: of NashConv, in the unit of the rewards.
        iterations: at most.
        seconds: at most, about.

    Raises:
        ValueError: as `TabularSolver` does, or for a limit that is not above 0.
    """
    if not (target > 0 and iterations > 0 and seconds > 0):
        raise ValueError(f"target={target}, iterations={iterations}, seconds={seconds}: all need to be above 0")
    solver = TabularSolver(tree, method)
    solver.run(0)  # compiled before the clock starts
    begun = perf_counter()
    while True:
        solver.run(min(max(64, solver.iterations // 4), iterations - solver.iterations))
        strategy = solver.average()
        off, spent = nash_conv(tree, strategy), perf_counter() - begun
        if off < target or solver.iterations >= iterations or spent >= seconds:
            return Solution(strategy, values(tree, strategy), off, solver.iterations, spent)


@partial(compiled, allocates=True, compile_first=True)
def iterate(tree: Any, method: Any, strategy: Any, regrets: Any, sums: Any, done: int, count: int) -> None:
    """Update every seat's regrets, strategy and sums of strategies `count` times, after `done` iterations."""
    plan, gains, first = np.ones(len(strategy)), np.zeros(len(strategy)), tree.first
    for i in range(len(tree.parent)):
        for s in range(first[i], first[i + 1]):
            plan[s] = plan[tree.parent[i]] * strategy[s]
    for t in range(done + 1, done + count + 1):
        weight = t**method.power
        past = (t - 1.0) ** 1.5
        discounts = (past / (past + 1.0), 0.5) if method.discount else (1.0, 1.0)
        for seat in range(tree.ends.shape[1]):
            gains[:] = 0.0
            add_gains(tree.ends, tree.payoffs, plan, seat, gains)
            for i in range(len(tree.seat) - 1, -1, -1):
                if tree.seat[i] == seat:
                    update(tree, i, method, discounts, strategy, regrets, gains)
            for i in range(len(tree.seat)):
                if tree.seat[i] == seat:
                    for s in range(first[i], first[i + 1]):
                        plan[s] = plan[tree.parent[i]] * strategy[s]
                        sums[s] += weight * plan[s]


@compiled
def update(tree: Any, i: int, method: Any, discounts: Any, strategy: Any, regrets: Any, gains: Any) -> None:
    """Update information set `i` by the gains of its actions: its regrets, and its strategy by regret matching.

    Before the gains are added, regrets above 0 are multiplied by the first discount, others by the second.
    """
    start, stop = tree.first[i], tree.first[i + 1]
    value = 0.0
    for s in range(start, stop):
        value += strategy[s] * gains[s]
    gains[tree.parent[i]] += value
    total = 0.0
    for s in range(start, stop):
        more = gains[s] - value
        regret = regrets[s] * (discounts[0] if regrets[s] > 0 else discounts[1]) + more
        if method.floor and regret < 0:
            regret = 0.0
        regrets[s] = regret
        strategy[s] = max(0.0, regret + more if method.predict else regret)
        total += strategy[s]
    for s in range(start, stop):
        strategy[s] = strategy[s] / total if total > 0 else 1.0 / (stop - start)


@partial(compiled, compile_first=True)
def normalise(first: Any, sums: Any, strategy: Any) -> None:
    """Write the strategy whose weighed sums are `sums`; where they are 0, it stays as it is."""
    for i in range(len(first) - 1):
        total = 0.0
        for s in range(first[i], first[i + 1]):
            total += sums[s]
        if total > 0:
            for s in range(first[i], first[i + 1]):
                strategy[s] = sums[s] / total
