"""Encoder: turns what a seat may know into an observation, a float32 vector."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from difflib import get_close_matches
from functools import cache, cached_property
from math import prod
from typing import Any

import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

from . import loops
from .checks import Immutable, require_arguments, require_type
from .compiled import compiled
from .record import Tables, record

PER_SEAT = ("relative seat",)
"""The axes of a slice with one number per seat; 0 is the observer, 1 the next seat."""


@dataclass(frozen=True)
class Slice:
    """One named part of the observation.

    Attributes:
        path: the field of TurnState with the same content, such as ``"game_state.players.stack"``.
        shape: its shape; a single number has shape ``(1,)``.
        low: smallest value.
        high: largest value.
        meaning: one line of description.
        start: its first index in the flat vector (set by `Layout`).
        axes: what the indices along each axis mean: a name for each of them, or one word, such as ``"relative seat"``,
            to which the index is added. Empty: the bare indices.
    """

    path: str
    shape: tuple[int, ...]
    low: float
    high: float
    meaning: str
    start: int = 0
    axes: tuple[str | Sequence[str], ...] = ()

    @property
    def stop(self) -> int:
        """The index after its last one."""
        return self.start + prod(self.shape)

    def name(self, position: tuple[int, ...]) -> str:
        """Return the name of the element at `position`, such as ``"flop, action 0, bet"``."""
        if self.shape == (1,) and not self.axes:
            return self.path.rpartition(".")[2]
        axes = self.axes or ("",) * len(self.shape)
        names = (
            f"{axis} {k}".strip() if isinstance(axis, str) else axis[k] for axis, k in zip(axes, position, strict=True)
        )
        return ", ".join(names)


def shares(path: str, shape: tuple[int, ...], meaning: str, axes: tuple[str | Sequence[str], ...] = ()) -> Slice:
    """Return a slice of numbers from 0 to 1: shares, and flags."""
    return Slice(path, shape, 0, 1, meaning, axes=axes)


def per_seat(path: str, seats: int, meaning: str, low: float = 0, high: float = 1) -> Slice:
    """Return a slice with one number per seat, by relative seat."""
    return Slice(path, (seats,), low, high, meaning, axes=PER_SEAT)


@dataclass(frozen=True)
class Element:
    """One number of the observation.

    Attributes:
        index: its index in the flat vector.
        path: the path of its slice.
        position: its index within the slice, one number per axis.
        name: its name within the slice, such as ``"full house"``.
        meaning: the description of the slice.
        low: smallest value.
        high: largest value.
    """

    index: int
    path: str
    position: tuple[int, ...]
    name: str
    meaning: str
    low: float
    high: float


class Layout(Immutable):
    """The slices of an observation, in order.

    Args:
        slices: the slices. Their paths must differ, and no path may be the beginning of another.

    Raises:
        ValueError: if there is no slice, two paths clash, a shape or bound is wrong, or a path cannot be a field name:
            its parts must be Python identifiers, and joined by ``_`` they must not be an attribute of `np.record`.

    >>> layout = Layout([Slice("phase", (3,), 0, 1, "one-hot"), Slice("game_state.pot", (1,), 0, 9, "chips")])
    >>> layout.size, layout["game_state.pot"].start, layout[0].path, layout.at(3).name
    (4, 3, 'phase', 'pot')
    """

    def __init__(self, slices: Sequence[Slice]) -> None:
        self._slices: dict[str, Slice] = {}
        start = 0
        if not slices:
            raise ValueError("Layout: there is no slice; an observation has at least one")
        for part in slices:
            _check_slice(part)
            for path in self._slices:
                if path == part.path or path.startswith(part.path + ".") or part.path.startswith(path + "."):
                    raise ValueError(f"slice {part.path!r} clashes with {path!r}")
            placed = replace(part, start=start)
            self._slices[part.path] = placed
            start = placed.stop
        self.size = start
        self._nested = _nest(self)
        self._plan = _plan(self._nested)
        _offsets_dtype(tuple(map(_field, self._slices)))  # raises for a path that cannot be a field

    def __getstate__(self) -> dict[str, Any]:
        """Return the state without the offsets: they are made again, with the dtype shared in this process."""
        return {name: value for name, value in self.__dict__.items() if name != "offsets"}

    def __getitem__(self, which: str | int) -> Slice:
        """Return a slice by its path, or by its place among the slices.

        Raises:
            KeyError: if no slice has this path.
            IndexError: if there are fewer slices.
        """
        if not isinstance(which, str):
            return self.slices[which]
        if which not in self._slices:
            near = get_close_matches(which, self._slices, 1, 0)
            raise KeyError(f"no slice has the path {which!r}; did you mean {near[0]!r}? `slices` lists all")
        return self._slices[which]

    def __iter__(self) -> Iterator[Slice]:
        return iter(self._slices.values())

    def __len__(self) -> int:
        return len(self._slices)

    @property
    def slices(self) -> tuple[Slice, ...]:
        """All slices, in order."""
        return tuple(self._slices.values())

    def at(self, index: int) -> Element:
        """Return the element at an index of the flat vector: the path of its slice, its name, its meaning.

        Args:
            index: from 0 to `size` - 1; a negative one counts from the end.

        Raises:
            IndexError: if the vector has no such index.
        """
        if not -self.size <= index < self.size:
            raise IndexError(f"index {index} is outside the observation, which has {self.size} elements")
        index %= self.size
        part = next(part for part in self if index < part.stop)
        position = tuple(int(k) for k in np.unravel_index(index - part.start, part.shape))
        return Element(index, part.path, position, part.name(position), part.meaning, part.low, part.high)

    @cached_property
    def offsets(self) -> NDArray[Any]:
        """The start index of each slice, for compiled code: an array of one record, with one uint32 field per slice.

        The field's name is the slice's path, without ``game_state.`` in front and with ``_`` for ``.``:
        ``players_stack`` for ``"game_state.players.stack"``. Layouts with the same paths share one dtype, so the same
        compiled code serves all of them. (Unsigned: compiled code then does not check for negative indices.)
        """
        offsets = np.zeros(1, _offsets_dtype(tuple(map(_field, self._slices)))).view(np.recarray)
        for path, part in self._slices.items():
            offsets[_field(path)] = part.start
        return offsets.view(np.ndarray)  # Numba takes a recarray as slowly as a record

    def tree(self, flat: NDArray[np.float32]) -> dict[str, Any]:
        """Return the nested dict whose leaves are views into `flat` (float32[size])."""
        return _grow(self._plan, flat)

    def bounds(self) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
        """Return the lowest and highest value of every element: two float32[size]."""
        low, high = np.empty(self.size, np.float32), np.empty(self.size, np.float32)
        for part in self:
            low[part.start : part.stop] = part.low
            high[part.start : part.stop] = part.high
        return low, high

    def outside(self, seen: NDArray[np.float32]) -> list[Slice]:
        """Return the slices with a value outside their bounds, or NaN, in a flat vector float32[size]."""
        low, high = self.bounds()
        wrong = ~((seen >= low) & (seen <= high))
        return [part for part in self if wrong[part.start : part.stop].any()]

    def flat_space(self) -> spaces.Box:
        """Return the space of the flat vector."""
        return spaces.Box(*self.bounds(), dtype=np.float32)

    def dict_space(self) -> spaces.Space[Any]:
        """Return the space of `tree`, a nested `Dict`."""
        return _space(self._nested)

    def describe(self) -> str:
        """Return the slices as a Markdown table."""
        rows = [f"| {p.start}:{p.stop} | `{p.path}` | {p.shape} | {p.low:g} … {p.high:g} | {p.meaning} |" for p in self]
        return "\n".join(["| index | slice | shape | range | meaning |", "|---|---|---|---|---|", *rows])


def _check_slice(part: Slice) -> None:
    """Raise ValueError for a slice with a wrong path, shape or bound."""
    require_type("Layout", "a slice", part, Slice)
    names = part.path.split(".") if isinstance(part.path, str) else [""]
    if not all(name.isidentifier() for name in names):
        raise ValueError(f"slice {part.path!r}: write names with dots between them, such as 'game_state.pot'")
    shape = part.shape
    if not isinstance(shape, tuple) or not shape or not all(isinstance(n, (int, np.integer)) and n > 0 for n in shape):
        raise ValueError(f"slice {part.path!r}: shape {shape!r} needs integers from 1 up; a single number has (1,)")
    if not (np.ndim(part.low) == np.ndim(part.high) == 0 and part.low <= part.high):
        raise ValueError(f"slice {part.path!r}: low is {part.low!r} and high {part.high!r}; low may not be above high")
    wrong = len(part.axes) != len(shape) or any(
        len(axis) != n for axis, n in zip(part.axes, shape, strict=True) if not isinstance(axis, str)
    )
    if part.axes and wrong:
        raise ValueError(f"slice {part.path!r}: axes {part.axes!r} do not fit the shape {shape!r}")


def _field(path: str) -> str:
    return path.removeprefix("game_state.").replace(".", "_")


@cache  # one dtype object: else Numba compares all fields at every call
def _offsets_dtype(fields: tuple[str, ...]) -> np.dtype[np.void]:
    return record(*((field, "u4") for field in fields))


def _nest(slices: Iterable[Slice]) -> dict[str, Any]:
    """Sort slices into nested dicts by their paths."""
    root: dict[str, Any] = {}
    for part in slices:
        *folders, name = part.path.split(".")
        node = root
        for folder in folders:
            node = node.setdefault(folder, {})
        node[name] = part
    return root


def _space(node: dict[str, Any] | Slice) -> spaces.Space[Any]:
    if isinstance(node, Slice):
        return spaces.Box(np.float32(node.low), np.float32(node.high), node.shape, np.float32)
    return spaces.Dict({name: _space(child) for name, child in node.items()})


_Plan = list[tuple[str, slice | None, Any]]
"""Per name: the slice of a leaf and its shape if it has several axes; or None and the plan of a subtree."""


def _plan(node: dict[str, Any]) -> _Plan:
    return [
        (name, slice(child.start, child.stop), child.shape if len(child.shape) > 1 else None)
        if isinstance(child, Slice)
        else (name, None, _plan(child))
        for name, child in node.items()
    ]


def _grow(plan: _Plan, flat: NDArray[np.float32]) -> dict[str, Any]:
    node: dict[str, Any] = {}
    for name, where, rest in plan:  # the hot path of the AEC environment
        if where is None:
            node[name] = _grow(rest, flat)
        elif rest is None:
            node[name] = flat[where]
        else:
            node[name] = flat[where].reshape(rest)
    return node


@compiled
def relative(other: int, seat: int, seats: int) -> int:
    """Return the relative seat of `other`: 0 is `seat`, 1 the next one. (`%` does the same, but is slower.)"""
    away = other - seat
    return away + seats if away < 0 else away


FULL = "full"
"""The name of a game's full-information encoder."""


