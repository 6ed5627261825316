"""The loops over many tables, written once and compiled with each game's own functions.

Numba keeps no compiled closure over compiled functions on disk, and calls a function that it is handed at half the
speed. Here a game's functions take the place of the names below, as if the loop stood in the game's `rules.py`.
(The lines are spelt out: passing `batch` on to a function of one table costs a fifth of the speed.)
"""

from collections.abc import Callable
from functools import cache
from types import FunctionType
from typing import Any, NamedTuple, cast
from zlib import crc32

import numpy as np
from numba import njit
from numba.extending import is_jitted
from numpy.typing import NDArray

from .compiled import compiled

reset: Any = None
step: Any = None
legal: Any = None
decode: Any = None
observe: Any = None
observe_more: Any = None
play: Any = None


class Batch(NamedTuple):
    """What the loops write, one row per table.

    ``observations`` float32[N, D] and ``masks`` int8[N, A] belong to the seat ``turn`` int64[N] that decides next;
    ``rewards`` float32[N, seats], ``dones`` and ``truncations`` bool[N] to the step just made. ``offsets`` is the
    encoder's: where its slices begin (`Layout.offsets`).
    """

    observations: NDArray[np.float32]
    masks: NDArray[np.int8]
    turn: NDArray[np.int64]
    rewards: NDArray[np.float32]
    dones: NDArray[np.bool_]
    truncations: NDArray[np.bool_]
    offsets: NDArray[Any]


def play_action(table: Any, action: int) -> None:
    """Apply the acting seat's legal action index."""
    step(table, decode(table, action))


def reset_batch(tables: Any, batch: Any) -> None:
    """Begin an episode on every table and show it."""
    at = batch.offsets[0]
    for i in range(len(tables)):
        table = tables[i]
        reset(table)
        batch.turn[i] = table.turn
        observe(table, table.turn, at, batch.observations[i])
        legal(table, batch.masks[i])


def step_batch(tables: Any, actions: Any, batch: Any, again: bool) -> None:
    """Play one decision on every table whose action is not −1; where an episode ends, begin the next one if `again`."""
    at = batch.offsets[0]
    for i in range(len(tables)):
        if actions[i] >= 0:
            table = tables[i]
            play(table, actions[i])
            for seat in range(batch.rewards.shape[1]):
                batch.rewards[i, seat] = table.rewards[seat]
            batch.dones[i] = table.done
            batch.truncations[i] = table.truncated
            if table.done and again:
                reset(table)
            if not table.done:
                batch.turn[i] = table.turn
                observe(table, table.turn, at, batch.observations[i])
                legal(table, batch.masks[i])


def observe_both(table: Any, seat: int, at: Any, out: Any) -> None:
    """Write what two encoders show."""
    observe(table, seat, at, out)
    observe_more(table, seat, at, out)


def observe_rows(tables: Any, rows: Any, seats: Any, offsets: Any, out: Any) -> None:
    """Write what the seats `seats` (int64[M]) of the tables `rows` (int64[M]) see into float32[M, D]."""
    at = offsets[0]
    for i in range(len(rows)):
        observe(tables[rows[i]], seats[i], at, out[i])


def legal_rows(tables: Any, rows: Any, out: Any) -> None:
    """Write the acting seats' legal action indices at the tables `rows` (int64[M]) into int8[M, A]."""
    for i in range(len(rows)):
        legal(tables[rows[i]], out[i])


@cache
def compile_loop(loop: Callable[..., None], **functions: Any) -> Callable[..., None]:
    """Return `loop` with a game's functions in the place of the names above: compiled, where all of these are."""
    own = FunctionType(loop.__code__, {"__name__": __name__, **functions}, loop.__name__)
    if not all(map(is_jitted, functions.values())):
        return own
    sources = [function.py_func for function in functions.values()]
    if any(source.__closure__ or source.__defaults__ for source in sources):  # no file tells what these hold
        return cast(Callable[..., None], njit(own))
    names = repr([(source.__code__.co_filename, source.__qualname__) for source in sources])
    own.__qualname__ = f"{loop.__name__}_{crc32(names.encode()):08x}"  # names the file with the machine code
    return compiled(own, nogil=True)  # `VectorGame` calls them from several threads
