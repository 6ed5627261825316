"""The river between two players, range against range: betting tree, CFR+ and exact best response for all hands.

Every vector has one number per hand that the board leaves possible. A value is what a hand wins more than half of the
chips that nobody of the two has put in, summed over the hands of the other, each with its weight: a counterfactual
value. So the two players' wins sum to zero.

CFR+: Tammelin, "Solving large imperfect information games using CFR+", 2014. The gadget: Burch, Johanson and Bowling,
"Solving imperfect information games using decomposition", AAAI 2014.
"""

from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..core.compiled import compiled
from ..core.game import Game
from .hands import card_set, set_strength
from .ranges import HOLDINGS, possible
from .table import CALL_ACTION, FOLD_ACTION, LEAST_RAISE

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

SHOWDOWN, FOLDED = 2, 3
"""Kinds of ends: a showdown; the first player has folded; + 1: the second."""
RAISES = ((0.5, 1.0, 2.0), (0.5, 1.0), ())
"""The raises of a tree beside all-in, as fractions of the pot after the call: the first, the second, and later ones."""
MOST_NODES = 2_000
"""Most nodes of a betting tree."""


class Nodes(NamedTuple):
    """The public nodes of a river, the parents before their children; children of a node stand together. And the hands.

    Attributes:
        kind: int64[N]: which of the two players decides, 0 or 1; or how the hand ended.
        amount: float64[N]: what the winner wins there; 0 where it has not ended.
        first: int64[N]: the first child.
        count: int64[N]: the number of children.
        cards: int64[H, 2], of the hands that the board leaves.
        strength: int64[H], as `set_strength`.
        order: int64[H], the hands from the weakest to the strongest.
    """

    kind: Ints
    amount: Floats
    first: Ints
    count: Ints  # type: ignore[assignment]  # not the method of a tuple
    cards: Ints
    strength: Ints
    order: Ints


@dataclass(frozen=True)
class Betting:
    """The betting tree of a river.

    Attributes:
        tables: the record at each node, all of one board.
        action: int64[N]: the action index that leads to the node; −1 at the root.
        hands: int64[H]: the hands that the board leaves, indices of `HOLDINGS`.
        nodes: what compiled code reads.
    """

    tables: list[Any]
    action: Ints
    hands: Ints
    nodes: Nodes


def betting(game: Game, table: Any, players: tuple[int, int]) -> Betting | None:
    """Return the betting tree from a decision on the river.

    Args:
        game: hold'em; of its action indices the tree has those of `kept`.
        table: the record, one hand per episode. All others than `players` have folded.
        players: the two seats.

    Returns:
        None if there are more than `MOST_NODES` nodes.
    """
    tables, actions = [table.copy()], [-1]
    kind, amount, first, count = [], [], [], []
    one, other = players
    for table in tables:  # it grows
        first.append(len(tables))
        if table.done:
            put = int(table.committed[one]), int(table.committed[other])
            dead = int(table.pot) - sum(put)
            folded = FOLDED + int(table.folded[other]) if table.folded[one] or table.folded[other] else SHOWDOWN
            kind.append(folded)
            amount.append(dead / 2 + min(put))
            count.append(0)
            continue
        legal = kept(game, table)
        kind.append(players.index(int(table.turn)))
        amount.append(0.0)
        count.append(len(legal))
        if len(tables) + len(legal) > MOST_NODES:
            return None
        for action in legal:
            child = table.copy()
            game.rules.play(child, action)
            tables.append(child)
            actions.append(action)
    free = np.empty(len(HOLDINGS), np.bool_)
    board = np.array(tables[0].board)
    possible(HOLDINGS, board, 5, free)
    hands = np.flatnonzero(free)
    cards = HOLDINGS[hands].astype(np.int64)
    strength = _strengths(cards, board)
    order = np.argsort(strength, kind="stable")
    nodes = Nodes(np.array(kind), np.array(amount), np.array(first), np.array(count), cards, strength, order)
    return Betting(tables, np.array(actions), hands, nodes)


def kept(game: Game, table: Any) -> list[int]:
    """Return the action indices of a decision that are in the tree: fold to a bet, call, some raises (`RAISES`)."""
    legal = np.flatnonzero(game.mask(table, int(table.turn))).tolist()
    raises = [action for action in legal if action >= LEAST_RAISE]
    wanted = set(raises[-1:])  # all-in
    if len(raises) > 1:
        amounts = [int(game.rules.decode(table, action).amount) - int(table.current_bet) for action in raises]
        for part in RAISES[min(int(table.raises), len(RAISES) - 1)]:
            size = part * (int(table.pot) + int(table.to_call))
            wanted.add(min(zip(raises, amounts, strict=True), key=lambda one: abs(one[1] - size))[0])
    return [FOLD_ACTION] * int(table.to_call > 0) + [CALL_ACTION, *sorted(wanted)]


