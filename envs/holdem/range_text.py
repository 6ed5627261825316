"""Ranges of hole cards as options: standard text such as ``"AA,KQs:0.5,T9o+"``, or weights of all 1,326 hands.

The text is read by PokerKit (the extra `phh`).
"""

from collections.abc import Sequence
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..core.installed import install
from ..core.options import number
from .hands import card_number
from .ranges import HOLDINGS

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
