"""VectorGame: any Game as N tables stepped together."""

from collections.abc import Callable, Sequence
from copy import deepcopy
from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .compiled import compiled
from .game import Game
from .loops import Batch, Threads
from .machine_code import direct
from .plain_start import PLAIN_START
from .rng import GOLDEN, choose, mix, streams

NO_ACTION = -1
"""The action that plays nothing at a table."""
SAMPLING = np.uint64(0xD1B54A32D192ED03)
"""Sampled actions have streams of their own, so that they do not change the deal: the tables' streams XOR this."""


@compiled
def first_illegal(masks: Any, actions: Any) -> int:
    """Return the first table whose action is neither legal nor `NO_ACTION`; −1 if there is none."""
    count = masks.shape[1]
    for i in range(len(actions)):
        action = actions[i]
        if action != -1 and (action < 0 or action >= count or masks[i, action] == 0):
            return i
    return -1


@partial(compiled, nogil=True)
def sample_actions(masks: Any, words: Any, actions: Any) -> None:
    """Draw a legal action for every table from its own stream in `words` (uint64[N])."""
    for i in range(len(masks)):
        words[i] += GOLDEN
        actions[i] = choose(masks[i], 0, mix(words[i]))


DEVICES: dict[str, Callable[[], type["VectorGame"]]] = {"cpu": lambda: VectorGame}
"""For every device the function that returns its class. `parlour.envs.core.vector` adds those that are not here."""


