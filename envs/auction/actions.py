"""Action index ◄─► move ◄─► payload. The payloads are those of `first-price-auction` on the TurnState platforms."""

from math import isfinite
from typing import Any

import msgspec
import numpy as np
from gymnasium import spaces

from ..core import turn_state as ts
from ..core.structured_talk import StructuredTalk
from ..core.turn_state import NOTHING, Action, ActionResult, AgentResponse, AllowedAction, MessageIntent, MessageScope
from ..core.view import ActionRange
from .rules import Move, decode
from .table import BID, PASS, TALK

TYPES = ("submit_bid", "pass", "message_only")
HIGHEST = 10
"""The highest exact bid, as a multiple of the highest bid on the grid."""


class SubmitBid(msgspec.Struct, forbid_unknown_fields=True):
    """The payload of `submit_bid`."""

    bid: float


def highest(table: Any) -> float:
    """Return the highest bid that is accepted."""
    return HIGHEST * float(table.bid_step * (table.bids - 1))


def action_spaces(table: Any) -> dict[str, spaces.Dict]:
    """Return every action type with the space of its payload."""
    bid = spaces.Box(0.0, highest(table), (), np.float64)
    return {"submit_bid": spaces.Dict({"bid": bid}), "pass": spaces.Dict({}), "message_only": spaces.Dict({})}


def action_ranges(bids: int, top: float, talk: StructuredTalk | None) -> tuple[ActionRange, ...]:
    """Return the action ranges, with those of `talk` if it is not None; `top` is the grid's highest bid."""
    return (
        ActionRange(0, bids, ("submit_bid",), f"bid 0, {top / (bids - 1):g}, … {top:g}"),
        ActionRange(bids, bids + 1, ("pass",), "do not bid in this round"),
        *(talk.action_ranges(bids + 1) if talk else ()),
    )


def allowed(most: float, game_state: Any, seat: int, phase: str) -> list[AllowedAction]:
    """Return the legal actions of the acting seat, with their bounds; `most` is the `highest` bid."""
    schema = ts.payload_schema({"bid": {"type": "number", "minimum": 0, "maximum": most}})
    return [
        AllowedAction("submit_bid", "bid once, sealed and final; it may exceed your valuation", schema),
        AllowedAction("pass", "do not bid in this round", NOTHING),
        AllowedAction("message_only", "send messages and decide later in this turn", NOTHING),
    ]


def legal(table: Any) -> list[AllowedAction]:
    """Return the same from the record."""
    return allowed(highest(table), None, int(table.turn), "")


def encode(talk: StructuredTalk, table: Any, action: int) -> AgentResponse:
    """Return the payload of a legal action index; a talk action is a public message."""
    move = decode(table, action)
    if move.kind == BID:
        return AgentResponse(Action("submit_bid", {"bid": float(move.value)}))
    if move.kind == PASS:
        return AgentResponse(Action("pass"))
    said = MessageIntent(MessageScope.PUBLIC, talk.sentence(int(move.value)))
    return AgentResponse(Action("message_only"), [said])


def parse(table: Any, action: Action) -> Move | ActionResult:
    """Return the exact move of a payload, or a refusal that names the right values."""
    if action.action_type == "submit_bid":
        return _parse_bid(table, action.payload)
    if action.action_type != "pass":
        return ts.unknown_action(action, TYPES)
    if action.payload:
        return ts.unwanted_payload(action)
    return Move(PASS, 0.0)


def _parse_bid(table: Any, payload: dict[str, Any]) -> Move | ActionResult:
    try:
        bid = msgspec.convert(payload, SubmitBid).bid
    except (msgspec.ValidationError, OverflowError) as error:
        return ts.refused(ts.INVALID_PAYLOAD, f"submit_bid needs {{'bid': number}}: {error}")
    most = highest(table)
    if not isfinite(bid) or not 0 <= bid <= most:
        return ts.refused(ts.INVALID_PAYLOAD, f"cannot bid {bid}: the bounds are 0 to {most:g}")
    return Move(BID, bid + 0.0)  # no −0


def nearest(table: Any, move: Move) -> int:
    """Return the action index of `move`, or of the nearest bid on the grid."""
    bids = int(table.bids)
    if move.kind == TALK:
        return bids + 1 + int(move.value)
    if move.kind == PASS:
        return bids
    return min(bids - 1, round(move.value / float(table.bid_step)))


def safe(table: Any) -> int:
    """Return the action index of the safe action: pass."""
    return int(table.bids)
