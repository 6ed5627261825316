"""Record ──► TurnState of a player, and back. `game_state` and `outcome` have the fields of the TurnState platforms.

What ``action_history`` and a repeated game tell stands in docs/games.md.
"""

import copyreg
from collections.abc import Collection, Mapping, Sequence
from functools import partial
from math import isfinite
from reprlib import repr
from typing import Annotated, Any, cast

import msgspec
import numpy as np
from gymnasium import spaces
from msgspec import UNSET, StructMeta, UnsetType
from numpy.typing import NDArray

from ..core import turn_state as ts
from ..core.turn_state import (
    MESSAGE_LENGTH,
    Action,
    ActionResult,
    AgentResponse,
    AllowedAction,
    GameState,
    MessageIntent,
    MessageScope,
    TurnState,
    about,
    named_order,
)
from ..core.turn_state import NOTHING as EMPTY
from ..core.view import ActionRange
from .definition import End, Further, Named, Number, PhaseGame
from .fields import LEFT_OUT, name_of
from .rules import CLOSE, Move, cents, decode
from .table import LOG, MEMORY, NOTHING


class _Generated(StructMeta):
    """Metaclass of the generated state types, which are pickled by their game."""


class PhaseState(GameState, metaclass=_Generated):
    """Every type that is made here is one of these."""


class PhaseMove(PhaseState):
    """A move: the base of the types of rows of ``action_history``."""


def state_type(rules: PhaseGame) -> type[GameState]:
    """Return the type of a game's `game_state`. What only one seat gets may be left out, as observers do not get it."""
    own: dict[str, Any] = {"my_role": Annotated[str, about("the seat's role")]} if rules.roles else {}
    if rules.private is not None:
        own[rules.private.name] = Annotated[float, about("known to the seat alone")]
    fields = {field.name: Annotated[field.kind(), about(field.meaning)] for field in rules.fields}
    hidden = {*own, *(field.name for field in rules.fields if field.private)}
    types = own | {"agent_ids": Annotated[list[str], about("in seat order")]}
    types |= {key: list[str] if rules.role_keys.count(key) > 1 else str for key in rules.role_keys}
    types |= fields | {
        "turns_left": Annotated[int, about("of the phase, for each seat, this one included")],
        "action_history": list[_move_type(rules)],  # type: ignore[misc]
    }
    if rules.rounds > 1:
        types |= {
            "round_number": Annotated[int, about("from 0")],
            "rounds": int,
            "totals": Annotated[dict[str, float], about("utilities so far, by agent")],
            "past_rounds": Annotated[
                list[dict[str, dict[str, float]]], about("choices by phase and agent, the latest round first")
            ],
        }
        if rules.facts:
            types["past_facts"] = Annotated[list[dict[str, float]], about("of the same rounds")]
    return _made(rules, PhaseState, types, hidden)


def _move_type(rules: PhaseGame) -> type[GameState]:
    """Return the type of a row of ``action_history``."""
    numbers: dict[str, Any] = {}
    for action in rules.actions:
        if isinstance(action, Number) and not action.further:
            numbers[action.key] = dict[str, float] if action.shares else float
            numbers |= {action.rest: float} if action.rest else {}
    types = {"agent_id": str, "action": str, **numbers, "phase": str, "round": Annotated[int, about("from 0")]}
    return _made(rules, PhaseMove, types, numbers)


def _made(rules: PhaseGame, base: Any, types: Mapping[str, Any], hidden: Collection[str]) -> type[GameState]:
    """Return a type with these fields; those that are `hidden` may be left out."""
    name = rules.name.title().replace("_", "") + base.__name__.removeprefix("Phase")
    space = {"__module__": __name__, "__doc__": f"{rules.title} as a seat sees it.", "rules": rules}
    space["__annotations__"] = {key: kind | UnsetType if key in hidden else kind for key, kind in types.items()}
    new_type: Any = _Generated(name, (base,), {**space, **dict.fromkeys(hidden, UNSET)}, kw_only=True)
    return cast(type[GameState], new_type)


