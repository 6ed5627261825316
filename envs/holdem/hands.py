"""Hand ranking: one integer per hand, in the standard order of poker hands; and the equity of a hand by sampling.

A card is a whole number from 0 to 51, ``4 * rank + suit``: ranks from 0 (two) to 12 (ace), suits in the order c d h s.
A set of cards is one int64 with the bits ``16 * suit + rank``; ``|`` is the union of two sets.
"""

from functools import cache
from typing import Any

import numpy as np

from ..core.compiled import compiled
from ..core.plain_python import constant
from ..core.rng import GOLDEN, mix

RANKS = "23456789TJQKA"
SUITS = "cdhs"

HIGH_CARD, PAIR, TWO_PAIR, THREE_OF_A_KIND, STRAIGHT, FLUSH, FULL_HOUSE, FOUR_OF_A_KIND, STRAIGHT_FLUSH = range(9)

_SUIT = 0x1FFF  # the thirteen ranks of one suit
_COUNT = constant([ranks.bit_count() for ranks in range(_SUIT + 1)], np.int8)
_NAMES = ["Two", "Three", "Four", "Five", "Six", "Seven", "Eight", "Nine", "Ten", "Jack", "Queen", "King", "Ace"]
_DESCRIPTIONS = (
    "High Card, {high}",
    "Pair of {highs}",
    "Two Pair, {highs} and {lows}",
    "Three of a Kind, {highs}",
    "Straight, {high}-high",
    "Flush, {high}-high",
    "Full House, {highs} over {lows}",
    "Four of a Kind, {highs}",
    "Straight Flush, {high}-high",
)


