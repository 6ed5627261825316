"""What a host's ``allowed_actions`` leave open, which may be less than the rules do."""

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...envs.core.game import Game
from ...envs.core.turn_state import Action, AgentResponse, AllowedAction

QUIET = ("pass", "message_only", "check", "finish", "reject", "fold")
"""Actions that commit to nothing or to little, in this order."""
MOST_ITEMS = 100
"""The longest list that a schema can make us send."""


def offered_mask(game: Game, table: Any, mask: NDArray[np.int8], offers: Sequence[AllowedAction]) -> NDArray[np.int8]:
    """Return the legal action indices whose action type is offered.

    Args:
        game: the game.
        table: the record, in which it is the seat's turn.
        mask: its legal action indices, int8[A].
        offers: the state's ``allowed_actions``; empty: the host does not send them, and every legal action is allowed.

    Returns:
        int8[A]; all 0 if no offered action has an action index.
    """
    if not offers:
        return mask
    offered = {offer.action_type for offer in offers}
    kept = mask.copy()
    for start, stop, types in _ranges(game, len(mask)):
        if types and offered.issuperset(types):
            continue
        for action in (np.flatnonzero(mask[start:stop]) + start).tolist():
            kept[action] = game.view.encode(table, action).action.action_type in offered
    return kept


def _ranges(game: Game, actions: int) -> list[tuple[int, int, tuple[str, ...]]]:
    described = [(part.start, part.stop, part.action_types) for part in game.view.action_ranges]
    return described or [(0, actions, ())]


def nearest_open(game: Game, table: Any, chosen: int, mask: NDArray[np.int8]) -> int:
    """Return the action index to play in the place of one that is not offered: the safe one, else the nearest one."""
    safe = game.view.safe(table)
    if mask[safe]:
        return safe
    opened = np.flatnonzero(mask)
    return int(opened[np.argmin(np.abs(opened - chosen))])


def fitted(response: AgentResponse, offers: Sequence[AllowedAction]) -> AgentResponse:
    """Return an answer with the numbers that its offer takes.

    A whole float is an integer where the offer takes integers, and any other float goes to the nearest one. A number
    out of bounds goes to the nearest bound. What is no number, or has no such schema, stays as it is.
    """
    action = response.action
    offer = next((offer for offer in offers if offer.action_type == action.action_type), None)
    if offer is None or not action.payload:
        return response
    properties = _properties(offer.payload_schema)
    payload = {name: _fitted(value, properties.get(name)) for name, value in action.payload.items()}
    return AgentResponse(Action(action.action_type, payload), response.messages)


def _fitted(value: Any, schema: Any) -> Any:
    if not isinstance(schema, Mapping):
        return value
    if isinstance(value, list):
        return [_fitted(item, schema.get("items")) for item in value]
    if isinstance(value, bool) or not isinstance(value, (int, float)) or value != value:
        return value
    low, high = schema.get("minimum"), schema.get("maximum")
    if isinstance(high, (int, float)) and value > high:
        return high
    if isinstance(low, (int, float)) and value < low:
        return low
    return round(value) if schema.get("type") == "integer" and abs(value) < math.inf else value


def quiet_action(offers: Sequence[AllowedAction]) -> Action:
    """Return the action that commits to least among those that are offered, known from the offer alone.

    It is the first of `QUIET`; else the first one, with the least payload that its schema allows. Without any offer it
    is ``pass``.
    """
    for name in QUIET:
        if any(offer.action_type == name for offer in offers):
            return Action(name)
    if not offers:
        return Action("pass")
    return Action(offers[0].action_type, _least_payload(offers[0].payload_schema))


def _least_payload(schema: Mapping[str, Any]) -> dict[str, Any]:
    """Return the least payload of a JSON schema, or of a bare map of properties, which all are required then."""
    properties, named = _properties(schema), schema.get("required")
    required = list(schema) if properties is schema else named if isinstance(named, list) else []
    required = [name for name in required if isinstance(name, str)]
    return {name: _least(properties[name]) for name in required if isinstance(properties.get(name), Mapping)}


def _properties(schema: Mapping[str, Any]) -> Mapping[str, Any]:
    properties = schema.get("properties")
    return properties if isinstance(properties, Mapping) else schema


def _least(schema: Mapping[str, Any]) -> Any:
    if isinstance(schema.get("enum"), list) and schema["enum"]:
        return schema["enum"][0]
    kind = schema.get("type")
    if kind in ("number", "integer"):
        least = schema.get("minimum", 0)
        return least if isinstance(least, (int, float)) else 0
    if kind == "array":
        item, count = schema.get("items"), schema.get("minItems", 0)
        count = count if isinstance(count, int) and 0 <= count <= MOST_ITEMS else 0
        return [_least(item if isinstance(item, Mapping) else {})] * count
    return {"string": "", "boolean": False, "object": {}}.get(str(kind))