def _reduced(kind: Any) -> Any:
    """Return the pickled form of a type: its name if it is of this module, else the game that it belongs to."""
    if not hasattr(kind, "rules"):
        return kind.__qualname__
    return _move_type if issubclass(kind, PhaseMove) else state_type, (kind.rules,)


copyreg.pickle(_Generated, _reduced)


def phase_name(rules: PhaseGame, table: Any) -> str:
    """Return the name of the phase."""
    return rules.phases[int(table.phase)].name


def public(rules: PhaseGame, kind: type[GameState], table: Any) -> GameState:
    """Return the public state as the type `kind`."""
    return kind(**_seen(rules, table, -1))


def game_state(rules: PhaseGame, kind: type[GameState], table: Any, seat: int) -> GameState:
    """Return the table as `seat` may see it, as the type `kind`."""
    own: dict[str, Any] = {"my_role": rules.roles[seat]} if rules.roles else {}
    if rules.private is not None:
        own[rules.private.name] = float(table.private[seat])
    return kind(**own, **_seen(rules, table, seat))


def _seen(rules: PhaseGame, table: Any, seat: int) -> dict[str, Any]:
    seats = range(rules.seats)
    roles = {key: _holders(rules, key) for key in rules.role_keys}
    written = {field.name: field.write(table, seat) for field in rules.fields if seat >= 0 or not field.private}
    fields = {name: value for name, value in written.items() if value is not LEFT_OUT}
    limit = int(table.limit[int(table.phase)])
    seen = {
        "agent_ids": [name_of(i) for i in seats],
        **roles,
        **fields,
        "turns_left": limit - min(int(table.cycle), limit),
        "action_history": history(rules, table),
    }
    if rules.rounds > 1:
        seen["round_number"] = int(table.round_number)
        seen["rounds"] = rules.rounds
        seen["totals"] = {name_of(i): float(table.total[i]) for i in seats}
        seen["past_rounds"] = _past(rules, table)
        if rules.facts:
            seen["past_facts"] = _past_facts(rules, table)
    return seen


def differences(options: Mapping[str, Any], state: TurnState, first: bool) -> dict[str, Any]:
    """Return the number of agents of a live table, if it is another one."""
    agents = named_order(state)
    return {"seats": len(agents)} if agents and len(agents) != options["seats"] else {}


def _holders(rules: PhaseGame, key: str) -> str | list[str]:
    """Return the agents of the roles that a field names: one, or a list."""
    agents = [name_of(seat) for seat, other in enumerate(rules.role_keys) if other == key]
    return agents[0] if len(agents) == 1 else agents


def _past(rules: PhaseGame, table: Any) -> list[dict[str, dict[str, float]]]:
    """Return the choices of the last rounds, the latest first: by phase and agent."""
    ages = range(min(MEMORY, int(table.round_number)))
    return [
        {
            phase.name: {
                name_of(i): float(table.past[age][k][i]) for i in range(rules.seats) if table.past[age][k][i] != NOTHING
            }
            for k, phase in enumerate(rules.phases)
        }
        for age in ages
    ]


def _past_facts(rules: PhaseGame, table: Any) -> list[dict[str, float]]:
    """Return the facts of the last rounds, the latest first, by name."""
    ages = range(min(MEMORY, int(table.round_number)))
    return [{fact.name: float(table.past_fact[age][k]) for k, fact in enumerate(rules.facts)} for age in ages]


