"""Record ──► TurnState of a player, and back: ``my_dice`` (faces, sorted), ``dice`` of each player, ``faces``,
``wild``, ``current_bid`` (or null), ``action_history``, and ``shown``: all dice by agent once the round is over,
empty before."""

from typing import Any

import numpy as np

from ..core.record import Tables
from ..core.turn_state import TurnState
from .actions import bid_of, index_of
from .rules import liar, step
from .table import SEATS


def phase(table: Any) -> str:
    """Return the name of the only phase."""
    return "bidding"


def _name(seat: int) -> str:
    return f"player_{seat}"


def dice_of(table: Any, seat: int) -> list[int]:
    """Return the faces of a seat's dice, sorted."""
    dice = int(table.dice)
    return sorted(int(face) for face in table.die[dice * seat : dice * seat + dice])


def public(table: Any) -> dict[str, Any]:
    """Return the round as everybody may see it."""
    bids = int(table.bids)
    history: list[dict[str, Any]] = [
        {"agent_id": _name(i % SEATS), "action": "bid", **bid_of(table, table.log[i])} for i in range(bids)
    ]
    if table.done:
        history.append({"agent_id": _name(bids % SEATS), "action": "liar"})
    return {
        "dice": int(table.dice),
        "faces": int(table.faces),
        "wild": bool(table.wild),
        "current_bid": bid_of(table, table.log[bids - 1]) if bids else None,
        "action_history": history,
        "shown": {_name(i): dice_of(table, i) for i in range(SEATS)} if table.done else {},
    }


def game_state(table: Any, seat: int) -> dict[str, Any]:
    """Return the round as `seat` may see it."""
    return {"my_dice": dice_of(table, seat), **public(table)}


def outcome(table: Any, seat: int) -> dict[str, Any]:
    """Return the outcome: both utilities, whether the bid was true, and the winner."""
    bidder = (int(table.bids) - 1) % SEATS
    winner = int(np.argmax(table.rewards[:SEATS]))
    return {
        "payoffs": [{"agent_id": _name(i), "utility": float(table.rewards[i])} for i in range(SEATS)],
        "reason": "bid_held" if winner == bidder else "bid_failed",
        "winner": _name(winner),
    }


def load(blank: Tables, state: TurnState) -> tuple[Tables, int]:
    """Rebuild the record with what the seat of `state` may know; the rest is blank.

    Agents may have any names: the one that acts first is seat 0.

    Args:
        blank: a table with the game's options.
        state: the round's TurnState.

    Returns:
        The record (recarray of shape (1,)) and the seat in it.

    Raises:
        KeyError, TypeError, ValueError: if `game_state` lacks a field, or holds what cannot be.
    """
    game = state.game_state
    tables = blank.copy().view(np.recarray)
    table = tables[0]
    theirs, ours = [game[name] for name in ("dice", "faces", "wild")], [table.dice, table.faces, table.wild]
    if theirs != ours:
        raise ValueError(f"dice, faces, wild are {theirs}; this game was made for {[one.item() for one in ours]}")
    history = game["action_history"]
    first = history[0]["agent_id"] if history else state.current_turn_agent_id
    seat, dice = 0 if state.agent_id == first else 1, int(table.dice)
    table.turn = 0
    table.die[dice * seat : dice * seat + dice] = game["my_dice"]
    for agent, faces in game["shown"].items():
        other = 0 if agent == first else 1
        table.die[dice * other : dice * other + dice] = faces
    for entry in history:
        if table.done:
            raise ValueError(f"the history goes on after the end: {history}")
        step(table, int(liar(table)) if entry["action"] == "liar" else index_of(table, entry))
    return tables, seat


def resample(table: Any, seat: int, generator: np.random.Generator) -> None:
    """Draw the other player's dice again, in place, and the stream. At the end all dice are known."""
    table.stream = generator.integers(0, 2**64, dtype=np.uint64)
    if not table.done:
        dice, other = int(table.dice), 1 - seat
        table.die[dice * other : dice * other + dice] = generator.integers(1, int(table.faces) + 1, dice)
