"""The batch loop of every game, written once and compiled anew with each game's own functions.

Numba keeps no compiled closure over compiled functions on disk, and calls a function that it is handed at half the
speed. Here a game's functions take the place of the four names below, as if the loop stood in the game's `rules.py`.
(The lines are spelt out: passing `batch` on to a function of one table costs a fifth of the speed.)
"""

from collections.abc import Callable
from functools import cache
from types import FunctionType
from typing import Any, cast
from zlib import crc32

from numba import njit
from numba.extending import is_jitted

from .compiled import compiled

reset: Any = None
play: Any = None
legal: Any = None
observe: Any = None


def reset_batch(tables: Any, batch: Any) -> None:
    """Begin an episode on every table and show it."""
    for i in range(len(tables)):
        table = tables[i]
        reset(table)
        batch.turn[i] = table.turn
        observe(table, table.turn, batch.observations[i])
        legal(table, batch.masks[i])


def step_batch(tables: Any, actions: Any, batch: Any, again: bool) -> None:
    """Play one decision on every table whose action is not −1; where an episode ends, begin the next one if `again`."""
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
                observe(table, table.turn, batch.observations[i])
                legal(table, batch.masks[i])


@cache
def batch_loop(loop: Callable[..., None], **rules: Any) -> Callable[..., None]:
    """Return `loop` with a game's `reset`, `play`, `legal` and `observe`: compiled, where all of these are."""
    own = FunctionType(loop.__code__, {"__name__": __name__, **rules}, loop.__name__)
    if not all(map(is_jitted, rules.values())):
        return own
    plain = [rule.py_func for rule in rules.values()]
    if any(one.__closure__ or one.__defaults__ for one in plain):  # no file tells what these hold
        return cast(Callable[..., None], njit(own))
    names = repr([(one.__code__.co_filename, one.__qualname__) for one in plain])
    own.__qualname__ = f"{loop.__name__}_{crc32(names.encode()):08x}"  # names the file with the machine code
    return compiled(own)