def history(rules: PhaseGame, table: Any) -> list[dict[str, Any]]:
    """Return every action of the round so far; the numbers of a sealed phase are left out until it is over."""
    if rules.loops:
        return _log(rules, table)
    rows: list[dict[str, Any]] = []
    turn, now = int(table.turn), int(table.phase)
    for k, phase in enumerate(rules.phases[: now + 1]):
        if phase.open is not None:
            return rows + _log(rules, table)
        actors = [seat for seat in range(rules.seats) if (int(table.actors[k]) >> seat) & 1]
        cycles = 1 + max([int(table.chosen_in[k][seat]) for seat in actors] + [int(table.cycle) if k == now else 0])
        for cycle in range(cycles):
            for seat in actors:
                acted = k < now or cycle < table.cycle or (cycle == table.cycle and seat < turn)
                kind = int(table.chosen[k][seat]) - 1
                if kind >= 0 and table.chosen_in[k][seat] == cycle:
                    visible = not phase.sealed or k < now
                    number = float(table.number[k][seat])
                    rows.append(_row(rules, table, k, seat, kind, cycle, number, visible))
                elif acted and (kind < 0 or cycle < table.chosen_in[k][seat]):
                    rows.append(_row(rules, table, k, seat, len(rules.actions), cycle, 0.0, False))
    return rows


def _log(rules: PhaseGame, table: Any) -> list[dict[str, Any]]:
    """Return the last actions of the open phase, or of a round that may go back."""
    acts = int(table.acts)
    return [
        _row(
            rules,
            table,
            int(table.log_phase[place]),
            int(table.log_seat[place]),
            int(table.log_kind[place]),
            int(table.log_cycle[place]),
            float(table.log_number[place]),
            True,
        )
        for place in (act % LOG for act in range(max(0, acts - LOG), acts))
    ]


def _row(
    rules: PhaseGame, table: Any, phase: int, seat: int, kind: int, cycle: int, number: float, visible: bool
) -> dict[str, Any]:
    action = rules.actions[kind] if kind < len(rules.actions) else None
    numbers: dict[str, Any] = {}
    if visible and isinstance(action, Number) and not action.further and not (action.shares and rules.seats > 2):
        numbers = payload(action, Move(kind, number), seat, float(table.most[kind]))
    name = PASS if action is None else action.name
    return {"agent_id": name_of(seat), "action": name, **numbers, "phase": rules.phases[phase].name, "round": cycle}


def outcome(rules: PhaseGame, table: Any, seat: int) -> dict[str, Any]:
    """Return the end: all utilities, the reason, and what the platform tells of the last round."""
    end = rules.end(table) if rules.late is not None or not table.timeout else End()
    rows = end.rows or [{}] * rules.seats
    return {
        "payoffs": [{"agent_id": name_of(i), **rows[i], "utility": float(table.total[i])} for i in range(rules.seats)],
        "reason": end.reason,
        **end.more,
    }


def resample(rules: PhaseGame, table: Any, seat: int, generator: np.random.Generator) -> None:
    """Draw the others' private values and their sealed choices again, in place, and the stream. The outcome of a match
    tells them."""
    table.stream = generator.integers(0, 2**64, dtype=np.uint64)
    phase = int(table.phase)
    if table.done and not table.timeout:
        return
    for other in range(rules.seats):
        if other == seat:
            continue
        low, high = float(table.private_low[other]), float(table.private_high[other])
        table.private[other] = cents(low + generator.random() * (high - low))
        kind = int(table.chosen[phase][other]) - 1
        if table.sealed[phase] and kind >= 0:
            count = int(table.first[kind + 1] - table.first[kind])
            table.number[phase, other] = table.origin[kind] + table.gap[kind] * generator.integers(count)


PASS = "pass"
PRINTABLE = frozenset(map(chr, range(32, 127)))


def counts(rules: PhaseGame) -> list[int]:
    """Return the number of action indices of each action type, `pass` last."""
    return [one.indices if isinstance(one, Number) else 1 for one in rules.actions] + [1]


