"""Action index ◄─► move ◄─► payload. The payloads are those of `unfair-split` on the TurnState platforms."""

from math import isfinite
from typing import Any

import msgspec
import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

from ..core import turn_state as ts
from ..core.structured_talk import StructuredTalk
from ..core.turn_state import NOTHING, Action, ActionResult, AgentResponse, AllowedAction, MessageIntent, MessageScope
from ..core.view import ActionRange
from .rules import Move, decode
from .table import ACCEPT, KINDS, OFFER, PASS, REJECT, TALK

TYPES = (*KINDS[:TALK], "message_only")


class SubmitOffer(msgspec.Struct, forbid_unknown_fields=True):
    """The payload of `submit_offer`: the share that the proposer demands for itself."""

    my_share: float


def action_spaces(total: float) -> dict[str, spaces.Dict]:
    """Return every action type with the space of its payload."""
    share = spaces.Dict({"my_share": spaces.Box(0.0, total, (), np.float64)})
    return {name: share if name == "submit_offer" else spaces.Dict({}) for name in TYPES}


def action_ranges(offers: int, total: float, talk: StructuredTalk | None) -> tuple[ActionRange, ...]:
    """Return the action ranges, with those of `talk` if it is not None."""
    kinds = {ACCEPT: "accept the standing offer", REJECT: "reject it", PASS: "do nothing; a standing offer stays"}
    return (
        ActionRange(0, offers, ("submit_offer",), f"demand 0, {total / (offers - 1):g}, … {total:g} for oneself"),
        *(
            ActionRange(offers + i, offers + i + 1, (KINDS[kind],), meaning)
            for i, (kind, meaning) in enumerate(kinds.items())
        ),
        *(talk.action_ranges(offers + len(kinds)) if talk else ()),
    )


def allowed(game_state: Any, seat: int, phase: str) -> list[AllowedAction]:
    """Return the legal actions of the acting seat, with their bounds, from its `view.BargainingState`."""
    total = game_state.total
    schema = ts.payload_schema({"my_share": {"type": "number", "minimum": 0, "maximum": total}})
    actions = [AllowedAction("submit_offer", f"demand my_share of {total:g}; the other gets the rest", schema)]
    if game_state.last_offer_by not in (None, f"player_{seat}"):
        left = total - game_state.current_offer
        actions.append(AllowedAction("accept", f"take the {left:g} that you are offered", NOTHING))
        actions.append(AllowedAction("reject", "turn the offer down", NOTHING))
    actions.append(AllowedAction("pass", "do nothing; a standing offer stays", NOTHING))
    actions.append(AllowedAction("message_only", "send messages and decide later in this turn", NOTHING))
    return actions


def _offered(table: Any) -> bool:
    return bool(table.last_offer_by >= 0 and table.last_offer_by != table.turn)


def encode(talk: StructuredTalk, table: Any, action: int) -> AgentResponse:
    """Return the payload of a legal action index; a talk action is a public message."""
    move = decode(table, action)
    if move.kind == OFFER:
        return AgentResponse(Action("submit_offer", {"my_share": float(move.value)}))
    if move.kind == TALK:
        said = MessageIntent(MessageScope.PUBLIC, talk.sentence(int(move.value)))
        return AgentResponse(Action("message_only"), [said])
    return AgentResponse(Action(KINDS[move.kind]))


def parse(table: Any, action: Action) -> Move | ActionResult:
    """Return the exact move of a payload, or a refusal that names the right values."""
    name = action.action_type
    if name == "submit_offer":
        return _parse_offer(table, action.payload)
    if name not in KINDS[:TALK]:
        return ts.unknown_action(action, TYPES)
    if action.payload:
        return ts.unwanted_payload(action)
    kind = KINDS.index(name)
    if kind in (ACCEPT, REJECT) and not _offered(table):
        return ts.refused(ts.GAME_RULE_VIOLATION, f"cannot {name}: the other has no standing offer")
    return Move(kind, 0.0)


def _parse_offer(table: Any, payload: dict[str, Any]) -> Move | ActionResult:
    try:
        share = msgspec.convert(payload, SubmitOffer).my_share
    except (msgspec.ValidationError, OverflowError) as error:
        return ts.refused(ts.INVALID_PAYLOAD, f"submit_offer needs {{'my_share': number}}: {error}")
    total = float(table.total)
    if not isfinite(share) or not 0 <= share <= total:
        return ts.refused(ts.INVALID_PAYLOAD, f"cannot demand {share}: the bounds are 0 to {total:g}")
    return Move(OFFER, share + 0.0)  # no −0


def nearest(table: Any, move: Move) -> int:
    """Return the action index of `move`, or of the nearest offer on the grid."""
    offers = int(table.offers)
    if move.kind == TALK:
        return offers + 3 + int(move.value)
    if move.kind != OFFER:
        return offers + int(move.kind) - ACCEPT
    return min(offers - 1, round(move.value / float(table.offer_step)))


def worth(num_actions: int, table: Any) -> NDArray[np.float64]:
    """Return `OutsideOption.worth`: the own share of an offer less the reservation value, float64[num_actions]."""
    offers, own = int(table.offers), float(table.my_reservation_value[table.turn])
    gains = np.full(num_actions, np.inf)
    gains[:offers] = table.offer_step * np.arange(offers) - own
    gains[offers] = table.total - table.current_offer - own
    return gains


def safe(table: Any) -> int:
    """Return the action index of the safe action: pass."""
    return int(table.offers) + 2
