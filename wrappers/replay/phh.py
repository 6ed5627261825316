"""Hand histories in PHH (https://phh.readthedocs.io), read through PokerKit, as hands that replay. Needs ``pokerkit``.

No-limit Texas hold'em (variant ``NT``) with one ante for all and two blinds is read. Player p1 of PHH is seat 0, and
the last player has the button. Cards of players who fold may be unknown. Amounts with decimals, as at tables for money,
are read as whole numbers of hundredths: all of the hand's amounts then are.

An odd chip of a divided pot goes to another seat in some records than by our rules, and a short all-in reopens the
betting in some; such records are read.
"""

import re
from collections.abc import Iterator, Sequence
from decimal import Decimal
from math import isfinite
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
from pokerkit import HandHistory

from ...envs.holdem import rules
from ...envs.holdem.hands import RANKS, card_number
from ...envs.holdem.rules import Move
from ...envs.holdem.table import CALL, FOLD, KINDS, RAISE, SEATS
from .moment import Moment
from .poker_hands import replay_hand, table_of

MOST_CHIPS = 10**8
"""The largest stack that is read, in chips or in hundredths of them."""
AMOUNT = re.compile(r"\d{1,12}(\.\d{1,6})?", re.ASCII)
"""An amount in an action."""


def moments(path: str | PathLike[str]) -> Iterator[Moment]:
    """Return the moments of all hands of a file in order.

    Raises:
        OSError: if the file cannot be read.
        ValueError: if it holds no hand, or one that does not replay.
    """
    empty = True
    for number, history in enumerate(histories(path)):
        empty = False
        yield from replay_hand(hand_of(history, number + 1)[0], number)
    if empty:
        raise ValueError(f"{path} holds no hand")


def histories(path: str | PathLike[str]) -> Iterator[HandHistory]:
    """Return the hand histories of a ``.phh`` or ``.phhs`` file.

    Raises:
        ValueError: if it is no such file.
    """
    try:
        with Path(path).open("rb") as file:
            if Path(path).suffix.lower() == ".phhs":
                yield from HandHistory.load_all(file)
            else:
                yield HandHistory.load(file)
    except (AttributeError, IndexError, KeyError, TypeError, ValueError) as error:
        raise ValueError(f"{path} is no hand history in PHH: {error}") from None


def hand_of(history: HandHistory, number: int = 1) -> tuple[dict[str, Any], list[int]]:
    """Play a recorded hand, and return it as our table server logs hands, with the stacks at its end.

    Raises:
        ValueError: if it is another kind of poker, does not follow the rules, or ends with other stacks than recorded.
    """
    if not isinstance(history.actions, (list, tuple)):
        raise ValueError(f"hand {number}: actions is {history.actions!r}; give a list of texts")
    unit = 100 if _has_decimals(history) else 1
    stacks, antes, blinds = (_whole(values, unit) for values in (
        history.starting_stacks, history.antes, history.blinds_or_straddles,
    ))  # fmt: skip
    count = len(stacks)
    names = history.players or [f"p{seat + 1}" for seat in range(count)]
    for what, values in (("antes", antes), ("blinds_or_straddles", blinds), ("players", names)):
        if len(values) != count:
            raise ValueError(f"hand {number}: {what} has {len(values)} values, starting_stacks has {count}")
    if min(stacks, default=1) < 1:
        raise ValueError(f"hand {number}: a stack of {min(stacks)} chips; everybody at the table needs some")
    if max(stacks, default=0) > MOST_CHIPS:
        raise ValueError(f"hand {number}: a stack of {max(stacks)} chips; at most {MOST_CHIPS} can be read")
    if history.variant != "NT" or len(set(antes)) > 1 or not 2 <= count <= SEATS or any(blinds[2:]):
        found = f"{history.variant} for {count} with antes {antes} and blinds {blinds}"
        raise ValueError(f"hand {number}: {found}; what is read is NT for 2 to {SEATS} with equal antes and two blinds")
    small, big = blinds[:2]
    table: Any = table_of(small, big, antes[0]).tables(1)[0]
    table.stack[:count], table.dealer = stacks, count - 1
    words = _words(history.actions, count, unit, number)
    _check_shown(words, number)
    _check_cards(words, count, number)
    cards, board = _cards(words)
    rules.deal_known(table, cards, board)
    actions = _play(table, words, number)
    _check_known(table, number)
    if not table.done:
        raise ValueError(f"hand {number} stops before its end")
    last = [int(chips) for chips in table.stack[:count]]
    recorded = history.finishing_stacks
    if recorded is not None and not _but_for_odd_chips(_whole(recorded, unit), last, table):
        raise ValueError(f"hand {number} ends with the stacks {last}; recorded are {_whole(recorded, unit)}")
    players = [
        {"seat": seat, "name": names[seat], "stack": chips, "cards": _named(words, seat)}
        for seat, chips in enumerate(stacks)
    ]
    entry = {
        "hand": number, "small_blind": small, "big_blind": big, "ante": antes[0], "dealer": count - 1,
        "players": players, "actions": actions, "board": _board(words),
        "results": [{"seat": seat, "won": int(table.won[seat])} for seat in range(count)],
    }  # fmt: skip
    return entry, last