def action_ranges(rules: PhaseGame) -> tuple[ActionRange, ...]:
    """Return the action ranges."""
    ranges, start = [], 0
    for one, count in zip(rules.actions, counts(rules)[:-1], strict=True):
        grid = _grids(one) if isinstance(one, Number) else ""
        word = f" ({one.label})" if isinstance(one, Named) and one.says else ""
        ranges.append(ActionRange(start, start + count, (one.name,), f"{one.meaning}{word}{grid}"))
        start += count
    return (*ranges, ActionRange(start, start + 1, (PASS,), meaning_of_pass(rules)))


def _grids(number: Number) -> str:
    """Return the numbers that have an action index; the last of several keys changes fastest."""
    if not number.further:
        return _grid(number.highest, number.points, number.lowest)
    keys = [Further(number.key, number.highest, number.points), *number.further]
    return "; ".join(
        f"{' by' if place else ': by'} {one.key}{_grid(one.highest, one.points)}" for place, one in enumerate(keys)
    )


def _grid(highest: float, points: int, lowest: float = 0.0) -> str:
    second = lowest + (highest - lowest) / max(points - 1, 1)
    return f": {lowest:g}, {second:.6g}, … {highest:g}" if points > 1 else f": {lowest:g}"


def meaning_of_pass(rules: PhaseGame) -> str:
    """Return the meaning of `pass`."""
    if not any(phase.may_pass for phase in rules.phases):
        return "never legal in this game"
    return "choose nothing; this is final" if rules.pass_is_final else "do not choose in this turn"


def action_spaces(rules: PhaseGame) -> dict[str, spaces.Dict]:
    """Return every action type with the space of its payload."""
    by_type = {}
    for action in rules.actions:
        keys = keys_of(action) if isinstance(action, Number) else ()
        low, high = (action.lowest, action.highest) if isinstance(action, Number) else (0.0, 0.0)
        numbers: dict[str, spaces.Space[Any]] = {key: spaces.Box(low, high, (), np.float64) for key in keys}
        for more in action.further if isinstance(action, Number) else ():
            numbers[more.key] = spaces.Box(0.0, more.highest, (), np.float64)
        for key, words in _words(rules, action.name).items():
            numbers[key] = spaces.Text(max(map(len, words)), min_length=1, charset="".join(sorted(set("".join(words)))))
        for key in action.texts if isinstance(action, Named) else ():
            numbers[key] = spaces.Text(MESSAGE_LENGTH, min_length=1, charset=PRINTABLE)
        if isinstance(action, Number) and action.shares:
            numbers = {action.key: spaces.Dict({name_of(seat): numbers[action.key] for seat in range(rules.seats)})}
        by_type[action.name] = spaces.Dict(numbers)
    return {**by_type, PASS: spaces.Dict({}), "message_only": spaces.Dict({})}


def _words(rules: PhaseGame, name: str) -> dict[str, list[str]]:
    """Return the words that the payloads of an action type hold, by key."""
    words_by_key: dict[str, list[str]] = {}
    for one in rules.actions:
        for key, word in one.says.items() if isinstance(one, Named) and one.name == name else ():
            words_by_key.setdefault(key, []).append(word)
    return words_by_key


def keys_of(number: Number) -> tuple[str, ...]:
    """Return the keys of a payload, but for those of further numbers."""
    return (number.key,) if number.rest is None else (number.key, number.rest)


def payload(action: Number, move: Move, seat: int, total: float, seats: int = 2) -> dict[str, Any]:
    """Return the payload of a move of `seat`; `total`: the sum of shares, which are those of `seats` agents."""
    value = float(move.value)
    if action.shares:
        shares = [float(share) for share in move[1:seats]]
        shares.append(max(total - sum(shares), 0.0))
        return {action.key: {name_of(other): shares[(other - seat) % seats] for other in range(seats)}}
    rest = {} if action.rest is None else {action.rest: total - value}
    further = zip(action.further, (float(move.second), float(move.third)), strict=False)
    return {action.key: value, **rest, **{key.key: number for key, number in further}}


