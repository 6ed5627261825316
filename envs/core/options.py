"""Checks of options and names. A wrong one is a ValueError with one sentence that names the right ones."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from difflib import get_close_matches
from inspect import Parameter, signature
from numbers import Real
from operator import index
from typing import Any

import numpy as np

from .game import Game


class UnexpectedOption(TypeError, ValueError):
    """An option that there is not. Libraries look for the TypeError that Python raises for an unexpected keyword; it is
    a ValueError too, as every other wrong option."""


def whole(option: str, value: Any, low: int, high: int | None = None, otherwise: str | None = None) -> int:
    """Return `value` as an int.

    Raises:
        ValueError: if it is not a whole number from `low` to `high` (None: no upper bound). It names what may be given
            `otherwise`.
    """
    try:
        number = None if isinstance(value, (bool, np.bool_)) else index(value)
    except TypeError:
        number = None
    if number is None or number < low or (high is not None and number > high):
        bounds = f"at least {low:,}" if high is None else f"from {low:,} to {high:,}"
        raise ValueError(f"{option}={value!r}: need {f'{otherwise} or ' if otherwise else ''}a whole number, {bounds}")
    return number


def number(option: str, value: Any, low: float, high: float, *, above: bool = False) -> float:
    """Return `value` as a float.

    Raises:
        ValueError: if it is not a number from `low` to `high`, or, with `above`, if it equals `low`.
    """
    real = isinstance(value, Real) and not isinstance(value, bool)
    if not real or not low <= value <= high or (above and value == low):
        bounds = f"above {low:,.9g}, at most {high:,.9g}" if above else f"from {low:,.9g} to {high:,.9g}"
        raise ValueError(f"{option}={value!r}: need a number {bounds}")
    return float(value)


def seconds(option: str, value: Any, *, above: bool = True) -> float:
    """Return `value` as a float: seconds, above 0 (or, without `above`, 0 too), at most 2³⁰.

    Raises:
        ValueError: if it is something else.
    """
    return number(option, value, 0, 2**30, above=above)


def listed(value: Any) -> bool:
    """Return whether `value` is a list of values: a sequence or an array, but no text."""
    return isinstance(value, (Sequence, np.ndarray)) and not isinstance(value, str)


def switch(option: str, value: Any) -> bool:
    """Return `value` as a bool.

    Raises:
        ValueError: if it is not True or False.
    """
    if not isinstance(value, (bool, np.bool_)):
        raise ValueError(f"{option}={value!r}: need True or False")
    return bool(value)


def nearest(name: str, known: Iterable[str]) -> str | None:
    """Return the known name that is most similar to a name; None if none is."""
    return next(iter(get_close_matches(str(name), list(known), 1, 0.62)), None)


def did_you_mean(name: str, known: Iterable[str], otherwise: str | None = None) -> str:
    """Return a hint for a name that is not in `known`: the most similar known name, or `otherwise`, or all of them."""
    names = list(known)
    guess = nearest(name, names)
    if not names:
        return "there are none yet"
    return f"did you mean {guess!r}?" if guess else otherwise or f"choose from {', '.join(names)}"


def named(kind: str, name: str, known: Iterable[str]) -> str:
    """Return `name` if it is one of `known`.

    Raises:
        ValueError: if it is not, with the most similar one.
    """
    names = list(known)
    if name not in names:
        raise ValueError(f"no {kind} is called {name!r}; {did_you_mean(name, names)}")
    return name


def with_options(source: Callable[..., Game], options: Mapping[str, Any]) -> Game:
    """Return ``source(**options)``. The game notes the options that it was given, even if its function does not.

    Raises:
        UnexpectedOption: for an unknown option, with the most similar one.
        ValueError: for a value that an option does not take.
    """
    parameters = signature(source).parameters.values()
    names = [parameter.name for parameter in parameters]
    if not any(parameter.kind is Parameter.VAR_KEYWORD for parameter in parameters):
        for name in options:
            if name not in names:
                hint = did_you_mean(name, names) if names else "it takes none"
                raise UnexpectedOption(f"{source.__name__}() got an unexpected keyword argument {name!r}; {hint}")
    result = source(**options)
    if isinstance(result, Game) and not options.keys() <= result.options.keys():
        return replace(result, options={**options, **result.options})
    return result
