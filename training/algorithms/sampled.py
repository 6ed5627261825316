"""CFR from samples on a public tree, with a vector of hands for each seat.

Each iteration deals one outcome of all public random events and, for each seat in turn, walks the public tree: the seat
tries all its actions; the other's are drawn by the mean of its hands' strategies, mixed with a uniform one, and its
hands are weighed for that. So one walk updates all hands of the seat without bias.

CFR: Zinkevich, Johanson, Bowling and Piccione, "Regret minimization in games with incomplete information", NIPS 2007.
Sampling: Lanctot, Waugh, Zinkevich and Bowling, "Monte Carlo sampling for regret minimization in extensive games", NIPS
2009. Vectors of hands: Johanson, Bard, Lanctot, Gibson and Bowling, "Efficient Nash equilibrium approximation through
Monte Carlo counterfactual regret minimization", AAMAS 2012. Linear and discounted weights, and pruning: Brown and
Sandholm, "Solving imperfect-information games via discounted regret minimization", AAAI 2019. Predictions: Farina,
Kroer and Sandholm, "Faster game solving via predictive Blackwell approachability", AAAI 2021.
"""

from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...envs.core.compiled import compiled
from ...envs.core.loops import compile_loop
from ...envs.core.options import named
from ...envs.core.public_tree import END, Deals, PublicTree
from ...envs.core.rng import GOLDEN, mix, streams

Floats = NDArray[np.float32]
write: Any = None  # bound by `compile_loop`


class Rule(NamedTuple):
    """The settings of the updates.

    Attributes:
        power: iteration t counts t to this power.
        discount: whether regrets and sums are discounted every `PERIOD` iterations, as in DCFR.
        floor: whether regrets below 0 become 0.
        predict: whether the latest regrets are expected once more.
        explore: share of the uniform strategy when actions of the other seat are drawn.
        prune: an action whose regret is below −`prune`, on average over the iterations, for all hands, is left out of
            19 of 20 iterations; 0: none.
    """

    power: float
    discount: bool
    floor: bool
    predict: bool
    explore: float
    prune: float


WEIGHTS = {
    "linear": Rule(1.0, False, False, False, 0.1, 0.0),
    "dcfr": Rule(0.0, True, False, False, 0.1, 0.0),
    "predictive": Rule(1.0, False, True, True, 0.1, 0.0),
}
"""The rules by name, without pruning."""
PERIOD = 1_000
"""Iterations between two discounts of DCFR."""


class Nodes(NamedTuple):
    """A public tree as the walk reads it; see `PublicTree`.

    Attributes:
        base: int64[N]: where the numbers of a decision begin. It has one for every row and child.
    """

    kind: Any
    first: Any
    count: Any
    street: Any
    amount: Any
    matrix: Any
    base: Any


class Work(NamedTuple):
    """The stack of a walk, a row for each depth: the node and its child, reaches, values and strategies."""

    node: Any
    child: Any
    reach: Any
    value: Any
    strategy: Any
    won: Any
    skipped: Any