class VectorGame:
    """`num_envs` tables of one game, one decision per table per step.

    A finished table is reset **within the same step**: ``dones[i]`` and ``rewards[i, :]`` belong to the episode that
    ended, ``observations[i]`` to the one that began. Every `reset` and `step` writes all arrays in place; copy an array
    to keep its values.

    Args:
        game: the game with its options.
        num_envs: the number of tables N.
        encoder: name of the encoder of the observations; None: the game's own encoder. ``"full"`` shows hidden
            information and is for critics and analysis.
        threads: the number of threads that step the tables, each a share of them. The results do not depend on it.
        device: ``"cpu"``, or ``"cuda"`` for an NVIDIA GPU. The results are the same, and the arrays lie on the GPU
            (see `parlour.envs.core.cuda.vector.CudaVectorGame`).

    Raises:
        ValueError: if `num_envs` or `threads` is below 1, there are more threads than tables, or the device is unknown.
        ImportError: if the extra `cuda` is needed and not installed.
        RuntimeError: if there is no GPU.

    Attributes:
        observations: float32[N, D], of the seat ``turn[i]``.
        action_masks: int8[N, A], the action mask of this seat.
        turn: int64[N], the seat that decides next.
        rewards: float32[N, seats], of the last step.
        dones: bool[N], whether the episode ended in the last step.
        tables: the N records (recarray of shape (N,)); ``tables.copy()`` copies the state of every table.
    """

    def __new__(cls, *_parts: Any, device: str = "cpu", **_options: Any) -> "VectorGame":
        """Return an object of the class for the device."""
        if device not in DEVICES:
            raise ValueError(f"device={device!r}: it is {' or '.join(map(repr, DEVICES))}")
        return super().__new__(DEVICES[device]() if cls is VectorGame else cls)

    def __init__(
        self, game: Game, num_envs: int, encoder: str | None = None, threads: int = 1, *, device: str = "cpu"
    ) -> None:
        if num_envs < 1:
            raise ValueError(f"num_envs is {num_envs}; it must be at least 1")
        if not 1 <= threads <= num_envs:
            raise ValueError(f"threads is {threads}; it must be 1 to {num_envs}, the number of tables")
        PLAIN_START.compile_first()
        self.game = game
        self.encoder = encoder or game.encoder
        self.num_envs = num_envs
        self.threads = threads
        self.device = device
        self._seeded = False
        self._allocate()
        self._name_arrays()
        self._prepare()

    def _allocate(self) -> None:
        """Make the records, the arrays and the sampling streams."""
        self.tables = self.game.tables(self.num_envs)
        self._batch = self.game.batch(self.num_envs, self.encoder)
        self._words = np.zeros(self.num_envs, np.uint64)

    def _name_arrays(self) -> None:
        self.observations, self.action_masks, self.turn, self.rewards, self.dones, _ = self._batch

    def _prepare(self) -> None:
        """Make what is not copied: the compiled loops, and every thread's share of the tables."""
        self._loops = self.game.loops(self.encoder)
        self._step = self._loops.step
        records = self.tables.view(np.ndarray)  # the same memory; Numba takes a plain array faster
        ends = [self.num_envs * thread // self.threads for thread in range(self.threads + 1)]
        batch: tuple[Any, ...] = self._batch
        self._shares: list[tuple[slice, NDArray[Any], Batch]] = []
        for first, last in pairwise(ends):
            rows = slice(first, last)
            self._shares.append((rows, records[rows], Batch._make([*(array[rows] for array in batch[:-1]), batch[-1]])))
        self._threads = Threads(self.threads)

    def _run(self, function: Callable[[slice, NDArray[Any], Batch], None]) -> None:
        """Call `function` with rows, records and batch of every share: the first one in the calling thread."""
        self._threads.run(function, self._shares)

    def clone(self) -> "VectorGame":
        """Return an independent copy: the same actions give the same results, and `sample` draws the same."""
        return deepcopy(self)

    def __deepcopy__(self, memo: dict[int, Any]) -> "VectorGame":
        twin = VectorGame.__new__(VectorGame)
        twin.__setstate__(deepcopy(self.__getstate__(), memo))
        return twin

    def __getstate__(self) -> dict[str, Any]:
        return {
            name: value
            for name, value in self.__dict__.items()
            if name not in ("_shares", "_loops", "_step", "_threads")
        }

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._prepare()

    def reset(self, seed: int | Sequence[int] | None = None) -> None:
        """Begin a new episode on every table.

        Args:
            seed: one seed for all (table 0 then plays as the AEC environment with that seed), or one per table. None
                continues the tables' streams; a first reset then takes entropy from the operating system.
        """
        if seed is not None or not self._seeded:
            self._seed(streams(seed, self.num_envs))
            self._seeded = True
        self._begin()

    def _seed(self, words: NDArray[np.uint64]) -> None:
        self.tables[:] = self.game.rules.blank
        self.tables.stream = words
        self._words = words ^ SAMPLING

    def _begin(self) -> None:
        self._run(lambda _, records, batch: self._loops.reset(records, batch, False))
        self._clear()

    def _clear(self) -> None:
        self.rewards[:] = 0
        self.dones[:] = False

    def step(self, actions: ArrayLike) -> None:
        """Play one decision on every table.

        Args:
            actions: int[N] action indices of the seats in `turn`; `NO_ACTION` (−1) leaves a table as it is.

        Raises:
            ValueError: if an action is masked, out of range or not an integer, or the shape is wrong. No table is
                changed then.
        """
        self._play(self._checked(actions))

    def step_with_ends(
        self, actions: ArrayLike, keep: Callable[[NDArray[np.intp]], Any] | None = None
    ) -> tuple[NDArray[np.intp], Any]:
        """Do the same as `step`, and return the records of the episodes that ended. Not on a GPU.

        Args:
            actions: as in `step`.
            keep: called with the rows of the tables whose episodes have ended, before the next ones begin.

        Returns:
            The rows of these tables, int64[M], and copies of their records at the end, recarray of shape (M,). With
            `keep`, what it returns takes their place.

        Raises:
            ValueError: as `step`.
        """
        self._advance(self._checked(actions), again=False)
        rows = self.dones.nonzero()[0]
        try:
            ends = (keep or self.tables.__getitem__)(rows)
        finally:
            if rows.size:
                self._run(lambda _, records, batch: self._loops.reset(records, batch, True))
        return rows, ends

    def _checked(self, actions: Any) -> Any:
        given = self._array(actions)
        if given.dtype.kind not in "iu":
            raise ValueError(f"actions are {given.dtype}; an integer dtype is needed")
        if given.shape != (self.num_envs,):
            raise ValueError(f"actions have shape {given.shape}; they need one index per table: ({self.num_envs},)")
        if not self._seeded:
            raise ValueError("step() before reset(): call reset(seed=…) first")
        return given

    def made_legal(self, actions: ArrayLike) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
        """Return legal actions, int64[N], and where they replace those given, bool[N]. Not on a GPU.

        Args:
            actions: int[N]. One that is not legal, or out of range, is replaced by the game's safe action.

        Raises:
            ValueError: if the shape or the dtype is wrong, or before the first reset.
        """
        moves: NDArray[np.int64] = self._checked(actions).astype(np.int64)
        if first_illegal(self.action_masks, moves) < 0 <= moves.min():
            return moves, np.zeros(self.num_envs, np.bool_)
        within = (moves >= 0) & (moves < self.game.num_actions)
        illegal = ~within | (self.action_masks[np.arange(self.num_envs), np.where(within, moves, 0)] == 0)
        for table in np.flatnonzero(illegal):
            moves[table] = self.game.view.safe(self.tables[table])
        return moves, illegal

    def _array(self, actions: Any) -> Any:
        return np.atleast_1d(np.asarray(actions))

    def _play(self, given: Any) -> None:
        self._advance(given, again=True)

    def _advance(self, given: Any, again: bool) -> None:
        """Play one decision on every table; where an episode ends, begin the next one if `again`."""
        indices = np.ascontiguousarray(given, np.int64)
        bad = first_illegal(self.action_masks, indices)
        if bad >= 0:
            raise illegal(indices[bad], bad, self.action_masks[bad])
        self._clear()
        self._run(lambda rows, records, batch: self._step(records, indices[rows], batch, again))
        self._step = direct(self._step, self._shares[0][1], indices, self._shares[0][2], again)

    def sample(self) -> NDArray[np.int64]:
        """Draw a legal action for every table, uniformly, from its sampling stream: int64[N], a new array.

        Raises:
            ValueError: before the first reset.
        """
        if not self._seeded:
            raise ValueError("sample() before reset(): call reset(seed=…) first")
        return self._draw()

    def _draw(self) -> NDArray[np.int64]:
        actions = np.empty(self.num_envs, np.int64)
        self._run(lambda rows, _, batch: sample_actions(batch.masks, self._words[rows], actions[rows]))
        return actions


def illegal(action: int, table: int, mask: NDArray[np.int8]) -> ValueError:
    """Return the error for an illegal action at a table with this mask."""
    return ValueError(f"action {action} is not legal at table {table}; legal are {np.flatnonzero(mask).tolist()}")
