"""Walks through the end of a hand between two players, range against range, for all hands at once.

Every vector has one number per hand that the open cards leave possible. A value is what a hand wins more than half of
the chips that nobody of the two has put in, summed over the hands of the other, each with its weight: a counterfactual
value. So the two players' wins sum to zero.

A tree may have a depth limit (`betting.Nodes`): after the last bets of the flop player 1 chooses, with every hand, one
of several ways to play on, and then both play by given strategies of buckets.
"""

from functools import partial
from typing import Any

import numpy as np

from ..core.compiled import compiled
from .betting import DEALT, FOLDED, SHOWDOWN


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
def showdown(nodes: Any, board: int, weights: Any, amount: float, out: Any) -> None:
    """Add to `out` what each hand wins at a showdown for `amount` chips from the other's hands with these weights.

    The hands that share a card with the board count as if their weights were 0, and win nothing.
    """
    cards, strength, order, alive = nodes.cards, nodes.strength[board], nodes.order[board], nodes.alive[board]
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
def ends(nodes: Any, span: Any, player: int, weights: Any, out: Any) -> None:
    """Write the values of a player's hands where the hand ends, float32[N, H]; see `values`."""
    start, stop, _, board = span
    for node in range(start, stop):
        kind, size = nodes.kind[node], out.shape[1]
        if kind == SHOWDOWN and board >= 0:
            out[node] = 0.0
            showdown(nodes, board, weights[node], nodes.amount[node], out[node])
        elif kind == FOLDED or kind == FOLDED + 1:
            won = nodes.amount[node] if kind - FOLDED != player else -nodes.amount[node]
            alone = opposed(nodes.cards, weights[node])
            for h in range(size):
                out[node, h] = won * alone[h] * (nodes.alive[board, h] if board >= 0 else 1.0)


@compiled
def back(nodes: Any, span: Any, player: int, strategy: Any, best: bool, out: Any) -> None:
    """Write the values at decisions from those of their children, from the last one back; see `values`."""
    start, stop, shift, _ = span
    for node in range(stop - 1, start - 1, -1):
        first, size, own = nodes.first[node], out.shape[1], nodes.kind[node] == player
        if nodes.kind[node] > 1:
            continue
        for child in range(first, first + nodes.count[node]):
            for h in range(size):
                part = out[child, h] * strategy[child + shift, h] if own and not best else out[child, h]
                if child == first:
                    out[node, h] = part
                elif own and best:
                    out[node, h] = max(out[node, h], part)
                else:
                    out[node, h] += part


@partial(compiled, allocates=True)
def values(nodes: Any, span: Any, player: int, weights: Any, strategy: Any, best: bool, out: Any) -> None:
    """Write the values of a player's hands at some nodes, float32[N, H].

    Args:
        nodes: see `Nodes`.
        span: the first node, the one after the last, the shift of their rows, and the board; −1: cards are still to
            come, and showdowns and the nodes where they are dealt have their values already.
        player: 0 or 1.
        weights: float32[N, H], the weights of the other's hands at every node (`reaches`).
        strategy: float32[rows, H], how likely each hand takes the action that leads to a node.
        best: whether the player takes the best action with every hand, in place of its strategy.
        out: float32[N, H].
    """
    ends(nodes, span, player, weights, out)
    back(nodes, span, player, strategy, best, out)


@compiled
def deal(nodes: Any, board: int, reach: Any) -> None:
    """Write the weights of both players' hands where the betting on a board begins: float32[2, N, H]."""
    for node in range(nodes.near):
        if nodes.kind[node] == DEALT:
            for player in range(2):
                for h in range(reach.shape[2]):
                    reach[player, nodes.first[node], h] = reach[player, node, h] * nodes.alive[board, h]


@compiled
def add_board(nodes: Any, board: int, share: float, weights: Any, out: Any) -> None:
    """Add the values with one board, times `share`, to those before its last cards are dealt."""
    for node in range(nodes.near):
        if nodes.kind[node] == SHOWDOWN:
            showdown(nodes, board, weights[node], share * nodes.amount[node], out[node])
        elif nodes.kind[node] == DEALT and len(nodes.chances) == 0:
            for h in range(out.shape[1]):
                out[node, h] += share * out[nodes.first[node], h]


@compiled
def clear(nodes: Any, out: Any) -> None:
    """Set the values of the nodes to 0 to which `add_board` and `play_on` add."""
    for node in range(nodes.near):
        if nodes.kind[node] == SHOWDOWN or nodes.kind[node] == DEALT:
            out[node] = 0.0


# Beyond a depth limit.


@partial(compiled, allocates=True)
def play_on(nodes: Any, board: int, share: float, player: int, reach: Any, strategy: Any, out: Any) -> None:
    """Add a player's values at a depth limit with one board, times `share`.

    Args:
        nodes: see `Nodes`.
        board: the board.
        share: its share of the boards.
        player: whose values.
        reach: float32[2, N, H], the weights of both players' hands; overwritten after the limit.
        strategy: float32[N, H], overwritten there.
        out: float32[N, H], overwritten there.
    """
    near, count, ways = nodes.near, len(nodes.kind), len(nodes.chances)
    span = (near, count, 0, board)
    by_buckets(nodes, board, 0, 0, strategy)
    if player == 1:
        begin_way(nodes, board, 0, reach[0], reach[0])
        reaches(nodes, near, count, 0, 0, strategy, reach[0])
        ends(nodes, span, 1, reach[0], out)
    for way in range(ways):
        by_buckets(nodes, board, 1, way, strategy)
        if player == 1:
            back(nodes, span, 1, strategy, False, out)
            add_way(nodes, board, way, share, out)
            continue
        begin_way(nodes, board, way, reach[1], out)
        reaches(nodes, near, count, 0, 1, strategy, out)
        for node in range(near, count):
            if nodes.kind[node] > 1:
                for h in range(out.shape[1]):
                    reach[1, node, h] = out[node, h] + (reach[1, node, h] if way > 0 else np.float32(0.0))
    if player == 0:  # the sum over the ways is what counts: it stands at the first
        ends(nodes, span, 0, reach[1], out)
        back(nodes, span, 0, strategy, False, out)
        add_way(nodes, board, 0, share, out)


@compiled
def begin_way(nodes: Any, board: int, way: int, weights: Any, out: Any) -> None:
    """Write the weights of hands, float32[N, H], where the play after the limit begins, if it is played in one way."""
    for node in range(nodes.near):
        if nodes.kind[node] == DEALT and nodes.way[node] == way:
            for h in range(out.shape[1]):
                out[nodes.first[node], h] = weights[node, h] * nodes.alive[board, h]


@compiled
def add_way(nodes: Any, board: int, way: int, share: float, out: Any) -> None:
    """Add the values of a way, float32[N, H], where it is chosen."""
    for node in range(nodes.near):
        if nodes.kind[node] == DEALT and nodes.way[node] == way:
            for h in range(out.shape[1]):
                out[node, h] += share * out[nodes.first[node], h]


@compiled
def by_buckets(nodes: Any, board: int, player: int, way: int, strategy: Any) -> None:
    """Write a player's strategy after the limit, float32[N, H], on a board."""
    for node in range(nodes.near, len(nodes.kind)):
        if nodes.kind[node] == player:
            buckets = nodes.buckets[board, nodes.street[node]]
            for child in range(nodes.first[node], nodes.first[node] + nodes.count[node]):
                chances = nodes.chances[way, child]
                for h in range(strategy.shape[1]):
                    strategy[child, h] = chances[buckets[h]]
