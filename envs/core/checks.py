"""Checks of the parts of a game. A wrong part is a ValueError with one sentence, raised when the part is made."""

import sysconfig
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from inspect import signature
from pathlib import Path
from reprlib import repr
from traceback import extract_tb
from typing import Any, Self

import numba
from numba.extending import is_jitted

_config: Any = numba.config  # its settings have no types
_OURS = [str(Path(__file__).parents[2] / part) for part in ("envs", "wrappers", "training")]
_NOT_THEIRS = (*_OURS, *map(sysconfig.get_path, ("stdlib", "platstdlib", "purelib", "platlib")), "<")
"""How the names of files begin that hold no game of a user: ours, Python's and those of installed packages."""


@contextmanager
def blaming(what: str, but: type[Exception] | tuple[()] = ()) -> Iterator[None]:
    """Turn errors of a user's code, `but` those of a type, into a ValueError: what went wrong, and the error."""
    try:
        yield
    except but:
        raise
    except (Exception, SystemExit) as error:
        raise ValueError(f"{what}: {described(error)}") from error


def described(error: BaseException) -> str:
    """Return an error on one line, with its type and its place in a user's file, if it was raised in one."""
    frames = [frame for frame in extract_tb(error.__traceback__) if not frame.filename.startswith(_NOT_THEIRS)]
    place = f", {frames[-1].filename}, line {frames[-1].lineno}" if frames else ""
    if not frames and isinstance(error, ModuleNotFoundError) and error.name:
        place = f": run this in the folder of {error.name.partition('.')[0]}.py"
    return f"{' '.join(str(error).split())} ({type(error).__name__}{place})"


def require_functions(owner: str, functions: Mapping[str, Any], optional: Iterable[str] = ()) -> None:
    """Raise ValueError unless every value is a function.

    Args:
        owner: the class or module that the functions belong to, for the error.
        functions: the functions by name.
        optional: names of functions that may be None.

    Raises:
        ValueError: naming the first one that is not a function.
    """
    left_out = set(optional)
    for name, function in functions.items():
        if not callable(function) and not (function is None and name in left_out):
            raise ValueError(f"{owner}: {name} is {repr(function)}; it needs to be a function")


def require_arguments(owner: str, functions: Mapping[str, Any], arguments: Mapping[str, tuple[str, ...]]) -> None:
    """Raise ValueError unless every value is a function that takes its arguments by position.

    Args:
        owner: the class or module that the functions belong to, for the error.
        functions: the functions by name, compiled or not.
        arguments: the names of the arguments of each.

    Raises:
        ValueError: naming the first one that is no function, or takes other arguments.
    """
    require_functions(owner, functions)
    for name, taken in arguments.items():
        shape = signature(getattr(functions[name], "py_func", functions[name]))
        try:
            shape.bind(*taken)
        except TypeError:
            raise ValueError(f"{owner}: {name} takes {shape}; it needs to take ({', '.join(taken)})") from None


def require_type(owner: str, name: str, value: Any, kind: type) -> None:
    """Raise ValueError unless the value has this type.

    Raises:
        ValueError: naming the value and the type.
    """
    if not isinstance(value, kind):
        raise ValueError(f"{owner}: {name} is {repr(value)}; it needs to be of the type {kind.__name__}")


def require_names(owner: str, name: str, values: Any, least: int = 1) -> None:
    """Raise ValueError unless `values` is a tuple or list of at least `least` different, non-empty names.

    Raises:
        ValueError: naming the wrong value.
    """
    if not isinstance(values, (tuple, list)) or len(values) < least:
        raise ValueError(f"{owner}: {name} is {repr(values)}; it needs to be a tuple of at least {least}")
    for value in values:
        if not isinstance(value, str) or not value:
            raise ValueError(f"{owner}: {value!r} in {name} is not a name; write a non-empty string")
        if values.count(value) > 1:
            raise ValueError(f"{owner}: {value!r} is in {name} more than once")


def require_mapping(owner: str, name: str, value: Any, kind: str) -> None:
    """Raise ValueError unless the value is a mapping with non-empty names as keys.

    Raises:
        ValueError: naming the wrong key.
    """
    if not isinstance(value, Mapping):
        raise ValueError(f"{owner}: {name} is {repr(value)}; it needs to be a dict of {kind}")
    require_names(owner, name, tuple(value), least=0)


def require_compiled(owner: str, name: str, function: Any) -> None:
    """Raise ValueError unless a function is compiled, or None, or nothing is (``NUMBA_DISABLE_JIT=1``)."""
    if function is not None and not is_jitted(function) and not _config.DISABLE_JIT:
        raise ValueError(f"{owner}: {name} is not compiled; decorate it with `parlour.envs.compiled`")


def require_choice(name: str, value: Any, choices: tuple[Any, ...]) -> None:
    """Raise ValueError unless the value is one of the choices.

    Raises:
        ValueError: naming the value and the choices.
    """
    if value not in choices:
        raise ValueError(f"{name}={value!r} is unknown; choose from {', '.join(f'{choice!r}' for choice in choices)}")


class Immutable:
    """Its deep copy is the object itself, so that copies of an environment share it."""

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        return self
