"""Record ──► TurnState of a player, and back: ``my_card``, ``board`` (empty, or the open card), ``pot``, ``chips`` that
each has put in, ``action_history`` with the round (1 or 2), and ``shown``: the cards of a showdown by agent, empty
without one."""

from typing import Any

import numpy as np

from ..core.record import Tables
from ..core.turn_state import TurnState
from .rules import left, play
from .table import KINDS, MOVES, RANKS, ROUNDS, SEATS


def phase(table: Any) -> str:
    """Return the phase's name: ``"first"`` or ``"second"``, the round."""
    return "second" if table.round_number else "first"


def public(table: Any) -> dict[str, Any]:
    """Return the deal as everybody may see it."""
    return {
        "board": [RANKS[table.board]] if table.board >= 0 else [],
        "pot": int(table.chips[0]) + int(table.chips[1]),
        "chips": {_name(i): int(table.chips[i]) for i in range(SEATS)},
        "action_history": [
            {"agent_id": _name(i % SEATS), "action": KINDS[table.log[MOVES * one + i]], "round": one + 1}
            for one in range(ROUNDS)
            for i in range(table.moves[one])
        ],
        "shown": {_name(i): RANKS[table.card[i]] for i in range(SEATS)} if table.showdown else {},
    }


def game_state(table: Any, seat: int) -> dict[str, Any]:
    """Return the deal as `seat` may see it."""
    return {"my_card": RANKS[table.card[seat]], **public(table)}


def _name(seat: int) -> str:
    return f"player_{seat}"


def outcome(table: Any, seat: int) -> dict[str, Any]:
    """Return the end: both utilities, and how it ended."""
    return {
        "payoffs": [{"agent_id": _name(i), "utility": float(table.rewards[i])} for i in range(SEATS)],
        "reason": "showdown" if table.showdown else "fold",
    }


def load(blank: Tables, state: TurnState) -> tuple[Tables, int]:
    """Rebuild the record with what the seat of `state` may know; the rest is blank.

    Agents may have any names: the one that acts first is seat 0.

    Args:
        blank: a table with nothing dealt.
        state: the deal's TurnState.

    Returns:
        The record (recarray of shape (1,)) and the seat in it.

    Raises:
        KeyError, TypeError, ValueError: if `game_state` lacks a field, or holds what cannot be.
    """
    game = state.game_state
    history = game["action_history"]
    first = history[0]["agent_id"] if history else state.current_turn_agent_id
    seat = 0 if state.agent_id == first else 1
    tables = blank.copy().view(np.recarray)
    table = tables[0]
    table.turn = 0
    table.card[seat] = RANKS.index(game["my_card"])
    for agent, card in game["shown"].items():
        table.card[0 if agent == first else 1] = RANKS.index(card)
    for entry in history:
        if table.turn < 0:
            _open(table, game["board"], history)
        play(table, KINDS.index(entry["action"]))
    if table.turn < 0 and not table.done:
        _open(table, game["board"], history)
    return tables, seat


def _open(table: Any, board: list[str], history: list[dict[str, Any]]) -> None:
    if table.done or not board:
        raise ValueError(f"there is no open card, or the history goes on after the end: {history}")
    table.board, table.turn = RANKS.index(board[0]), 0


def resample(table: Any, seat: int, generator: np.random.Generator) -> None:
    """Draw the other player's card again, in place, and the stream. After a showdown the card is known."""
    table.stream = generator.integers(0, 2**64, dtype=np.uint64)
    if not table.showdown:
        table.card[1 - seat] = -1
        chances = np.array([left(table, rank) for rank in range(len(RANKS))], float)
        table.card[1 - seat] = generator.choice(len(RANKS), p=chances / chances.sum())
