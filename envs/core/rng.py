"""A random stream inside the record: one unsigned 64-bit word, advanced by SplitMix64.

All random events of a table are drawn from the field ``stream`` (``uint64``) of its record. A copy of the record draws
the same events. SplitMix64 is Steele, Lea and Flood, "Fast splittable pseudorandom number generators", OOPSLA 2014.
"""

from collections.abc import Sequence
from operator import index
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from .compiled import compiled
from .counted import counted

GOLDEN = np.uint64(0x9E3779B97F4A7C15)
_MIX1 = np.uint64(0xBF58476D1CE4E5B9)
_MIX2 = np.uint64(0x94D049BB133111EB)


@compiled
def mix(word: Any) -> Any:
    """Scramble a 64-bit counter into 64 random bits (the output function of SplitMix64)."""
    word = (word ^ (word >> np.uint64(30))) * _MIX1
    word = (word ^ (word >> np.uint64(27))) * _MIX2
    return word ^ (word >> np.uint64(31))


@compiled
def fraction(word: Any) -> float:
    """Return 64 random bits as a float in [0, 1): the upper 53 of them."""
    return np.float64(word >> np.uint64(11)) * 2.0**-53


@compiled
def draw(table: Any, n: int) -> int:
    """Draw a whole number from 0 to `n` − 1 from the record's stream (1 ≤ n < 2³¹; bias below n / 2³²)."""
    table.stream = table.stream + GOLDEN
    high = mix(table.stream) >> np.uint64(32)
    return np.int64((high * np.uint64(n)) >> np.uint64(32))  # type: ignore[return-value]


@compiled
def uniform(table: Any) -> float:
    """Draw a float from [0, 1) from the record's stream (53 random bits)."""
    table.stream = table.stream + GOLDEN
    return fraction(mix(table.stream))


LONG_MASK = 32
"""The length of a mask from which `choose` tries one random index before it counts the legal ones."""


@compiled
def choose(mask: Any, least: int, bits: Any) -> int:
    """Choose an index from `least` up whose `mask` (int8[A]) is 1, uniformly, by 64 random bits; A if there is none.

    In a short mask the search has no branches, because the processor would mispredict random ones. In a long mask most
    entries are usually 1, so one random try often saves the search, which there costs more than a misprediction.
    """
    long = len(mask) - least >= LONG_MASK
    if long:
        low = bits & np.uint64(0xFFFFFFFF)
        first = least + np.int64((low * np.uint64(len(mask) - least)) >> np.uint64(32))
        if mask[first]:
            return int(first)
    count = np.int64(0)  # without the compiler a sum of int8 would end at 127
    for number in range(least, len(mask)):
        count += mask[number]
    pick = np.int64(((bits >> np.uint64(32)) * np.uint64(count)) >> np.uint64(32))
    chosen = least
    for number in range(least, len(mask)):
        pick -= mask[number]
        if long and pick < 0:
            break
        chosen += pick >= 0
    return chosen


@compiled
def draw_legal(masks: Any, words: Any, out: Any) -> None:
    """Draw a legal index for each of `masks` (int8[N, A]) from the stream ``words[0]``, into `out` (int64[N])."""
    for i in range(len(masks)):
        words[0] += GOLDEN
        out[i] = choose(masks[i], 0, mix(words[0]))


def streams(seed: int | Sequence[int] | None, count: int) -> NDArray[np.uint64]:
    """Make the first words of `count` independent streams.

    Args:
        seed: one non-negative seed for all, from which each table gets its own stream (the first table's is the same
            for every `count`); or one seed per table; or None for entropy from the operating system.
        count: how many streams.

    Returns:
        uint64[count].

    Raises:
        ValueError: if there are not `count` seeds, or one is negative or not a whole number.
    """
    if np.ndim(seed) == 0:  # type: ignore[arg-type]
        return _words(None if seed is None else _entropy(seed), count)
    seeds = cast("Sequence[int]", seed)
    if len(seeds) != count:
        raise ValueError(
            f"{counted(len(seeds), 'seeds')} for {counted(count, 'tables')}; give one seed, or one per table"
        )
    return np.array([_words(_entropy(one), 1)[0] for one in seeds], np.uint64)


def _words(entropy: int | None, count: int) -> NDArray[np.uint64]:
    return np.random.SeedSequence(entropy).generate_state(count, np.uint64).astype(np.uint64, copy=False)


def _entropy(seed: Any) -> int:
    try:
        entropy = -1 if isinstance(seed, bool) else index(seed)
    except TypeError:
        entropy = -1
    if entropy < 0:
        raise ValueError(f"seed {seed!r} is not a whole number from 0 up")
    return entropy
