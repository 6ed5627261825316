"""The end of a hand between two players, range against range: CFR+ and exact best response for all hands at once.

Every vector has one number per hand that the open cards leave possible. A value is what a hand wins more than half of
the chips that nobody of the two has put in, summed over the hands of the other, each with its weight: a counterfactual
value. So the two players' wins sum to zero. An iteration visits some of the rivers of a tree from the turn, in turns.

CFR+: Tammelin, "Solving large imperfect information games using CFR+", 2014. The gadget: Burch, Johanson and Bowling,
"Solving imperfect information games using decomposition", AAAI 2014.
"""

from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..core.compiled import compiled
from .betting import FOLDED, RIVER_CARD, SHOWDOWN, Betting, Floats, Ints

Rows = NDArray[np.float32]

START = 10.0
"""Pots that the regrets of a strategy to begin with amount to."""
RIVERS = 6
"""Rivers that an iteration visits in a tree from the turn."""


@partial(compiled, allocates=True)
def opposed(cards: Any, weights: Any) -> Any:
    """Return for every hand the weight of the hands that share no card with it: float64[H]."""
    out = np.zeros(len(cards))
    by_card, total = np.zeros(52), 0.0
    for h in range(len(cards)):
        total += weights[h]
        by_card[cards[h, 0]] += weights[h]
        by_card[cards[h, 1]] += weights[h]
    for h in range(len(cards)):
        out[h] = total - by_card[cards[h, 0]] - by_card[cards[h, 1]] + weights[h]
    return out


@partial(compiled, allocates=True)
def showdown(nodes: Any, river: int, weights: Any, amount: float, out: Any) -> None:
    """Add to `out` what each hand wins at a showdown for `amount` chips from the other's hands with these weights.

    The hands with the river's card count as if their weights were 0, and win nothing.
    """
    cards, strength, order, alive = nodes.cards, nodes.strength[river], nodes.order[river], nodes.alive[river]
    by_card, below, start, size = np.zeros(52), 0.0, 0, len(order)
    won = np.zeros(size)
    while start < size:  # hands of one strength: the weight of the weaker ones, less that of all that are no stronger
        stop = start
        level = strength[order[start]]
        while stop < size and strength[order[stop]] == level:
            h = order[stop]
            won[h] = below - by_card[cards[h, 0]] - by_card[cards[h, 1]]
            stop += 1
        for k in range(start, stop):
            h = order[k]
            weight = weights[h] * alive[h]
            below += weight
            by_card[cards[h, 0]] += weight
            by_card[cards[h, 1]] += weight
        for k in range(start, stop):
            h = order[k]
            won[h] += below - by_card[cards[h, 0]] - by_card[cards[h, 1]]
        start = stop
    for h in range(size):
        out[h] += amount * alive[h] * (won[h] - below + by_card[cards[h, 0]] + by_card[cards[h, 1]])


@compiled
def reaches(nodes: Any, start: int, stop: int, shift: int, player: int, strategy: Any, out: Any) -> None:
    """Write the weights of a player's hands at the children of some nodes, float32[N, H], by its strategy.

    The row of a node in `strategy` is its number and `shift`; so also below.
    """
    for node in range(start, stop):
        if nodes.kind[node] > 1:
            continue
        for child in range(nodes.first[node], nodes.first[node] + nodes.count[node]):
            if nodes.kind[node] == player:
                for h in range(out.shape[1]):
                    out[child, h] = out[node, h] * strategy[child + shift, h]
            else:
                out[child] = out[node]


