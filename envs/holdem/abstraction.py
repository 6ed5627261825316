"""The hands that a solved strategy of hold'em does not tell apart: buckets by street.

Before the flop: the 169 kinds of hands. Then: the texture of the board, the hand's place among all hands by equity, and
on flop and turn whether its equity is still spread over the cards to come. The numbers of each are data (`Buckets`).
"""

import zlib
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..core.compiled import compiled
from .equity_tables import SPREAD, VERSION, EquityTables, river_equities
from .hands import card_set
from .ranges import HOLDINGS

TEXTURES = 6
"""Textures of a board: one, two or three cards of a suit on the flop, later up to two, three, or four and more; each
without or with a pair."""
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
    suits = min(2, max(0, most - (1 if count == 3 else 2)))
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
def board_buckets(buckets: Any, board: Any, count: int, worth: Any, out: Any) -> None:
    """Write the bucket of every hand of `HOLDINGS`, int64[1326]; −1: it shares a card with the board.

    Args:
        buckets: the abstraction.
        board: its first `count` cards count: 0, 3, 4 or 5.
        worth: uint8[1326, 2], on flop and turn what the hands are worth there (`equity_tables.write_worth`).
        out: int64[1326].
    """
    if count == 0:
        for h in range(len(HOLDINGS)):
            out[h] = pocket(int(HOLDINGS[h, 0]), int(HOLDINGS[h, 1]))
        return
    edges, dead = buckets.equities[count - 3], card_set(board, count)
    first = texture(board, count) * (len(edges) + 1)
    equity = np.empty(len(HOLDINGS))
    if count == 5:
        river_equities(board, equity)
    for h in range(len(HOLDINGS)):
        out[h] = -1
        if card_set(HOLDINGS[h], 2) & dead == 0:
            at = place(edges, equity[h] if count == 5 else worth[h, 0] / 255.0)
            out[h] = first + at
            if count < 5:
                out[h] = 2 * out[h] + (worth[h, 1] / SPREAD >= buckets.spreads[count - 3][at])


DIGEST = 3472231984
"""What `abstraction_digest` returns: a policy is loaded without the 24 boards."""


def abstraction_digest() -> int:
    """Return a number that tells whether `board_buckets` puts together the same hands as when a strategy was solved.

    It is a checksum of the buckets of all hands on some boards, with worths that are made up, and of the version of the
    tables that hold the real ones.
    """
    found, out = zlib.crc32(bytes([VERSION])), np.empty(len(HOLDINGS), np.int64)
    edges = np.arange(1, 16) / 16
    buckets = Buckets((edges, edges, edges), (np.full(16, 0.25), np.full(16, 0.25)))
    worth = np.stack([np.arange(len(HOLDINGS)) % 256, np.arange(len(HOLDINGS)) % 7 * 42], axis=1).astype(np.uint8)
    for n in range(24):
        board = np.argsort((np.arange(52) * 7_919 * (n + 1) ** 2 + n) % 10_007, kind="stable")[:5]
        for count in (0, 3, 4, 5) if n == 0 else (3, 4):  # a river takes longest
            board_buckets(buckets, board, count, worth, out)
            found = zlib.crc32(out.astype("<i8").tobytes(), found)
    return found


def rows_of(buckets: Buckets) -> NDArray[np.int64]:
    """Return how many buckets each street has: int64[4]."""
    flop, turn, river = (TEXTURES * (len(edges) + 1) for edges in buckets.equities)
    return np.array([POCKETS, 2 * flop, 2 * turn, river])


def buckets_of(tables: EquityTables, sizes: tuple[int, int, int], seed: int = 0) -> Buckets:
    """Return buckets with so many places on flop, turn and river, each with as many hands of random boards."""
    random = np.random.default_rng(seed)
    equities, spreads = list[NDArray[np.float64]](), list[NDArray[np.float64]]()
    river = np.empty(len(HOLDINGS))
    seen = []
    for _ in range(200):
        river_equities(random.permutation(52)[:5], river)
        seen.append(river[river >= 0])
    samples: list[tuple[NDArray[np.float64], NDArray[np.float64] | None]]
    samples = [(tables.flops[..., 0].ravel() / 255, tables.flops[..., 1].ravel() / SPREAD)]
    some = tables.turns[random.permutation(len(tables.turns))[:2_000]]
    samples += [(some[..., 0].ravel() / 255, some[..., 1].ravel() / SPREAD), (np.concatenate(seen), None)]
    for (equity, spread), size in zip(samples, sizes, strict=True):
        real = equity > 0
        edges = np.unique(np.quantile(equity[real], np.arange(1, size) / size))
        equities.append(edges)
        if spread is not None:
            at = np.searchsorted(edges, equity[real], side="right")
            spreads.append(np.array([np.median(spread[real][at == one]) for one in range(len(edges) + 1)]))
    return Buckets(tuple(equities), tuple(spreads))
