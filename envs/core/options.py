"""Options of games, and checks of options and names. A wrong one is a ValueError with one sentence."""

import ast
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from difflib import get_close_matches
from functools import cache, partial, wraps
from inspect import Parameter, cleandoc, getsource, signature
from itertools import pairwise
from numbers import Real
from operator import index
from textwrap import dedent
from types import NoneType
from typing import Annotated, Any, Literal, ParamSpec, TypeVar, cast, get_args, get_origin, get_type_hints

import msgspec
import numpy as np

from .checks import blaming
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


AT_LEAST_0, AT_LEAST_1 = partial(whole, low=0), partial(whole, low=1)
NO_LIMIT = partial(whole, low=1, otherwise="None (no limit)")
Seconds = Annotated[float, seconds]
ABOVE_0, SECONDS_OR_0 = partial(number, low=0, high=2**30, above=True), partial(seconds, above=False)
SecondsOr0 = Annotated[float, SECONDS_OR_0]


class Checked:
    """A dataclass whose fields are checked when it is made.

    A field ``Annotated[kind, check]`` calls ``check(name, value)``, which raises ValueError naming one that is out of
    its range. None is not checked where `kind` has it. A literal is one of its values.
    """

    def __post_init__(self) -> None:
        """Check the values."""
        for name, kind in get_type_hints(type(self), include_extras=True).items():
            value = getattr(self, name, None)  # the marker of keywords has none
            if get_origin(kind) is Literal and value not in get_args(kind):
                raise ValueError(f"{name}={value!r}: choose from {', '.join(get_args(kind))}")
            for check in getattr(kind, "__metadata__", ()):
                if value is not None or NoneType not in get_args(kind.__origin__):
                    check(name, value)