@partial(compiled, allocates=True)
def values(nodes: Any, span: Any, player: int, weights: Any, strategy: Any, best: bool, out: Any) -> None:
    """Write the values of a player's hands at some nodes, float32[N, H], from the last one back.

    Args:
        nodes: see `Nodes`.
        span: the first node, the one after the last, the shift of their rows, and the river; −1: it is not dealt, and
            showdowns and the nodes where it is dealt have their values already.
        player: 0 or 1.
        weights: float32[N, H], the weights of the other's hands at every node (`reaches`).
        strategy: float32[rows, H], how likely each hand takes the action that leads to a node.
        best: whether the player takes the best action with every hand, in place of its strategy.
        out: float32[N, H].
    """
    start, stop, shift, river = span
    for node in range(stop - 1, start - 1, -1):
        kind, first, size = nodes.kind[node], nodes.first[node], out.shape[1]
        if kind in (SHOWDOWN, RIVER_CARD):
            if river >= 0:
                out[node] = 0.0
                showdown(nodes, river, weights[node], nodes.amount[node], out[node])
        elif kind > SHOWDOWN:
            won = nodes.amount[node] if kind - FOLDED != player else -nodes.amount[node]
            alone = opposed(nodes.cards, weights[node])
            for h in range(size):
                out[node, h] = won * alone[h] * (nodes.alive[river, h] if river >= 0 else 1.0)
        else:
            own = kind == player
            for child in range(first, first + nodes.count[node]):
                for h in range(size):
                    part = out[child, h] * strategy[child + shift, h] if own and not best else out[child, h]
                    if child == first:
                        out[node, h] = part
                    elif own and best:
                        out[node, h] = max(out[node, h], part)
                    else:
                        out[node, h] += part


@compiled
def deal_river(nodes: Any, river: int, reach: Any) -> None:
    """Write the weights of both players' hands where the betting on a river begins: float32[2, N, H]."""
    for node in range(nodes.near):
        if nodes.kind[node] == RIVER_CARD:
            for player in range(2):
                for h in range(reach.shape[2]):
                    reach[player, nodes.first[node], h] = reach[player, node, h] * nodes.alive[river, h]


@compiled
def add_river(nodes: Any, river: int, share: float, weights: Any, out: Any) -> None:
    """Add the values with one river, times `share`, to those before it is dealt."""
    for node in range(nodes.near):
        if nodes.kind[node] == SHOWDOWN:
            showdown(nodes, river, weights[node], share * nodes.amount[node], out[node])
        elif nodes.kind[node] == RIVER_CARD:
            for h in range(out.shape[1]):
                out[node, h] += share * out[nodes.first[node], h]


@compiled
def clear(nodes: Any, out: Any) -> None:
    """Set the values of the nodes to 0 to which `add_river` adds."""
    for node in range(nodes.near):
        if nodes.kind[node] == SHOWDOWN or nodes.kind[node] == RIVER_CARD:
            out[node] = 0.0


@partial(compiled, allocates=True)
def evaluate(nodes: Any, player: int, strategy: Any, best: bool, reach: Any, out: Any) -> None:
    """Write the values of a player's hands over all rivers; `reach` float32[2, N, H] begins with the weights."""
    near, count = nodes.near, len(nodes.kind)
    for one in range(2):
        reaches(nodes, 0, near, 0, one, strategy, reach[one])
    clear(nodes, out)
    for river in range(len(nodes.order)):
        shift = river * (count - near)
        deal_river(nodes, river, reach)
        reaches(nodes, near, count, shift, 1 - player, strategy, reach[1 - player])
        values(nodes, (near, count, shift, river), player, reach[1 - player], strategy, best, out)
        add_river(nodes, river, nodes.scale, reach[1 - player], out)
    values(nodes, (0, near, 0, -1), player, reach[1 - player], strategy, best, out)


def hand_values(tree: Betting, player: int, others: Floats, strategy: Rows, best: bool) -> Floats:
    """Return the values of a player's hands at the root: float64[H].

    Args:
        tree: the betting tree.
        player: 0 or 1.
        others: float64[H], the weights of the other's hands.
        strategy: float32[rows, H], of both.
        best: whether the player answers with its best response, in place of its strategy.
    """
    reach = np.zeros((2, len(tree.action), len(tree.hands)), np.float32)
    reach[1 - player, 0] = others
    out = np.zeros(reach.shape[1:], np.float32)
    evaluate(tree.nodes, player, strategy, best, reach, out)
    return np.asarray(out[0], np.float64)


