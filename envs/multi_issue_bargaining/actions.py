"""Action index ◄─► move ◄─► payload. An offer has one value per issue, as an index from 0."""

from collections.abc import Mapping, Sequence
from operator import index
from reprlib import repr
from typing import Any

import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

from ..core import turn_state as ts
from ..core.turn_state import NOTHING, Action, ActionResult, AgentResponse, AllowedAction
from ..core.view import ActionRange
from .rules import Step, decode
from .table import ACCEPT, KINDS, NONE, OFFER, PASS, WALK_AWAY
from .theory import gains, outcome_index, outcome_values

Issues = Mapping[str, int]
"""The number of values of each issue, by its name."""

MEANINGS = {
    ACCEPT: "accept the current offer; it is agreed on when all but the proposer have",
    WALK_AWAY: "end the negotiation without an agreement",
    PASS: "do nothing; the current offer stays",
}


def action_spaces(issues: Issues) -> dict[str, spaces.Dict]:
    """Return every action type with the space of its payload."""
    offer = spaces.Dict({name: spaces.Discrete(count) for name, count in issues.items()})
    return {"submit_offer": offer, **{KINDS[kind]: spaces.Dict({}) for kind in MEANINGS}, "message_only": spaces.Dict()}


def action_ranges(outcomes: int) -> tuple[ActionRange, ...]:
    """Return the action ranges."""
    offers = ActionRange(0, outcomes, ("submit_offer",), "offer an outcome; the last issue's value changes first")
    return (
        offers,
        *(
            ActionRange(outcomes + k, outcomes + k + 1, (KINDS[kind],), meaning)
            for k, (kind, meaning) in enumerate(MEANINGS.items())
        ),
    )


def allowed(game_state: Any, seat: int, phase: str) -> list[AllowedAction]:
    """Return the legal actions of the acting seat, from its `view.NegotiationState`."""
    issues, own = game_state.issues, game_state.agent_ids[seat]
    values = {name: {"type": "integer", "minimum": 0, "maximum": count - 1} for name, count in issues.items()}
    may_accept = game_state.last_offer_by not in (None, own) and not game_state.acceptances.get(own, False)
    kinds = [kind for kind in MEANINGS if kind != ACCEPT or may_accept]
    return [
        AllowedAction("submit_offer", "offer a value of every issue", ts.payload_schema(values)),
        *(AllowedAction(KINDS[kind], MEANINGS[kind], NOTHING) for kind in kinds),
        AllowedAction("message_only", "send messages and decide later in this turn", NOTHING),
    ]


def _may_accept(table: Any) -> bool:
    return bool(table.last_offer_by not in (-1, table.turn) and not (int(table.accepted) >> int(table.turn)) & 1)


def offer(issues: Sequence[str], table: Any, outcome: int) -> dict[str, int]:
    """Return an outcome as the value of each issue."""
    return dict(zip(issues, outcome_values(table, outcome), strict=True))


def encode(issues: Sequence[str], table: Any, action: int) -> AgentResponse:
    """Return the payload of a legal action index."""
    move = decode(table, action)
    payload = offer(issues, table, int(move.outcome)) if move.kind == OFFER else {}
    return AgentResponse(Action(KINDS[move.kind], payload))


def parse(issues: Issues, table: Any, action: Action) -> Step | ActionResult:
    """Return the exact move of a payload, or a refusal that names the right values."""
    name = action.action_type
    if name == KINDS[OFFER]:
        return _parse_offer(issues, table, action.payload)
    if name not in KINDS:
        return ts.unknown_action(action, (*KINDS, "message_only"))
    if action.payload:
        return ts.unwanted_payload(action)
    kind = KINDS.index(name)
    if kind == ACCEPT and not _may_accept(table):
        return ts.refused(
            ts.GAME_RULE_VIOLATION, "cannot accept: there is no offer of another that you have not accepted"
        )
    return Step(kind, 0)


def _parse_offer(issues: Issues, table: Any, payload: Mapping[str, Any]) -> Step | ActionResult:
    if set(payload) != set(issues):
        return ts.refused(
            ts.INVALID_PAYLOAD, f"submit_offer needs a value of each issue ({', '.join(issues)}), got {repr(payload)}"
        )
    for name, count in issues.items():
        value = payload[name]
        if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value < count:
            return ts.refused(ts.INVALID_PAYLOAD, f"{name} is {repr(value)}: give a whole number from 0 to {count - 1}")
    return Step(OFFER, outcome_index(table, [index(payload[name]) for name in issues]))


def nearest(table: Any, move: Step) -> int:
    """Return the action index of `move`; every move has one."""
    return int(move.outcome) if move.kind == OFFER else int(table.outcomes) + int(move.kind) - ACCEPT


def worth(table: Any) -> NDArray[np.float64]:
    """Return `OutsideOption.worth`: the utility of an offer less the reservation value, float64[outcomes + 3]."""
    outcomes = int(table.outcomes)
    surplus = np.full(outcomes + 3, np.inf)
    surplus[:outcomes] = gains(table)[int(table.turn)]
    if table.current_offer != NONE:
        surplus[outcomes] = surplus[table.current_offer]
    return surplus


def safe(table: Any) -> int:
    """Return the action index of the safe action: pass."""
    return int(table.outcomes) + PASS - ACCEPT
