"""TurnStates and answers in other types: dicts, pydantic models, dataclasses, structs, and other objects."""

from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from enum import Enum
from typing import Any

import msgspec

from ....envs.core.turn_state import Action, AgentResponse, TurnState

FIELDS = ("action", "messages", "action_type", "payload", "scope", "content", "to_agent_ids")
"""The fields that are read from an answer of any other type."""


def plain(value: Any) -> Any:
    """Return an answer of any type as plain data; an object that cannot be read is returned unchanged."""
    if isinstance(value, Enum):
        return value.value
    if value is None or isinstance(value, (str, int, float)):
        return value
    if isinstance(value, Mapping):
        return {key: plain(part) for key, part in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(part) for part in value]
    if isinstance(value, msgspec.Struct):
        return msgspec.to_builtins(value)
    if hasattr(value, "model_dump"):
        return plain(value.model_dump())
    if is_dataclass(value) and not isinstance(value, type):
        return {field.name: plain(getattr(value, field.name)) for field in fields(value)}
    found = {name: getattr(value, name) for name in FIELDS if hasattr(value, name)}
    return {name: plain(part) for name, part in found.items()} if found else value


def read_response(answer: Any) -> AgentResponse:
    """Read plain data as an answer; a bare action is one without messages.

    Raises:
        ValueError, TypeError, RecursionError: saying what does not fit.
    """
    if isinstance(answer, Mapping) and "action_type" in answer:
        return AgentResponse(Action.from_dict(answer))
    return AgentResponse.from_dict(answer)


def read_state(state: Any) -> TurnState:
    """Read a TurnState of any type: ours, a dict, a pydantic model, a dataclass, an object with the same attributes.

    Raises:
        ValueError, TypeError: naming the field that does not fit.
    """
    if isinstance(state, TurnState):
        return state
    if not isinstance(state, Mapping) and not hasattr(state, "model_dump") and not is_dataclass(state):
        state = {name: getattr(state, name) for name in TurnState.__struct_fields__ if hasattr(state, name)}
    # Some send null for what they leave out.
    return TurnState.from_dict({name: part for name, part in _foreign(state).items() if part is not None})


def _foreign(value: Any) -> Any:
    """Return a TurnState of another type as plain data; its objects have their attributes in `__dict__`."""
    if isinstance(value, (list, tuple)):
        return [_foreign(part) for part in value]
    if isinstance(value, Mapping):
        return {key: _foreign(part) for key, part in value.items()}
    if isinstance(value, (str, int, float, Enum, msgspec.Struct)) or value is None:
        return plain(value)
    return _foreign(plain(value) if hasattr(value, "model_dump") or is_dataclass(value) else vars(value))


def convert_to(value: msgspec.Struct, kind: Any) -> Any:
    """Convert a value to `kind`: a dict, a pydantic model or a dataclass; for any other `kind` return it unchanged."""
    if not isinstance(kind, type):
        return value
    if hasattr(kind, "model_validate"):
        return kind.model_validate(msgspec.to_builtins(value))
    if issubclass(kind, Mapping):
        return msgspec.to_builtins(value)
    if is_dataclass(kind):
        return msgspec.convert(msgspec.to_builtins(value), kind)
    return value
