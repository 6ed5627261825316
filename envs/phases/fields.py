"""Fields of `game_state` in the platforms' words, each with how it is written and how it is read back.

A field of one seat has ``private = True``: observers without a seat do not get it.
"""

from collections import namedtuple
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from inspect import getdoc
from typing import Any, ClassVar, get_args, get_type_hints

import numpy as np

from ..core.options import Options, Rule, number
from ..core.turn_state import amount


def name_of(seat: int) -> str:
    """Return the name of a seat's agent."""
    return f"player_{seat}"


LEFT_OUT: Any = object()
"""What `Field.write` returns for a seat that does not get the field."""


def seats_of(table: Any) -> int:
    """Return the number of seats."""
    return int(table.seats)


def chosen_of(table: Any) -> int:
    """Return the number of seats that have chosen in the first phase."""
    return sum(1 for seat in range(int(table.seats)) if table.chosen[0][seat])


def total_of(table: Any) -> float:
    """Return the sum of the first phase's numbers."""
    return float(sum(float(table.number[0][seat]) for seat in range(int(table.seats))))


def is_resolved(table: Any) -> bool:
    """Return True if the round's last phase is over."""
    return bool(table.revealed)


@dataclass(frozen=True)
class Field:
    """A field of `game_state`.

    Attributes:
        name: the field's name.
        private: whether only the seats get it.
    """

    name: str
    private: ClassVar[bool] = False

    @property
    def meaning(self) -> str:
        """What the field means: the first paragraph of its type's docstring."""
        return " ".join((getdoc(type(self)) or "").partition("\n\n")[0].split())

    def kind(self) -> Any:
        """Return the type of the value: what `write` returns."""
        return get_type_hints(self.write)["return"]

    def write(self, table: Any, seat: int) -> Any:
        """Return the value for a seat (−1: an observer), or `LEFT_OUT`."""
        raise NotImplementedError

    def read(self, table: Any, seat: int, value: Any, seats: Mapping[str, int]) -> None:
        """Write a value that a host sent into the record, with what `seat` may know; by default nothing.

        Args:
            table: the record.
            seat: who may know it.
            value: the value, which may be anything.
            seats: the agents' seats.
        """


def put(table: Any, phase: int, seat: int, number: float) -> None:
    """Write a choice into a record; its action type is the first one of the phase that is not `pass`."""
    kinds = [kind for kind in range(int(table.kinds) - 1) if (int(table.offers[phase]) >> kind) & 1]
    same = [kind for kind in kinds if table.gap[kind] == 0 and table.origin[kind] == number]
    table.chosen[phase, seat] = 1 + (same or kinds)[0]
    table.number[phase, seat] = number


@dataclass(frozen=True)
class Computed(Field):
    """A public field that follows from the record and is not read back: ``compute(table)``."""

    compute: Callable[[Any], Any]
    meaning: ClassVar[str] = "follows from the others"

    def kind(self) -> Any:
        """Return the type that `compute` returns."""
        return get_type_hints(getattr(self.compute, "func", self.compute)).get("return", Any)

    def write(self, table: Any, seat: int) -> Any:
        """Return the value."""
        return self.compute(table)


@dataclass(frozen=True)
class Parameter(Field):
    """A number that the payoffs depend on."""

    index: int

    def write(self, table: Any, seat: int) -> float:
        """Return the number."""
        return float(table.parameter[self.index])

    def read(self, table: Any, seat: int, value: Any, seats: Mapping[str, int]) -> None:
        """Take the host's number."""
        if value is not None:
            table.parameter[self.index] = amount(value, self.name)


@dataclass(frozen=True)
class OwnChoice(Field):
    """The seat's own number in a phase; None: it has not chosen."""

    phase: int = 0
    private: ClassVar[bool] = True

    def write(self, table: Any, seat: int) -> float | None:
        """Return the number."""
        return float(table.number[self.phase][seat]) if table.chosen[self.phase][seat] else None

    def read(self, table: Any, seat: int, value: Any, seats: Mapping[str, int]) -> None:
        """Write the number."""
        if value is not None:
            put(table, self.phase, seat, amount(value, self.name))


@dataclass(frozen=True)
class WhoChose(Field):
    """The agents that have chosen in a sealed phase; `others`: without the seat itself."""

    phase: int = 0
    others: bool = True

    def write(self, table: Any, seat: int) -> list[str]:
        """Return their names."""
        seats = range(int(table.seats))
        chose = [other for other in seats if table.chosen[self.phase][other] and not (self.others and other == seat)]
        return [name_of(other) for other in chose]

    def read(self, table: Any, seat: int, value: Any, seats: Mapping[str, int]) -> None:
        """Write that they have chosen, without a number."""
        for agent in value if isinstance(value, list) else ():
            other = seats.get(agent) if isinstance(agent, str) else None
            if other is not None and not table.chosen[self.phase][other]:
                put(table, self.phase, other, 0.0)


