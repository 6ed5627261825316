"""Schemas of payloads, and a host's offer: its ``allowed_actions``, narrower than the rules.

Schemas are JSON schemas, or bare maps of properties, as hosts send them. They may hold any nonsense.
"""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from math import ceil, floor, inf, isfinite
from typing import Any

import msgspec
import numpy as np
from numpy.typing import NDArray

from ...envs import Action, AgentResponse, AllowedAction, Game
from ..logs.match_log import short

MOST_ITEMS = 100
"""The longest list that a schema can make us send, and the deepest schema that is read."""
LARGEST = 1e300
"""Bounds beyond it are none."""
ROUNDING = 1e-9
"""How far a number may lie outside its bounds."""

Path = tuple[str, ...]
"""Where a number stands in a payload."""
Bounds = dict[Path, tuple[float, float]]
"""The least and the highest number of a payload by its path."""


def fitted_value(value: Any, schema: Any) -> Any:
    """Return the number that a schema takes in the place of `value`; what is no number stays as it is.

    A text that is a number becomes it where the schema takes a number.
    """
    if not isinstance(schema, Mapping):
        return value
    if isinstance(value, list):
        return [fitted_value(item, schema.get("items")) for item in value]
    if isinstance(value, str) and schema.get("type") in ("number", "integer"):
        with suppress(ValueError):
            value = number if isfinite(number := float(value)) else value
    if isinstance(value, bool) or not isinstance(value, (int, float)) or value != value:
        return value
    whole, (low, high) = schema.get("type") == "integer", _range(schema)
    if value > high:
        return floor(high) if whole else high
    if value < low:
        return ceil(low) if whole else low
    return round(value) if whole and abs(value) < inf else value


def properties_of(schema: Any) -> Mapping[str, Any]:
    """Return the schemas of the values by their keys."""
    properties = schema.get("properties") if isinstance(schema, Mapping) else None
    if isinstance(properties, Mapping):
        return properties
    return schema if isinstance(schema, Mapping) else {}


def _limit(schema: Mapping[str, Any], key: str, otherwise: float) -> float:
    value = schema.get(key)
    is_bound = isinstance(value, (int, float)) and not isinstance(value, bool) and abs(value) <= LARGEST
    return value if is_bound else otherwise  # type: ignore[return-value]


def _range(schema: Mapping[str, Any]) -> tuple[float, float]:
    return _limit(schema, "minimum", -inf), _limit(schema, "maximum", inf)


def bounds_of(schema: Any, path: Path = ()) -> Bounds:
    """Return the bounds of all numbers of a payload, those in objects included; `path`: where the schema's own is."""
    bounds: Bounds = {}
    for name, part in properties_of(schema).items():
        if isinstance(part, Mapping) and part.get("type") in ("number", "integer"):
            bounds[*path, name] = _range(part)
        elif isinstance(part, Mapping) and part.get("type") == "object" and len(path) < MOST_ITEMS:
            bounds |= bounds_of(part.get("properties"), (*path, name))
    return bounds


def fits(bounds: Bounds, payload: Mapping[str, Any]) -> bool:
    """Return True if all numbers of a payload lie within their bounds."""
    for path, (least, most) in bounds.items():
        value: Any = payload
        for name in path:
            value = value.get(name) if isinstance(value, Mapping) else None
        if isinstance(value, (int, float)) and not least - ROUNDING <= value <= most + ROUNDING:
            return False
    return True


