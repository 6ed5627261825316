"""Cards that are given instead of drawn: ``env.reset(options={"cards": …, "board": …})``."""

from collections.abc import Mapping, Sequence
from typing import Any

from ..core.options import listed
from .hands import card_number
from .table import PREFLOP

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
