"""The kernels. Every thread calls the loops of the CPU, for the one table that is its own."""

from collections.abc import Callable
from functools import cache
from types import FunctionType
from typing import Any, NamedTuple

from ..loops import Batch
from ..vector import first_illegal, sample_actions
from .toolchain import Kernel, cuda

reset_batch: Any = None
step_batch: Any = None
observe_rows: Any = None


class Kernels(NamedTuple):
    """The kernels of a game."""

    reset: Kernel
    step: Kernel


def reset_tables(tables: Any, observations: Any, masks: Any, turn: Any, rewards: Any, dones: Any, offsets: Any) -> None:
    """Begin an episode on every table."""
    i = cuda.grid(1)
    if i < len(tables):
        j = i + 1
        for seat in range(rewards.shape[1]):
            rewards[i, seat] = 0
        dones[i] = False
        reset_batch(
            tables[i:j],
            Batch(observations[i:j], masks[i:j], turn[i:j], rewards[i:j], dones[i:j], offsets),
            False,
        )


def step_tables(
    tables: Any,
    actions: Any,
    observations: Any,
    masks: Any,
    turn: Any,
    rewards: Any,
    dones: Any,
    offsets: Any,
    bad: Any,
) -> None:
    """Play one decision on every table whose action is not −1, and begin the next episode where one ends.

    After an illegal action no table plays (see `CHECK`).
    """
    i = cuda.grid(1)
    if i == 0:
        bad[1] = bad[0]
    if i < len(tables) and bad[0] == len(tables):
        j = i + 1
        for seat in range(rewards.shape[1]):
            rewards[i, seat] = 0
        dones[i] = False
        step_batch(
            tables[i:j],
            actions[i:j],
            Batch(observations[i:j], masks[i:j], turn[i:j], rewards[i:j], dones[i:j], offsets),
            True,
        )


def observe_tables(tables: Any, rows: Any, seats: Any, offsets: Any, out: Any) -> None:
    """Write the observation of one seat of every table."""
    i = cuda.grid(1)
    if i < len(rows):
        j = i + 1
        observe_rows(tables, rows[i:j], seats[i:j], offsets, out[i:j])


def _check(masks: Any, given: Any, actions: Any, bad: Any) -> None:
    i = cuda.grid(1)
    if i < len(actions) and bad[1] == len(actions):
        actions[i] = given[i]
        j = i + 1
        if first_illegal(masks[i:j], actions[i:j]) == 0:
            cuda.atomic.min(bad, 0, i)


def _sample(masks: Any, words: Any, actions: Any) -> None:
    i = cuda.grid(1)
    if i < len(actions):
        j = i + 1
        sample_actions(masks[i:j], words[i:j], actions[i:j])


CHECK = Kernel(_check)
"""``(masks, given, actions, bad)`` copies the `given` actions; ``bad[0]`` falls to the first illegal one's index.

``bad[1]`` is what ``bad[0]`` was after the step before: after an illegal action nothing is copied."""
SAMPLE = Kernel(_sample)
"""``(masks, words, actions)`` draws a legal action for every table."""


@cache
def kernels(reset: Callable[..., None], step: Callable[..., None]) -> Kernels:
    """Return the kernels that call a game's compiled loops (see `Game.loops`)."""
    return Kernels(Kernel(bound(reset_tables, reset_batch=reset)), Kernel(bound(step_tables, step_batch=step)))


@cache
def observe_kernel(observe: Callable[..., None]) -> Kernel:
    """Return the kernel ``(tables, rows, seats, offsets, out)`` of an encoder's compiled loop `observe_rows`."""
    return Kernel(bound(observe_tables, observe_rows=observe))


def bound(kernel: Callable[..., None], **loops: Any) -> Callable[..., None]:
    """Return a kernel with loops, or other values, bound to their global names."""
    return FunctionType(kernel.__code__, {**kernel.__globals__, **loops}, kernel.__name__)