@dataclass(frozen=True)
class Choices(Field):
    """The numbers that everybody sees, by agent: of one phase, or of several in which different seats choose."""

    phases: tuple[int, ...] = (0,)

    def write(self, table: Any, seat: int) -> dict[str, float]:
        """Return the numbers."""
        final = int(table.kinds)  # a final pass is no number
        chosen = [
            (other, phase)
            for phase in self.phases
            for other in range(int(table.seats))
            if 0 < table.chosen[phase][other] < final
        ]
        return {name_of(other): float(table.number[phase][other]) for other, phase in chosen}

    def read(self, table: Any, seat: int, value: Any, seats: Mapping[str, int]) -> None:
        """Write the numbers."""
        for agent, chosen in value.items() if isinstance(value, Mapping) else ():
            for phase in self.phases if agent in seats else ():
                if (int(table.actors[phase]) >> seats[agent]) & 1:
                    put(table, phase, seats[agent], amount(chosen, self.name))


@dataclass(frozen=True)
class Split(Field):
    """How one seat divides a total, as a dict of two numbers that everybody sees; None: it has not chosen.

    `total` is the index of the parameter that is divided. The field comes after that of the parameter.
    """

    phase: int
    seat: int
    keys: tuple[str, str]
    total: int

    def write(self, table: Any, seat: int) -> dict[str, float] | None:
        """Return the numbers."""
        if not table.chosen[self.phase][self.seat]:
            return None
        first = float(table.number[self.phase][self.seat])
        return dict(zip(self.keys, (first, float(table.parameter[self.total]) - first), strict=True))

    def read(self, table: Any, seat: int, value: Any, seats: Mapping[str, int]) -> None:
        """Write the first number."""
        if isinstance(value, Mapping):
            put(table, self.phase, self.seat, amount(value.get(self.keys[0]), self.name))


@dataclass(frozen=True)
class ChoiceOf(Field):
    """The number that one seat chose in a phase that everybody sees; None: it has not chosen."""

    phase: int
    seat: int

    def write(self, table: Any, seat: int) -> float | None:
        """Return the number."""
        return float(table.number[self.phase][self.seat]) if table.chosen[self.phase][self.seat] else None

    def read(self, table: Any, seat: int, value: Any, seats: Mapping[str, int]) -> None:
        """Write the number."""
        if value is not None:
            put(table, self.phase, self.seat, amount(value, self.name))


@dataclass(frozen=True)
class FactOf(Field):
    """A fact of the round: a whole number; or a word, and None for the number 0."""

    index: int
    words: tuple[str, ...] = ()

    def kind(self) -> Any:
        """Return the type of the number or the word."""
        return str | None if self.words else int

    def write(self, table: Any, seat: int) -> int | str | None:
        """Return the number or the word."""
        value = int(table.fact[self.index])
        return (self.words[value] if value else None) if self.words else value

    def read(self, table: Any, seat: int, value: Any, seats: Mapping[str, int]) -> None:
        """Write the number; an unknown word is 0."""
        if self.words:
            table.fact[self.index] = self.words.index(value) if value in self.words else 0
        elif value is not None:
            table.fact[self.index] = amount(value, self.name)


@dataclass(frozen=True)
class Answer(Field):
    """Whether one seat accepted, by a number above 0, in a phase that everybody sees; None: there is no answer."""

    phase: int
    seat: int

    def write(self, table: Any, seat: int) -> bool | None:
        """Return the answer."""
        return bool(table.number[self.phase][self.seat]) if table.chosen[self.phase][self.seat] else None

    def read(self, table: Any, seat: int, value: Any, seats: Mapping[str, int]) -> None:
        """Write the answer."""
        if isinstance(value, bool):
            put(table, self.phase, self.seat, float(value))


@dataclass(frozen=True)
class HiddenWord(Field):
    """The word for a choice that only one seat knows, or None. `words`: those for the numbers 0 and 1.

    The others know that there is one, once the fact with the index `fact` is above 0. The field comes after that fact.
    """

    phase: int
    seat: int
    words: tuple[str, str]
    fact: int
    private: ClassVar[bool] = True

    def kind(self) -> Any:
        """Return the type of the word."""
        return str | None

    def write(self, table: Any, seat: int) -> Any:
        """Return the word."""
        if seat != self.seat:
            return LEFT_OUT
        return self.words[int(table.number[self.phase][seat])] if table.chosen[self.phase][seat] else None

    def read(self, table: Any, seat: int, value: Any, seats: Mapping[str, int]) -> None:
        """Write the choice, or that there is one."""
        if value in self.words or table.fact[self.fact] > 0:
            put(table, self.phase, self.seat, float(value == self.words[1]))


