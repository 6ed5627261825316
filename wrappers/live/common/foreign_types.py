"""TurnStates and answers in other types: dicts, pydantic models, dataclasses, structs, and other objects."""

from collections.abc import Mapping
from dataclasses import is_dataclass
from typing import Any

import msgspec
import numpy as np

from ....envs.core.turn_state import Action, AgentResponse, MessageIntent, TurnState


def plain(value: Any) -> Any:
    """Return a value of any type as plain data.

    Raises:
        TypeError, RecursionError: if it holds what is no JSON.
    """
    return msgspec.to_builtins(value, enc_hook=_builtin)


def _builtin(value: Any) -> Any:
    if isinstance(value, (np.generic, np.ndarray)):  # computed from an observation
        return value.tolist()
    if isinstance(value, Mapping):
        return dict(value)
    if hasattr(value, "model_dump"):
        return value.model_dump()
    if getattr(value, "__dict__", None) and not isinstance(value, type) and not callable(value):
        return vars(value)
    raise TypeError(f"{type(value).__name__} {str(value)[:80]!r} is no JSON")


def _fields(value: Any, kind: type[msgspec.Struct]) -> Any:
    """Return the fields of `kind` that an object or a dict has; what has none of them stays as it is.

    Whatever else the object has is not looked at.
    """
    if isinstance(value, Mapping):
        return {name: value[name] for name in kind.__struct_fields__ if name in value}
    return {name: getattr(value, name) for name in kind.__struct_fields__ if hasattr(value, name)} or value


def read_response(answer: Any) -> AgentResponse:
    """Return an answer of any type as an `AgentResponse` of plain data; a bare action is one without messages.

    Raises:
        ValueError: if it is none; the error names the wrong part.
    """
    try:
        data = _fields(answer, AgentResponse)
        if not (isinstance(data, dict) and "action" in data):
            action = _fields(answer, Action)
            data = {"action": action} if isinstance(action, dict) and action else answer
        else:
            data["action"] = _fields(data["action"], Action)
            if isinstance(data.get("messages"), (list, tuple)):
                data["messages"] = [_fields(intent, MessageIntent) for intent in data["messages"]]
        return msgspec.convert(plain(data), AgentResponse)
    except (msgspec.ValidationError, TypeError, ValueError, RecursionError) as error:
        raise ValueError(f"this is not an AgentResponse: {error}") from None


def read_state(state: Any) -> TurnState:
    """Read a TurnState of any type: ours, a dict, a pydantic model, a dataclass, an object with the same attributes.

    Raises:
        ValueError, TypeError: naming the field that does not fit.
    """
    if isinstance(state, TurnState):
        return state
    data = plain(_fields(state, TurnState))
    if isinstance(data, dict):  # some send null for what they leave out
        data = {name: part for name, part in data.items() if part is not None}
    return TurnState.from_dict(data)


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
