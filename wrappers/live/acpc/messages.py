"""The lines of the ACPC match protocol, version 2, and the hand that a line describes.

``MATCHSTATE:position:hand:betting:cards``. Position 0 has the big blind, position 1 the button. In the betting, `c` is
a check or call, `f` a fold, and `r` a raise to all chips that the seat has put into the hand; `/` ends a street.
"""

import re
from typing import Any, NamedTuple

import numpy as np

from ....envs.core.game import Game
from ....envs.holdem import game as holdem
from ....envs.holdem import rules
from ....envs.holdem.hands import card_name, card_number
from ....envs.holdem.rules import Move
from ....envs.holdem.table import CALL, FOLD, PHASES, RAISE

VERSION = "VERSION:2.0.0"
BUTTON = 1
"""The position, and the seat of the record, that has the button and the small blind."""
LONGEST = 4_096
"""The most characters of a line."""
_LINE = re.compile(
    r"MATCHSTATE:([01]):(\d{1,9}):((?:c|f|r\d{1,12}|/)*):([2-9TJQKAcdhs]*)\|([2-9TJQKAcdhs]*)((?:/[2-9TJQKAcdhs]+)*)"
)
_ACTION = re.compile(r"c|f|r\d+")


class MatchState(NamedTuple):
    """A line: the reader's position, the hand's number from 0, its betting, the hole cards by position, the board."""

    position: int
    hand: int
    betting: str
    hole: tuple[tuple[int, ...], tuple[int, ...]]
    board: tuple[int, ...]


def match_game(stack: int = 20_000, small_blind: int = 50, big_blind: int = 100) -> Game:
    """Return the game of a match: every hand begins with whole stacks. The competition had 200 big blinds.

    Raises:
        ValueError: if the stakes cannot be.
    """
    return holdem(seats=2, button=BUTTON, stacks=stack, small_blind=small_blind, big_blind=big_blind)


def read_line(line: str) -> MatchState:
    """Read a line.

    Raises:
        ValueError: if it is none, or a card is there twice.
    """
    match = None if len(line) > LONGEST else _LINE.fullmatch(line)
    if match is None:
        raise ValueError(f"this is no match state: {line[:80]!r}")
    first, second, board = (_cards(match[group].replace("/", "")) for group in (4, 5, 6))
    state = MatchState(int(match[1]), int(match[2]), match[3], (first, second), board)
    known = [*first, *second, *board]
    if len(set(known)) < len(known) or any(len(hole) not in (0, 2) for hole in state.hole) or len(board) > 5:
        raise ValueError(f"these cards cannot be: {line[:80]!r}")
    return state


def _cards(text: str) -> tuple[int, ...]:
    return tuple(card_number(text[at : at + 2]) for at in range(0, len(text), 2))


def write_line(table: Any, position: int, hand: int, betting: str) -> str:
    """Return what the seat at `position` sees of a hand: at a showdown, the cards of both."""
    hole = [
        "".join(card_name(int(card)) for card in table.cards[seat]) if seat == position or table.showdown else ""
        for seat in range(2)
    ]
    board = [card_name(int(card)) for card in table.board[: int(table.board_count)]]
    streets = [board[:3], board[3:4], board[4:5]]
    shown = "".join("/" + "".join(street) for street in streets if street)
    return f"MATCHSTATE:{position}:{hand}:{betting}:{hole[0]}|{hole[1]}{shown}"


def replayed(game: Game, state: MatchState) -> Any:
    """Return the record of the hand.

    Args:
        game: see `match_game`.
        state: the line; the seats of the record are the positions.

    Raises:
        ValueError: if the betting breaks the rules, or the cards do not fit it.
    """
    table = game.tables(1)[0]
    rules.open_episode(table)
    cards, board = np.full((2, 2), -1, np.int8), np.full(5, -1, np.int8)
    for seat, hole in enumerate(state.hole):
        cards[seat, : len(hole)] = hole
    board[: len(state.board)] = state.board
    rules.deal_known(table, cards, board)
    for text in _ACTION.findall(state.betting):
        rules.step(table, read_action(table, text))
    if not table.done and int(table.board_count) != len(state.board):
        raise ValueError(f"{len(state.board)} cards of the board on the {PHASES[int(table.phase)]}")
    return table


def _on_streets_before(table: Any) -> int:
    """Return the acting seat's chips in the pot from the streets before: on the wire a raise counts them too."""
    seat = int(table.turn)
    return int(table.committed[seat] - table.bet[seat])


def read_action(table: Any, text: str) -> Move:
    """Return the move of the acting seat.

    Raises:
        ValueError: if it is none, or not legal.
    """
    if table.done or _ACTION.fullmatch(text) is None:
        raise ValueError(f"{text[:40]!r} is no action here")
    if text == "c":
        return Move(CALL, 0)
    if text == "f":
        if table.to_call == 0:
            raise ValueError("a fold to no bet")
        return Move(FOLD, 0)
    amount = int(text[1:]) - _on_streets_before(table)
    if table.raise_min == 0 or not table.raise_min <= amount <= table.raise_max:
        raise ValueError(f"{text[:40]}: a raise is to {table.raise_min} up to {table.raise_max} on this street")
    return Move(RAISE, amount)


def nearest_action(table: Any, text: str) -> Move:
    """Return what the competition's dealer plays for an answer that is not legal: the nearest raise, else a call."""
    if text[:1] == "r" and _ACTION.fullmatch(text) and table.raise_min > 0:
        amount = int(text[1:]) - _on_streets_before(table)
        return Move(RAISE, min(max(amount, int(table.raise_min)), int(table.raise_max)))
    return Move(CALL, 0)


def write_action(table: Any, move: Move) -> str:
    """Return a legal move of the acting seat as text; a fold to no bet is a check."""
    if move.kind == RAISE:
        return f"r{move.amount + _on_streets_before(table)}"
    return "f" if move.kind == FOLD and table.to_call > 0 else "c"
