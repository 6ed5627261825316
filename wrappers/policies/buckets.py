"""What every hand is worth on every flop and turn: the mean and the spread of its equity on the rivers that can come.

Equity is the share of the pot against all hands that the other can hold, ties split. Suits are interchangeable: of
22,100 flops 1,755 differ, and of 270,725 turns (as sets of four cards) 16,432. One core computes the tables in about
two minutes; they are kept in a file of the user's cache.
"""

from functools import cache, partial
from itertools import combinations, permutations
from os import environ
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...envs.core.compiled import compiled
from ...envs.core.plain_python import constant
from ...envs.holdem.hands import card_set, set_strength
from ...envs.holdem.ranges import HOLDINGS

VERSION = 1
PLACE = constant(
    [[0 if a == b else min(a, b) * (103 - min(a, b)) // 2 + abs(a - b) - 1 for b in range(52)] for a in range(52)],
    np.int64,
)
"""The index in `HOLDINGS` of two different cards: int64[52, 52]."""
SUITINGS = constant(list(permutations(range(4))), np.int64)
"""All ways to rename suits: int64[24, 4]."""
SPREAD = 510.0
"""A spread is kept as a whole number, times this: at most 0.5."""


class EquityTables(NamedTuple):
    """The tables. A board is found by the number of its sorted cards (`board_number`).

    Attributes:
        flop_of, flop_suiting: int16[22100], int8[22100]: the row of each flop, and how suits are renamed for it.
        flops: uint8[1755, 1326, 2]: mean equity times 255, and spread times `SPREAD`, of every hand of `HOLDINGS`.
        turn_of, turn_suiting: the same for the 270,725 turns.
        turns: uint8[16432, 1326, 2].
    """

    flop_of: NDArray[np.int16]
    flop_suiting: NDArray[np.int8]
    flops: NDArray[np.uint8]
    turn_of: NDArray[np.int16]
    turn_suiting: NDArray[np.int8]
    turns: NDArray[np.uint8]


@partial(compiled, compile_first=True)
def board_number(cards: Any, count: int) -> int:
    """Return the number of a set of 3 or 4 cards, in the order of combinations of falling cards."""
    a, b, c, d = int(cards[0]), int(cards[1]), int(cards[2]), -1
    if count == 4:
        d = int(cards[3])
    for _ in range(3):  # sort, the lowest first
        if a > b:
            a, b = b, a
        if b > c:
            b, c = c, b
        if d >= 0 and c > d:
            c, d = d, c
    number = a + b * (b - 1) // 2 + c * (c - 1) * (c - 2) // 6
    return number + (d * (d - 1) * (d - 2) * (d - 3) // 24 if d >= 0 else 0)


@partial(compiled, allocates=True)
def river_equities(board: Any, out: Any) -> None:
    """Write the equity of every hand of `HOLDINGS` on a full board: float64[1326]; −1: it shares a card with it."""
    shown = card_set(board, 5)
    hands = np.empty(1081, np.int64)
    strength = np.empty(1081, np.int64)
    count = 0
    for h in range(len(HOLDINGS)):
        held = card_set(HOLDINGS[h], 2)
        out[h] = -1.0
        if held & shown == 0:
            hands[count] = h
            strength[count] = set_strength(held | shown)
            count += 1
    order = np.argsort(strength[:count])
    beaten, by_card = 0, np.zeros(52, np.int64)  # weaker hands, and those of them with each card
    start = 0
    while start < count:
        level, stop = strength[order[start]], start
        while stop < count and strength[order[stop]] == level:
            h = hands[order[stop]]
            out[h] = beaten - by_card[HOLDINGS[h, 0]] - by_card[HOLDINGS[h, 1]]
            stop += 1
        for k in range(start, stop):
            h = hands[order[k]]
            by_card[HOLDINGS[h, 0]] += 1
            by_card[HOLDINGS[h, 1]] += 1
        beaten = stop
        for k in range(start, stop):  # with those as strong: half of what they add
            h = hands[order[k]]
            most = beaten - by_card[HOLDINGS[h, 0]] - by_card[HOLDINGS[h, 1]] + 1  # the hand itself is taken off twice
            out[h] = (out[h] + most) / 2.0 / 990.0
        start = stop


@partial(compiled, allocates=True, compile_first=True)
def turn_moments(board: Any, moments: Any) -> None:
    """Write the mean equity and the mean square on the rivers after a turn: float64[1326, 2]; −1: not possible."""
    full, equity = np.empty(5, np.int64), np.empty(len(HOLDINGS))
    moments[:] = 0.0
    shown = card_set(board, 4)
    for k in range(4):
        full[k] = board[k]
    for card in range(52):
        full[4] = card
        if card_set(full[4:], 1) & shown == 0:
            river_equities(full, equity)
            for h in range(len(HOLDINGS)):
                if equity[h] >= 0.0:
                    moments[h, 0] += equity[h] / 46.0
                    moments[h, 1] += equity[h] * equity[h] / 46.0
    for h in range(len(HOLDINGS)):
        if card_set(HOLDINGS[h], 2) & shown:
            moments[h] = -1.0


@compiled
def renamed_hand(hand: int, suiting: Any) -> int:
    """Return the index of a hand whose suits are renamed by int64[4]."""
    one, two = int(HOLDINGS[hand, 0]), int(HOLDINGS[hand, 1])
    return int(PLACE[one & ~3 | suiting[one & 3], two & ~3 | suiting[two & 3]])


@partial(compiled, allocates=True, compile_first=True)
def all_turns(boards: Any, first: int, out: Any) -> None:
    """Write the moments of the turns from `first` on: float32[N, 1326, 2]."""
    moments = np.empty((len(HOLDINGS), 2))
    for i in range(len(out)):
        turn_moments(boards[first + i], moments)
        out[i] = moments


@partial(compiled, allocates=True, compile_first=True)
def all_flops(flops: Any, turn_of: Any, turn_suiting: Any, turns: Any, out: Any) -> None:
    """Write the moments of the flops as means over their turns: float32[1755, 1326, 2]."""
    board = np.empty(4, np.int64)
    for i in range(len(flops)):
        out[i] = 0.0
        shown = card_set(flops[i], 3)
        for k in range(3):
            board[k] = flops[i, k]
        for card in range(52):
            board[3] = card
            if card_set(board[3:], 1) & shown:
                continue
            number = board_number(board, 4)
            row, suiting = turn_of[number], SUITINGS[turn_suiting[number]]
            for h in range(len(HOLDINGS)):
                there = renamed_hand(h, suiting)
                if turns[row, there, 0] >= 0.0:
                    out[i, h, 0] += turns[row, there, 0] / 47.0
                    out[i, h, 1] += turns[row, there, 1] / 47.0


def boards_without_suits(count: int) -> tuple[NDArray[np.int64], NDArray[np.int16], NDArray[np.int8]]:
    """Return the boards of 3 or 4 cards that differ: int64[N, count]; the row of each board, and its renaming."""
    boards = np.array(list(combinations(range(52), count)), np.int64)
    renamed = np.sort(boards[:, None] & ~3 | SUITINGS.T[boards & 3].transpose(0, 2, 1), axis=2)
    numbers = renamed @ (52 ** np.arange(count)[::-1])
    suiting, least = numbers.argmin(axis=1), numbers.min(axis=1)
    _, at, rows = np.unique(least, return_index=True, return_inverse=True)
    places = np.array([board_number(board, count) for board in boards])
    row_of, suiting_of = np.empty(len(boards), np.int16), np.empty(len(boards), np.int8)
    row_of[places], suiting_of[places] = rows.ravel(), suiting
    return renamed[at, suiting[at]], row_of, suiting_of


@partial(compiled, compile_first=True)
def write_worth(tables: Any, board: Any, count: int, out: Any) -> None:
    """Write what every hand of `HOLDINGS` is worth on a flop or turn: uint8[1326, 2], as in `EquityTables`."""
    number = board_number(board, count)
    row = tables.flop_of[number] if count == 3 else tables.turn_of[number]
    suiting = SUITINGS[tables.flop_suiting[number] if count == 3 else tables.turn_suiting[number]]
    worth = tables.flops[row] if count == 3 else tables.turns[row]
    for h in range(len(HOLDINGS)):
        there = renamed_hand(h, suiting)
        out[h, 0] = worth[there, 0]
        out[h, 1] = worth[there, 1]


def computed_worth(board: tuple[int, ...]) -> NDArray[np.uint8]:
    """Return the same for one flop or turn, without the tables: 0.1 s for a flop, 2 ms for a turn."""
    moments = np.zeros((len(HOLDINGS), 2))
    if len(board) == 4:
        turn_moments(np.array(board), moments)
        return _packed(moments)
    each = np.empty((len(HOLDINGS), 2))
    for card in sorted(set(range(52)) - set(board)):
        turn_moments(np.array([*board, card]), each)
        moments += np.maximum(0, each) / 47
    return _packed(moments)


def _packed(moments: NDArray[Any]) -> NDArray[np.uint8]:
    mean = np.clip(moments[..., 0], 0, 1)
    spread = np.sqrt(np.clip(moments[..., 1] - mean**2, 0, 0.25))
    return np.stack([np.rint(mean * 255), np.rint(spread * SPREAD)], axis=-1).astype(np.uint8)


def folder() -> Path:
    """Return the folder of the cache: ``PARLOUR_CACHE``, or ``parlour`` in the user's cache."""
    home = environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(environ.get("PARLOUR_CACHE") or Path(home) / "parlour")


def cached() -> list[Path]:
    """Return the files of the cache, of flops and turns."""
    return [folder() / f"holdem-{name}-{VERSION}.npy" for name in ("flops", "turns")]


@cache
def equity_tables() -> EquityTables:
    """Return the tables, from the cache or computed (two minutes of one core)."""
    flops, flop_of, flop_suiting = boards_without_suits(3)
    turns, turn_of, turn_suiting = boards_without_suits(4)
    files = cached()
    shapes = [(len(each), len(HOLDINGS), 2) for each in (flops, turns)]
    if all(file.is_file() for file in files):
        arrays = [np.load(file, mmap_mode="r", allow_pickle=False) for file in files]
        if all(array.shape == shape and array.dtype == np.uint8 for array, shape in zip(arrays, shapes, strict=True)):
            of_flops, of_turns = (np.array(each) for each in arrays)
            return EquityTables(flop_of, flop_suiting, of_flops, turn_of, turn_suiting, of_turns)
    moments, flop_moments = np.empty(shapes[1], np.float32), np.empty(shapes[0], np.float32)
    for first in range(0, len(turns), 64):  # in parts, so that Ctrl-C is heard
        all_turns(turns, first, moments[first : first + 64])
    all_flops(flops, turn_of, turn_suiting, moments, flop_moments)
    packed = [_packed(flop_moments), _packed(moments)]
    for file, array in zip(files, packed, strict=True):
        file.parent.mkdir(parents=True, exist_ok=True)
        part = file.with_suffix(".part")
        with open(part, "wb") as stream:
            np.save(stream, array)
        part.replace(file)
    return EquityTables(flop_of, flop_suiting, packed[0], turn_of, turn_suiting, packed[1])


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
def place_of(edges: Any, equity: float) -> int:
    """Return the number of the rising edges that are at most `equity`."""
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
            at = place_of(edges, equity[h] if count == 5 else worth[h, 0] / 255.0)
            out[h] = first + at
            if count < 5:
                out[h] = 2 * out[h] + (worth[h, 1] / SPREAD >= buckets.spreads[count - 3][at])


DIGEST = 3472231984
"""A checksum of the buckets of all hands on some boards, which a test computes: files with another one are refused."""


def rows_of(buckets: Buckets) -> NDArray[np.int64]:
    """Return the number of buckets of each street: int64[4]."""
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
