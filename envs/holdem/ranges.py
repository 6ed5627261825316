"""Ranges: all 1,326 pairs of hole cards, the observation with each of them, and their equity."""

from collections.abc import Sequence
from functools import cache, partial
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..core.compiled import compiled
from ..core.encoder import Encoder
from ..core.installed import install
from ..core.loops import compile_loop
from ..core.options import number
from ..core.plain_python import constant
from ..core.record import Tables
from .hands import _bit, _deal, card_number, card_set, set_strength

HOLDINGS = constant(list(combinations(range(52), 2)), np.int8)
"""Every pair of hole cards, int8[1326, 2]."""


@compiled
def possible(holdings: Any, known: Any, count: int, out: Any) -> None:
    """Write into bool[H] `out` which of `holdings` (int8[H, 2]) share no card with the first `count` of `known`."""
    dead = card_set(known, count)
    for i in range(len(holdings)):
        out[i] = card_set(holdings[i], 2) & dead == 0


def observe_holdings(encoder: Encoder, tables: Tables, seat: int, holdings: NDArray[np.int8]) -> NDArray[np.float32]:
    """Return the observations of `seat` with each of `holdings` as its hole cards: float32[H, D].

    Args:
        encoder: the encoder of the observations.
        tables: one record, shape (1,). The cards of `seat` are overwritten; pass a copy.
        seat: the observer.
        holdings: int8[H, 2].
    """
    out = np.empty((len(holdings), encoder.layout.size), np.float32)
    loop = compile_loop(_observe_holdings, observe=encoder.observe)
    loop(tables, seat, holdings, encoder.layout.offsets, out)
    return out


observe: Any = None  # bound to the encoder's function by `compile_loop`


def _observe_holdings(tables: Any, seat: int, holdings: Any, offsets: Any, out: Any) -> None:
    table, at = tables[0], offsets[0]
    for i in range(len(holdings)):
        table.cards[seat, 0] = holdings[i, 0]
        table.cards[seat, 1] = holdings[i, 1]
        observe(table, seat, at, out[i])


@partial(compiled, allocates=True, compile_first=True)
def equities(hole: Any, board: Any, count: int, holdings: Any, samples: int, seed: Any, out: Any) -> None:
    """Write the share of the pot that `hole` wins at showdown against each of `holdings`, ties split.

    From the flop on, every run-out of the board counts; before the flop, `samples` random boards.

    Args:
        hole: int8[2].
        board: int8[≥ `count`].
        count: open cards: 0, 3, 4 or 5.
        holdings: int8[H, 2], none sharing a card with hole or board.
        samples: boards drawn before the flop.
        seed: uint64; the same seed gives the same boards.
        out: float64[H].
    """
    mine, shown = card_set(hole, 2), card_set(board, count)
    sets = np.empty(len(holdings), np.int64)
    for i in range(len(holdings)):
        sets[i] = card_set(holdings[i], 2)
    seen = np.zeros(len(holdings), np.int64)
    out[:] = 0
    for common in run_outs(mine | shown, shown, count, samples, seed):
        best = set_strength(common | mine)
        for i in range(len(sets)):
            if sets[i] & common == 0:
                seen[i] += 1
                theirs = set_strength(common | sets[i])
                out[i] += 1.0 if best > theirs else 0.5 if best == theirs else 0.0
    for i in range(len(sets)):
        out[i] /= max(1, seen[i])


@partial(compiled, allocates=True)
def run_outs(taken: int, shown: int, count: int, samples: int, seed: Any) -> Any:
    """Return the complete boards (card sets, int64) that can follow from `shown`, without the cards of `taken`."""
    if count == 5:
        return np.full(1, shown, np.int64)
    boards = np.empty(max(samples, 52 * 51 // 2), np.int64)
    size = 0
    if count < 3:
        stream = np.uint64(seed)
        for i in range(samples):
            full, stream = _deal(taken, 5 - count, stream)
            boards[i] = full ^ taken | shown
        return boards[:samples]
    for first in range(52):
        if taken & _bit(first) == 0:
            if count == 4:
                boards[size] = shown | _bit(first)
                size += 1
            else:
                for second in range(first):
                    if taken & _bit(second) == 0:
                        boards[size] = shown | _bit(first) | _bit(second)
                        size += 1
    return boards[:size]


Weights = NDArray[np.float64]
"""float64[1326]: the weight of every hand of `HOLDINGS`."""


def weights_of(option: Any) -> Weights:
    """Return the weights of a range.

    Args:
        option: text, parts of which may have a weight (``"AA,KQs:0.5"``); the last part that names a hand counts. Or
            1,326 weights, one per row of `parlour.envs.holdem.ranges.HOLDINGS`.

    Raises:
        ValueError: if it is no range, or no hand has a weight above 0.
        ImportError: for text, if PokerKit is not installed.
    """
    weights = _read(option) if isinstance(option, str) else _listed(option)
    if not weights.any():
        raise ValueError(f"ranges={option!r}: no hand has a weight above 0")
    return weights


def _listed(option: Any) -> Weights:
    if not isinstance(option, (Sequence, np.ndarray)) or len(option) != len(HOLDINGS):
        raise ValueError(f"ranges={option!r:.60}: a range is text such as 'AA,KQs:0.5', or {len(HOLDINGS):,} weights")
    return np.array([number("ranges", weight, 0, 1e9) for weight in option])


@cache
def _rows() -> dict[frozenset[int], int]:
    return {frozenset(hand): row for row, hand in enumerate(HOLDINGS.tolist())}


def _read(text: str) -> Weights:
    try:
        from pokerkit import parse_range
    except ImportError as error:
        raise ImportError(f"ranges as text need pokerkit: {install('phh')}") from error
    weights = np.zeros(len(HOLDINGS))
    for part in text.replace(";", " ").replace(",", " ").split():
        hands, colon, weight = part.partition(":")
        try:
            share = number("ranges", float(weight) if colon else 1.0, 0, 1e9)
            rows = [_rows()[frozenset(card_number(repr(card)) for card in hand)] for hand in parse_range(hands)]
        except (ValueError, KeyError) as error:
            raise ValueError(f"ranges={text!r}: {part!r} is no range such as 'AA', 'KQs:0.5' or 'T9o+'") from error
        weights[rows] = share
    return weights