@partial(compiled, allocates=True)
def _strengths(cards: Any, board: Any) -> Any:
    strength = np.empty(len(cards), np.int64)
    shown = card_set(board, 5)
    for i in range(len(cards)):
        strength[i] = set_strength(card_set(cards[i], 2) | shown)
    return strength


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
def showdown(cards: Any, strength: Any, order: Any, weights: Any, amount: float, out: Any) -> None:
    """Write what each hand wins at a showdown for `amount` chips from the other's hands with these weights."""
    out[:] = 0.0
    for way in range(2):  # from the weaker ones, then to the stronger ones
        by_card, total, start = np.zeros(52), 0.0, 0
        sign = amount if way == 0 else -amount
        while start < len(order):
            stop = start
            level = strength[order[start] if way == 0 else order[len(order) - 1 - start]]
            while stop < len(order) and strength[order[stop] if way == 0 else order[len(order) - 1 - stop]] == level:
                h = order[stop] if way == 0 else order[len(order) - 1 - stop]
                out[h] += sign * (total - by_card[cards[h, 0]] - by_card[cards[h, 1]])
                stop += 1
            for k in range(start, stop):
                h = order[k] if way == 0 else order[len(order) - 1 - k]
                total += weights[h]
                by_card[cards[h, 0]] += weights[h]
                by_card[cards[h, 1]] += weights[h]
            start = stop


@compiled
def reaches(nodes: Any, player: int, weights: Any, strategy: Any, out: Any) -> None:
    """Write the weights of a player's hands at every node, float64[N, H], by its strategy on the way."""
    out[0] = weights
    for node in range(len(nodes.kind)):
        for child in range(nodes.first[node], nodes.first[node] + nodes.count[node]):
            if nodes.kind[node] == player:
                out[child] = out[node] * strategy[child]
            else:
                out[child] = out[node]


@partial(compiled, allocates=True)
def values(nodes: Any, player: int, weights: Any, strategy: Any, best: bool, out: Any) -> None:
    """Write the values of a player's hands at every node, float64[N, H].

    Args:
        nodes: see `Nodes`.
        player: 0 or 1.
        weights: float64[N, H], the weights of the other's hands at every node (`reaches`).
        strategy: float64[N, H], how likely each hand takes the action that leads to a node.
        best: whether the player takes the best action with every hand, in place of its strategy.
        out: float64[N, H].
    """
    kind, amount = nodes.kind, nodes.amount
    for node in range(len(kind) - 1, -1, -1):
        children = range(nodes.first[node], nodes.first[node] + nodes.count[node])
        if kind[node] == SHOWDOWN:
            showdown(nodes.cards, nodes.strength, nodes.order, weights[node], amount[node], out[node])
        elif kind[node] > SHOWDOWN:
            won = amount[node] if kind[node] - FOLDED != player else -amount[node]
            out[node] = won * opposed(nodes.cards, weights[node])
        elif kind[node] != player:
            out[node] = 0.0
            for child in children:
                out[node] += out[child]
        elif best:
            out[node] = out[nodes.first[node]]
            for child in children:
                out[node] = np.maximum(out[node], out[child])
        else:
            out[node] = 0.0
            for child in children:
                out[node] += strategy[child] * out[child]


def hand_values(tree: Betting, player: int, others: Floats, strategy: Floats, best: bool) -> Floats:
    """Return the values of a player's hands at the root: float64[H].

    Args:
        tree: the river.
        player: 0 or 1.
        others: float64[H], the weights of the other's hands.
        strategy: float64[N, H], of both.
        best: whether the player answers with its best response, in place of its strategy.
    """
    weights, out = np.empty(strategy.shape), np.empty(strategy.shape)
    reaches(tree.nodes, 1 - player, others, strategy, weights)
    values(tree.nodes, player, weights, strategy, best, out)
    return np.asarray(out[0])


class Progress(NamedTuple):
    """The arrays of a `Resolver`.

    Attributes:
        ranges: float64[2, H], the weights of both players' hands.
        promised: float64[H], what the other player may take at the root in place of playing on.
        follow: float64[3, H]: how likely it plays on; the regrets of playing on and of stopping.
        strategy, regrets, sums: float64[N, H]; `sums` are of the weighed strategies.
        work: float64[3, N, H], overwritten.
    """

    ranges: Floats
    promised: Floats
    follow: Floats
    strategy: Floats
    regrets: Floats
    sums: Floats
    work: Floats


