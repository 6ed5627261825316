"""Action index ◄─► move ◄─► payload, in the platforms' payloads: one number by its key, or nothing."""

from collections.abc import Mapping
from functools import partial
from math import isfinite
from reprlib import repr
from typing import Any

import msgspec
import numpy as np
from gymnasium import spaces

from ..core import turn_state as ts
from ..core.turn_state import NOTHING, Action, ActionResult, AgentResponse, AllowedAction
from ..core.view import ActionRange
from .definition import Number, StageGame
from .rules import CLOSE, Move, decode

PASS = "pass"


def counts(rules: StageGame) -> list[int]:
    """Return how many action indices each action type has, `pass` last."""
    return [one.points if isinstance(one, Number) else 1 for one in rules.actions] + [1]


def action_ranges(rules: StageGame) -> tuple[ActionRange, ...]:
    """Return the action ranges."""
    ranges, start = [], 0
    for one, count in zip(rules.actions, counts(rules)[:-1], strict=True):
        grid = f": 0, {one.highest / (count - 1):.6g}, … {one.highest:g}" if isinstance(one, Number) else ""
        ranges.append(ActionRange(start, start + count, (one.name,), f"{one.meaning}{grid}"))
        start += count
    return (*ranges, ActionRange(start, start + 1, (PASS,), told_of_pass(rules)))


def told_of_pass(rules: StageGame) -> str:
    """Return what `pass` means."""
    return "choose nothing; this is final" if rules.pass_is_final else "do not choose in this turn"


def action_spaces(rules: StageGame) -> dict[str, spaces.Dict]:
    """Return every action type with the space of its payload."""
    found = {}
    for one in rules.actions:
        keys = keys_of(one) if isinstance(one, Number) else ()
        highest = one.highest if isinstance(one, Number) else 0.0
        found[one.name] = spaces.Dict({key: spaces.Box(0.0, highest, (), np.float64) for key in keys})
    return {**found, PASS: spaces.Dict({}), "message_only": spaces.Dict({})}


def keys_of(one: Number) -> tuple[str, ...]:
    """Return the keys of a payload."""
    return (one.key,) if one.rest is None else (one.key, one.rest)


def payload(one: Number, value: float) -> dict[str, float]:
    """Return the payload of a number."""
    more = {} if one.rest is None else {one.rest: one.highest - value}
    return {one.key: value, **more}


def offered(table: Any) -> list[int]:
    """Return the action types that the acting seat may play."""
    offers = int(table.offers[int(table.stage)])
    return [kind for kind in range(int(table.kinds)) if (offers >> kind) & 1 and table.open[kind]]


def bounds(table: Any, kind: int) -> tuple[float, float]:
    """Return the lowest and highest number of this turn; a number of the grid is not cut off by rounding."""
    least, most = float(table.least[kind]), float(table.most[kind])
    origin, gap = float(table.origin[kind]), float(table.gap[kind])
    lowest = origin + gap * np.ceil((least - origin) / gap - CLOSE)
    highest = origin + gap * np.floor((most - origin) / gap + CLOSE)
    return float(min(least, lowest)), float(max(most, highest))


def allowed(rules: StageGame, table: Any) -> list[AllowedAction]:
    """Return the legal actions of the acting seat, with their bounds."""
    found = []
    for kind in offered(table):
        if kind == len(rules.actions):
            found.append(AllowedAction(PASS, told_of_pass(rules), NOTHING))
            continue
        one = rules.actions[kind]
        found.append(AllowedAction(one.name, one.meaning, _schema(one, table, kind)))
    return [*found, AllowedAction("message_only", "send messages and decide later in this turn", NOTHING)]


def _schema(one: Any, table: Any, kind: int) -> dict[str, Any]:
    if not isinstance(one, Number):
        return NOTHING
    least, most = bounds(table, kind)
    properties = {one.key: {"type": "number", "minimum": least, "maximum": most}}
    if one.rest is not None:
        properties[one.rest] = {"type": "number", "minimum": one.highest - most, "maximum": one.highest - least}
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