def card_name(card: int) -> str:
    """Name a card: 51 is ``"As"``.

    Raises:
        ValueError: if `card` is not from 0 to 51.
    """
    if not 0 <= card < 52:
        raise ValueError(f"card {card} does not exist; cards are 0 (2c) to 51 (As)")
    return RANKS[card // 4] + SUITS[card % 4]


def card_number(name: str) -> int:
    """Number a card: ``"As"`` is 51.

    Raises:
        ValueError: if `name` is not a rank of `RANKS` followed by a suit of `SUITS`.
    """
    if len(name) != 2 or name[0] not in RANKS or name[1] not in SUITS:
        raise ValueError(f"card {name!r} does not exist; write a rank of {RANKS} and a suit of {SUITS}, such as 'As'")
    return 4 * RANKS.index(name[0]) + SUITS.index(name[1])


@compiled
def _bit(card: Any) -> Any:
    """Make the set of one card."""
    return np.int64(1) << 16 * (np.int64(card) & 3) + (np.int64(card) >> 2)


@compiled
def card_set(cards: Any, count: int) -> int:
    """Gather the first `count` cards of `cards` (integers, each from 0 to 51) into a set (int64)."""
    held = 0
    for i in range(count):
        held |= _bit(cards[i])
    return held


@compiled
def _top(ranks: int, count: int) -> int:
    """Keep the `count` highest of `ranks`."""
    while _COUNT[ranks] > count:
        ranks &= ranks - 1
    return ranks


@compiled
def _straight(ranks: int) -> int:
    """Find the highest card of the best straight in `ranks`; no bit if there is none."""
    from_ace = ranks << 1 | ranks >> 12  # the ace also counts below the two
    return _top(from_ace & from_ace >> 1 & from_ace >> 2 & from_ace >> 3 & from_ace >> 4, 1) << 3


@compiled
def _flush(held: int) -> int:
    """Find the ranks of the suit that has five cards or more; no bit if there is none."""
    for suit in range(4):
        ranks = held >> 16 * suit & _SUIT
        if _COUNT[ranks] >= 5:
            return ranks
    return 0


@compiled
def _code(category: int, made: int, kickers: int) -> int:
    """Join a category and two sets of ranks. Sets compare as the hands do: the highest differing rank decides."""
    return category << 26 | made << 13 | kickers


@compiled
def set_strength(held: int) -> int:
    """Rank the best hand of up to five cards within a set of 2 to 7 cards, by the standard ranking of poker hands.

    Fewer than five cards are ranked as they are: high card, pair, two pair, three or four of a kind.

    Args:
        held: the cards, a union of sets made by `card_set` (int64).

    Returns:
        An integer from 0 to 2**30 − 1: the higher one wins, equal ones tie. `category` and `describe` decode it.
    """
    clubs, diamonds, hearts, spades = held & _SUIT, held >> 16 & _SUIT, held >> 32 & _SUIT, held >> 48
    minor, major = clubs | diamonds, hearts | spades
    once = minor | major
    twice = minor & major | clubs & diamonds | hearts & spades
    thrice = clubs & diamonds & major | hearts & spades & minor
    four = clubs & diamonds & hearts & spades
    flush = _flush(held)
    if flush:
        run = _straight(flush)
        if run:
            return _code(STRAIGHT_FLUSH, run, 0)
    if four:
        return _code(FOUR_OF_A_KIND, four, _top(once ^ four, 1))
    three = _top(thrice, 1)
    if three and twice != three:
        return _code(FULL_HOUSE, three, _top(twice ^ three, 1))
    if flush:
        return _code(FLUSH, 0, _top(flush, 5))
    run = _straight(once)
    if run:
        return _code(STRAIGHT, run, 0)
    if three:
        return _code(THREE_OF_A_KIND, three, _top(once ^ three, 2))
    pairs = _top(twice, 2)
    if pairs & (pairs - 1):
        return _code(TWO_PAIR, pairs, _top(once ^ pairs, 1))
    if pairs:
        return _code(PAIR, pairs, _top(once ^ pairs, 3))
    return _code(HIGH_CARD, 0, _top(once, 5))


@compiled
def strength(cards: Any, count: int) -> int:
    """Rank the best hand within the first `count` (2 to 7) of `cards` (integers, each from 0 to 51, no two equal).

    Returns:
        As `set_strength`: higher wins, equal ties.
    """
    return set_strength(card_set(cards, count))


@compiled
def pocket_strength(first: int, second: int) -> int:
    """Rank two hole cards, as `set_strength` does but faster: most decisions are before the flop."""
    high, low = 1 << (int(first) >> 2), 1 << (int(second) >> 2)
    return _code(PAIR, high, 0) if high == low else _code(HIGH_CARD, 0, high | low)


@compiled
def category(strength: int) -> int:
    """Return the category of a strength: 0 high card, 1 pair, … 8 straight flush (a royal flush is one)."""
    return strength >> 26


@cache
def describe(strength: int) -> str:
    """Return the name of a strength: ``"Two Pair, Aces and Kings"``, ``"Straight, Ten-high"``, ``"Royal Flush"``.

    Raises:
        ValueError: if `strength` was not returned by `strength` or `set_strength` for two cards or more.
    """
    code = int(strength)
    ranks = [rank for ranks in (code >> 13, code) for rank in range(12, -1, -1) if ranks >> rank & 1]
    if not (0 <= category(code) < len(_DESCRIPTIONS) and ranks):
        raise ValueError(f"{strength} is not the strength of a hand; give a value that strength(cards, count) returned")
    if category(code) == STRAIGHT_FLUSH and ranks[0] == 12:
        return "Royal Flush"
    high, low = _NAMES[ranks[0]], _NAMES[ranks[min(1, len(ranks) - 1)]]
    return _DESCRIPTIONS[category(code)].format(high=high, highs=_plural(high), lows=_plural(low))


def _plural(name: str) -> str:
    return name + ("es" if name == "Six" else "s")


@compiled
def _deal(taken: int, count: int, stream: Any) -> Any:
    """Add `count` random cards that are not in `taken`; return the larger set and the advanced stream."""
    while count > 0:
        stream = stream + GOLDEN
        # Rejection is faster than a shuffle: it needs no deck, and few cards are taken.
        card = _bit((mix(stream) >> np.uint64(32)) * np.uint64(52) >> np.uint64(32))
        if not taken & card:
            taken |= card
            count -= 1
    return taken, stream


@compiled
def equity(hole: Any, board: Any, board_count: int, opponents: int, samples: int, seed: Any) -> float:
    """Estimate the share of the pot that a hand wins at showdown against random hands, ties split (Monte Carlo).

    The standard error is at most 0.5 / sqrt(`samples`).

    Args:
        hole: integer[2], the hand.
        board: integer[≥ `board_count`], the community cards; none of them in `hole`.
        board_count: the number of open cards in `board`, 0 to 5.
        opponents: the number of random hands, 0 to 22.
        samples: the number of sampled showdowns, 1 or more.
        seed: uint64; the same seed gives the same estimate.

    Returns:
        float from 0 to 1.

    Raises:
        ZeroDivisionError: if `samples` is 0.
    """
    mine, shown, stream = card_set(hole, 2), card_set(board, board_count), np.uint64(seed)
    total = 0.0
    for _ in range(samples):
        taken, stream = _deal(mine | shown, 5 - board_count, stream)
        common, best, winners = taken ^ mine, set_strength(taken), 1
        for _ in range(opponents):
            before = taken
            taken, stream = _deal(before, 2, stream)
            theirs = set_strength(common | taken ^ before)
            if theirs > best:
                winners = 0
                break
            winners += theirs == best
        if winners:
            total += 1.0 / winners
    return total / samples