class Progress(NamedTuple):
    """The arrays of a `Resolver`.

    Attributes:
        ranges: float64[2, H], the weights of both players' hands.
        promised: float64[H], what the other player may take at the root in place of playing on.
        follow: float64[3, H]: how likely it plays on; the regrets of playing on and of stopping.
        regrets, sums: float32[rows, H]; `sums` are of the weighed strategies.
        rivers: int64[R], the order in which rivers are visited.
        strategy, values: float32[N, H], overwritten.
        reach: float32[2, N, H], overwritten.
    """

    ranges: Floats
    promised: Floats
    follow: Floats
    regrets: Rows
    sums: Rows
    rivers: Ints
    strategy: Rows
    values: Rows
    reach: Rows


class Resolver:
    """CFR+ on the end of a hand, in parts of any length.

    Args:
        tree: its betting tree.
        ranges: float64[2, H], the weights of both players' hands.
        me: whose strategy is wanted, 0 or 1.
        promised: float64[H], a value that the other player may take at the root with each of its hands, in place of
            playing on; None: it always plays on.
        start: float32[rows, H], a strategy to begin with; None: uniform.
        rivers: how many rivers an iteration visits in a tree from the turn.
    """

    def __init__(
        self,
        tree: Betting,
        ranges: Floats,
        me: int,
        promised: Floats | None = None,
        *,
        start: Rows | None = None,
        rivers: int = RIVERS,
    ) -> None:
        count, hands = len(tree.action), len(tree.hands)
        self.tree, self.iterations, self._me, self._gadget = tree, 0, me, promised is not None
        self._each = min(rivers, len(tree.boards))
        follow = np.zeros((3, hands))
        follow[0] = 1.0
        self._progress = Progress(
            np.array(ranges, np.float64),
            np.zeros(hands) if promised is None else promised,
            follow,
            np.zeros((tree.rows, hands), np.float32),
            np.zeros((tree.rows, hands), np.float32),
            np.random.default_rng(0).permutation(len(tree.boards)),
            np.zeros((count, hands), np.float32),
            np.zeros((count, hands), np.float32),
            np.zeros((2, count, hands), np.float32),
        )
        if start is not None:
            scale = START * float(tree.tables[0].pot)
            begin(tree.nodes, start, scale, np.array(ranges, np.float64), self._progress.reach, self._progress.regrets)

    def run(self, iterations: int) -> None:
        """Go on for so many iterations; each updates both players."""
        iterate(self.tree.nodes, self._progress, self._me, self._gadget, (self.iterations, iterations, self._each))
        self.iterations += iterations

    def average(self) -> Rows:
        """Return the average strategy: float32[rows, H]; uniform with hands that never come to a node."""
        return _normalised(self.tree, self._progress.sums)


def uniform(tree: Betting) -> Rows:
    """Return the strategy that plays all actions with the same probability: float32[rows, H]."""
    return _normalised(tree, np.zeros((tree.rows, len(tree.hands)), np.float32))


def _normalised(tree: Betting, weights: Rows) -> Rows:
    nodes, out = tree.nodes, np.ones_like(weights)
    normalise(nodes, 0, nodes.near, (0, 0), weights, out)
    for river in range(len(tree.boards)):
        shift = tree.row(nodes.near, river) - nodes.near if nodes.near < len(nodes.kind) else 0
        normalise(nodes, nodes.near, len(nodes.kind), (shift, shift), weights, out)
    return out


@partial(compiled, allocates=True)
def normalise(nodes: Any, start: int, stop: int, shifts: Any, weights: Any, out: Any) -> None:
    """Write the strategy at some nodes that is proportional to weights from 0 up; uniform where all are 0.

    `shifts` are those of the rows of `weights` and `out`, float32[rows, H].
    """
    source, target = shifts
    total, size = np.empty(weights.shape[1], np.float32), weights.shape[1]
    for node in range(start, stop):
        children = range(nodes.first[node], nodes.first[node] + nodes.count[node])
        total[:] = 0.0
        for child in children:
            for h in range(size):
                total[h] += weights[child + source, h]
        alone = np.float32(1.0) / np.float32(max(1, nodes.count[node]))
        for child in children:
            for h in range(size):
                part = weights[child + source, h] / total[h] if total[h] > 0 else alone
                out[child + target, h] = part


