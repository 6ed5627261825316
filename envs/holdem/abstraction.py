"""The hands that a solved strategy of hold'em does not tell apart: buckets by street.

Before the flop: the 169 kinds of hands. Then: the texture of the board, the hand's place among all hands by equity, and
on flop and turn whether its equity is still spread over the cards to come. The numbers of each are data (`Buckets`).
"""

from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..core.compiled import compiled
from .equity_tables import SUITINGS, EquityTables, board_number, renamed_hand, river_equities
from .hands import card_set
from .ranges import HOLDINGS

TEXTURES = 6
"""Textures of a board: no three cards of a suit, three, or four and more; each without or with a pair."""
POCKETS = 169


class Buckets(NamedTuple):
    """How hands are put together.

    Attributes:
        equities: for flop, turn and river, float64[E] each: the rising equities (0 to 1) between two places.
        spreads: for flop and turn, float64[E + 1] each: the spread (0 to 0.5) from which a hand of each place counts as
            spread.
    """

    equities: tuple[NDArray[np.float64], ...]
    spreads: tuple[NDArray[np.float64], ...]


@compiled
def pocket(one: int, two: int) -> int:
    """Return the kind of two hole cards, 0 to 168: pairs, suited and offsuit ones, by their ranks."""
    high, low = max(one >> 2, two >> 2), min(one >> 2, two >> 2)
    return 13 * high + low if one & 3 == two & 3 else 13 * low + high


@compiled
def texture(board: Any, count: int) -> int:
    """Return the texture of the first `count` cards."""
    paired, most = 0, 0
    for i in range(count):
        same = 1
        for j in range(i):
            paired = paired or int(board[i]) >> 2 == int(board[j]) >> 2
            same += board[i] & 3 == board[j] & 3
        most = max(most, same)
    suits = 0 if most < 3 else 1 if most == 3 else 2
    return 2 * suits + (1 if paired else 0)


@compiled
def place(edges: Any, equity: float) -> int:
    """Return how many of the rising edges are at most `equity`."""
    low, high = 0, len(edges)
    while low < high:
        middle = (low + high) // 2
        if edges[middle] <= equity:
            low = middle + 1
        else:
            high = middle
    return low


@partial(compiled, allocates=True)
def board_buckets(tables: Any, buckets: Any, board: Any, count: int, out: Any) -> None:
    """Write the bucket of every hand of `HOLDINGS` with the first `count` cards of the board, 0, 3, 4 or 5: int64[1326].

    −1: the hand shares a card with the board.
    """
    if count == 0:
        for h in range(len(HOLDINGS)):
            out[h] = pocket(int(HOLDINGS[h, 0]), int(HOLDINGS[h, 1]))
        return
    edges = buckets.equities[count - 3]
    first = texture(board, count) * (len(edges) + 1)
    if count == 5:
        equity = np.empty(len(HOLDINGS))
        river_equities(board, equity)
        for h in range(len(HOLDINGS)):
            out[h] = -1 if equity[h] < 0.0 else first + place(edges, equity[h])
        return
    number, dead = board_number(board, count), card_set(board, count)
    row = tables.flop_of[number] if count == 3 else tables.turn_of[number]
    suiting = SUITINGS[tables.flop_suiting[number] if count == 3 else tables.turn_suiting[number]]
    worth = tables.flops[row] if count == 3 else tables.turns[row]
    for h in range(len(HOLDINGS)):
        out[h] = -1
        if card_set(HOLDINGS[h], 2) & dead == 0:
            there = renamed_hand(h, suiting)
            at = place(edges, worth[there, 0] / 255.0)
            spread = worth[there, 1] / 510.0 >= buckets.spreads[count - 3][at]
            out[h] = 2 * (first + at) + (1 if spread else 0)


def rows_of(buckets: Buckets) -> NDArray[np.int64]:
    """Return how many buckets each street has: int64[4]."""
    flop, turn, river = (TEXTURES * (len(edges) + 1) for edges in buckets.equities)
    return np.array([POCKETS, 2 * flop, 2 * turn, river])


def buckets_of(tables: EquityTables, sizes: tuple[int, int, int], seed: int = 0) -> Buckets:
    """Return buckets with so many places of equity on flop, turn and river, each with as many hands of random boards."""
    random = np.random.default_rng(seed)
    equities, spreads = list[NDArray[np.float64]](), list[NDArray[np.float64]]()
    river = np.empty(len(HOLDINGS))
    seen = []
    for _ in range(200):
        river_equities(random.permutation(52)[:5], river)
        seen.append(river[river >= 0])
    samples = [(tables.flops[..., 0].ravel() / 255, tables.flops[..., 1].ravel() / 510)]
    some = tables.turns[random.permutation(len(tables.turns))[:2_000]]
    samples += [(some[..., 0].ravel() / 255, some[..., 1].ravel() / 510), (np.concatenate(seen), None)]
    for (equity, spread), size in zip(samples, sizes, strict=True):
        real = equity > 0
        edges = np.unique(np.quantile(equity[real], np.arange(1, size) / size))
        equities.append(edges)
        if spread is not None:
            at = np.searchsorted(edges, equity[real], side="right")
            spreads.append(np.array([np.median(spread[real][at == one]) for one in range(len(edges) + 1)]))
    return Buckets(tuple(equities), tuple(spreads))
