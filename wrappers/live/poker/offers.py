"""What is open to the agent in its turn, as the platform offers it, and whether an answer is one of the offers."""

from collections.abc import Sequence
from typing import Any

from ....envs.core.turn_state import Action
from .messages import GameState

Offer = dict[str, Any]
"""``{kind}``, with ``min`` and ``max`` where the kind is raiseTo."""


def read_offers(state: GameState, seat: int | None) -> tuple[list[Offer], int]:
    """Return the offers of a state in one form, without unknown kinds, and the price of a call.

    The platform may leave out the price, or a bound of the raise, and may give the amount of a call in its bounds.
    """
    options = {option.kind: option for option in state.actions or ()}
    offers: list[Offer] = [{"kind": kind} for kind in ("fold", "check", "call") if kind in options]
    bounds = options.get("raiseTo")
    if bounds is not None and bounds.max:
        offers.append({"kind": "raiseTo", "min": min(bounds.min or bounds.max, bounds.max), "max": bounds.max})
    if "call" not in options:
        return offers, 0
    if state.to_call:
        return offers, state.to_call
    bets = {player.seat: player.bet for player in state.players}
    owed = max(bets.values(), default=0) - bets.get(seat if seat is not None else -1, 0)
    return offers, options["call"].max or max(owed, 1)


def safe_kind(kinds: Sequence[str]) -> str:
    """Return the kind of the safe action: check where it is offered, else fold."""
    return "check" if "check" in kinds else "fold"


def violation(action: Action, offers: Sequence[Offer]) -> str | None:
    """Return why an action is none of the offers, or None if it is one."""
    by_kind = {offer["kind"]: offer for offer in offers}
    offer = by_kind.get(action.action_type)
    if offer is None:
        return f"{action.action_type[:40]!r} is not offered now; {', '.join(by_kind) or 'nothing'} is"
    if action.action_type != "raiseTo":
        return f"{action.action_type} takes no payload, got {_short(action.payload)}" if action.payload else None
    amount = action.payload.get("amount")
    whole = isinstance(amount, int) and not isinstance(amount, bool)
    if not whole or not offer["min"] <= amount <= offer["max"]:
        return f"raiseTo needs whole chips from {offer['min']} to {offer['max']}, got {_short(amount)}"
    return None


def _short(value: Any) -> str:
    try:
        return str(value)[:80]
    except ValueError:  # Python writes no whole number of more than 4,300 digits
        return "a number without end"
