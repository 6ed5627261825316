"""Action index ◄─► move ◄─► payload. The payloads are those of Moltpoker's agent format."""

from collections.abc import Sequence
from reprlib import repr
from typing import Any

import msgspec
import numpy as np
from gymnasium import spaces

from ..core import turn_state as ts
from ..core.turn_state import NOTHING, Action, ActionResult, AgentResponse, AllowedAction
from ..core.view import ActionRange
from .moves import decode, legal
from .rules import Move
from .state import HoldemState, Offer
from .table import CALL, CALL_ACTION, FIRST_FRACTION, FOLD, FOLD_ACTION, KINDS, LEAST_RAISE, RAISE


class RaiseTo(msgspec.Struct, forbid_unknown_fields=True):
    """The payload of `raiseTo`: the total bet on this street, in chips."""

    amount: int


def action_spaces(most_chips: int) -> dict[str, spaces.Dict]:
    """Return every action type with the space of its payload; `most_chips` are all chips on the table."""
    empty = spaces.Dict({})
    amount = spaces.Box(0, most_chips, (), np.int64)
    return {"fold": empty, "check": empty, "call": empty, "raiseTo": spaces.Dict({"amount": amount})}


def action_ranges(fractions: Sequence[float]) -> tuple[ActionRange, ...]:
    """Return the action ranges. Of several raises to the same amount only one is legal."""
    raises = [
        "raise to the least legal amount",
        *(f"raise by {part:.3g} × the pot after the call" for part in fractions),
    ]
    return (
        ActionRange(FOLD_ACTION, FOLD_ACTION + 1, ("fold",), "give up the hand"),
        ActionRange(CALL_ACTION, CALL_ACTION + 1, ("check", "call"), "check; call where there is something to call"),
        *(
            ActionRange(action, action + 1, ("raiseTo",), meaning)
            for action, meaning in enumerate([*raises, "all-in"], start=LEAST_RAISE)
        ),
    )


def offers(table: Any) -> list[Offer]:
    """Return the legal actions of the acting seat as `game_state` has them: fold, check or call, raiseTo."""
    legal = [Offer("fold"), Offer("call" if table.to_call > 0 else "check")]
    if table.raise_max > 0:
        legal.append(Offer("raiseTo", int(table.raise_min), int(table.raise_max)))
    return legal


def allowed(game_state: HoldemState, seat: int, phase: str) -> list[AllowedAction]:
    """Return the legal actions of the acting seat, with their bounds: ``actions`` and ``toCall`` of its state."""
    called = f"put in {game_state.to_call} more"
    words = {"fold": "give up the hand", "check": "stay in for nothing", "call": called}
    return [
        _raise_between(offer.min, offer.max, any(player.bet for player in game_state.players))
        if offer.kind == "raiseTo"
        else AllowedAction(offer.kind, words[offer.kind], NOTHING)
        for offer in game_state.actions
    ]


def _raise_between(low: int, high: int, bets: bool) -> AllowedAction:
    schema = ts.payload_schema({"amount": {"type": "integer", "minimum": low, "maximum": high}})
    does = "raise the bet to a total of" if bets else "bet"
    return AllowedAction("raiseTo", f"{does} {low} to {high} ({high} is all-in)", schema)


def encode(table: Any, action: int) -> AgentResponse:
    """Return the payload of a legal action index."""
    move = decode(table, action)
    if move.kind == FOLD:
        return AgentResponse(Action("fold"))
    if move.kind == CALL:
        return AgentResponse(Action("call" if table.to_call > 0 else "check"))
    return AgentResponse(Action("raiseTo", {"amount": int(move.amount)}))


def parse(table: Any, action: Action) -> Move | ActionResult:
    """Return the exact move of a payload, or a refusal that names the right values."""
    kind = action.action_type
    if kind not in KINDS:
        return ts.refused(ts.INVALID_ACTION_TYPE, f"{repr(kind)} is not an action of hold'em: {', '.join(KINDS)}")
    if kind == "raiseTo":
        return _parse_raise(table, action.payload)
    if action.payload:
        return ts.unwanted_payload(action)
    if kind == "check" and table.to_call > 0:
        return ts.refused(ts.GAME_RULE_VIOLATION, f"cannot check: there are {int(table.to_call)} to call")
    if kind == "call" and table.to_call == 0:
        return ts.refused(ts.GAME_RULE_VIOLATION, "there is nothing to call: check")
    return Move(FOLD if kind == "fold" else CALL, 0)


def _parse_raise(table: Any, payload: dict[str, Any]) -> Move | ActionResult:
    try:
        amount = msgspec.convert(payload, RaiseTo).amount
    except msgspec.ValidationError as error:
        return ts.refused(ts.INVALID_PAYLOAD, f"raiseTo needs {{'amount': whole chips}}: {error}")
    low, high = int(table.raise_min), int(table.raise_max)
    if high == 0:
        return ts.refused(ts.GAME_RULE_VIOLATION, f"cannot raise to {repr(amount)}: this seat may not raise now")
    if not low <= amount <= high:
        return ts.refused(ts.GAME_RULE_VIOLATION, f"cannot raise to {repr(amount)}: the bounds are {low} to {high}")
    return Move(RAISE, amount)


def nearest(table: Any, move: Move) -> int:
    """Return the action index of `move`; for a raise between the indices, the legal raise with the nearest amount."""
    if move.kind == FOLD:
        return FOLD_ACTION
    if move.kind == CALL:
        return CALL_ACTION
    mask = np.zeros(FIRST_FRACTION + int(table.num_fractions) + 1, np.int8)
    legal(table, mask)
    raises = [int(action) for action in np.flatnonzero(mask) if action >= LEAST_RAISE]
    return min(
        raises, key=lambda action: (abs(decode(table, action).amount - move.amount), action), default=CALL_ACTION
    )


def safe(table: Any) -> int:
    """Return the action index of the safe action: check where nothing is to call, else fold."""
    return CALL_ACTION if table.to_call == 0 else FOLD_ACTION
