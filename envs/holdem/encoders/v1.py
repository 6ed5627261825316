"""The observation, version 1: that of version 0, with suits in an order of their own, and with what cards are worth.

Suits are interchangeable in poker. The observation names them by what they hold, so that hands which differ in the
names of the suits alone look the same. The further numbers are those that players count: the hands that are worse or
better, what they are, what the next card can make, and the price of a call.
"""

from dataclasses import replace
from typing import Any

from ...core.compiled import compiled
from ...core.encoder import Encoder
from ...core.layout import Layout, Slice, shares
from ..hands import _COUNT, _SUIT, RANKS, card_set, set_strength
from . import v0
from .v0 import CATEGORIES, CATEGORY_NAMES

CARDS = tuple(f"{rank} of suit {suit}" for rank in RANKS for suit in range(4))
"""The cards in the order of the observation's indices."""
CARD_SLICES = ("game_state.board", "game_state.players.cards")
COMPARED = ("worse", "equal", "better")


def encoder(table: Any) -> Encoder:
    """Return the encoder for the options of `table`."""
    return Encoder(Layout(slices(table)), observe)


def slices(table: Any) -> list[Slice]:
    """Return the slices of the observation for the options of `table`."""
    return [
        *(own_suits(each) if each.path in CARD_SLICES else each for each in v0.slices(table)),
        shares(
            "strength.others",
            (3,),
            "shares of the pairs of cards that another player can hold, by the board so far; before the flop all 0",
            axes=(COMPARED,),
        ),
        shares(
            "strength.categories",
            (CATEGORIES,),
            "of the same pairs, shares by category; before the flop all 0",
            axes=(CATEGORY_NAMES,),
        ),
        shares(
            "strength.next",
            (CATEGORIES,),
            "shares of the next card of the board by the own category that it makes; flop and turn only",
            axes=(CATEGORY_NAMES,),
        ),
        shares("odds.call", (1,), "own turn only: chips to call / (pot + chips to call)"),
        shares(
            "odds.stack",
            (1,),
            "chips that can still be won or lost / (pot + these chips): the observer's stack, or the largest of the "
            "other players' stacks that have not folded, if that is smaller",
        ),
    ]


def own_suits(cards: Slice) -> Slice:
    """Return the slice of the same cards with suits in the order of `suit_place`."""
    axes = *cards.axes[:-1], CARDS
    return replace(cards, meaning=f"{cards.meaning}; suits by their cards, the first has the highest", axes=axes)


@compiled
def observe(table: Any, seat: int, at: Any, out: Any) -> None:
    """Write what `seat` may know into `out` (float32[layout.size])."""
    v0.observe(table, seat, at, out)
    for card in range(v0.DECK):
        out[at.board + card] = 0
        out[at.players_cards + card] = 0
    for i in range(table.board_count):
        out[at.board + renamed(table, seat, table.board[i])] = v0.street_mark(i)
    if table.cards[seat, 0] >= 0:
        for i in range(2):
            out[at.players_cards + renamed(table, seat, table.cards[seat, i])] = 1
        if table.board_count > 0:
            mine = card_set(table.cards[seat], 2)
            _observe_others(mine, table.board_set, at.strength_others, at.strength_categories, out)
            if table.board_count < 5:
                _observe_next(mine | table.board_set, at.strength_next, out)
    _observe_odds(table, seat, at, out)


@compiled
def renamed(table: Any, seat: int, card: Any) -> int:
    """Return the place of a card in the observation of `seat`."""
    return 4 * (int(card) >> 2) + suit_place(table, seat, int(card) & 3)


@compiled
def suit_place(table: Any, seat: int, suit: int) -> int:
    """Return the place of a suit, 0 to 3: by the observer's cards, then flop, turn and river, high cards first.

    Suits with the same cards in each are interchangeable.
    """
    mine, place = _key(table, seat, suit), 0
    for other in range(4):
        key = _key(table, seat, other)
        place += key > mine or (key == mine and other < suit)
    return place


@compiled
def _key(table: Any, seat: int, suit: int) -> int:
    """Return the ranks that a suit has in the observer's cards, on the flop, the turn and the river: 13 bits each."""
    key = 0
    for i in range(2):
        if table.cards[seat, i] >= 0 and table.cards[seat, i] & 3 == suit:
            key |= 1 << 39 + (table.cards[seat, i] >> 2)
    for i in range(table.board_count):
        if table.board[i] & 3 == suit:
            key |= 1 << 13 * min(2, 4 - i) + (table.board[i] >> 2)
    return key


@compiled
def _observe_others(mine: int, shown: int, others: int, categories: int, out: Any) -> None:
    """Write how many of the pairs that another player can hold are worse, equal and better, and their categories.

    One pair stands for all pairs of the same ranks. If the board has three cards or more of a suit, it stands for those
    that have the same of their cards in this suit.
    """
    ours, total = set_strength(mine | shown), 0
    flush = 0  # the suit, as a bit
    for suit in range(4):
        if _COUNT[shown >> 16 * suit & _SUIT] >= 3:
            flush = 1 << suit
    for high in range(13):
        for low in range(high + 1):
            for split in range(4 if flush else 1):
                high_suits = _suits_left(mine | shown, high) & (flush if split & 1 else ~flush)
                low_suits = _suits_left(mine | shown, low) & (flush if split & 2 else ~flush)
                count = _COUNT[high_suits] * _COUNT[low_suits]
                if high == low:
                    if split == 0:
                        count = _COUNT[high_suits] * (_COUNT[high_suits] - 1) // 2
                        low_suits ^= high_suits & -high_suits
                    elif split != 1:  # the same pairs as split 1; the suit has only one card of a rank
                        count = 0
                if count > 0:
                    theirs = set_strength(shown | _lowest(high_suits, high) | _lowest(low_suits, low))
                    out[others + (theirs >= ours) + (theirs > ours)] += count
                    out[categories + (theirs >> 26)] += count
                    total += count
    for i in range(3):
        out[others + i] /= total
    for i in range(CATEGORIES):
        out[categories + i] /= total


@compiled
def _observe_next(taken: int, start: int, out: Any) -> None:
    """Write the shares of the next card by the category that it makes with the cards `taken`."""
    total = 0
    for suit in range(4):
        for rank in range(13):
            card = 1 << 16 * suit + rank
            if taken & card == 0:
                out[start + (set_strength(taken | card) >> 26)] += 1
                total += 1
    for i in range(CATEGORIES):
        out[start + i] /= total


@compiled
def _suits_left(taken: int, rank: int) -> int:
    """Return the suits in which the card of a rank is not taken, as bits."""
    left = ~taken >> rank
    return (left & 1) | (left >> 15 & 2) | (left >> 30 & 4) | (left >> 45 & 8)


@compiled
def _lowest(suits: int, rank: int) -> int:
    """Return the set of the card of a rank in the lowest of these suits."""
    return 1 << 16 * _COUNT[(suits & -suits) - 1] + rank


@compiled
def _observe_odds(table: Any, seat: int, at: Any, out: Any) -> None:
    if table.turn == seat and table.to_call > 0:
        out[at.odds_call] = table.to_call / (table.pot + table.to_call)
    largest = 0
    for other in range(table.seats):
        if other != seat and table.seated[other] and not table.folded[other]:
            largest = max(largest, table.stack[other])
    left = min(largest, table.stack[seat])
    if left > 0:
        out[at.odds_stack] = left / (table.pot + left)
