"""CudaVectorGame: the tables of a `VectorGame` on an NVIDIA GPU."""

import os
from collections.abc import Callable
from functools import cache
from types import FunctionType
from typing import Any, NamedTuple

import numpy as np
from numba.extending import is_jitted
from numpy.typing import NDArray

from ..game import Game
from ..loops import Batch, require_process
from ..vector import SAMPLING, VectorGame, first_illegal, illegal, sample_actions
from .toolchain import SIMULATED, Kernel, cuda, require_gpu

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


class CudaVectorGame(VectorGame):
    """A `VectorGame` with ``device="cuda"``: its arrays and its records lie on the GPU.

    Every attribute that is an array in `VectorGame` is a device array of Numba here, with the same shape and dtype.
    It has the CUDA array interface: ``torch.as_tensor(tables.observations, device="cuda")`` shares its memory.
    ``array.copy_to_host()`` returns a NumPy array. `step` takes a device array of any library, or an array on the
    host. `sample` returns a device array.

    Kernels run on the default stream of CUDA; those of `enqueue` and `observe` on any stream. They are compiled at the
    first `reset` and `step` of a process, for seconds (mafia, hold'em) to a minute (tangram).

    Raises:
        ValueError: if there is more than one thread, or the game's functions are not compiled.
        RuntimeError: if there is no GPU; in every call in a process that was forked from the one that made the tables.
    """

    def __init__(
        self, game: Game, num_envs: int, encoder: str | None = None, threads: int = 1, *, device: str = "cuda"
    ) -> None:
        if threads != 1:
            raise ValueError(f"threads is {threads}; on a GPU every table has a thread of its own")
        require_gpu()
        super().__init__(game, num_envs, encoder, device=device)

    def _allocate(self) -> None:
        game, count = self.game, self.num_envs
        self.tables = cuda.device_array(count, game.rules.blank.dtype)
        self._batch = Batch._make(map(cuda.to_device, game.batch(count, self.encoder)))
        self._words: Any = cuda.device_array(count, np.uint64)
        self._actions = cuda.device_array(count, np.int64)
        self._drawn = cuda.device_array(count, np.int64)
        self._bad = cuda.to_device(np.full(2, count))
        self._rows = cuda.to_device(np.arange(count))
        self._offsets: dict[str, Any] = {}
        self._bound: dict[Any, Callable[[int], None]] = {}

    def _prepare(self) -> None:
        loops = self.game.loops(self.encoder)
        if not (SIMULATED or is_jitted(loops.step)):
            raise ValueError(f"the functions of {self.game.name} are not compiled, so they cannot run on a GPU")
        self._kernels = kernels(loops.reset, loops.step)
        self._process = os.getpid()

    def _require_process(self) -> None:
        require_process(self._process, "the GPU's context of these tables")

    def __deepcopy__(self, memo: dict[int, Any]) -> "CudaVectorGame":
        twin = object.__new__(CudaVectorGame)
        twin.__dict__.update(self.__dict__)
        twin._allocate()
        for ours, theirs in zip(self._arrays(), twin._arrays(), strict=True):
            theirs.copy_to_device(ours.copy_to_host() if SIMULATED else ours)  # it cannot copy records to records
        twin._name_arrays()
        return twin

    def __getstate__(self) -> dict[str, Any]:
        kept = ("game", "encoder", "num_envs", "threads", "device", "_seeded")
        arrays = [array.copy_to_host() for array in self._arrays()]
        return {**{name: self.__dict__[name] for name in kept}, "arrays": arrays}

    def __setstate__(self, state: dict[str, Any]) -> None:
        arrays = state.pop("arrays")
        self.__dict__.update(state)
        self._allocate()
        self._prepare()
        for array, host in zip(self._arrays(), arrays, strict=True):
            array.copy_to_device(host)
        self._name_arrays()

    def _arrays(self) -> list[Any]:
        """Return the arrays that are the state."""
        self._require_process()
        return [self.tables, self._words, *self._batch[:-1]]

    def _start(self, kernel: Kernel, *arrays: Any, stream: int = 0) -> None:
        """Run a kernel with arrays that stay."""
        key = kernel, *map(id, arrays)
        if key not in self._bound:
            self._bound[key] = kernel.bound(self.num_envs, *arrays)
        self._bound[key](stream)

    def observe(self, encoder: str, seats: Any, out: Any, stream: int = 0) -> None:
        """Write the observation of one seat of every table, by any encoder of the game.

        Args:
            encoder: the name of the encoder.
            seats: int64[N], the seats: a device array of any library.
            out: float32[N, D] for the D numbers of the encoder: a device array of any library.
            stream: the handle of the CUDA stream.
        """
        self._require_process()
        encoding = self.game.encoders[encoder]
        if encoder not in self._offsets:
            self._offsets[encoder] = cuda.to_device(encoding.layout.offsets)
        arrays = self._rows, self._array(seats), self._offsets[encoder], self._array(out)
        observe_kernel(encoding.loop)(self.num_envs, self.tables, *arrays, stream=stream)

    def enqueue(self, actions: Any = None, stream: int = 0) -> None:
        """Put a step on a CUDA stream without waiting for it. A CUDA graph can record it, after one call before.

        After an illegal action no table plays any more, until `finish` has raised the error.

        Args:
            actions: int[N], as in `step`: a device array of any library. None: random legal actions, those of `sample`.
            stream: the handle of the CUDA stream, such as ``torch.cuda.current_stream().cuda_stream``.

        Raises:
            ValueError: before the first reset, or if the shape or the dtype is wrong.
        """
        if not self._seeded:
            raise ValueError("enqueue() before reset(): call reset(seed=…) first")
        self._put(None if actions is None else self._checked(actions), stream)

    def finish(self) -> None:
        """Wait for the steps of `enqueue`.

        Raises:
            ValueError: if an action was illegal. It and all later ones were not played.
        """
        self._require_process()
        cuda.synchronize()
        bad = int(self._bad.copy_to_host()[0])
        if bad < self.num_envs:
            self._bad.copy_to_device(np.full(2, self.num_envs))
            raise illegal(self._actions[bad], bad, self.action_masks[bad].copy_to_host())

    def _seed(self, words: NDArray[np.uint64]) -> None:
        self._require_process()
        tables = self.game.tables(self.num_envs)
        tables.stream = words
        self.tables.copy_to_device(tables.view(np.ndarray))
        self._words.copy_to_device(words ^ SAMPLING)

    def _begin(self) -> None:
        self._require_process()
        self._start(self._kernels.reset, self.tables, *self._batch)

    def _array(self, actions: Any) -> Any:
        if hasattr(actions, "__cuda_array_interface__"):
            return cuda.as_cuda_array(actions)
        return super()._array(actions)

    def _play(self, given: Any) -> None:
        self._put(given)
        self.finish()

    def _put(self, given: Any | None, stream: int = 0) -> None:
        self._require_process()
        if given is None:
            actions = self._drawn
            self._start(SAMPLE, self.action_masks, self._words, actions, stream=stream)
        else:
            actions = self._actions
            device = given if hasattr(given, "__cuda_array_interface__") else cuda.to_device(given)
            CHECK(self.num_envs, self.action_masks, device, actions, self._bad, stream=stream)
        self._start(self._kernels.step, self.tables, actions, *self._batch, self._bad, stream=stream)

    def _draw(self) -> Any:
        self._require_process()
        actions = cuda.device_array(self.num_envs, np.int64)
        SAMPLE(self.num_envs, self.action_masks, self._words, actions)
        return actions