def _but_for_odd_chips(recorded: list[int], last: list[int], table: Any) -> bool:
    """Tell whether stacks are the same, or differ by who got the odd chips of divided pots."""
    if len(recorded) != len(last) or sum(recorded) != sum(last):
        return False
    moved = [(seat, abs(one - two)) for seat, (one, two) in enumerate(zip(recorded, last, strict=True)) if one != two]
    return all(table.won[seat] > 0 and chips < len(last) for seat, chips in moved)


def _has_decimals(history: HandHistory) -> bool:
    """Tell whether any amount is no whole number."""
    known = [history.starting_stacks, history.antes, history.blinds_or_straddles, history.finishing_stacks]
    amounts: list[Any] = [value for values in known if isinstance(values, (list, tuple)) for value in values]
    for line in history.actions:
        words = line.partition("#")[0].split() if isinstance(line, str) else []
        if words[1:2] == ["cbr"]:
            amounts += words[2:]
    return any("." in str(amount) and set(str(amount).partition(".")[2]) != {"0"} for amount in amounts)


def _words(lines: Sequence[Any], count: int, unit: int, number: int) -> list[list[str]]:
    """Return the words of the actions, amounts as whole numbers of `unit` to a chip; those without a word are left out.

    Raises:
        ValueError: for an action that PHH does not have, naming it.
    """
    found = []
    for place, line in enumerate(lines, 1):
        words = line.partition("#")[0].split() if isinstance(line, str) else [str(line)]
        if not words:
            continue
        problem = _problem(words, count)
        if problem:
            raise ValueError(f"hand {number}, action {place}, {line!r}: {problem}")
        if words[1] == "cbr":
            amount = Decimal(words[2]) * unit
            if amount != int(amount) or amount > MOST_CHIPS:
                raise ValueError(f"hand {number}, action {place}, {line!r}: give at most {MOST_CHIPS} and two decimals")
            words[2] = str(int(amount))
        found.append(words)
    return found


def _problem(words: list[str], count: int) -> str:
    """Return what is wrong with an action, or an empty text."""
    players = [f"p{seat + 1}" for seat in range(count)]
    match words:
        case ["d", "dh", player, cards]:
            fits = player in players and len(cards) == 4 and _are_cards(cards)
            return "" if fits else f"give one of {', '.join(players)} and two cards, such as AsKd or ????"
        case ["d", "db", cards]:
            return "" if len(cards) in (2, 6) and "?" not in cards and _are_cards(cards) else "give three cards, or one"
        case [player, "sm"] | [player, "sm", "-"] if player in players:
            return ""
        case [player, "sm", cards] if player in players:
            return "" if len(cards) == 4 and _are_cards(cards) else "give both cards that are shown, or -"
        case [player, "f" | "cc"] if player in players:
            return ""
        case [player, "cbr", amount] if player in players:
            return "" if AMOUNT.fullmatch(amount) else "give the amount as a number"
    return f"give d dh, d db, or one of {', '.join(players)} with f, cc, cbr AMOUNT or sm CARDS"


def _are_cards(text: str) -> bool:
    return all(card == "??" or (card[0] in RANKS and card[1:] in tuple("shdc")) for card in _pairs(text))


def _check_cards(words: Sequence[list[str]], count: int, number: int) -> None:
    """Refuse a card that lies in two places, and a board that is too large.

    Raises:
        ValueError: naming the card or the board.
    """
    board = _board(words)
    if len(board) > 5:
        raise ValueError(f"hand {number}: the board {' '.join(board)} has more than five cards")
    places: dict[str, str] = {}
    for place, cards in [
        ("the board", board),
        *((f"p{seat + 1}", _named(words, seat)) for seat in range(count)),
    ]:
        for card in cards:
            if card in places:
                raise ValueError(f"hand {number}: the card {card} is with {places[card]} and with {place}")
            places[card] = place