@dataclass(frozen=True)
class Standing(Field):
    """The standing number; `owned`: None without an owner."""

    owned: bool = False

    def write(self, table: Any, seat: int) -> float | None:
        """Return the number."""
        return None if self.owned and table.owner < 0 else float(table.standing)

    def read(self, table: Any, seat: int, value: Any, seats: Mapping[str, int]) -> None:
        """Write the number."""
        if value is not None:
            table.standing = amount(value, self.name)


class StandingBy(Field):
    """The agent whose number stands, or None. It comes after the field of the number."""

    def write(self, table: Any, seat: int) -> str | None:
        """Return the agent."""
        return name_of(int(table.owner)) if table.owner >= 0 else None

    def read(self, table: Any, seat: int, value: Any, seats: Mapping[str, int]) -> None:
        """Write the owner, and the number as its choice."""
        if isinstance(value, str) and value in seats:
            own(table, seats[value])


def own(table: Any, seat: int) -> None:
    """Write that the standing number is a seat's."""
    phase = int(table.phases) - 1
    kinds = [kind for kind in range(int(table.kinds)) if (int(table.offers[phase]) >> kind) & 1 and table.gap[kind] > 0]
    table.owner = seat
    table.chosen[phase, seat] = 1 + kinds[0]
    table.number[phase, seat] = table.standing


class WhoLeft(Field):
    """The agents that have left the phase."""

    def write(self, table: Any, seat: int) -> list[str]:
        """Return their names."""
        return [name_of(other) for other in range(int(table.seats)) if not (int(table.within) >> other) & 1]

    def read(self, table: Any, seat: int, value: Any, seats: Mapping[str, int]) -> None:
        """Write that they have left."""
        for agent in value if isinstance(value, list) else ():
            if isinstance(agent, str) and agent in seats:
                table.within &= ~(1 << seats[agent])


Ranges = Sequence[float | Sequence[float]]
"""A lowest and a highest value for all seats, or such a pair for each seat."""


def ranges(option: str, value: Any, seats: int, highest: float = 1e6) -> tuple[tuple[float, float], ...]:
    """Return a checked range of private values for every seat.

    Raises:
        ValueError: unless it is a pair of numbers from 0 to `highest`, low first, or a pair for each seat.
    """
    try:
        pairs = [value] * seats if all(np.ndim(entry) == 0 for entry in value) else list(value)
        intervals = tuple((number(option, low, 0, highest), number(option, high, 0, highest)) for low, high in pairs)
    except (TypeError, ValueError):
        intervals = ()
    if len(intervals) != seats or any(low > high for low, high in intervals):
        raise ValueError(
            f"{option}={value!r}: give a lowest and a highest value from 0 to {highest:,g}, or {seats} such pairs"
        )
    return intervals


def stored(checked: tuple[tuple[float, float], ...]) -> list[Any]:
    """Return checked ranges as an option is stored: one pair if all seats have the same."""
    return [list(pair) for pair in checked] if len(set(checked)) > 1 else list(checked[0])


PER_SEAT = Rule(lambda option, value, seats: stored(ranges(option, value, seats)), ("seats",))
"""The rule of private values of the option `seats`; `PER_SEAT_OF_TWO`: of two."""
PER_SEAT_OF_TWO = Rule(lambda option, value: stored(ranges(option, value, 2)))

PARAMETER: Any = object()
"""Marks an option, a number, that payoffs depend on: ``table.parameter`` has these, in the order of the options."""


def parameter_names(kind: type[Options]) -> list[str]:
    """Return the names of the options that are marked as `PARAMETER`."""
    hints = get_type_hints(kind, include_extras=True)
    return [name for name, hint in hints.items() if PARAMETER in get_args(hint)]


def parameters_of(kind: type[Options]) -> tuple[Any, list[Parameter]]:
    """Return the indices of the `PARAMETER` options in ``table.parameter``, for compiled code, and their fields."""
    names = parameter_names(kind)
    places = namedtuple("Places", names)  # type: ignore[misc]  # the names are data
    return places(*range(len(names))), [Parameter(name, index) for index, name in enumerate(names)]
