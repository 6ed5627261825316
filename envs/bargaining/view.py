"""Record ──► TurnState of a negotiator, and back. `game_state` and `outcome` are those of the TurnState platforms.

With public reservation values `game_state` also has ``opponent_reservation_value``; with talk, ``messages_left``: how
many messages the acting seat may still send in this turn.
"""

from typing import Any

import numpy as np

from ..core.record import Tables
from ..core.structured_talk import LIMIT, StructuredTalk, spoken
from ..core.turn_state import TurnState
from .rules import draw_reservation
from .table import KINDS, OFFER


def phase(table: Any) -> str:
    """Return the name of the only phase."""
    return "negotiation"


def public(table: Any) -> dict[str, Any]:
    """Return the public view of the negotiation: the offers."""
    return {**_offer(table), "action_history": _history(table)}


def _offer(table: Any) -> dict[str, Any]:
    stands = table.last_offer_by >= 0
    return {
        "total": float(table.total),
        "current_offer": float(table.current_offer) if stands else None,
        "last_offer_by": _name(int(table.last_offer_by)) if stands else None,
    }


def game_state(table: Any, seat: int) -> dict[str, Any]:
    """Return the negotiation as `seat` may see it."""
    state = {
        **_offer(table),
        "my_reservation_value": float(table.my_reservation_value[seat]),
        "action_history": _history(table),
    }
    if table.public:
        state["opponent_reservation_value"] = float(table.my_reservation_value[1 - seat])
    if table.talk:
        state["messages_left"] = LIMIT - int(table.spoken) if seat == table.turn else LIMIT
    return state


def _name(seat: int) -> str:
    return f"player_{seat}"


def _history(table: Any) -> list[dict[str, Any]]:
    moves = int(table.moves)
    kinds, shares = table.log_kind[:moves].tolist(), table.log_share[:moves].tolist()
    entries = []
    for move, (kind, share) in enumerate(zip(kinds, shares, strict=True)):
        entry: dict[str, Any] = {"agent_id": _name(move % 2), "action": KINDS[kind]}
        if kind == OFFER:
            entry["my_share"] = share
        entry["round"] = move // 2 + 1
        entries.append(entry)
    return entries


def outcome(table: Any, seat: int) -> dict[str, Any]:
    """Return the outcome: both utilities, the reason, and the split by agent (None without agreement)."""
    split = None
    if table.agreed:
        offer, proposer = float(table.current_offer), int(table.last_offer_by)
        split = {_name(i): offer if i == proposer else float(table.total) - offer for i in range(2)}
    return {
        "payoffs": [{"agent_id": _name(i), "utility": float(table.rewards[i])} for i in range(2)],
        "reason": "agreement" if table.agreed else "max_rounds_exceeded",
        "split": split,
    }


def load(blank: Tables, talk: StructuredTalk, state: TurnState) -> tuple[Tables, int]:
    """Rebuild the record with what the seat of `state` may know; the rest is blank.

    Agents may have any names: the one that acts first is seat 0.

    Args:
        blank: a table with the options that TurnState does not have.
        talk: the game's sentences.
        state: the negotiation's TurnState.

    Returns:
        The record (recarray of shape (1,)) and the seat in it.

    Raises:
        KeyError, TypeError, ValueError: if `game_state` lacks a field, or holds what cannot be.
    """
    game = state.game_state
    tables = blank.copy().view(np.recarray)
    table = tables[0]
    history = game["action_history"]
    if game["total"] != table.total:
        raise ValueError(f"a pie of {game['total']}; this game was made for {float(table.total):g}")
    if len(history) > 2 * table.rounds:
        raise ValueError(f"{len(history)} moves in history; this game was made for {2 * int(table.rounds)}")
    first = history[0]["agent_id"] if history else state.current_turn_agent_id
    seat = 0 if state.agent_id == first else 1
    table.my_reservation_value[seat] = game["my_reservation_value"]
    if table.public:
        table.my_reservation_value[1 - seat] = game["opponent_reservation_value"]
    if game["current_offer"] is not None:
        table.current_offer = game["current_offer"]
        table.last_offer_by = seat if game["last_offer_by"] == state.agent_id else 1 - seat
    for move, entry in enumerate(history):
        table.log_kind[move] = KINDS.index(entry["action"])
        table.log_share[move] = entry.get("my_share", 0.0)
    table.moves = len(history)
    table.turn = seat if state.is_my_turn else 1 - seat
    if state.game_over:
        _load_end(table, state, seat)
    if table.talk:
        others = {message.sender_id for message in state.messages}
        talk.load(table, seat, state.messages, dict.fromkeys(others, 1 - seat) | {state.agent_id: seat})
        if state.is_my_turn:
            table.spoken = spoken(state.messages, state.agent_id, game.get("messages_left"))
    return tables, seat


def _load_end(table: Any, state: TurnState, seat: int) -> None:
    end = state.outcome or {}
    table.done, table.turn = True, -1
    table.agreed = end.get("reason") == "agreement"
    for payoff in end.get("payoffs", ()):
        table.rewards[seat if payoff["agent_id"] == state.agent_id else 1 - seat] = payoff["utility"]


def resample(table: Any, seat: int, generator: np.random.Generator) -> None:
    """Draw the other seat's private reservation value again, in place, and the stream.

    After an agreement nothing is drawn, because the utilities reveal the value.
    """
    table.stream = generator.integers(0, 2**64, dtype=np.uint64)
    if not table.public and not table.agreed:
        table.my_reservation_value[1 - seat] = draw_reservation(table, 1 - seat)