def listed(value: Any) -> bool:
    """Return True if `value` is a list of values: a sequence or an array, but no text."""
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
        ValueError: for a value that an option does not take; or for another error of `source`.
    """
    parameters = signature(source).parameters.values()
    names = [parameter.name for parameter in parameters]
    if not any(parameter.kind is Parameter.VAR_KEYWORD for parameter in parameters):
        for name in options:
            if name not in names:
                hint = did_you_mean(name, names) if names else "it takes none"
                raise UnexpectedOption(f"{source.__name__}() got an unexpected keyword argument {name!r}; {hint}")
    made = f"{source.__module__}:{getattr(source, '__qualname__', source)} makes no game"
    with blaming(f"{made} {'with these' if options else 'without'} options", ValueError if options else ()):
        result = source(**options)
    if isinstance(result, Game) and not options.keys() <= result.options.keys():
        return replace(result, options={**options, **result.options})
    return result


# The options of a game: each is a field with its type, its rule, its default, and its words below it.

P = ParamSpec("P")
Given = TypeVar("Given", bound="Options")


@dataclass(frozen=True)
class Rule:
    """What an option may be.

    Attributes:
        check: ``check(name, value, *others)`` returns the value as the game keeps it, or raises ValueError with one
            sentence.
        others: the names of the options that `check` gets too. They are checked first.
        range: the lowest and the highest value, numbers or names of options; empty: it is no number.
        choices: the words that it may be; empty: any.
    """

    check: Callable[..., Any]
    others: tuple[str, ...] = ()
    range: tuple[float | str, ...] = ()
    choices: Sequence[str] = ()

    @property
    def words(self) -> str:
        """The range in words, which stands for ``{}`` in the words of the option."""
        return " to ".join(f"`{bound}`" if isinstance(bound, str) else f"{bound:,.9g}" for bound in self.range)


def within(low: float | str, high: float | str, *, above: bool = False) -> Callable[[Any], Rule]:
    """Return the rule of a number from `low` to `high`; a bound may be the name of another option.

    It is a whole number where the option's type is `int`. With `above` it may not equal `low`.
    """
    names = tuple(bound for bound in (low, high) if isinstance(bound, str))

    def rule(kind: Any) -> Rule:
        is_float = float in (kind, *get_args(kind))

        def check(option: str, value: Any, *others: float) -> float:
            known = dict(zip(names, others, strict=True))
            least, most = (known[bound] if isinstance(bound, str) else bound for bound in (low, high))
            if is_float:
                return number(option, value, least, most, above=above)
            return whole(option, value, int(least), int(most))

        return Rule(check, names, (low, high))

    return rule


def one_of(choices: Sequence[str]) -> Rule:
    """Return the rule of a word that is one of `choices`."""

    def check(option: str, value: Any) -> Any:
        if value not in choices:
            raise ValueError(f"{option}={value!r}: choose from {', '.join(map(repr, choices))}")
        return value

    return Rule(check, choices=choices)


class Options(msgspec.Struct, frozen=True, kw_only=True):
    """The options of a game. A field needs a rule, ``Annotated[int, within(2, 10)]``, unless it is a bool.

    None is taken where the type has it and the default is None, and goes to the rule only if that has `others`.
    """

    def __post_init__(self) -> None:
        """Check every option after those that its rule names, and then all of them together."""
        given, rules, checked = msgspec.structs.asdict(self), rules_of(type(self)), {}

        def check(name: str) -> Any:
            if name not in checked:
                checked[name] = rules[name].check(name, given[name], *map(check, rules[name].others))
            return checked[name]

        for name in given:
            msgspec.structs.force_setattr(self, name, check(name))
        self.check_together()

    def check_together(self) -> None:
        """Raise ValueError if options do not fit each other; by default they do."""


def _or_none(rule: Rule) -> Rule:
    return replace(rule, check=lambda name, value, *others: None if value is None else rule.check(name, value, *others))


@cache
def rules_of(kind: type[Options]) -> dict[str, Rule]:
    """Return the rule of each option."""
    rules = {}
    for name, hint in get_type_hints(kind, include_extras=True).items():
        plain, given, *_ = get_args(hint) if get_origin(hint) is Annotated else (hint, Rule(switch))
        is_number = not isinstance(given, Rule)
        rule = given(plain) if is_number else given
        rules[name] = _or_none(rule) if is_number and type(None) in get_args(plain) else rule
    return rules


def texts_of(kind: type[Options]) -> dict[str, str]:
    """Return the words below each option in the source, with its range for ``{}``."""
    (body,) = (node.body for node in ast.parse(dedent(getsource(kind))).body if isinstance(node, ast.ClassDef))
    below = {
        ast.unparse(field.target): ast.literal_eval(text.value)
        for field, text in pairwise(body)
        if isinstance(field, ast.AnnAssign) and isinstance(text, ast.Expr)
    }
    return {name: " ".join(text.split()).replace("{}", rules_of(kind)[name].words) for name, text in below.items()}


def schema_of(kind: type[Options]) -> dict[str, Any]:
    """Return a JSON Schema of the options: their types, ranges, defaults and words."""
    schema: dict[str, Any] = msgspec.json.schema(kind)["$defs"][kind.__name__]
    words = texts_of(kind)
    for name, rule in rules_of(kind).items():
        bounds = zip(("minimum", "maximum"), rule.range, strict=False)
        numbers = {word: bound for word, bound in bounds if not isinstance(bound, str)}
        schema["properties"][name] |= {"description": words[name], **numbers}
        schema["properties"][name] |= {"enum": list(rule.choices)} if rule.choices else {}
    return schema


def from_options(kind: Callable[P, Given]) -> Callable[[Callable[[Given], Game]], Callable[P, Game]]:
    """Make of a function from checked options to a `Game` one of keyword arguments.

    Its signature has the options, its docstring their words, and the game notes them.
    """

    def decorate(build: Callable[[Given], Game]) -> Callable[P, Game]:
        @wraps(build)
        def game(*args: P.args, **options: P.kwargs) -> Game:
            given = kind(*args, **options)
            return replace(build(given), options=msgspec.structs.asdict(given))

        known, hints, made = signature(kind), get_type_hints(kind), cast(Any, game)
        plain = [part.replace(annotation=hints[name]) for name, part in known.parameters.items()]
        made.options, made.__signature__ = kind, known.replace(parameters=plain, return_annotation=Game)
        args = "\n".join(f"    {name}: {text}" for name, text in texts_of(cast(Any, kind)).items())
        raised = "Raises:\n    ValueError: naming the option, its value and its range."
        made.__doc__ = f"{cleandoc(build.__doc__ or '')}\n\nArgs:\n{args}\n\n{raised}\n"
        return game

    return decorate
