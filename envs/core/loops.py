"""The loops over many tables, written once and compiled with each game's own functions.

Numba cannot cache a closure over compiled functions on disk, and a function passed as an argument halves the speed.
So `compile_loop` binds a game's functions to the global names below, as if the loop were written in the game's
`rules.py`. The loop bodies are written out: a call of a function of one table with `batch` costs a fifth of the speed.
"""

import os
import threading
import weakref
from collections.abc import Callable, Sequence
from functools import cache, partial, update_wrapper
from queue import SimpleQueue
from types import FunctionType
from typing import Any, NamedTuple, TypeVar, cast
from zlib import crc32

import numpy as np
from numba import njit
from numba.extending import is_jitted
from numpy.typing import NDArray

from .compiled import compiled
from .memory import load_ahead


class Threads:
    """The calling thread and `count` − 1 others, which end with this object. After a fork, the child makes its own.

    `concurrent.futures` needs 90 µs to hand work to a thread and this 60. 4,096 tables of hold'em take 1,000 µs.

    Args:
        count: the number of threads, the calling one included.
    """

    def __init__(self, count: int) -> None:
        self._count = count
        self._begin()

    def _begin(self) -> None:
        self._process = os.getpid()
        self._tasks: SimpleQueue[Any] = SimpleQueue()
        for _ in range(self._count - 1):
            threading.Thread(target=_serve, args=(self._tasks,), daemon=True).start()
            weakref.finalize(self, self._tasks.put, None)

    def run(self, function: Callable[..., None], shares: Sequence[Sequence[Any]]) -> None:
        """Call ``function(*share)`` for every share, the first one in the calling thread, and wait for all.

        Raises:
            Exception: what a call raised, after all calls have ended.
        """
        if len(shares) == 1:
            function(*shares[0])
            return
        if os.getpid() != self._process:
            self._begin()
        done: SimpleQueue[Exception | None] = SimpleQueue()
        for share in shares[1:]:
            self._tasks.put((function, share, done))
        try:
            function(*shares[0])
        finally:  # no thread writes after this
            errors = [error for _ in shares[1:] if (error := done.get())]
        if errors:
            raise errors[0]


def _serve(tasks: "SimpleQueue[Any]") -> None:
    while task := tasks.get():
        function, share, done = task
        error = None
        try:
            function(*share)
        except Exception as raised:  # raised again in the calling thread
            error = raised
        done.put(error)
        del task, function, share, done, error  # they would keep the tables, and with them this thread


def require_process(made_in: int, what: str) -> None:
    """Raise RuntimeError in a process other than `made_in` (of `os.getpid`).

    Args:
        made_in: the process that made it.
        what: its name, for the error.
    """
    if os.getpid() != made_in:
        raise RuntimeError(f"{what} belongs to process {made_in}, from which this one was forked: make it anew here")


Result = TypeVar("Result")

reset: Any = None
step: Any = None
legal: Any = None
decode: Any = None
observe: Any = None
observe_more: Any = None
play: Any = None


class Batch(NamedTuple):
    """The arrays that the loops write, one row per table.

    Attributes:
        observations: float32[N, D], of the seat that decides next.
        masks: int8[N, A], the action mask of this seat.
        turn: int64[N], this seat.
        rewards: float32[N, seats], of the last step.
        dones: bool[N], whether the episode ended in the last step.
        offsets: the start indices of the encoder's slices (`Layout.offsets`).
    """

    observations: NDArray[np.float32]
    masks: NDArray[np.int8]
    turn: NDArray[np.int64]
    rewards: NDArray[np.float32]
    dones: NDArray[np.bool_]
    offsets: NDArray[Any]


def play_action(table: Any, action: int) -> None:
    """Apply the acting seat's legal action index."""
    step(table, decode(table, action))


def reset_batch(tables: Any, batch: Any, ended: bool) -> None:
    """Begin an episode on every table, or if `ended` only where one is over, and write its first row of `batch`."""
    at = batch.offsets[0]
    for i in range(len(tables)):
        table = tables[i]
        if table.done or not ended:
            reset(table)
            batch.turn[i] = table.turn
            observe(table, table.turn, at, batch.observations[i])
            legal(table, batch.masks[i])


