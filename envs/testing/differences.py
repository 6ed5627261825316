"""The difference between two observations, TurnStates or records as a sentence; None if they are equal."""

from collections.abc import Iterator, Mapping
from itertools import zip_longest
from reprlib import repr
from typing import Any

import msgspec
import numpy as np
from numpy.typing import NDArray

from ..core.encoder import Encoder
from ..core.layout import Layout, Slice
from ..core.turn_state import TurnState

_MISSING = "nothing"


def in_observation(layout: Layout, one: NDArray[np.float32], other: NDArray[np.float32]) -> str | None:
    """Compare two observations (float32[layout.size]) bit for bit."""
    if one.tobytes() == other.tobytes():
        return None
    differing = np.flatnonzero(one.view(np.uint32) != other.view(np.uint32))
    paths = [part.path for part in layout if ((part.start <= differing) & (differing < part.stop)).any()]
    first = int(differing[0])
    return f"the observation differs in {', '.join(paths)}: at index {first} are {one[first]} and {other[first]}"


def in_observations(encoders: Mapping[str, Encoder], one: tuple[Any, int], other: tuple[Any, int]) -> str | None:
    """Compare the observations of a seat at one record and of a seat at another, by every encoder, bit for bit."""
    for name, encoder in encoders.items():
        difference = in_observation(encoder.layout, encoder.observation(*one), encoder.observation(*other))
        if difference is not None:
            return f"encoder {name!r}: {difference}"
    return None


def in_mask(one: NDArray[np.int8], other: NDArray[np.int8]) -> str | None:
    """Compare two masks (int8[A])."""
    if np.array_equal(one, other):
        return None
    return f"the action mask differs: legal are {np.flatnonzero(one).tolist()} and {np.flatnonzero(other).tolist()}"


def in_turn_state(one: TurnState, other: TurnState) -> str | None:
    """Compare two TurnStates byte for byte, as JSON."""
    if one.to_json() == other.to_json():
        return None
    difference = next(_paths("", msgspec.to_builtins(one), msgspec.to_builtins(other)), None)
    return f"TurnState differs in {difference}" if difference else "TurnState differs in the order of its fields"


def in_record(one: Any, other: Any, ignore: tuple[str, ...] = ()) -> str | None:
    """Compare two records byte for byte, field by field, except the fields `ignore`."""
    names = [name for name in one.dtype.names if name not in ignore]
    differing = [name for name in names if one[name].tobytes() != other[name].tobytes()]
    if not differing:
        return None
    first = differing[0]
    values = f"{repr(one[first].tolist())} and {repr(other[first].tolist())}"
    return f"the records differ in {', '.join(differing)}: {first} is {values}"


def out_of_bounds(layout: Layout, seen: NDArray[np.float32]) -> list[Slice]:
    """Return the slices with values outside their bounds."""
    low, high = layout.bounds()
    outside = ~((seen >= low) & (seen <= high))  # NaN is outside too
    return [part for part in layout if outside[part.start : part.stop].any()]


def _paths(path: str, one: Any, other: Any) -> Iterator[str]:
    """Yield where two values of plain data differ, and how."""
    if isinstance(one, dict) and isinstance(other, dict):
        for key in dict.fromkeys([*one, *other]):
            yield from _paths(f"{path}.{key}".lstrip("."), one.get(key, _MISSING), other.get(key, _MISSING))
    elif isinstance(one, list) and isinstance(other, list):
        for i, (first, second) in enumerate(zip_longest(one, other, fillvalue=_MISSING)):
            yield from _paths(f"{path}[{i}]", first, second)
    elif msgspec.json.encode(one) != msgspec.json.encode(other):
        yield f"{path}: {repr(one)} and {repr(other)}"