def offered(table: Any) -> list[int]:
    """Return the action types that the acting seat may play."""
    offers = int(table.offers[int(table.phase)])
    return [kind for kind in range(int(table.kinds)) if (offers >> kind) & 1 and table.open[kind]]


def bounds(table: Any, kind: int) -> tuple[float, float]:
    """Return the lowest and highest number of this turn; a number of the grid is not cut off by rounding."""
    least, most = float(table.least[kind]), float(table.most[kind])
    origin, gap = float(table.origin[kind]), float(table.gap[kind])
    lowest = origin + gap * np.ceil((least - origin) / gap - CLOSE)
    highest = origin + gap * np.floor((most - origin) / gap + CLOSE)
    return float(min(least, lowest)), float(max(most, highest))


def legal_actions(rules: PhaseGame, table: Any) -> list[AllowedAction]:
    """Return the legal actions of the acting seat, with their bounds; a type that differs by words is one of them."""
    offers: list[AllowedAction] = []
    for kind in offered(table):
        if kind == len(rules.actions):
            offers.append(AllowedAction(PASS, meaning_of_pass(rules), EMPTY))
            continue
        action = rules.actions[kind]
        if not offers or offers[-1].action_type != action.name:
            offers.append(AllowedAction(action.name, action.meaning, _schema(rules, table, kind)))
    return [*offers, AllowedAction("message_only", "send messages and decide later in this turn", EMPTY)]


def _schema(rules: PhaseGame, table: Any, kind: int) -> dict[str, Any]:
    action = rules.actions[kind]
    if isinstance(action, Named) and action.says:
        legal = [rules.actions[other] for other in offered(table) if other < len(rules.actions)]
        same = [other for other in legal if isinstance(other, Named) and other.name == action.name]
        return _object({key: {"type": "string", "enum": [each.says[key] for each in same]} for key in action.says})
    if not isinstance(action, Number):
        texts = {key: {"type": "string", "minLength": 1, "maxLength": MESSAGE_LENGTH} for key in action.texts}
        return _object(texts, action.words) if texts or action.words else EMPTY
    least, most = bounds(table, kind)
    properties: dict[str, Any] = {action.key: {"type": "number", "minimum": least, "maximum": most}}
    if action.shares:
        properties = {action.key: _object({name_of(seat): properties[action.key] for seat in range(rules.seats)})}
    if action.rest is not None:
        properties[action.rest] = {"type": "number", "minimum": 0.0, "maximum": most - least}
    for more in action.further:
        properties[more.key] = {"type": "number", "minimum": 0.0, "maximum": more.highest}
    return _object(properties, action.words)


def _object(properties: dict[str, Any], words: Sequence[str] = ()) -> dict[str, Any]:
    """Return the schema of an object that needs `properties` and may have texts under `words`."""
    return ts.payload_schema({**properties, **{key: {"type": "string"} for key in words}}, list(properties))


def encode(rules: PhaseGame, table: Any, action: int) -> AgentResponse:
    """Return the payload of a legal action index."""
    move = decode(table, action)
    if move.kind == len(rules.actions):
        return AgentResponse(Action(PASS))
    kind = rules.actions[move.kind]
    if not isinstance(kind, Number):
        return AgentResponse(Action(kind.name, {**kind.says, **kind.texts}))
    total = float(table.most[move.kind])
    return AgentResponse(Action(kind.name, payload(kind, move, int(table.turn), total, rules.seats)))


