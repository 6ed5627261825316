"""What a game in phases is made of: its phases, action types, private values, fields, payoffs and bots."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from math import prod
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..core.options import Options
from .fields import Field, parameter_names

Effect = Literal["", "close", "leave", "clear", "recall"]
"""What a named action does in an open phase: see `Named.effect`."""


class Further(NamedTuple):
    """A further number of a payload: its key, its highest number (the lowest is 0), and how many evenly spaced numbers
    have an action index (1 or more)."""

    key: str
    highest: float
    points: int


class Fact(NamedTuple):
    """A number of a round that everybody knows, in ``table.fact``.

    Attributes:
        name: what it is.
        highest: the highest number; the lowest is 0.
        words: what the numbers 0, 1, … mean; empty: they are numbers.
        amount: whether it is an amount of money. These come first.
    """

    name: str
    highest: float
    words: tuple[str, ...] = ()
    amount: bool = False

    def formatted(self, value: float) -> str:
        """Return the fact as text."""
        return f"{self.name.replace('_', ' ')} {self.words[int(value)] if self.words else f'{value:g}'}"


@dataclass(frozen=True)
class Number:
    """An action type with a number.

    Attributes:
        name: the action type, such as ``"submit_quantity"``.
        key: the number's key in the payload.
        highest: the highest number.
        points: the numbers that have an action index: so many, evenly spaced from `lowest` to `highest`; at least 2.
        meaning: a description.
        rest: a second key, whose number is the highest one of the turn minus the first one; None: there is none.
        shares: whether the payload holds shares by agent under `key`, which sum to the highest number of the turn: of
            two seats, or of up to 4 if the phase divides (`Open.divides`). The number is the acting seat's own share;
            an action index gives the others equal parts of the rest.
        further: up to two further numbers of the payload, with any of which each number may be combined. They are the
            first facts of the game, seat by seat of those that choose; one action type of a game may have them.
        limit: the field of `game_state` with the highest number of the turn, which a host may set; empty: there is
            none.
        lowest: the lowest number, 0 or more.
        words: keys of the payload that may hold text; it has no effect.
    """

    name: str
    key: str
    highest: float
    points: int
    meaning: str
    rest: str | None = None
    shares: bool = False
    further: tuple[Further, ...] = ()
    limit: str = ""
    lowest: float = 0.0
    words: tuple[str, ...] = ()

    @property
    def indices(self) -> int:
        """The number of action indices."""
        return self.points * self.block

    @property
    def block(self) -> int:
        """The number of action indices for each number."""
        return prod(one.points for one in self.further)


@dataclass(frozen=True)
class Named:
    """An action type without a number.

    Attributes:
        name: the action type, such as ``"accept"``.
        value: the number that is stored for it, 0 or more. In an open phase, the standing number is stored for an
            action with the effect ``"close"`` and a value above 0.
        meaning: a description.
        effect: what it does in an open phase: ``"close"`` ends it, with ``"leave"`` the seat leaves it, ``"clear"``
            removes the standing number, ``"recall"`` brings all back that have left; ``""``: it gives the turn on.
        words: keys of the payload that may hold text; it has no effect.
        says: the payload, such as ``{"effort": "low"}``: action types of one name differ by it. Empty: no payload.
        texts: keys of the payload that need to hold text, each with the text that is sent for an action index. It has
            no effect on the rules; another text is sent to all as a message.
    """

    name: str
    value: float
    meaning: str
    effect: Effect = ""
    words: tuple[str, ...] = ()
    says: Mapping[str, str] = field(default_factory=dict)
    texts: Mapping[str, str] = field(default_factory=dict)

    @property
    def label(self) -> str:
        """The action in a word."""
        return " ".join(self.says.values()) or self.name


@dataclass(frozen=True)
class Open:
    """What an open phase has besides its action types.

    In an open phase seats act in turn, again and again, until an action closes it or one seat is left. A number of the
    seat that acts becomes the standing number, and the seat its owner.

    Attributes:
        what: what the standing number is, in one word, such as ``"price"``.
        highest: the highest standing number; the lowest is 0.
        start: the standing number at the beginning.
        keeps: whether the last number of every seat is kept; if not, only the owner's is.
        divides: whether the standing number is part of a division among all seats, with all shares as their choices. A
            seat that leaves has accepted it; a new division, or none, brings all back.
    """

    what: str
    highest: float
    start: float = 0.0
    keeps: bool = False
    divides: bool = False


@dataclass(frozen=True)
class Phase:
    """A phase of the game, in which some seats choose once each, in turn.

    Attributes:
        name: its name, which is the `phase` of TurnState.
        actions: the action types that are offered.
        seats: the seats that choose; None: all.
        sealed: whether the choices are hidden until all are made.
        turns: the turns that each seat has; who does not choose in any of them ends the round.
        may_pass: whether `pass` is offered.
        forced: in a game with an open phase, before that: a seat that does not choose in any of its turns has chosen 0.
        open: makes this an open phase, which is the last one; None: each seat chooses once.
    """

    name: str
    actions: tuple[str, ...]
    seats: tuple[int, ...] | None = None
    sealed: bool = False
    turns: int = 1
    may_pass: bool = True
    forced: bool = False
    open: Open | None = None


@dataclass(frozen=True)
class Private:
    """A private value of every seat, uniform on a range and rounded to hundredths.

    Attributes:
        name: its field in `game_state`, such as ``"my_valuation"``.
        ranges: the lowest and highest value, 0 or more, seat by seat.
    """

    name: str
    ranges: tuple[tuple[float, float], ...]


class End(NamedTuple):
    """The end of a round in the platform's words.

    Attributes:
        reason: why it ended.
        rows: fields of each seat's row in ``payoffs``, besides ``agent_id`` and ``utility``.
        more: further fields of the outcome.
    """

    reason: str = "max_rounds_exceeded"
    rows: Sequence[Mapping[str, Any]] = ()
    more: Mapping[str, Any] = {}


@dataclass(frozen=True, kw_only=True)
class PhaseGame:
    """The definition of a game in phases; `phases.game.make` makes the `Game`.

    Attributes:
        name: the game's name; with ``-`` for ``_`` it is the platform's id.
        title: the heading of its picture.
        options: the options. Without one called `seats` the game is for two.
        phases: those of a round, in order.
        actions: the action types besides `pass`.
        pay: ``pay(table)``, compiled: writes `table.rewards`, which are 0, after the last phase of a round.
        odds: ``odds(table) -> float``, compiled: the probability of the event that decides the payoffs of a round whose
            last phase is over; `pay` finds in ``table.event`` whether it has happened. Below 0: there is none in this
            round. None: there never is.
        payoffs: the lowest and highest utility of a seat in one round.
        end: ``end(table) -> End`` of a round whose last phase is over; with `late`, of every round.
        late: ``late(table)``, compiled: writes `table.rewards` of a round that ran out of time; None: they are 0.
        early: ``early(table) -> bool``, compiled: whether the round ends before the last phase is over; None: never.
        loops: whether `early` may begin an earlier phase again (`rules.go_back`). The history is then a list of the
            last 32 actions.
        facts: numbers of a round that everybody knows besides the choices (``table.fact``), at most 4.
        follow: ``follow(table)``, compiled: writes what follows from the state of the round: ``least``, ``most``,
            ``open`` and ``standing``; None: nothing.
        fields: the game's own fields of `game_state`.
        parameters: numbers for the payoffs (``table.parameter``); None: the options that are `PARAMETER`.
        amounts: the indices of the parameters that are amounts of money, as the numbers of `Number` and private values
            then are too. A host's table of another size is seen in proportion (`load_state.load`); the first of them
            measures it. None: the game has no amounts.
        slope: the index of the parameter that is an amount for each unit of a `Number`, which then are no amounts.
        private: the private values; None: there are none.
        pass_is_final: whether a seat that passes has no further turn in the phase. What it chose is then 0.
        roles: the names of the seats' roles; empty: all seats are alike.
        role_keys: the fields of `game_state` that name the agents of the roles, in the same order. The field of several
            seats is a list.
        worth: ``worth(table, kind, numbers)``: what the acting seat gets beyond its outside option if an action of type
            `kind` is the last word, with each of `numbers`, float64[N]; infinite if it binds the seat to nothing (see
            `OutsideOption`). None: there is no outside option.
        bots: scripted players by name.
        decimals: of the utilities.
    """

    name: str
    title: str
    options: Options
    phases: Sequence[Phase]
    actions: Sequence[Number | Named]
    pay: Callable[[Any], None]
    payoffs: tuple[float, float]
    end: Callable[[Any], End]
    odds: Callable[[Any], float] | None = None
    late: Callable[[Any], None] | None = None
    early: Callable[[Any], bool] | None = None
    loops: bool = False
    facts: Sequence[Fact] = ()
    follow: Callable[[Any], None] | None = None
    fields: Sequence[Field] = ()
    parameters: Sequence[float] | None = None
    amounts: Sequence[int] | None = None
    slope: int | None = None
    private: Private | None = None
    pass_is_final: bool = False
    roles: tuple[str, ...] = ()
    role_keys: tuple[str, ...] = ()
    worth: Callable[[Any, int, NDArray[np.float64]], Any] | None = None
    bots: Mapping[str, Callable[..., Any]] = field(default_factory=dict)
    decimals: int = 2

    @property
    def seats(self) -> int:
        """The number of seats."""
        return int(getattr(self.options, "seats", 2))

    @property
    def rounds(self) -> int:
        """How many times the game is played: the option `rounds`; without it, once."""
        return int(getattr(self.options, "rounds", 1))

    @property
    def numbers(self) -> list[float]:
        """The parameters."""
        values = [getattr(self.options, name) for name in parameter_names(type(self.options))]
        return values if self.parameters is None else list(self.parameters)

    @property
    def hides(self) -> bool:
        """Whether a seat may not know something: a private value that varies, or the sealed choice of another."""
        varies = self.private is not None and any(low < high for low, high in self.private.ranges)
        return varies or any(phase.sealed and self.chooses(phase) > 1 for phase in self.phases)

    @property
    def open(self) -> Open | None:
        """What the last phase has, if it is an open one."""
        return self.phases[-1].open

    @property
    def largest(self) -> float:
        """The largest amount of a utility in one round, above 0."""
        return max(*map(abs, self.payoffs), 1e-9)

    def chooses(self, phase: Phase) -> int:
        """Return the number of seats that choose in a phase."""
        return self.seats if phase.seats is None else len(phase.seats)