@dataclass(frozen=True)
class Encoder:
    """One way to observe a game.

    Raises:
        ValueError: if `layout` is not a `Layout`, or `observe` is not a function.

    Attributes:
        layout: the slices of the observation.
        observe: ``observe(table, seat, at, out)`` writes what `seat` may know into `out` (float32[layout.size]). `out`
            may hold anything before. `at` has the start index of each slice (see `Layout.offsets`):
            ``out[at.players_stack]``. Compiled.
        full_information: whether the observation shows hidden information. Such an encoder is for critics and
            analysis. A policy that plays never gets its observations.
    """

    layout: Layout
    observe: Callable[[Any, int, Any, NDArray[np.float32]], None]
    full_information: bool = False

    def __post_init__(self) -> None:
        """Check the parts."""
        require_type("Encoder", "layout", self.layout, Layout)
        require_arguments("Encoder", {"observe": self.observe}, {"observe": ("table", "seat", "at", "out")})
        require_type("Encoder", "full_information", self.full_information, bool)

    def __getstate__(self) -> dict[str, Any]:
        """Return the state without the compiled loop, which is compiled again after loading."""
        return {name: value for name, value in self.__dict__.items() if name != "loop"}

    def extended(
        self, slices: Sequence[Slice], observe: Callable[..., None], *, full_information: bool = False
    ) -> "Encoder":
        """Return an encoder with the slices of this one and more.

        Args:
            slices: the additional slices.
            observe: ``observe(table, seat, at, out)`` writes the additional slices, which hold zeros before. Compiled.
            full_information: whether any additional slice shows hidden information.
        """
        both = loops.compile_loop(loops.observe_both, observe=self.observe, observe_more=observe)
        return Encoder(Layout([*self.layout, *slices]), both, full_information or self.full_information)

    def observation(self, table: Any, seat: int) -> NDArray[np.float32]:
        """Return the observation of `seat` in a new array: float32[layout.size]."""
        out = np.zeros(self.layout.size, np.float32)
        self.observe(table, int(seat), self.layout.offsets[0], out)  # int(): no second compilation for NumPy integers
        return out

    def observations(
        self,
        tables: Tables | NDArray[Any],
        rows: NDArray[np.int64],
        out: NDArray[np.float32] | None = None,
        seats: NDArray[np.int64] | None = None,
    ) -> NDArray[np.float32]:
        """Return the observations of one seat at each of the tables `rows`: float32[M, layout.size].

        Args:
            tables: the records.
            rows: int64[M], indices into `tables`.
            out: the array to write into; None makes a new one.
            seats: int64[M], the seats; None: the acting seats.
        """
        records = tables.view(np.ndarray)
        if out is None:
            out = np.empty((len(rows), self.layout.size), np.float32)
        if seats is None:
            seats = records["turn"][rows]
        whole = np.asarray(rows, np.int64), np.asarray(seats, np.int64)
        self.loop(records, *whole, self.layout.offsets, out)
        return out

    @cached_property
    def loop(self) -> Callable[..., None]:
        """The compiled loop over tables: ``loop(tables, rows, seats, offsets, out)`` (see `loops.observe_rows`)."""
        return loops.compile_loop(loops.observe_rows, observe=self.observe)


class Encoders(Mapping[str, Encoder]):
    """The encoders of a game by name, each made at its first use.

    Args:
        made_by: functions ``encoder(table) -> Encoder`` by name, such as ``"v0"`` or ``"full"``.
        blank: one table with the game's options (recarray of shape (1,)).
    """

    def __init__(self, made_by: Mapping[str, Callable[[Any], Encoder]], blank: Tables) -> None:
        self._made_by, self._blank = made_by, blank
        self._made: dict[str, Encoder] = {}

    def __getitem__(self, name: str) -> Encoder:
        if name not in self._made:
            encoder = self._made_by[name](self._blank[0])
            require_type(f"encoder {name!r}", "it", encoder, Encoder)
            self._made[name] = encoder
        return self._made[name]

    def __iter__(self) -> Iterator[str]:
        return iter(sorted(self._made_by))

    def __len__(self) -> int:
        return len(self._made_by)