def parse(rules: PhaseGame, table: Any, action: Action) -> Move | ActionResult:
    """Return the exact move of a payload, or a refusal that names the right values."""
    names = [*(each.name for each in rules.actions), PASS]
    name = action.action_type
    if name not in names:
        return ts.unknown_action(action, names)
    kind, legal = names.index(name), offered(table)
    action_type = rules.actions[kind] if kind < len(rules.actions) else None
    number, further = 0.0, list[float]()
    if isinstance(action_type, Number):
        numbers = (_share if action_type.shares else _numbers)(action_type, action.payload, table, kind)
        if isinstance(numbers, ActionResult):
            return numbers
        number, further = numbers[0], numbers[1:]
    elif action_type is not None and action_type.says:
        said = [other for other, each in enumerate(rules.actions) if names[other] == name and _says(each, action)]
        if not said:
            words = "; ".join(f"{key}: {' or '.join(each)}" for key, each in _words(rules, name).items())
            return ts.refused(ts.INVALID_PAYLOAD, f"{name} needs {words}; got {repr(dict(action.payload))}")
        kind = said[0]
    elif not _only_texts(action_type, action.payload):
        wanted = _wanted_texts(action_type)
        return ts.refused(ts.INVALID_PAYLOAD, f"{name} {wanted}, got {repr(action.payload)}")
    if kind not in legal:
        open_now = ", ".join(names[other] for other in legal)
        return ts.refused(ts.GAME_RULE_VIOLATION, f"cannot {name} now; legal: {open_now}")
    if not isinstance(action_type, Number):
        return Move(kind, float(table.origin[kind]))
    for more, value in zip(action_type.further, further, strict=False):  # shares have no bounds of their own
        if not 0 <= value <= more.highest:
            return ts.refused(ts.INVALID_PAYLOAD, f"{more.key} is {value:g}: the bounds are 0 to {more.highest:g}")
    least, most = bounds(table, kind)
    if not least <= number <= most:
        return ts.refused(ts.INVALID_PAYLOAD, f"{action_type.key} is {number:g}: the bounds are {least:g} to {most:g}")
    return Move(kind, *(value + 0.0 for value in (number, *further)))  # no −0


def _says(kind: Number | Named, action: Action) -> bool:
    return isinstance(kind, Named) and dict(action.payload) == dict(kind.says)


def _only_texts(action: Named | None, given: Mapping[str, Any]) -> bool:
    """Return True if a payload without a number holds nothing but texts, and all that the action type needs."""
    words, needed = ((), {}) if action is None else (action.words, action.texts)
    if not all((key in words or key in needed) and isinstance(value, str) for key, value in given.items()):
        return False
    return all(given.get(key, "").strip() and len(given[key]) <= MESSAGE_LENGTH for key in needed)


def _wanted_texts(action: Named | None) -> str:
    if action is None or not action.texts:
        return "takes no payload"
    return f"needs {' and '.join(action.texts)}, as text of 1 to {MESSAGE_LENGTH:,} characters"


def messages(rules: PhaseGame, table: Any, action: Action) -> list[MessageIntent]:
    """Return the messages of an accepted action: its texts, if they are not those of the action index."""
    kind = next((kind for kind in rules.actions if kind.name == action.action_type), None)
    standard = kind.texts if isinstance(kind, Named) else {}
    keys = () if kind is None else (*standard, *kind.words)
    texts = [action.payload[key] for key in keys if action.payload.get(key, "").strip()]
    return [MessageIntent(MessageScope.PUBLIC, text) for text in texts if text not in standard.values()]


def _numbers(action: Number, given: Mapping[str, Any], table: Any, kind: int) -> list[float] | ActionResult:
    """Read the number of a payload, and its further numbers."""
    further = [number.key for number in action.further]
    keys = (*keys_of(action), *further)
    wanted = f"{action.name} needs {', '.join(keys)}"
    if {key for key in given if key not in action.words or not isinstance(given[key], str)} != set(keys):
        return ts.refused(ts.INVALID_PAYLOAD, f"{wanted}, got {repr(dict(given))}")
    try:
        numbers = [msgspec.convert(given[key], float) for key in keys]
    except (msgspec.ValidationError, OverflowError) as error:
        return ts.refused(ts.INVALID_PAYLOAD, f"{wanted}: {error}")
    if not all(map(isfinite, numbers)):
        return ts.refused(ts.INVALID_PAYLOAD, f"{wanted} as finite numbers")
    total = float(table.most[kind])
    if action.rest is not None and abs(sum(numbers[:2]) - total) > 0.01:
        return ts.refused(ts.INVALID_PAYLOAD, f"{' and '.join(keys[:2])} need to sum to {total:g}")
    return [numbers[0], *numbers[len(keys) - len(further) :]]


