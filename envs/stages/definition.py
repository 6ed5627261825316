"""What a game in stages is made of: its stages, action types, private values, fields, payoffs and bots."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from .fields import Field


@dataclass(frozen=True)
class Number:
    """An action type with a number.

    Attributes:
        name: the action type, such as ``"submit_quantity"``.
        key: the number's key in the payload.
        highest: the highest number; the lowest is 0.
        points: the numbers that have an action index: so many, evenly spaced from 0 to `highest`; at least 2.
        meaning: a description.
        rest: a second key, whose number is `highest` minus the first one; None: there is none.
    """

    name: str
    key: str
    highest: float
    points: int
    meaning: str
    rest: str | None = None


@dataclass(frozen=True)
class Named:
    """An action type without a number.

    Attributes:
        name: the action type, such as ``"accept"``.
        value: the number that is stored for it, 0 or more.
        meaning: a description.
    """

    name: str
    value: float
    meaning: str


@dataclass(frozen=True)
class Stage:
    """A phase of the game, in which some seats choose once each, in turn.

    Attributes:
        name: the phase.
        actions: the action types that are offered.
        seats: the seats that choose; None: all.
        sealed: whether the choices are hidden until all are made.
        turns: the turns that each seat has; who does not choose in any of them ends the round.
        may_pass: whether `pass` is offered.
    """

    name: str
    actions: tuple[str, ...]
    seats: tuple[int, ...] | None = None
    sealed: bool = False
    turns: int = 1
    may_pass: bool = True


@dataclass(frozen=True)
class Private:
    """A private value of every seat, uniform on a range and rounded to hundredths.

    Attributes:
        name: its field in `game_state`, such as ``"my_valuation"``.
        ranges: the lowest and highest value, seat by seat.
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

    reason: str
    rows: Sequence[Mapping[str, Any]] = ()
    more: Mapping[str, Any] = {}


@dataclass(frozen=True, kw_only=True)
class StageGame:
    """The definition of a game in stages; `stages.game.make` makes the `Game`.

    Attributes:
        name: the game's name; with ``-`` for ``_`` it is the platform's id.
        title: the heading of its picture.
        seats: the number of seats.
        options: the options, checked.
        stages: the phases of a round, in order.
        actions: the action types besides `pass`.
        step: ``step(table, move)``, compiled: see `stages.rules`.
        payoffs: the lowest and highest utility of a seat in one round.
        end: ``end(table) -> End`` of a round whose last stage is over.
        fields: the game's own fields of `game_state`.
        parameters: numbers for the payoffs (``table.parameter``).
        private: the private values; None: there are none.
        bounds: ``bounds(table)``, compiled: writes ``least``, ``most`` and ``open`` after a choice; None: they do not
            change.
        pass_is_final: whether a seat that passes has no further turn in the stage. What it chose is then 0.
        roles: the names of the seats' roles; empty: all seats are alike.
        role_keys: the fields of `game_state` that name the agents of the roles, in the same order.
        history: ``history(table)`` for a game whose seats act in another order than `rules.choose`; None: see
            `view.history`.
        bots: scripted players by name.
        rounds: how many times the game is played.
        decimals: of the utilities.
    """

    name: str
    title: str
    seats: int
    options: Mapping[str, Any]
    stages: Sequence[Stage]
    actions: Sequence[Number | Named]
    step: Callable[[Any, Any], None]
    payoffs: tuple[float, float]
    end: Callable[[Any], End]
    fields: Sequence[Field] = ()
    parameters: Sequence[float] = ()
    private: Private | None = None
    bounds: Callable[[Any], None] | None = None
    pass_is_final: bool = False
    roles: tuple[str, ...] = ()
    role_keys: tuple[str, ...] = ()
    history: Callable[[Any], list[dict[str, Any]]] | None = None
    bots: Mapping[str, Callable[..., Any]] = field(default_factory=dict)
    rounds: int = 1
    decimals: int = 2

    @property
    def hides(self) -> bool:
        """Whether a seat may not know something: a private value that varies, or the sealed choice of another."""
        varies = self.private is not None and any(low < high for low, high in self.private.ranges)
        return varies or any(stage.sealed and self.chooses(stage) > 1 for stage in self.stages)

    @property
    def largest(self) -> float:
        """The largest amount of a utility in one round, above 0."""
        return max(*map(abs, self.payoffs), 1e-9)

    def chooses(self, stage: Stage) -> int:
        """Return how many seats choose in a stage."""
        return self.seats if stage.seats is None else len(stage.seats)
