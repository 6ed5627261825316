"""A game's loops as functions that XLA calls for a GPU: each launches a kernel on XLA's stream, on XLA's arrays."""

import ctypes
from functools import cache
from typing import Any

import numba
import numpy as np

from .. import xla
from ..compiled import compiled
from ..loops import Batch
from ..memory import array_at, local_array
from ..xla import begin, end
from .toolchain import Kernel, cuda, require_gpu, threads_in_block
from .vector import bound

CAPTURED = 1
"""The trait of a function that XLA may record in a CUDA graph: it launches the same kernel at every call."""
NOT_LAUNCHED, TABLES = xla.letters("the GPU's driver answers cuLaunchKernel with error "), xla.letters(", tables: ")

block = compiled(threads_in_block)
loop: Any = None
run: Any = None
RECORD: Any = None
OFFSETS: Any = None
SIZE = D = A = SEATS = 0


def _reset(tables: Any, _moves: Any, batch: Any) -> None:
    loop(tables, batch, False)


def _step(tables: Any, moves: Any, batch: Any) -> None:
    loop(tables, moves, batch, True)


def play_table(
    count: int,
    records: int,
    observations: int,
    masks: int,
    turn: int,
    rewards: int,
    terminated: int,
    actions: int,
    offsets: int,
) -> None:
    """Do what `xla.play` does, in a thread for each of `count` tables, on arrays at these addresses."""
    i = cuda.grid(1)
    if i < count:
        moves, turns = local_array(1, np.int64), local_array(1, np.int64)
        action = array_at(actions + i * 4, (1,), np.int32)
        mask = array_at(masks + i * A, (1, A), np.int8)
        player = array_at(turn + i * 4, (1,), np.int32)
        gains = array_at(rewards + i * SEATS * 4, (1, SEATS), np.float32)
        ended = array_at(terminated + i, (1,), np.bool_)
        seen = array_at(observations + i * D * 4, (1, D), np.float32)
        batch = Batch(seen, mask, turns, gains, ended, array_at(offsets, (1,), OFFSETS))
        begin(action, player, moves, batch)
        run(array_at(records + i * SIZE, (1,), RECORD), moves, batch)
        end(player, batch)


@compiled
def launch(frame: int, kernel: int, launcher: int) -> Any:
    """Launch a kernel on XLA's stream; return the address of an error, or 0.

    Args:
        frame: the address of the call frame.
        kernel: the handle of the kernel.
        launcher: the address of the driver's `cuLaunchKernel`.
    """
    if xla.describes(frame, CAPTURED):
        return 0
    request = local_array(4, np.int64)
    request[0], request[1], request[2], request[3] = 32, 0, xla.word(frame, xla.CONTEXT), 0
    refused = xla.call_c(xla.word(xla.word(frame, xla.API), xla.GET_STREAM), (request.ctypes.data,))
    if refused != 0:
        return refused
    count = xla.tables_in(frame)
    if count == 0:
        return 0
    values, places = local_array(9, np.int64), local_array(9, np.int64)
    values[0] = count
    for i in range(6):
        values[1 + i] = xla.data(frame, xla.RESULTS, i)
    values[7], values[8] = xla.data(frame, xla.ARGUMENTS, xla.ACTIONS), xla.data(frame, xla.ARGUMENTS, xla.OFFSETS)
    for i in range(9):
        places[i] = values.ctypes.data + i * 8
    threads = block(count)
    blocks = (count + threads - 1) // threads
    status = xla.call_c(launcher, (kernel, blocks, 1, 1, threads, 1, 1, 0, request[3], places.ctypes.data, 0))
    if status & 0xFFFFFFFF != 0:  # a CUresult has 32 bits
        return xla.error(frame, xla.INTERNAL, NOT_LAUNCHED, status & 0xFFFFFFFF, TABLES, count)
    return 0


@cache
def on_the_gpu(loop: xla.Loop) -> xla.Exported:
    """Return the function of the GPU that does what that of `xla.on_the_cpu` does, by the same name.

    Raises:
        RuntimeError: if there is no GPU.
    """
    require_gpu()
    driver = ctypes.CDLL("libcuda.so.1")
    launcher = ctypes.cast(driver.cuLaunchKernel, ctypes.c_void_p).value or 0
    return xla.exported(loop, launch, kernel_of(loop).handle(*[0] * 9), launcher)


def kernel_of(loop: xla.Loop) -> Kernel:
    """Return the kernel that plays with a loop."""
    d, a, seats = loop.sizes
    calls = numba.njit(bound(_reset if loop.begins else _step, loop=loop.function))
    names = {"RECORD": loop.record, "OFFSETS": loop.offsets, "SIZE": loop.record.itemsize, "D": d, "A": a}
    return Kernel(bound(play_table, run=calls, SEATS=seats, **names))