def violation(payload: Mapping[str, Any], schema: Any) -> str | None:
    """Return why a payload does not fit a schema: a value that is missing, no number or out of its bounds; any value,
    where the schema takes none.

    Only what the schema says in a form that we know is checked. None: the payload fits, as far as that tells.
    """
    if not isinstance(schema, Mapping):
        return None
    properties = properties_of(schema)
    required = [] if properties is schema else required_of(schema)  # a bare map does not say what may be left out
    missing = [name for name in required if name not in payload and isinstance(properties.get(name), Mapping)]
    if missing:
        return f"{missing[0]} is missing"
    if payload and not properties and schema.get("additionalProperties") is False:
        return f"it takes no payload, got {short(payload)}"
    for name, part in properties.items():
        kind, value = part.get("type") if isinstance(part, Mapping) else None, payload.get(name)
        if kind not in ("number", "integer") or (value is None and name not in required):
            continue
        low, high = _range(part)
        if low > high:
            low, high = -inf, inf
        numbers = (int,) if kind == "integer" else (int, float)
        if isinstance(value, bool) or not isinstance(value, numbers) or not low - ROUNDING <= value <= high + ROUNDING:
            kind_of_number = "a whole number" if kind == "integer" else "a number"
            return f"{name} is {kind_of_number} from {low:g} to {high:g}, got {short(value)}"
    return None


def both(own: Mapping[str, Any], offered: Mapping[str, Any]) -> dict[str, Any]:
    """Return a schema of the rules with the numbers' bounds of another one, too; those alone if no number fits both."""
    parts = {}
    for name, part in properties_of(own).items():
        other = properties_of(offered).get(name)
        parts[name] = part
        if isinstance(part, Mapping) and isinstance(other, Mapping):
            if part.get("type") == "object":
                parts[name] = both(part, other)
            elif part.get("type") in ("number", "integer"):
                (least, most), (low, high) = _range(part), _range(other)
                least, most = max(least, low), min(most, high)
                limits = zip(("minimum", "maximum"), (least, most) if least <= most else (low, high), strict=True)
                whole = {"type": "integer"} if "integer" in (part["type"], other.get("type")) else {}
                parts[name] = {**part, **whole, **{key: limit for key, limit in limits if isfinite(limit)}}
    return {**own, "properties": parts} if "properties" in own else {**own, **parts}


def required_of(schema: Any) -> list[str]:
    """Return the names of the values that a payload must have: of a bare map of properties, all."""
    if not isinstance(schema, Mapping):
        return []
    if properties_of(schema) is schema:
        return [name for name, part in schema.items() if isinstance(part, Mapping)]
    named = schema.get("required")
    return [name for name in named if isinstance(name, str)] if isinstance(named, list) else []


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


QUIET = ("pass", "message_only", "check", "finish", "reject", "fold")
"""Actions that commit to nothing or to little, in this order."""
IDLE = QUIET[:2]
"""Actions that decide nothing, in every game."""


