"""Schemas of payloads: JSON schemas, or bare maps of properties, as hosts send them. They may hold any nonsense."""

from collections.abc import Iterator, Mapping
from math import ceil, floor, inf, isfinite
from typing import Any

from ..logs.log_text import short

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
        value = _number(value)
    if isinstance(value, bool) or not isinstance(value, (int, float)) or value != value:
        return value
    whole = schema.get("type") == "integer"
    low, high = schema.get("minimum"), schema.get("maximum")
    if isinstance(high, (int, float)) and value > high:
        return floor(high) if whole and abs(high) < inf else high
    if isinstance(low, (int, float)) and value < low:
        return ceil(low) if whole and abs(low) < inf else low
    return round(value) if whole and abs(value) < inf else value


def _number(text: str) -> Any:
    """Return the number that a text is; any other text as it is."""
    try:
        number = float(text)
    except ValueError:
        return text
    return number if isfinite(number) else text


def properties_of(schema: Any) -> Mapping[str, Any]:
    """Return the schemas of the values by their keys."""
    properties = schema.get("properties") if isinstance(schema, Mapping) else None
    if isinstance(properties, Mapping):
        return properties
    return schema if isinstance(schema, Mapping) else {}


def _limit(schema: Mapping[str, Any], key: str, otherwise: float) -> float:
    value = schema.get(key)
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return otherwise
    return value if -LARGEST <= value <= LARGEST else otherwise


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


def is_narrower(offered: Bounds, legal: Bounds) -> bool:
    """Return whether a number has a bound in `offered` that it does not have in `legal`."""
    return any(
        least > legal.get(path, (-inf, inf))[0] or most < legal.get(path, (-inf, inf))[1]
        for path, (least, most) in offered.items()
    )


def _numbers(bounds: Bounds, payload: Mapping[str, Any]) -> Iterator[tuple[float, tuple[float, float]]]:
    for path, limits in bounds.items():
        value: Any = payload
        for name in path:
            value = value.get(name) if isinstance(value, Mapping) else None
        if isinstance(value, (int, float)):
            yield value, limits


def fits(bounds: Bounds, payload: Mapping[str, Any]) -> bool:
    """Return whether all numbers of a payload lie within their bounds."""
    return all(least - ROUNDING <= value <= most + ROUNDING for value, (least, most) in _numbers(bounds, payload))


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


def least_payload(schema: Mapping[str, Any]) -> dict[str, Any]:
    """Return the least payload of a JSON schema, or of a bare map of properties, which all are required then."""
    properties = properties_of(schema)
    return {name: _least(properties[name]) for name in required_of(schema) if isinstance(properties.get(name), Mapping)}


def required_of(schema: Any) -> list[str]:
    """Return the names of the values that a payload must have: of a bare map of properties, all."""
    if not isinstance(schema, Mapping):
        return []
    named = list(schema) if properties_of(schema) is schema else schema.get("required")
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
