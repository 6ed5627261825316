"""One walk of CFR from samples through a public tree, for all hands of a seat; see `sampled`.

It keeps a stack: a function that calls itself cannot be kept compiled on disk.
"""

from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...envs.core.compiled import compiled
from ...envs.core.rng import GOLDEN, fraction, mix
from .public_tree import END, Deals, PublicTree

RATE = np.float32(0.02)
"""Weight of a new value in a baseline."""


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


class Nodes(NamedTuple):
    """A public tree as the walk reads it; see `PublicTree`.

    Attributes:
        base: int64[N]: where the numbers of a decision begin. It has one for every row and child.
        other: int64[N]: the same for the rows of the seat that does not act.
    """

    kind: Any
    first: Any
    count: Any
    street: Any
    amount: Any
    matrix: Any
    base: Any
    other: Any


class State(NamedTuple):
    """What a walk reads and writes: the tree, the numbers of its decisions, the random stream, the deal and the stack.

    Attributes:
        nodes: the tree.
        regrets: float32[Q], one number for each row and child of each decision.
        latest: float32[Q]: what the latest update added; float32[0]: nothing is predicted.
        sums: float32[Q], the weighed sums of the strategies.
        baselines: float32[P], one number for each row of the other seat and child of each decision: about what the hand
            wins there from a hand that takes this action.
        words: uint64[1], the random stream.
        deal: the hands and public random events of this iteration.
        node, child: int64[L]: the node at each depth, and its child that is walked; −1: none yet.
        reach, value: float32[L, H]: how the other seat's hands come to each node, and what the seat's hands win there.
        strategy, won: float32[L, A, H]: the strategy of each hand, and what it wins with each child.
        skipped: bool[L, A]: which children are left out.
        mass: float32[L, A]: how often the other seat's hands take each action.
        scale: float32[L]: 1 / the probability with which the action was drawn.
    """

    nodes: Any
    regrets: Any
    latest: Any
    sums: Any
    baselines: Any
    words: Any
    deal: Any
    node: Any
    child: Any
    reach: Any
    value: Any
    strategy: Any
    won: Any
    skipped: Any
    mass: Any
    scale: Any


def blank_state(deals: Deals, predict: bool, words: NDArray[np.uint64]) -> State:
    """Return the state before the first iteration, with a random stream of its own."""
    tree = deals.tree
    acting = tree.kind % END
    sizes, others = (
        np.where(tree.kind == END, 0, deals.rows[tree.street, seat] * tree.count) for seat in (acting, 1 - acting)
    )
    begin = np.cumsum(sizes) - sizes, np.cumsum(others) - others
    nodes = Nodes(tree.kind, tree.first, tree.count, tree.street, tree.amount, tree.matrix, *begin)
    total = int(sizes.sum())
    lengths = total, total if predict else 0, total, int(others.sum())
    regrets, latest, sums, baselines = (np.zeros(length, np.float32) for length in lengths)
    return beside(State(nodes, regrets, latest, sums, baselines, words, None, *(np.zeros(0),) * 9), deals, words)


def beside(state: State, deals: Deals, words: NDArray[np.uint64]) -> State:
    """Return a state with the tree and the numbers of `state`, and a random stream, a deal and a stack of its own."""
    levels, actions = _depth(deals.tree) + 1, int(deals.tree.count.max())
    vectors, many = (levels, deals.hands), (levels, actions, deals.hands)
    return state._replace(
        words=words,
        deal=deals.blank(),
        node=np.zeros(levels, np.int64),
        child=np.zeros(levels, np.int64),
        reach=np.zeros(vectors, np.float32),
        value=np.zeros(vectors, np.float32),
        strategy=np.zeros(many, np.float32),
        won=np.zeros(many, np.float32),
        skipped=np.zeros((levels, actions), np.bool_),
        mass=np.zeros((levels, actions), np.float32),
        scale=np.zeros(levels, np.float32),
    )


def _depth(tree: PublicTree) -> int:
    depth = np.zeros(len(tree.kind), np.int64)
    for node in np.flatnonzero(tree.kind != END).tolist():
        depth[tree.first[node] : tree.first[node] + tree.count[node]] = depth[node] + 1
    return int(depth.max())


@compiled
def word(words: Any) -> Any:
    """Draw a uint64."""
    words[0] += GOLDEN
    return mix(words[0])


@compiled
def share(words: Any) -> float:
    """Draw a float from [0, 1)."""
    return fraction(word(words))


@compiled
def least_regret(rule: Any, t: int, words: Any) -> float:
    """Return the regret below which actions are left out of iteration `t`; −∞: none are."""
    if rule.prune <= 0.0 or t <= 1_000 or share(words) >= 0.95:
        return -np.inf
    return -rule.prune * t ** (rule.power + 1.0) / (rule.power + 1.0)  # type: ignore[no-any-return]


@partial(compiled, compile_first=True)
def walk(state: Any, rule: Any, seat: int, t: int, least: float) -> None:
    """Walk the tree for one seat in iteration `t` and update it; its values at the root are in ``state.value[0]``.

    Iteration 0 weighs nothing. Actions with regrets below `least` are left out.
    """
    d, weight = 0, np.float32(t**rule.power if t > 0 else 0.0)
    nodes, deal = state.nodes, state.deal
    enter(state, 0, 0)
    state.reach[0] = deal.weights[1 - seat]
    while d >= 0:
        node, child = state.node[d], state.child[d]
        kind, children = nodes.kind[node], nodes.count[node]
        if kind == END:
            matrix, amount = nodes.matrix[node], nodes.amount[node, seat]
            end_values(deal.payoffs[min(seat, len(deal.payoffs) - 1), matrix], amount, state.reach[d], state.value[d])
            d -= 1
            continue
        start, rows = nodes.base[node], deal.rows[nodes.street[node], kind]
        if child < 0:
            match(state, rule.predict, start, rows, state.strategy[d, :children])
        if kind == seat:
            child = next_child(state, start, rows, least, d)
            if child == children:
                update(state, rule, start, rows, weight, d)
        elif child < 0:
            add_average(state.sums, start, rows, state.reach[d], state.strategy[d, :children], weight)
            child = follow(state, rule.explore, children, d)
        else:
            correct(state, nodes.other[node], deal.rows[nodes.street[node], seat], t > 0, d)
            child = children
        if child == children:
            d -= 1
        else:
            state.child[d] = child
            enter(state, d + 1, nodes.first[node] + child)
            d += 1