class Resolver:
    """CFR+ on a river, in parts of any length.

    Args:
        tree: the river.
        ranges: float64[2, H], the weights of both players' hands.
        me: whose strategy is wanted, 0 or 1.
        promised: float64[H], a value that the other player may take at the root with each of its hands, in place of
            playing on; None: it always plays on.
    """

    def __init__(self, tree: Betting, ranges: Floats, me: int, promised: Floats | None = None) -> None:
        shape = len(tree.action), len(tree.hands)
        self.tree, self.iterations, self._me, self._gadget = tree, 0, me, promised is not None
        follow = np.zeros((3, shape[1]))
        follow[0] = 1.0
        self._progress = Progress(
            np.array(ranges, np.float64),
            np.zeros(shape[1]) if promised is None else promised,
            follow,
            uniform(tree),
            np.zeros(shape),
            np.zeros(shape),
            np.zeros((3, *shape)),
        )

    def run(self, iterations: int) -> None:
        """Go on for so many iterations; each updates both players."""
        iterate(self.tree.nodes, self._progress, self._me, self._gadget, self.iterations, iterations)
        self.iterations += iterations

    def average(self) -> Floats:
        """Return the average strategy: float64[N, H]; uniform with hands that never come to a node."""
        strategy, sums, nodes = uniform(self.tree), self._progress.sums, self.tree.nodes
        for first, count in zip(nodes.first, nodes.count, strict=True):
            rows = slice(first, first + count)
            total = sums[rows].sum(axis=0)
            strategy[rows, total > 0] = sums[rows, total > 0] / total[total > 0]
        return strategy


def uniform(tree: Betting) -> Floats:
    """Return the strategy that plays all actions with the same probability: float64[N, H]."""
    strategy = np.ones((len(tree.action), len(tree.hands)))
    for first, count in zip(tree.nodes.first, tree.nodes.count, strict=True):
        strategy[first : first + count] /= max(1, count)
    return strategy


@partial(compiled, allocates=True)
def iterate(nodes: Any, progress: Any, me: int, gadget: bool, done: int, more: int) -> None:
    """Do `more` iterations of CFR+ after `done` ones; see `Resolver`."""
    theirs, mine, won = progress.work[0], progress.work[1], progress.work[2]
    weights = progress.ranges.copy()
    for t in range(done + 1, done + more + 1):
        for player in range(2):
            other = 1 - player
            weights[1 - me] = progress.ranges[1 - me] * progress.follow[0]
            reaches(nodes, other, weights[other], progress.strategy, theirs)
            reaches(nodes, player, weights[player], progress.strategy, mine)
            values(nodes, player, theirs, progress.strategy, False, won)
            for node in range(len(nodes.kind)):
                if nodes.kind[node] == player:
                    match_regrets(nodes, node, t, won, mine, progress)
            if gadget and player != me:
                choose_to_follow(won[0], progress.promised, progress.follow)


@compiled
def match_regrets(nodes: Any, node: int, weight: int, won: Any, mine: Any, progress: Any) -> None:
    """Update one node: regrets, the sums of strategies, and the strategy by regret matching."""
    strategy, regrets = progress.strategy, progress.regrets
    children = range(nodes.first[node], nodes.first[node] + nodes.count[node])
    for h in range(won.shape[1]):
        total = 0.0
        for child in children:
            regrets[child, h] = max(0.0, regrets[child, h] + won[child, h] - won[node, h])
            total += regrets[child, h]
        for child in children:
            strategy[child, h] = regrets[child, h] / total if total > 0 else 1.0 / nodes.count[node]
            progress.sums[child, h] += weight * mine[node, h] * strategy[child, h]


@compiled
def choose_to_follow(won: Any, promised: Any, follow: Any) -> None:
    """Update how likely the other player plays on with each hand, in place of taking what was promised."""
    for h in range(len(won)):
        value = follow[0, h] * won[h] + (1.0 - follow[0, h]) * promised[h]
        follow[1, h] = max(0.0, follow[1, h] + won[h] - value)
        follow[2, h] = max(0.0, follow[2, h] + promised[h] - value)
        total = follow[1, h] + follow[2, h]
        follow[0, h] = follow[1, h] / total if total > 0 else 0.5
