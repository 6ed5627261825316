"""RolloutBatch: the decisions of one rollout, ready to learn from."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

FLOAT16 = ("observations", "critic_observations")
"""The arrays that `RolloutBatch.packed` rounds to float16."""


@dataclass(frozen=True, kw_only=True)
class RolloutBatch:
    """The decisions of a rollout by one version of the policy.

    Attributes:
        version: the version of the weights that made the decisions.
        actor: the number of the actor that played.
        arrays: by name, one row per decision: observations float32[K, D], critic_observations float32[K, C],
            masks int8[K, A], log_probs float32[K, A] of all actions, actions int64[K], advantages float32[K], and
            returns float32[K]. NumPy arrays; where the tables are on the GPU, tensors there, with the observations in
            the type in which the networks compute and with columns of zeros at their end (see `networks.ALIGNED`).
        rows: int64[R], the rows of the learner's decisions; the others are the opponents'.
        episodes: the number of episodes that ended.
        winnings: the sum of the learner's returns in them, in `Payoffs.unit`.
        seconds: duration of the tables' steps.
        total_seconds: duration of the rollout.
        num_actions: if not 0, the masks are packed: uint8[K, ceil(A / 8)] for A actions.
    """

    version: int
    actor: int
    arrays: dict[str, Any]
    rows: NDArray[np.int64]
    episodes: int
    winnings: float
    seconds: float
    total_seconds: float
    num_actions: int = 0

    @property
    def decisions(self) -> int:
        """The number of decisions to learn from."""
        return len(self.rows)

    @property
    def nbytes(self) -> int:
        """The size of the arrays in bytes."""
        return sum(array.nbytes for array in self.arrays.values())

    def packed(self) -> "RolloutBatch":
        """Return the learner's decisions alone, in less memory: observations in float16, masks in bits."""
        arrays = {name: array[self.rows] for name, array in self.arrays.items()}
        for name in FLOAT16:
            arrays[name] = arrays[name].astype(np.float16)
        num_actions = arrays["masks"].shape[1]
        arrays["masks"] = np.packbits(arrays["masks"].astype(np.bool_), axis=1)
        return replace(self, arrays=arrays, rows=np.arange(self.decisions), num_actions=num_actions)

    def unpacked(self) -> "RolloutBatch":
        """Return the batch with the arrays as `arrays` describes them."""
        if not self.num_actions:
            return self
        arrays = {name: np.array(array) for name, array in self.arrays.items()}  # those of Ray cannot be written
        for name in FLOAT16:
            arrays[name] = arrays[name].astype(np.float32)
        arrays["masks"] = np.unpackbits(arrays["masks"].astype(np.uint8), axis=1, count=self.num_actions).view(np.int8)
        return replace(self, arrays=arrays, num_actions=0)


def shuffled(batches: Sequence[RolloutBatch], random: np.random.Generator) -> dict[str, torch.Tensor]:
    """Return the learner's decisions of all batches in random order, one per row, by the names of their arrays."""
    whole = [batch.unpacked() for batch in batches]
    if len(whole) == 1:
        arrays, rows = whole[0].arrays, whole[0].rows
    else:
        names = whole[0].arrays
        arrays = {name: np.concatenate([batch.arrays[name][batch.rows] for batch in whole]) for name in names}
        rows = np.arange(len(arrays["actions"]))
    tensors = {name: torch.as_tensor(array) for name, array in arrays.items()}
    device = tensors["actions"].device
    if device.type == "cpu":
        order = torch.from_numpy(random.permutation(rows))
    else:  # there every row is the learner's
        generator = torch.Generator(device).manual_seed(int(random.integers(2**63)))
        order = torch.randperm(len(rows), device=device, generator=generator)
    return {name: tensor.index_select(0, order) for name, tensor in tensors.items()}
