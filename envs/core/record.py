"""The record: the whole state of one table, as one NumPy structured dtype.

Every record has these fields, and those of its own game:

==============  ========================  ==========================================================
``stream``      uint64                    the record's random stream (`parlour.envs.core.rng`)
``turn``        integer                   the seat that decides next; −1 when the episode is over
``done``        bool                      the episode is over
``rewards``     float64[≥ seats]          the rewards of the last step, one per seat
==============  ========================  ==========================================================
"""

from collections.abc import Callable
from keyword import iskeyword
from types import SimpleNamespace
from typing import Any

import numpy as np
from numpy.typing import NDArray

Tables = np.recarray
"""An array of records, made with ``array.view(np.recarray)``."""

REQUIRED_FIELDS = ("stream", "turn", "done", "rewards")
"""Fields that every record has."""


_REQUIRED_TYPES: dict[str, tuple[str, Callable[[np.dtype[Any]], bool]]] = {
    "stream": ("uint64", lambda dtype: dtype == np.uint64),
    "turn": ("a signed integer", lambda dtype: dtype.kind == "i"),
    "done": ("bool", lambda dtype: dtype == np.bool_),
    "rewards": ("float64, one per seat", lambda dtype: dtype.base == np.float64 and len(dtype.shape) == 1),
}


def check_required_fields(dtype: np.dtype[Any]) -> None:
    """Raise ValueError if the dtype of a record lacks one of `REQUIRED_FIELDS`, or has it with another type.

    Raises:
        ValueError: naming the field.
    """
    missing = [name for name in REQUIRED_FIELDS if name not in (dtype.names or ())]
    if missing:
        raise ValueError(f"the record has no {', '.join(missing)}; it needs {', '.join(REQUIRED_FIELDS)}")
    for name, (wanted, fits) in _REQUIRED_TYPES.items():
        if not fits(dtype[name]):
            raise ValueError(f"the record's field {name} is {dtype[name]}; it needs to be {wanted}")


def record(*fields: tuple[Any, ...]) -> np.dtype[np.void]:
    """Return the dtype of a record with these fields: aligned for speed, and without gaps.

    NumPy does not copy the padding bytes of an aligned dtype. Here every byte belongs to a field, so that equal states
    have equal bytes.

    Raises:
        ValueError: for a name that is not a Python identifier, or is an attribute of every NumPy record (``size``).
    """
    for name, *_ in fields:
        if not str(name).isidentifier() or iskeyword(name):
            raise ValueError(f"a record's field cannot be called {name!r}: Python could not write table.{name}")
        if hasattr(np.record, name):
            raise ValueError(f"a record's field cannot be called {name!r}: it is an attribute of every NumPy record")
    aligned = np.dtype(list(fields), align=True)
    whole: list[tuple[Any, ...]] = []
    end = 0
    for name, *rest in fields:
        offset = aligned.fields[name][1]  # type: ignore[index]
        if offset > end:
            whole.append((f"_gap{end}", "u1", offset - end))
        whole.append((name, *rest))
        end = offset + aligned[name].itemsize
    if aligned.itemsize > end:
        whole.append((f"_gap{end}", "u1", aligned.itemsize - end))
    # np.record from the start: a view as recarray would make a new dtype each time, and Numba would then compare all
    # fields at every call.
    return np.dtype((np.record, np.dtype(whole, align=True)))


def new_table(dtype: np.dtype[np.void], **values: Any) -> Tables:
    """Return one table, a recarray of shape (1,): all zeros but for the fields in `values`.

    >>> table = new_table(record(("stream", "u8"), ("heap", "i4")), heap=21)[0]
    >>> int(table.heap)
    21
    """
    table = np.zeros(1, dtype).view(np.recarray)
    for name, value in values.items():
        table[name] = value
    return table


def with_required_fields(seats: int, *fields: tuple[Any, ...]) -> np.dtype[np.void]:
    """Return a record's dtype: the fields that every record has, for `seats` seats, and `fields`."""
    required = [("stream", "u8"), ("turn", "i4"), ("done", "?"), ("rewards", "f8", seats)]
    return record(*required, *fields)


def as_bytes(tables: Tables | NDArray[Any]) -> NDArray[np.void]:
    """Return every record as one value, which NumPy copies faster than fields; they share the records' memory."""
    whole: NDArray[np.void] = tables.view(np.dtype((np.void, tables.dtype.itemsize)), np.ndarray)
    return whole


def plain(table: Any) -> SimpleNamespace:
    """Return a copy of a record with plain attributes, which are faster to read (a record takes a microsecond each).

    A copy made by this function is returned unchanged.
    """
    if isinstance(table, SimpleNamespace):
        return table
    return SimpleNamespace(**dict(zip(table.dtype.names, table.item(), strict=True)))
