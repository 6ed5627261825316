"""Record ──► TurnState of a negotiator, and back. `game_state` and `outcome` are those of the TurnState platforms.

With public reservation values `game_state` also has ``opponent_reservation_value``; with talk, ``messages_left``: how
many messages the acting seat may still send in this turn.
"""

from typing import Any

import numpy as np

from ..core.structured_talk import LIMIT
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


def resample(table: Any, seat: int, generator: np.random.Generator) -> None:
    """Draw the other seat's private reservation value again, in place, and the stream.

    After an agreement nothing is drawn, because the utilities reveal the value.
    """
    table.stream = generator.integers(0, 2**64, dtype=np.uint64)
    if not table.public and not table.agreed:
        table.my_reservation_value[1 - seat] = draw_reservation(table, 1 - seat)