def _share(action: Number, given: Mapping[str, Any], table: Any, kind: int) -> list[float] | ActionResult:
    """Read the acting seat's share of a payload with shares by agent."""
    total, agents = float(table.most[kind]), [name_of(seat) for seat in range(int(table.seats))]
    wanted = f"{action.name} needs {action.key} with the shares of {' and '.join(agents)}"
    try:
        shares = msgspec.convert(given, dict[str, dict[str, float]])[action.key]
    except (msgspec.ValidationError, KeyError, OverflowError):
        return ts.refused(ts.INVALID_PAYLOAD, f"{wanted}, got {repr(dict(given))}")
    if set(shares) != set(agents) or len(given) != 1 or not all(map(isfinite, shares.values())):
        return ts.refused(ts.INVALID_PAYLOAD, f"{wanted}, got {repr(dict(given))}")
    if abs(sum(shares.values()) - total) > 0.01:
        return ts.refused(ts.INVALID_PAYLOAD, f"the shares need to sum to {total:g}")
    if min(shares.values()) < 0:
        return ts.refused(ts.INVALID_PAYLOAD, f"a share is {min(shares.values()):g}: the bounds are 0 to {total:g}")
    turn = int(table.turn)
    return [shares[agents[(turn + k) % len(agents)]] for k in range(len(agents) - 1)]


def nearest(table: Any, move: Move) -> int:
    """Return the action index of `move`, or of the nearest number on the grid."""
    kind = int(move.kind)
    first, last, gap = int(table.first[kind]), int(table.first[kind + 1]) - 1, float(table.gap[kind])
    if gap == 0:
        return first
    origin = float(table.origin[kind])
    block = int(table.block[kind])
    lowest = int(np.ceil((float(table.least[kind]) - origin) / gap - CLOSE))
    highest = int(np.floor((float(table.most[kind]) - origin) / gap + CLOSE))
    place = max(0, lowest, min((last - first) // block, highest, round((move.value - origin) / gap)))
    places = [
        min(max(round(number / float(step)) if step else 0, 0), int(points) - 1)
        for number, step, points in zip(move[2:], table.further_gap, table.further_points, strict=True)
    ]
    return first + block * place + (places[0] * int(table.further_points[1]) + places[1]) % block


def safe(table: Any) -> int:
    """Return the action index of the safe action: pass, or else the least number or first action of the phase."""
    kinds = offered(table)
    if int(table.kinds) - 1 in kinds:
        return int(table.first[int(table.kinds) - 1])
    return nearest(table, Move(kinds[0], float(table.least[kinds[0]])))


def worth(rules: PhaseGame, table: Any) -> NDArray[np.float64]:
    """Return `OutsideOption.worth` by the game's `PhaseGame.worth`: float64[A]."""
    gains = np.full(sum(counts(rules)), np.inf)
    for kind in range(len(rules.actions)):
        first, end = int(table.first[kind]), int(table.first[kind + 1])
        numbers = table.origin[kind] + table.gap[kind] * (np.arange(end - first) // int(table.block[kind]))
        if rules.worth is not None:
            gains[first:end] = rules.worth(table, kind, numbers)
    return gains


def functions(rules: PhaseGame) -> dict[str, Any]:
    """Return the functions of `View` that this module has."""
    return {
        "action_spaces": action_spaces(rules),
        "action_ranges": action_ranges(rules),
        "encode": partial(encode, rules),
        "parse": partial(parse, rules),
        "nearest": nearest,
        "safe": safe,
    }