class SampledSolver:
    """Regrets and sums of strategies at a public tree.

    Args:
        deals: the tree and its deals.
        weights: a name of `WEIGHTS`.
        explore: see `Rule`.
        prune: see `Rule`.
        seed: of all draws.

    Attributes:
        iterations: how many there were; each updates both seats.
        regrets: float32[Q], one number for each row and child of each decision.
        sums: float32[Q], the weighed sums of the strategies.

    Raises:
        ValueError: for unknown weights.
    """

    def __init__(
        self, deals: Deals, weights: str = "linear", *, explore: float = 0.1, prune: float = 0.0, seed: int = 0
    ) -> None:
        rule = WEIGHTS[named("weights", weights, WEIGHTS)]
        self.deals, self.rule = deals, rule._replace(explore=explore, prune=prune)
        tree = deals.tree
        sizes = np.where(tree.kind == END, 0, deals.rows[tree.street] * tree.count)
        base = np.cumsum(sizes) - sizes
        self.nodes = Nodes(tree.kind, tree.first, tree.count, tree.street, tree.amount, tree.matrix, base)
        total = int(sizes.sum())
        self.iterations = 0
        self.regrets, self.sums = np.zeros(total, np.float32), np.zeros(total, np.float32)
        self._latest = np.zeros(total if rule.predict else 0, np.float32)
        self._words = streams(seed, 1)
        self._deal = deals.blank()
        self._work = _work(tree, deals.hands)
        self._iterate = compile_loop(iterate, write=deals.write, word=word, least_regret=least_regret, walk=walk)

    def run(self, iterations: int) -> None:
        """Go on for so many iterations."""
        left = iterations
        while left > 0:
            some = min(left, PERIOD - self.iterations % PERIOD) if self.rule.discount else left
            self._iterate(
                self.nodes,
                self.deals.data,
                self.rule,
                self.regrets,
                self._latest,
                self.sums,
                self._words,
                self._deal,
                self._work,
                self.iterations,
                some,
            )
            self.iterations += some
            left -= some
            if self.rule.discount and self.iterations % PERIOD == 0:
                discount(self.regrets, self.sums, self.iterations // PERIOD)

    def strategies(self, node: int) -> NDArray[np.float64]:
        """Return the average strategy of a decision: float64[rows, children]; uniform where a row never came."""
        rows, count = int(self.deals.rows[self.nodes.street[node]]), int(self.nodes.count[node])
        start = int(self.nodes.base[node])
        sums = self.sums[start : start + rows * count].astype(np.float64).reshape(rows, count)
        total = sums.sum(axis=1, keepdims=True)
        return np.where(total > 0, sums / np.where(total > 0, total, 1), 1 / count)

    def strategy(self, node: int, row: int) -> NDArray[np.float64]:
        """Return the average strategy of a decision with a row: float64[children]."""
        return np.asarray(self.strategies(node)[row])

    def bound(self) -> float:
        """Return the mean of the positive regrets of both seats, by sampled values, in the unit of the payoffs.

        With exact values the sum of what both seats can still win is at most this (Zinkevich 2007, theorems 3 and 4).
        """
        total = float(max(1, self.iterations)) ** (self.rule.power + 1) / (self.rule.power + 1)
        if self.rule.discount:  # the weights that are left of all iterations
            total = float(self.iterations % PERIOD)
            kept = float(PERIOD)
            for period in range(self.iterations // PERIOD, 0, -1):
                kept *= period**1.5 / (period**1.5 + 1)
                total += kept
        return float(regret_sum(self.nodes, self.deals.rows, self.regrets) / total)

    def state(self) -> dict[str, NDArray[Any]]:
        """Return what a checkpoint holds."""
        return {
            "iterations": np.array(self.iterations),
            "words": self._words,
            "regrets": self.regrets,
            "latest": self._latest,
            "sums": self.sums,
        }

    def set_state(self, state: dict[str, NDArray[Any]]) -> None:
        """Go on from a checkpoint of the same tree.

        Raises:
            ValueError: if it is of another tree, or of other weights.
        """
        own = self.state()
        if {name: each.shape for name, each in own.items()} != {name: each.shape for name, each in state.items()}:
            raise ValueError("the checkpoint is of another game, tree or weights")
        self.iterations = int(state["iterations"])
        for name in ("words", "regrets", "latest", "sums"):
            own[name][:] = state[name]


def _work(tree: PublicTree, hands: int) -> Work:
    depth = np.zeros(len(tree.kind), np.int64)
    for node in np.flatnonzero(tree.kind != END).tolist():
        depth[tree.first[node] : tree.first[node] + tree.count[node]] = depth[node] + 1
    levels, actions = int(depth.max()) + 1, int(tree.count.max())
    vectors, many = (levels, hands), (levels, actions, hands)
    return Work(
        np.zeros(levels, np.int64),
        np.zeros(levels, np.int64),
        np.zeros(vectors, np.float32),
        np.zeros(vectors, np.float32),
        np.zeros(many, np.float32),
        np.zeros(many, np.float32),
        np.zeros((levels, actions), np.bool_),
    )


def iterate(
    nodes: Any,
    data: Any,
    rule: Any,
    regrets: Any,
    latest: Any,
    sums: Any,
    words: Any,
    deal: Any,
    work: Any,
    done: int,
    count: int,
) -> None:
    """Do `count` iterations after `done` ones."""
    for t in range(done + 1, done + count + 1):
        write(word(words), data, deal)
        least = least_regret(rule, t, words)
        for seat in range(2):
            walk(nodes, rule, regrets, latest, sums, words, deal, work, seat, t, least)


@compiled
def word(words: Any) -> Any:
    """Draw a uint64."""
    words[0] += GOLDEN
    return mix(words[0])


@compiled
def share(words: Any) -> float:
    """Draw a float from [0, 1)."""
    return np.float64(word(words) >> np.uint64(11)) * 2.0**-53


@compiled
def least_regret(rule: Any, t: int, words: Any) -> float:
    """Return the regret below which actions are left out of iteration `t`; −∞: none are."""
    if rule.prune <= 0.0 or t <= 1_000 or share(words) >= 0.95:
        return -np.inf
    return -rule.prune * t ** (rule.power + 1.0) / (rule.power + 1.0)  # type: ignore[no-any-return]


@compiled
def walk(
    nodes: Any,
    rule: Any,
    regrets: Any,
    latest: Any,
    sums: Any,
    words: Any,
    deal: Any,
    work: Any,
    seat: int,
    t: int,
    least: float,
) -> None:
    """Walk the tree for one seat and update it; its values at the root are in ``work.value[0]``."""
    d, weight = 0, np.float32(t**rule.power)
    enter(work, 0, 0)
    work.reach[0] = deal.weights[1 - seat]
    while d >= 0:
        node = work.node[d]
        kind, children = nodes.kind[node], nodes.count[node]
        if kind == END:
            end_values(deal.payoffs, nodes.matrix[node], nodes.amount[node, seat], seat, work.reach[d], work.value[d])
            d -= 1
            continue
        start, rows = nodes.base[node], deal.rows[nodes.street[node], kind]
        if work.child[d] < 0:
            match(regrets, latest, start, children, rows, rule.predict, work.strategy[d])
        if kind != seat:
            if work.child[d] >= 0:
                work.value[d] = work.value[d + 1]
                d -= 1
                continue
            add_average(sums, start, children, rows, work.reach[d], work.strategy[d], weight)
            drawn = follow(words, rule.explore, children, work, d)
            if drawn < 0:
                work.value[d] = 0.0
                d -= 1
                continue
            work.child[d] = drawn
            enter(work, d + 1, nodes.first[node] + drawn)
            d += 1
            continue
        if work.child[d] < 0:
            skip(regrets, start, children, rows, least, work.strategy[d], work.skipped[d])
        else:
            work.won[d, work.child[d]] = work.value[d + 1]
        work.child[d] += 1
        while work.child[d] < children and work.skipped[d, work.child[d]]:
            work.child[d] += 1
        if work.child[d] < children:
            enter(work, d + 1, nodes.first[node] + work.child[d])
            work.reach[d + 1] = work.reach[d]
            d += 1
        else:
            update(regrets, latest, start, children, rows, rule, weight, work, d)
            d -= 1


@compiled
def enter(work: Any, d: int, node: int) -> None:
    """Put a node onto the stack."""
    work.node[d] = node
    work.child[d] = -1


@compiled
def end_values(payoffs: Any, matrix: int, amount: float, seat: int, reach: Any, out: Any) -> None:
    """Write what each hand wins at an end from the other's hands."""
    each = payoffs[min(seat, len(payoffs) - 1), matrix]
    out[:] = 0.0
    for other in range(len(reach)):
        r = np.float32(amount) * reach[other]
        if r != 0.0:
            row = each[other]
            for h in range(len(out)):
                out[h] += r * row[h]


@compiled
def match(regrets: Any, latest: Any, start: int, children: int, rows: Any, predict: bool, out: Any) -> None:
    """Write the strategies of all hands by regret matching: float32[children, H]."""
    for h in range(len(rows)):
        at, total = start + rows[h] * children, np.float32(0.0)
        for a in range(children):
            wanted = regrets[at + a] + latest[at + a] if predict else regrets[at + a]
            out[a, h] = max(np.float32(0.0), wanted)
            total += out[a, h]
        for a in range(children):
            out[a, h] = out[a, h] / total if total > 0 else np.float32(1.0 / children)


@compiled
def add_average(sums: Any, start: int, children: int, rows: Any, reach: Any, strategy: Any, weight: Any) -> None:
    """Add the strategies to their sums, each hand by its reach."""
    for h in range(len(rows)):
        at = start + rows[h] * children
        for a in range(children):
            sums[at + a] += weight * reach[h] * strategy[a, h]


@compiled
def follow(words: Any, explore: float, children: int, work: Any, d: int) -> int:
    """Draw an action of the other seat, and write its reaches below; −1: none of its hands comes here."""
    reach, strategy = work.reach[d], work.strategy[d]
    total = np.float64(0.0)
    for h in range(len(reach)):
        total += reach[h]
    if total <= 0.0:
        return -1
    left, drawn, chance = share(words), 0, 0.0
    for a in range(children):
        mean = np.float64(0.0)
        for h in range(len(reach)):
            mean += reach[h] * strategy[a, h]
        chance = (1.0 - explore) * mean / total + explore / children
        drawn = a
        left -= chance
        if left < 0:
            break
    below, scale = work.reach[d + 1], np.float32(1.0 / chance)
    for h in range(len(reach)):
        below[h] = reach[h] * strategy[drawn, h] * scale
    return drawn


@compiled
def skip(regrets: Any, start: int, children: int, rows: Any, least: Any, strategy: Any, out: Any) -> None:
    """Write which children no hand plays and whose regrets are all below `least`."""
    for a in range(children):
        out[a] = least > -np.inf
        for h in range(len(rows)):
            if not out[a]:
                break
            out[a] = strategy[a, h] == 0.0 and regrets[start + rows[h] * children + a] < least


@compiled
def update(
    regrets: Any, latest: Any, start: int, children: int, rows: Any, rule: Any, weight: Any, work: Any, d: int
) -> None:
    """Update the regrets of a decision by the values of its children, and write its own values."""
    value, won, strategy, skipped = work.value[d], work.won[d], work.strategy[d], work.skipped[d]
    value[:] = 0.0
    for a in range(children):
        if not skipped[a]:
            for h in range(len(rows)):
                value[h] += strategy[a, h] * won[a, h]
    if rule.predict:
        for h in range(len(rows)):
            for a in range(children):
                latest[start + rows[h] * children + a] = 0.0
    for h in range(len(rows)):
        at = start + rows[h] * children
        for a in range(children):
            if not skipped[a]:
                more = weight * (won[a, h] - value[h])
                regrets[at + a] += more
                if rule.predict:
                    latest[at + a] += more
    if rule.floor:  # after all hands of a row
        for h in range(len(rows)):
            at = start + rows[h] * children
            for a in range(children):
                regrets[at + a] = max(np.float32(0.0), regrets[at + a])


@compiled
def discount(regrets: Any, sums: Any, t: int) -> None:
    """Discount as DCFR with α = 1.5, β = 0, γ = 2 after period `t`."""
    positive, negative = np.float32(t**1.5 / (t**1.5 + 1.0)), np.float32(0.5)
    average = np.float32((t / (t + 1.0)) ** 2)
    for q in range(len(regrets)):
        regrets[q] *= positive if regrets[q] > 0 else negative
        sums[q] *= average


@partial(compiled, allocates=True)
def regret_sum(nodes: Any, rows: Any, regrets: Any) -> float:
    """Return the sum over all decisions and rows of the largest regret, where it is above 0."""
    total = 0.0
    for node in range(len(nodes.kind)):
        if nodes.kind[node] != END:
            for row in range(rows[nodes.street[node]]):
                at, best = nodes.base[node] + row * nodes.count[node], 0.0
                for a in range(nodes.count[node]):
                    best = max(best, regrets[at + a])
                total += best
    return total
