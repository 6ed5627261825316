"""Rules: the compiled functions that play a game on a record. They do not make observations, JSON or pictures."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from . import loops
from .checks import require_arguments
from .compiled import compiled
from .record import Tables, check_required_fields


@compiled
def action_as_move(table: Any, action: int) -> int:
    """Return the action index itself: the `decode` of a game whose moves are its action indices."""
    return action


@dataclass(frozen=True, kw_only=True)
class Rules:
    """The rules of a game. Every function takes one record `table` of `blank`'s dtype.

    Compiled functions do not check array bounds; with ``NUMBA_DISABLE_JIT=1`` NumPy checks them.

    Attributes:
        blank: one table with the game's options and nothing dealt (recarray of shape (1,)).
        num_actions: the number of action indices.
        reset: ``reset(table)`` begins an episode. Random events are drawn from ``table.stream``. Compiled.
        step: ``step(table, move)`` applies the acting seat's legal move, up to the next decision. Compiled.
        legal: ``legal(table, mask)`` writes 1 for the acting seat's legal action indices into int8[num_actions] and 0
            for all others; the mask may hold anything before. Compiled.
        decode: ``decode(table, action) -> move``: the move of an action index. Compiled. By default the move is the
            action index.

    Raises:
        ValueError: if `blank` is not one record, or lacks a required field (`record.REQUIRED_FIELDS`), or has it with
            another type; or if another part is missing or wrong.
    """

    blank: Tables
    num_actions: int
    reset: Callable[[Any], None]
    step: Callable[[Any, Any], None]
    legal: Callable[[Any, NDArray[np.int8]], None]
    decode: Callable[[Any, int], Any] = action_as_move

    def __post_init__(self) -> None:
        """Check the parts; compiled functions do not check the record."""
        blank, count = self.blank, self.num_actions
        if not isinstance(blank, Tables) or blank.shape != (1,):
            what = f"{type(blank).__name__} of shape {np.shape(blank)}"
            raise ValueError(f"blank is a {what}; it needs to be one record: array.view(np.recarray) of shape (1,)")
        check_required_fields(blank.dtype)
        if isinstance(count, bool) or not isinstance(count, (int, np.integer)) or count < 1:
            raise ValueError(f"num_actions={count!r}: a game has a whole number of action indices, at least 1")
        arguments = {"reset": ("table",), "step": ("table", "move"), "legal": ("table", "mask")}
        arguments |= {"decode": ("table", "action")}
        require_arguments("Rules", {name: getattr(self, name) for name in arguments}, arguments)

    def __getstate__(self) -> dict[str, Any]:
        """Return the state without the compiled loops, which are compiled again after loading."""
        return {name: value for name, value in self.__dict__.items() if name not in ("play", "_legal_rows")}

    @cached_property
    def play(self) -> Callable[[Any, int], None]:
        """``play(table, action)`` applies the acting seat's legal action index. Compiled."""
        return loops.compile_loop(loops.play_action, step=self.step, decode=self.decode)

    def action_of(self, table: Any, move: Any) -> int:
        """Return the action index of a move: the `View.nearest` of a game in which each move has one."""
        return next(action for action in range(self.num_actions) if self.decode(table, action) == move)

    def tables(self, count: int) -> Tables:
        """Return `count` new tables (recarray of shape (count,))."""
        return np.repeat(self.blank, count).view(np.recarray)

    def mask(self, table: Any, seat: int) -> NDArray[np.int8]:
        """Return the action mask of `seat`, int8[num_actions]: 1 where legal; all 0 if it is not its turn."""
        out = np.zeros(self.num_actions, np.int8)
        if not table.done and int(table.turn) == seat:
            self.legal(table, out)
        return out

    def masks(
        self, tables: Tables | NDArray[Any], rows: NDArray[np.int64], out: NDArray[np.int8] | None = None
    ) -> NDArray[np.int8]:
        """Return the action masks of the acting seats at the tables `rows`: int8[len(rows), num_actions].

        Args:
            tables: the records.
            rows: int64[M], indices into `tables`.
            out: the array to write into; None makes a new one.
        """
        if out is None:
            out = np.zeros((len(rows), self.num_actions), np.int8)
        self._legal_rows(tables.view(np.ndarray), np.asarray(rows, np.int64), out)
        return out

    @cached_property
    def _legal_rows(self) -> Callable[..., None]:
        return loops.compile_loop(loops.legal_rows, legal=self.legal)