def step_batch(tables: Any, actions: Any, batch: Any, again: bool) -> None:
    """Play one decision on every table whose action is not −1; where an episode ends, begin the next one if `again`."""
    at = batch.offsets[0]
    for i in range(len(tables)):
        if i + 1 < len(tables):
            load_ahead(tables[i + 1])
        if actions[i] >= 0:
            table = tables[i]
            play(table, actions[i])
            for seat in range(batch.rewards.shape[1]):
                batch.rewards[i, seat] = table.rewards[seat]
            batch.dones[i] = table.done
            if table.done and again:
                reset(table)
            if not table.done:
                batch.turn[i] = table.turn
                observe(table, table.turn, at, batch.observations[i])
                legal(table, batch.masks[i])


BEGIN, LOOK = -2, -1
"""What `step_one` takes in place of an action: begin an episode; play nothing."""
DONE, REWARDED = 1 << 16, 1 << 17
"""Bits of what `step_one` returns, above the seat that decides next."""


def step_one(tables: Any, action: int, observation: Any, mask: Any, offsets: Any) -> int:
    """Play a legal action at the first table, write what the next seat sees, and return this seat with bits."""
    table = tables[0]
    if action >= 0:
        play(table, action)
    elif action == BEGIN:
        reset(table)
    code = 0
    for reward in table.rewards:
        if reward != 0:
            code = REWARDED
    if table.done:
        return code | DONE
    observe(table, table.turn, offsets[0], observation)
    legal(table, mask)
    return code | int(table.turn)


def observe_both(table: Any, seat: int, at: Any, out: Any) -> None:
    """Write the slices of two encoders."""
    observe(table, seat, at, out)
    observe_more(table, seat, at, out)


def observe_rows(tables: Any, rows: Any, seats: Any, offsets: Any, out: Any) -> None:
    """Write the observations of `seats` (int64[M]) at the tables `rows` (int64[M]) into float32[M, D]."""
    at = offsets[0]
    for i in range(len(rows)):
        observe(tables[rows[i]], seats[i], at, out[i])


def legal_rows(tables: Any, rows: Any, out: Any) -> None:
    """Write the action masks of the acting seats at the tables `rows` (int64[M]) into int8[M, A]."""
    for i in range(len(rows)):
        legal(tables[rows[i]], out[i])


BITS = {"BEGIN": BEGIN, "DONE": DONE, "REWARDED": REWARDED}


@cache
def compile_loop(loop: Callable[..., Result], **functions: Any) -> Callable[..., Result]:
    """Return `loop` with a game's functions bound to the global names above; compiled if all of these are compiled."""
    own = FunctionType(
        loop.__code__, {"__name__": __name__, "load_ahead": load_ahead, **BITS, **functions}, loop.__name__
    )
    if not all(map(is_jitted, functions.values())):
        return _Interpreted(own, partial(compile_loop, loop, **functions))
    sources = [function.py_func for function in functions.values()]
    if any(source.__closure__ or source.__defaults__ for source in sources):  # their values are in no source file
        return cast(Callable[..., Result], njit(own))
    names = repr([(source.__code__.co_filename, source.__qualname__) for source in sources])
    own.__qualname__ = f"{loop.__name__}_{crc32(names.encode()):08x}"  # part of the cache file's name
    return compiled(own, nogil=loop is not step_one)  # `VectorGame` calls the others from several threads


class _Interpreted:
    """A bound loop that is not compiled. Unlike a function without a name in its module, it can be pickled."""

    def __init__(self, own: Callable[..., Any], bind: Callable[[], Callable[..., Any]]) -> None:
        update_wrapper(self, own)
        self._own, self._bind = own, bind

    def __call__(self, *arguments: Any) -> Any:
        return self._own(*arguments)

    def __reduce__(self) -> tuple[Any, ...]:
        return self._bind, ()
