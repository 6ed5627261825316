"""The mask of a host's ``allowed_actions``, which may be fewer than the legal actions of the rules."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...envs.core.game import Game
from ...envs.core.turn_state import Action, AllowedAction

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
    properties = schema.get("properties")
    if not isinstance(properties, Mapping):
        properties, required = schema, list(schema)
    else:
        named = schema.get("required")
        required = [name for name in named if isinstance(name, str)] if isinstance(named, list) else []
    return {name: _least(properties[name]) for name in required if isinstance(properties.get(name), Mapping)}


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