@compiled
def enter(state: Any, d: int, node: int) -> None:
    """Put a node onto the stack."""
    state.node[d] = node
    state.child[d] = -1


@compiled
def next_child(state: Any, start: int, rows: Any, least: float, d: int) -> int:
    """Keep what the last child of the seat's own decision won, and return the next one to walk; the count: none."""
    child, children = state.child[d], state.nodes.count[state.node[d]]
    if child < 0:
        skip(state.regrets, start, rows, least, state.strategy[d, :children], state.skipped[d])
    else:
        state.won[d, child] = state.value[d + 1]
    child += 1
    while child < children and state.skipped[d, child]:
        child += 1
    if child < children:
        state.reach[d + 1] = state.reach[d]
    return int(child)


@compiled
def end_values(payoffs: Any, amount: float, reach: Any, out: Any) -> None:
    """Write what each hand wins at an end from the other's hands."""
    out[:] = 0.0
    for other in range(len(reach)):
        r = np.float32(amount) * reach[other]
        if r != 0.0:
            row = payoffs[other]
            for h in range(len(out)):
                out[h] += r * row[h]


@compiled
def match(state: Any, predict: bool, start: int, rows: Any, out: Any) -> None:
    """Write the strategies of all hands by regret matching: float32[children, H]."""
    children = len(out)
    for h in range(len(rows)):
        at, total = start + rows[h] * children, np.float32(0.0)
        for a in range(children):
            wanted = state.regrets[at + a] + state.latest[at + a] if predict else state.regrets[at + a]
            out[a, h] = max(np.float32(0.0), wanted)
            total += out[a, h]
        for a in range(children):
            out[a, h] = out[a, h] / total if total > 0 else np.float32(1.0 / children)


@compiled
def add_average(sums: Any, start: int, rows: Any, reach: Any, strategy: Any, weight: Any) -> None:
    """Add the strategies to their sums, each hand by its reach."""
    children = len(strategy)
    for h in range(len(rows)):
        at = start + rows[h] * children
        for a in range(children):
            sums[at + a] += weight * reach[h] * strategy[a, h]


@compiled
def follow(state: Any, explore: float, children: int, d: int) -> int:
    """Draw an action of the other seat and write its reaches below; `children`: none of its hands comes here."""
    reach, strategy, mass = state.reach[d], state.strategy[d], state.mass[d]
    total = np.float64(0.0)
    for a in range(children):
        mean = np.float64(0.0)
        for h in range(len(reach)):
            mean += reach[h] * strategy[a, h]
        mass[a] = mean
        total += mean
    if total <= 0.0:
        state.value[d] = 0.0
        return children
    left, drawn, chance = share(state.words), 0, 0.0
    for a in range(children):
        part = (1.0 - explore) * mass[a] / total + explore / children
        if part > 0.0:  # rounded, the parts may sum to less than 1
            drawn, chance = a, part
            left -= part
            if left < 0:
                break
    below, scale = state.reach[d + 1], np.float32(1.0 / chance)
    state.scale[d] = scale
    for h in range(len(reach)):
        below[h] = reach[h] * strategy[drawn, h] * scale
    return drawn


@compiled
def correct(state: Any, start: int, rows: Any, learn: bool, d: int) -> None:
    """Write the seat's values at a decision of the other seat from those with the drawn action.

    The baselines stand for the actions that were not drawn; what they stand for is subtracted from the drawn one, so
    that the expected values are the same, and vary less.
    """
    mass, children, drawn = state.mass[d], state.nodes.count[state.node[d]], state.child[d]
    value, won, baselines = state.value[d], state.value[d + 1], state.baselines
    weight = mass[drawn] * state.scale[d]
    for h in range(len(rows)):
        at, expected = start + rows[h] * children, np.float32(0.0)
        for a in range(children):
            expected += mass[a] * baselines[at + a]
        value[h] = won[h] + expected - weight * baselines[at + drawn]
    if learn and weight > 0:
        for h in range(len(rows)):  # after all hands of a row
            at = start + rows[h] * children + drawn
            baselines[at] += RATE * (won[h] / weight - baselines[at])


@compiled
def skip(regrets: Any, start: int, rows: Any, least: float, strategy: Any, out: Any) -> None:
    """Write which children no hand plays and whose regrets are all below `least`."""
    children = len(strategy)
    for a in range(children):
        out[a] = least > -np.inf
        for h in range(len(rows)):
            if not out[a]:
                break
            out[a] = strategy[a, h] == 0.0 and regrets[start + rows[h] * children + a] < least


@compiled
def update(state: Any, rule: Any, start: int, rows: Any, weight: Any, d: int) -> None:
    """Update the regrets of a decision by the values of its children, and write its own values."""
    value, won, strategy, skipped = state.value[d], state.won[d], state.strategy[d], state.skipped[d]
    regrets, latest, children = state.regrets, state.latest, state.nodes.count[state.node[d]]
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