@compiled
def begin(nodes: Any, strategy: Any, scale: float, ranges: Any, reach: Any, regrets: Any) -> None:
    """Write regrets by which both players begin with a strategy; they grow with how often the other comes to a node."""
    near, count = nodes.near, len(nodes.kind)
    for one in range(2):
        for h in range(regrets.shape[1]):
            reach[one, 0, h] = ranges[one, h]
        reaches(nodes, 0, near, 0, one, strategy, reach[one])
    for river in range(-1, len(nodes.order)):
        start, stop, shift = (0, near, 0) if river < 0 else (near, count, river * (count - near))
        if river >= 0:
            deal_river(nodes, river, reach)
            for one in range(2):
                reaches(nodes, near, count, shift, one, strategy, reach[one])
        for node in range(start, stop):
            if nodes.kind[node] < SHOWDOWN:
                weight = scale * reach[1 - nodes.kind[node], node].sum()
                for child in range(nodes.first[node], nodes.first[node] + nodes.count[node]):
                    for h in range(regrets.shape[1]):
                        regrets[child + shift, h] = weight * strategy[child + shift, h]


@partial(compiled, allocates=True)
def iterate(nodes: Any, progress: Any, me: int, gadget: bool, steps: Any) -> None:
    """Do iterations of CFR+; `steps`: how many were done, how many to do, and rivers of each. See `Resolver`."""
    done, more, each = steps
    near, count, size = nodes.near, len(nodes.kind), len(nodes.order)
    strategy, won, reach = progress.strategy, progress.values, progress.reach
    share = nodes.scale * size / each
    for t in range(done + 1, done + more + 1):
        for player in range(2):
            for h in range(won.shape[1]):
                reach[me, 0, h] = progress.ranges[me, h]
                reach[1 - me, 0, h] = progress.ranges[1 - me, h] * progress.follow[0, h]
            normalise(nodes, 0, near, (0, 0), progress.regrets, strategy)
            for one in range(2):
                reaches(nodes, 0, near, 0, one, strategy, reach[one])
            clear(nodes, won)
            for k in range(each):
                river = progress.rivers[((t - 1) * each + k) % size]
                shift = river * (count - near)
                deal_river(nodes, river, reach)
                normalise(nodes, near, count, (shift, 0), progress.regrets, strategy)
                for one in range(2):
                    reaches(nodes, near, count, 0, one, strategy, reach[one])
                values(nodes, (near, count, 0, river), player, reach[1 - player], strategy, False, won)
                update(nodes, (near, count, shift), player, t, reach[player], progress)
                add_river(nodes, river, share, reach[1 - player], won)
            values(nodes, (0, near, 0, -1), player, reach[1 - player], strategy, False, won)
            update(nodes, (0, near, 0), player, t, reach[player], progress)
            if gadget and player != me:
                choose_to_follow(won[0], progress.promised, progress.follow)


@compiled
def update(nodes: Any, span: Any, player: int, weight: int, mine: Any, progress: Any) -> None:
    """Update regrets and sums of strategies at a player's nodes: those from the first to before the second number."""
    start, stop, shift = span
    regrets, sums, won = progress.regrets, progress.sums, progress.values
    for node in range(start, stop):
        if nodes.kind[node] == player:
            for child in range(nodes.first[node], nodes.first[node] + nodes.count[node]):
                for h in range(won.shape[1]):
                    regret = regrets[child + shift, h] + won[child, h] - won[node, h]
                    regrets[child + shift, h] = regret if regret > 0 else np.float32(0.0)
                    sums[child + shift, h] += np.float32(weight) * mine[child, h]


@compiled
def choose_to_follow(won: Any, promised: Any, follow: Any) -> None:
    """Update how likely the other player plays on with each hand, in place of taking what was promised."""
    for h in range(len(won)):
        value = follow[0, h] * won[h] + (1.0 - follow[0, h]) * promised[h]
        follow[1, h] = max(0.0, follow[1, h] + won[h] - value)
        follow[2, h] = max(0.0, follow[2, h] + promised[h] - value)
        total = follow[1, h] + follow[2, h]
        follow[0, h] = follow[1, h] / total if total > 0 else 0.5
