"""TabularPolicy: a probability of every action for every observation, saved as ``.npz``."""

from os import PathLike
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from .base import Floats, LearnedPolicy, TrainedFor, write_arrays


class TabularPolicy(LearnedPolicy):
    """A table of strategies, such as the exact solution of a small game.

    Where it has no row for an observation, or all actions that it would play are masked, it plays all legal actions
    with the same probability.

    Args:
        observations: float32[I, D], all different.
        table: float32[I, A], the probability of every action index there.
        trained_for: the game; None: unknown.
        deterministic: play the most likely action instead of drawing one.
        seed: the seed of the policy's own random stream; None: fresh entropy.
    """

    def __init__(
        self,
        observations: NDArray[np.float32],
        table: NDArray[np.float32],
        trained_for: TrainedFor | None = None,
        deterministic: bool = False,
        seed: int | None = None,
    ) -> None:
        super().__init__(observations.shape[1], table.shape[1], deterministic, seed)
        self.observations = np.ascontiguousarray(observations, np.float32)
        self.table = np.ascontiguousarray(table, np.float32)
        self._rows = {row.tobytes(): index for index, row in enumerate(self.observations)}
        if trained_for is not None:
            self.set_trained_for(trained_for)

    def _distribution(self, observations: Floats, masks: NDArray[np.int8]) -> Floats:
        rows = np.array([self._rows.get(row.tobytes(), -1) for row in np.asarray(observations, np.float32)], np.int64)
        chances = np.where(rows[:, None] >= 0, self.table[rows], np.float32(0)) * masks
        unknown = chances.sum(axis=1) <= 0
        chances[unknown] = masks[unknown]
        return np.asarray(chances / chances.sum(axis=1, keepdims=True), np.float32)

    def save(self, path: str | PathLike[str]) -> None:
        """Write the policy to a ``.npz`` file, with what it was trained for."""
        write_arrays(path, {"observations": self.observations, "table": self.table, **self._arrays()})

    @classmethod
    def _of_arrays(cls, file: dict[str, Any], trained_for: TrainedFor | None, deterministic: bool) -> Self:
        with np.errstate(over="ignore"):  # a number too large for float32 becomes infinite, and is refused
            observations, table = (np.asarray(file[name], np.float32) for name in ("observations", "table"))
        if observations.ndim != 2 or table.ndim != 2 or len(observations) != len(table) or not len(table):
            raise ValueError(f"observations {observations.shape} and table {table.shape} do not fit")
        if not np.isfinite(observations).all():
            raise ValueError("its observations are not all finite numbers")
        sums = table.sum(axis=1)
        if not ((table >= 0).all() and (sums > 0).all() and np.isfinite(sums).all()):
            raise ValueError("a row of the table is no probability distribution")
        return cls(observations, table, trained_for, deterministic)
