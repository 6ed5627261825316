"""Hands that begin on a later street, with a given board and given ranges of hole cards.

Before the street on which a hand begins, every seat posts ante and blinds and calls. These calls are not decisions, and
are not in the history. The hole cards are drawn from the ranges: all hands that share no card are dealt with a
probability in proportion to the product of their weights.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import permutations, product
from typing import Any, cast

import numba
import numpy as np
from numpy.typing import NDArray

from ..core.capabilities import Chance
from ..core.options import listed
from ..core.rng import uniform
from . import rules
from .hands import card_number
from .ranges import HOLDINGS, Weights
from .table import PREFLOP

njit: Any = numba.njit

MOST_DEALS = 10_000
"""The most deals of a game whose random events are enumerated."""


MOST_STARTS = 64
"""How many starts keep their compiled functions, for the next game with the same options."""


@dataclass(frozen=True, eq=False)
class Start:
    """How every hand begins. See `start_of`.

    Attributes:
        phase: the street of the first decision, as in the record.
        board: the first cards of the board; the others are drawn.
        ranges: for every seat the weights of the 1,326 hands, or None: all cards are as likely.
    """

    phase: int
    board: tuple[int, ...]
    ranges: tuple[Weights | None, ...]

    def hands(self, seat: int) -> NDArray[np.int64]:
        """Return the hands of a seat that have a weight and share no card with the board: indices of `HOLDINGS`."""
        free = ~np.isin(HOLDINGS, self.board).any(axis=1)
        weights = self.ranges[seat]
        return np.flatnonzero(free if weights is None else free & (weights > 0))

    def can_be_dealt(self) -> bool:
        """Tell whether there are hands for all seats with a range that share no card."""
        each = [self.hands(seat) for seat, weights in enumerate(self.ranges) if weights is not None]
        return _fit([HOLDINGS[hands] for hands in sorted(each, key=len)], frozenset())

    def deals(self) -> tuple[NDArray[np.int8], NDArray[np.float64]] | None:
        """Return every deal, int8[D, 2 * seats + 5] (hole cards and board), and its probability, float64[D].

        Returns:
            None if there may be more than `MOST_DEALS`.
        """
        each = [self.hands(seat) for seat in range(len(self.ranges))]
        missing, left = 5 - len(self.board), 52 - len(self.board) - 2 * len(self.ranges)
        most = float(np.prod([float(len(hands)) for hands in each])) * np.prod([left - k for k in range(missing)])
        if most > MOST_DEALS:
            return None
        cards, weights = [], []
        for dealt in product(*each):
            held = HOLDINGS[list(dealt)].ravel().tolist()
            if len(set(held)) < len(held):
                continue
            weight = np.prod([1.0 if w is None else w[h] for w, h in zip(self.ranges, dealt, strict=True)])
            rest = [card for card in range(52) if card not in held and card not in self.board]
            for opened in permutations(rest, missing):
                cards.append([*held, *self.board, *opened])
                weights.append(weight)
        return np.array(cards, np.int8), np.array(weights) / np.sum(weights)


@lru_cache(MOST_STARTS)
def start_of(phase: int, board: tuple[int, ...], ranges: tuple[bytes | None, ...]) -> Start:
    """Return the start with these attributes, the ranges as the bytes of their weights; the same one if asked again."""
    return Start(phase, board, tuple(None if each is None else np.frombuffer(each) for each in ranges))


def _fit(ranges: list[NDArray[np.int8]], taken: frozenset[int]) -> bool:
    """Tell whether each of these ranges has a hand, none sharing a card with another or with `taken`."""
    if not ranges:
        return True
    return any(not taken.intersection(hand) and _fit(ranges[1:], taken.union(hand)) for hand in ranges[0].tolist())


@lru_cache(MOST_STARTS)
def reset_from(start: Start) -> Callable[[Any], None]:
    """Return the `reset` of a game with this start. It is compiled once in every process."""
    phase, board = start.phase, np.array(start.board, np.int64)
    opened = sum(1 << card for card in start.board)
    ranged = np.array([seat for seat, weights in enumerate(start.ranges) if weights is not None], np.int64)
    each = [start.hands(seat) for seat in ranged.tolist()]
    first = np.cumsum([0, *map(len, each)])
    hands = HOLDINGS[np.concatenate([np.zeros(0, np.int64), *each])]
    weights = [cast(Weights, start.ranges[seat])[of] for seat, of in zip(ranged.tolist(), each, strict=True)]
    below = np.concatenate([np.zeros(0), *(np.cumsum(one) / one.sum() for one in weights)])

    def reset_on_street(table: Any) -> None:
        rules.open_episode(table)
        rules.open_hand(table)
        used, fits = 0, False
        while not fits:  # rejection: hands that share no card, by the product of their weights
            used, fits = opened, True
            for k in range(len(ranged)):
                low, high, drawn = first[k], first[k + 1] - 1, uniform(table)
                while low < high:  # the first hand of the range up to which more than `drawn` of the weight is
                    middle = (low + high) // 2
                    if below[middle] > drawn:
                        high = middle
                    else:
                        low = middle + 1
                hand = rules.card_bits(hands[low], 2)
                fits = fits and used & hand == 0
                used |= hand
                table.cards[ranged[k], 0], table.cards[ranged[k], 1] = hands[low, 0], hands[low, 1]
        rules.deal_rest(table, used, ranged, board)
        for card in range(52):  # in order, as `Chance` leaves it
            table.deck[card] = card
        rules.begin_on_street(table, phase)

    return cast(Callable[[Any], None], njit(reset_on_street))


@lru_cache(MOST_STARTS)
def chance_of(start: Start) -> Chance | None:
    """Return the capability `Chance`: one random event that deals all cards; None if there are too many deals."""
    all_deals = start.deals()
    if all_deals is None:
        return None
    deals, likely = all_deals
    phase = start.phase

    def begin(table: Any) -> None:
        rules.open_episode(table)
        rules.open_hand(table)
        table.turn = -1
        table.done = False
        for seat in range(table.seats):
            table.cards[seat, 0] = -1
            table.cards[seat, 1] = -1
        table.board[:] = -1
        for card in range(52):
            table.deck[card] = card

    def outcomes(table: Any) -> int:
        return 0 if table.turn >= 0 or table.done else len(deals)

    def deal(table: Any, outcome: int) -> None:
        for seat in range(table.seats):
            for k in range(2):
                table.cards[seat, k] = deals[outcome, 2 * seat + k]
        for k in range(5):
            table.board[k] = deals[outcome, 2 * table.seats + k]
        rules.begin_on_street(table, phase)

    def probability(table: Any, outcome: int) -> float:
        return float(likely[outcome])

    return Chance(
        begin=njit(begin),
        step=rules.step,
        outcomes=njit(outcomes),
        play=njit(deal),
        probability=njit(probability),
    )


NAMES = ("cards", "board")


def set_cards(table: Any, options: Mapping[str, Any]) -> None:
    """Give a hand just dealt these cards, in place; the others are drawn from what is left of the deck.

    Args:
        table: the record, before its first action.
        options: ``cards``: for every seat two cards such as ``["As", "Kd"]``, or None: drawn. ``board``: up to five
            cards in the order in which they are opened. Both may be left out.

    Raises:
        ValueError: if a card does not exist or is given twice, or their number is wrong.
    """
    if table.phase != PREFLOP or table.last_seat >= 0:
        raise ValueError("cards are given before the first action of a hand")
    seats = int(table.seats)
    hands = _hands(options.get("cards"), [bool(seated) for seated in table.seated[:seats]])
    board = [] if options.get("board") is None else _numbers("board", options["board"], range(6))
    given = [card for hand in (*hands, board) for card in hand]
    twice = {card for card in given if given.count(card) > 1}
    if twice:
        raise ValueError(f"cards={options.get('cards')}, board={options.get('board')}: a card is given twice")
    left = iter([int(card) for card in table.deck if card not in given])
    dealt = [card for hand in hands for card in (hand or [next(left), next(left)])]
    dealt += [*board, *(next(left) for _ in range(5 - len(board)))]
    table.deck[:] = [*dealt, *left]
    for seat in range(seats):
        if table.seated[seat]:
            table.cards[seat] = dealt[2 * seat : 2 * seat + 2]
    table.board[:] = dealt[2 * seats :]


def refuse(table: Any, options: Mapping[str, Any]) -> None:
    """Refuse cards in a game whose options say how hands begin.

    Raises:
        ValueError: always.
    """
    raise ValueError("the game's options start, board and ranges say which cards are dealt: give cards there")


def _hands(cards: Any, seated: Sequence[bool]) -> list[list[int]]:
    """Return the cards of every seat as numbers; none where they are drawn."""
    if cards is None:
        return [[] for _ in seated]
    if not listed(cards) or len(cards) != len(seated):
        raise ValueError(f"cards={cards!r}: give two cards, or None, for each of the {len(seated)} seats")
    hands = [[] if hand is None else _numbers("cards", hand, (2,)) for hand in cards]
    for seat, (hand, playing) in enumerate(zip(hands, seated, strict=True)):
        if hand and not playing:
            raise ValueError(f"cards={cards!r}: seat {seat} is empty, and has no cards")
    return hands


def _numbers(option: str, names: Any, counts: Sequence[int]) -> list[int]:
    """Return cards by their names as numbers."""
    if not listed(names) or len(names) not in counts:
        many = "two" if len(counts) == 1 else "up to five"
        raise ValueError(f"{option}={names!r}: give {many} cards such as ['As', 'Kd']")
    return [card_number(str(name)) for name in names]
