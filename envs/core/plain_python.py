"""Compiled functions as plain Python: they calculate with numbers as wide as compiled ones.

They run so with ``NUMBA_DISABLE_JIT=1``, and until their machine code is ready (see `plain_start`).

NumPy keeps the width of what it reads: an int8 plus 100 is an int8 again, and wraps, or becomes 0 when it is shifted.
The compiler calculates with 64 bits. So here every whole number that a function reads, from a record, from an array or
as an argument, has 64 bits, and every other number is one of Python.
"""

import builtins
from collections.abc import Callable
from functools import wraps
from types import CodeType, FunctionType, ModuleType
from typing import Any, TypeVar, cast

import numba
import numpy as np
from numba.extending import is_jitted
from numpy.typing import NDArray

Function = TypeVar("Function", bound=Callable[..., Any])
_config: Any = numba.config  # its settings have no types


class WideArray(np.ndarray[Any, Any]):
    """A view of an array. Its elements are read by `wide`."""

    def __getitem__(self, index: Any) -> Any:
        return wide(super().__getitem__(index))


class WideRecords(WideArray):
    """A view of an array of records."""

    def __getattr__(self, name: str) -> Any:
        if name in (self.dtype.names or ()):
            return self[name]
        raise AttributeError(f"the records have no field {name!r}")

    def __setitem__(self, index: Any, value: Any) -> None:
        super().__setitem__(index, value._record if isinstance(value, WideRecord) else value)


class WideRecord:
    """A record. Its fields are read by `wide`, and written to the record."""

    __slots__ = ("_arrays", "_record")

    def __init__(self, record: Any) -> None:
        object.__setattr__(self, "_record", record)
        object.__setattr__(self, "_arrays", {})

    def __getattr__(self, name: str) -> Any:
        if name in self._arrays:
            return self._arrays[name]
        try:
            value = wide(self._record[name])
        except ValueError as error:
            raise AttributeError(f"the record has no field {name!r}") from error
        if isinstance(value, WideArray):  # it shares the record's memory
            self._arrays[name] = value
        return value

    def __setattr__(self, name: str, value: Any) -> None:
        self._record[name] = value


def _wide_array(array: NDArray[Any]) -> WideArray:
    return array.view(WideArray if array.dtype.names is None else WideRecords)


READERS: dict[type, Callable[[Any], Any]] = {
    **dict.fromkeys((np.ndarray, np.recarray), _wide_array),
    **dict.fromkeys((np.void, np.record), WideRecord),
    **dict.fromkeys((np.int8, np.int16, np.int32, np.uint8, np.uint16, np.uint32), np.int64),
    **dict.fromkeys((np.float32, np.float64), float),
    np.bool_: bool,
}
"""How a value is read, by its type; all other values are read as they are."""


def wide(value: Any) -> Any:
    """Return a value as a compiled function reads it."""
    reader = READERS.get(type(value))
    return value if reader is None else reader(value)


def interpreted(function: Function) -> Function:
    """Return a function that reads its arguments with `wide`."""

    @wraps(function)
    def call(*arguments: Any, **named: Any) -> Any:
        return function(*map(wide, arguments), **{name: wide(value) for name, value in named.items()})

    return cast(Function, call)


def in_python(dispatcher: Any) -> Callable[..., Any]:
    """Return a compiled function as plain Python, together with every compiled function that it calls."""
    if not hasattr(dispatcher, "py_func"):
        return cast(Callable[..., Any], dispatcher)  # with NUMBA_DISABLE_JIT=1 it is plain Python
    if not hasattr(dispatcher, "in_python"):
        function = dispatcher.py_func
        space: dict[str, Any] = {"__name__": function.__module__, "__builtins__": builtins}  # NumPy's C code imports
        own = FunctionType(function.__code__, space, function.__name__, function.__defaults__, function.__closure__)
        dispatcher.in_python = interpreted(own)  # before its parts: it may call itself
        names = names_in(function.__code__)
        space |= {name: _global(value) for name, value in function.__globals__.items() if name in names}
    return cast(Callable[..., Any], dispatcher.in_python)


def names_in(code: CodeType) -> set[str]:
    """Return the names that a function and its comprehensions use."""
    inner = [part for part in code.co_consts if isinstance(part, CodeType)]
    return set(code.co_names).union(*map(names_in, inner))


def _global(value: Any) -> Any:
    """Return a global of a compiled function as its plain version reads it."""
    if is_jitted(value):
        return in_python(value)
    return _Module(value) if isinstance(value, ModuleType) and value is not np else wide(value)


class _Module:
    """A module whose compiled functions are plain Python."""

    def __init__(self, module: ModuleType) -> None:
        self._module = module

    def __getattr__(self, name: str) -> Any:
        value = _global(getattr(self._module, name))
        setattr(self, name, value)
        return value


def constant(values: Any, dtype: Any) -> NDArray[Any]:
    """Return an array that compiled functions read as a global; its whole numbers may have fewer than 64 bits."""
    array = np.array(values, dtype)
    return wide(array) if _config.DISABLE_JIT else array