def offered_mask(game: Game, table: Any, mask: NDArray[np.int8], offers: Sequence[AllowedAction]) -> NDArray[np.int8]:
    """Return the legal action indices whose action type is offered, with numbers within the bounds of its schema.

    If no index of a type has such numbers, all of its indices stay: `fitted` moves their numbers to the bounds. It does
    not move those in an object, which may be shares of a sum.

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
    offered = {offer.action_type: bounds_of(offer.payload_schema) for offer in offers}
    legal = {offer.action_type: bounds_of(offer.payload_schema) for offer in game.allowed_actions(table)}
    narrow = set()  # the types with a bound that the rules do not have
    for name, bounds in offered.items():
        own = legal.get(name, {})
        limits = ((own.get(path, (-inf, inf)), bound) for path, bound in bounds.items())
        narrow |= {name for (least, most), (low, high) in limits if low > least or high < most}
    kept, outside = mask.copy(), dict[str, list[int]]()
    for start, stop, types in _ranges(game, len(mask)):
        if types and offered.keys() >= set(types) and narrow.isdisjoint(types):
            continue
        for index in (np.flatnonzero(mask[start:stop]) + start).tolist():
            action = game.view.encode(table, index).action
            name = action.action_type
            kept[index] = name in offered and (name not in narrow or fits(offered[name], action.payload))
            if name in narrow:
                outside.setdefault(name, []).append(-1 if kept[index] else index)
    for name, indices in outside.items():
        if -1 not in indices and all(len(path) == 1 for path in offered[name]):
            kept[indices] = 1
    return kept


def acceptable(game: Game, table: Any, mask: NDArray[np.int8], best: bool = True) -> NDArray[np.int8]:
    """Return the action indices of `mask` that are not worth less than the outside option; if all are, the best ones,
    or with `best=False` none.

    Args:
        game: the game; without an outside option all are acceptable (see `OutsideOption`).
        table: the record, in which it is the seat's turn.
        mask: the action indices that may be played, int8[A].
    """
    option = game.capabilities.outside_option
    if option is None or not mask.any():
        return mask
    worth = option.worth(table)
    least = min(0.0, float(worth[mask > 0].max())) if best else 0.0
    return np.asarray(mask * (worth >= least - ROUNDING), np.int8)


def _ranges(game: Game, actions: int) -> list[tuple[int, int, tuple[str, ...]]]:
    described = [(part.start, part.stop, part.action_types) for part in game.view.action_ranges]
    return described or [(0, actions, ())]


def nearest_open(game: Game, table: Any, chosen: int, mask: NDArray[np.int8]) -> int:
    """Return the action index of `mask` to play in the place of `chosen`: the nearest one of the same action type, else
    the safe one, else the nearest one."""
    for start, stop, types in _ranges(game, len(mask)):
        if start <= chosen < stop and types and mask[start:stop].any():
            return start + _nearest(chosen - start, mask[start:stop])
    safe = game.view.safe(table)
    return safe if mask[safe] else _nearest(chosen, mask)


def _nearest(chosen: int, mask: NDArray[np.int8]) -> int:
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
    properties = properties_of(offer.payload_schema)
    payload = {name: fitted_value(value, properties.get(name)) for name, value in action.payload.items()}
    return AgentResponse(Action(action.action_type, payload), response.messages)


def safe_action(game: Game, table: Any, mask: NDArray[np.int8], offers: Sequence[AllowedAction]) -> Action:
    """Return the action for an agent that does not answer: the game's safe one if it is in `mask`; else the first of
    `QUIET` that is offered; else the one of `mask` that is worth most to the seat; else `quiet_action`.

    Args:
        game: the game.
        table: the record, in which it is the seat's turn.
        mask: the action indices that may be played, int8[A].
        offers: the state's ``allowed_actions``.
    """
    chosen = game.view.safe(table)
    if not mask[chosen]:
        if not mask.any() or any(offer.action_type in QUIET for offer in offers):
            return quiet_action(offers)
        option, opened = game.capabilities.outside_option, np.flatnonzero(mask)
        chosen = int(opened[0 if option is None else np.argmax(option.worth(table)[opened])])
    return fitted(game.view.encode(table, chosen), offers).action


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
    schema = offers[0].payload_schema
    parts = {name: properties_of(schema).get(name) for name in required_of(schema)}
    payload = {name: _least(part) for name, part in parts.items() if isinstance(part, Mapping)}
    return Action(offers[0].action_type, payload)


def narrowed(legal: Sequence[AllowedAction], offers: Sequence[AllowedAction]) -> list[AllowedAction]:
    """Return a host's offer with the bounds of the rules, too: a number has to lie within both.

    Args:
        legal: the legal actions of the rules at a record that was loaded from the host's state.
        offers: the host's ``allowed_actions``. If there are none, the host offers nothing in our turn; then the legal
            actions are returned that decide something, because nothing else moves a match on.
    """
    if not offers:
        return [action for action in legal if action.action_type not in IDLE] or list(legal)
    own = {action.action_type: action.payload_schema for action in legal}
    return [
        msgspec.structs.replace(offer, payload_schema=both(own[offer.action_type], offer.payload_schema))
        if offer.action_type in own
        else offer
        for offer in offers
    ]
