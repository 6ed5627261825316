"""The type of the `game_state` of a game in phases: made from its roles, its private value, its actions and fields."""

import copyreg
from collections.abc import Collection, Mapping
from typing import Annotated, Any, cast

from msgspec import UNSET, StructMeta, UnsetType

from ..core.game_state import GameState, about
from .definition import Number, PhaseGame


class _Generated(StructMeta):
    """The type of the types that are made here; it is pickled as the game that it is of."""


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
    """Return how a type is pickled: one of this module by its name, one that was made as the game that it is of."""
    if not hasattr(kind, "rules"):
        return kind.__qualname__
    return _move_type if issubclass(kind, PhaseMove) else state_type, (kind.rules,)


copyreg.pickle(_Generated, _reduced)
