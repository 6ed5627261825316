"""Encoder: turns what a seat may know into an observation, a float32 vector."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from . import loops
from .checks import require_arguments, require_type
from .layout import Layout, Slice
from .record import Tables

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