def _whole(values: Sequence[Any] | None, unit: int) -> list[int]:
    """Return amounts as whole numbers, `unit` to a chip."""
    values = values or ()
    if not isinstance(values, (list, tuple)):
        raise ValueError(f"{values!r} is no list of chips")
    if not all(type(value) in (int, Decimal, float) and isfinite(value) for value in values):
        raise ValueError(f"{list(values)} are not all amounts of chips")
    amounts = [Decimal(str(value)) * unit for value in values]
    if any(amount != int(amount) for amount in amounts):
        raise ValueError(f"{list(values)} are not all whole chips, or hundredths of them")
    return [int(amount) for amount in amounts]


def _pairs(text: str) -> list[str]:
    return [text[i : i + 2] for i in range(0, len(text), 2)]


def _board(words: Sequence[list[str]]) -> list[str]:
    return [card for line in words if line[:2] == ["d", "db"] for card in _pairs(line[2])]


def _check_shown(words: Sequence[list[str]], number: int) -> None:
    """Refuse shown cards that are not those that were dealt, where both are known.

    Raises:
        ValueError: naming both.
    """
    dealt = {line[2]: line[3] for line in words if line[:2] == ["d", "dh"] and "?" not in line[3]}
    for line in words:
        known = dealt.get(line[0], "") if line[1] == "sm" and len(line[-1]) == 4 and "?" not in line[-1] else ""
        if known and set(_pairs(line[2])) != set(_pairs(known)):
            raise ValueError(f"hand {number}: {' '.join(line)!r}, where {line[0]} was dealt {known}")


def _named(words: Sequence[list[str]], seat: int) -> list[str]:
    """Return a seat's cards, as dealt or as shown later; none where they are unknown."""
    name, found = f"p{seat + 1}", list[str]()
    for line in words:
        dealt = line[:3] == ["d", "dh", name] and line[3:]
        shown = line[:2] == [name, "sm"] and line[2:]
        if (dealt or shown) and "?" not in line[-1] and line[-1] != "-":
            found = _pairs(line[-1])
    return found


def _cards(words: Sequence[list[str]]) -> tuple[Any, Any]:
    """Return all hands, int8[SEATS, 2], and the board, int8[5]; −1 where a card is not known."""
    cards, board = np.full((SEATS, 2), -1, np.int8), np.full(5, -1, np.int8)
    for seat in range(SEATS):
        known = _named(words, seat)
        cards[seat, : len(known)] = [card_number(card) for card in known]
    opened = [card_number(card) for card in _board(words)]
    board[: len(opened)] = opened
    return cards, board


def _play(table: Any, words: Sequence[list[str]], number: int) -> list[dict[str, Any]]:
    """Play the actions of a hand, and return them as our table server logs them."""
    actions, opened = [], 0
    for line in words:
        if line[:2] == ["d", "db"]:
            dealt = len(_pairs(line[2]))
            if dealt != (1 if opened else 3) or opened + dealt > int(table.board_count):
                raise ValueError(f"hand {number}: {' '.join(line)!r}, where the board cannot be dealt so")
            opened += dealt
            continue
        if line[0] == "d" or line[1] == "sm":
            continue
        if table.done:
            raise ValueError(f"hand {number}: {' '.join(line)!r} comes after the end of the hand")
        if opened != int(table.board_count):
            raise ValueError(f"hand {number}: {' '.join(line)!r} comes before the board of its street is dealt")
        seat, kind = int(line[0][1:]) - 1, line[1]
        if table.turn != seat and kind == "cc" and table.bet[seat] >= table.current_bet:
            continue  # a check where there is nothing to decide
        if table.turn != seat or kind not in ("f", "cc", "cbr"):
            raise ValueError(f"hand {number}: {' '.join(line)!r}, where it is p{int(table.turn) + 1}'s turn")
        move = Move(FOLD, 0) if kind == "f" else Move(CALL, 0)
        if kind == "cbr":
            move = Move(RAISE, int(line[2]))
            reopened = not table.raise_min  # by a short all-in: our rules allow no raise here
            least, most = table.raise_min, table.bet[seat] + table.stack[seat]
            if not max(least, table.current_bet + 1) <= move.amount <= most:
                raise ValueError(f"hand {number}: {' '.join(line)!r} is no raise that p{seat + 1} can make")
        rules.step(table, move)
        action = {"seat": seat, "kind": KINDS[table.last_kind], "amount": int(table.last_amount)}
        actions.append(action | ({"reopened": True} if kind == "cbr" and reopened else {}))
    return actions


def _check_known(table: Any, number: int) -> None:
    """Refuse a hand whose showdown needs cards that the file does not tell."""
    if table.showdown:
        shown = [seat for seat in range(SEATS) if table.seated[seat] and not table.folded[seat]]
        if table.board.min() < 0 or table.cards[shown].min() < 0:
            raise ValueError(f"hand {number}: cards of its showdown are not known")
