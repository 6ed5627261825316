"""Settings as typed values, with a sentence about a value of another type."""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any, TypeVar

import msgspec
import numpy as np

from ..learning.schedules import Schedule

Kind = TypeVar("Kind")

NEEDED = {
    "int": "a whole number",
    "float": "a number",
    "bool": "true or false",
    "str": "a text",
    "array": "a list, such as [64, 64]",
    "object": "name = value pairs",
}
"""A description of each type, by the name that `msgspec` uses."""


def convert(settings: Mapping[str, Any], kind: type[Kind], strict: bool = True) -> Kind:
    """Return settings as a dataclass or struct, each converted to its type.

    Args:
        settings: the settings by name.
        kind: the dataclass or struct.
        strict: whether a number must be a number; else it may be a text such as ``"7"``.

    Raises:
        ValueError: for a value of another type or out of range, naming the setting.
    """
    try:
        return msgspec.convert(_plain(settings), kind, strict=strict, dec_hook=_converted)
    except msgspec.ValidationError as error:
        raise ValueError(_explained(error, settings)) from None


def _plain(value: Any) -> Any:
    """Return settings with Python's numbers in place of NumPy's."""
    if isinstance(value, np.generic | np.ndarray):
        return value.tolist()
    if isinstance(value, Mapping):
        return {name: _plain(part) for name, part in value.items()}
    return type(value)(map(_plain, value)) if type(value) in (list, tuple) else value


def _converted(kind: type, value: Any) -> Any:
    if kind is Schedule or (kind is Path and isinstance(value, str | Path)):
        return kind(value)
    raise ValueError(f"{value!r}: need a {kind.__name__}")


def _explained(error: msgspec.ValidationError, settings: Mapping[str, Any]) -> str:
    """Return a sentence about a value that does not convert: its name, and the type that is needed."""
    problem, _, place = str(error).partition(" - at ")
    match = re.fullmatch(r"`\$\.(\w+)(?:\[(\d+|\.\.\.)\])?`", place)
    if isinstance(error.__cause__, ValueError):  # raised by `_converted`, or by the dataclass itself
        return f"{match[1]}={error.__cause__}" if match else str(error.__cause__)
    if match is None:
        return str(error)
    name, index = match.groups()
    value, where = settings[name], name
    if index is not None and index.isdecimal():
        value, where = value[int(index)], f"{name}[{index}]"
    kind = re.match(r"Expected `(\w+)", problem)
    needed = problem if kind is None else f"need {NEEDED.get(kind[1], kind[1])}"
    return f"{where}={value!r}: {needed}"