def encode(rules: StageGame, table: Any, action: int) -> AgentResponse:
    """Return the payload of a legal action index."""
    move = decode(table, action)
    if move.kind == len(rules.actions):
        return AgentResponse(Action(PASS))
    one = rules.actions[move.kind]
    return AgentResponse(Action(one.name, payload(one, float(move.value)) if isinstance(one, Number) else {}))


def parse(rules: StageGame, table: Any, action: Action) -> Move | ActionResult:
    """Return the exact move of a payload, or a refusal that names the right values."""
    names = [*(one.name for one in rules.actions), PASS]
    name = action.action_type
    if name not in names:
        return ts.refused(ts.INVALID_ACTION_TYPE, f"{repr(name)} is not an action here: {', '.join(names)}")
    kind, legal = names.index(name), offered(table)
    one = rules.actions[kind] if kind < len(rules.actions) else None
    number = 0.0
    if isinstance(one, Number):
        found = _number(one, action.payload)
        if isinstance(found, ActionResult):
            return found
        number = found
    elif action.payload:
        return ts.refused(ts.INVALID_PAYLOAD, f"{name} takes no payload, got {repr(action.payload)}")
    if kind not in legal:
        open_now = ", ".join(names[other] for other in legal)
        return ts.refused(ts.GAME_RULE_VIOLATION, f"cannot {name} now; legal: {open_now}")
    if not isinstance(one, Number):
        return Move(kind, float(table.origin[kind]))
    least, most = bounds(table, kind)
    if not least <= number <= most:
        return ts.refused(ts.INVALID_PAYLOAD, f"{one.key} is {number:g}: the bounds are {least:g} to {most:g}")
    return Move(kind, number + 0.0)  # no −0


def _number(one: Number, given: Mapping[str, Any]) -> float | ActionResult:
    """Read the number of a payload."""
    keys = keys_of(one)
    wanted = f"{one.name} needs {', '.join(keys)}"
    if set(given) != set(keys):
        return ts.refused(ts.INVALID_PAYLOAD, f"{wanted}, got {repr(dict(given))}")
    try:
        numbers = [msgspec.convert(given[key], float) for key in keys]
    except (msgspec.ValidationError, OverflowError) as error:
        return ts.refused(ts.INVALID_PAYLOAD, f"{wanted}: {error}")
    if not all(map(isfinite, numbers)):
        return ts.refused(ts.INVALID_PAYLOAD, f"{wanted} as finite numbers")
    if one.rest is not None and abs(sum(numbers) - one.highest) > 0.01:
        return ts.refused(ts.INVALID_PAYLOAD, f"{' and '.join(keys)} need to sum to {one.highest:g}")
    return numbers[0]


def nearest(table: Any, move: Move) -> int:
    """Return the action index of `move`, or of the nearest number on the grid."""
    kind = int(move.kind)
    first, last, gap = int(table.first[kind]), int(table.first[kind + 1]) - 1, float(table.gap[kind])
    if gap == 0:
        return first
    origin = float(table.origin[kind])
    lowest = first + int(np.ceil((float(table.least[kind]) - origin) / gap - CLOSE))
    highest = first + int(np.floor((float(table.most[kind]) - origin) / gap + CLOSE))
    found = first + round((move.value - origin) / gap)
    return max(first, lowest, min(last, highest, found))


def safe(table: Any) -> int:
    """Return the action index of the safe action: pass, or else the least number or first action of the phase."""
    kinds = offered(table)
    if int(table.kinds) - 1 in kinds:
        return int(table.first[int(table.kinds) - 1])
    return nearest(table, Move(kinds[0], float(table.least[kinds[0]])))


def functions(rules: StageGame) -> dict[str, Any]:
    """Return the functions of `View` that this module has."""
    return {
        "action_spaces": action_spaces(rules),
        "action_ranges": action_ranges(rules),
        "encode": partial(encode, rules),
        "parse": partial(parse, rules),
        "nearest": nearest,
        "safe": safe,
        "allowed": partial(allowed, rules),
    }
