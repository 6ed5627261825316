"""RolloutBatch: the decisions of one rollout, ready to learn from."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

COLUMNS = ("observations", "critic_observations", "masks")
"""The arrays that `RolloutBatch.packed` stores column by column."""
BLOCK = 1024
"""Rows that are packed together, a multiple of 8: they stay in the processor's cache."""


@dataclass(frozen=True)
class Packing:
    """How the columns of a packed batch are stored: first bits, then numbers.

    Attributes:
        bits: int64[B], the columns that are 0 or 1 in every decision, in ``bits``: uint8[ceil(K / 8), B].
        numbers: int64[F], the others, in ``numbers``: float16[K, F]. Columns of the critic that equal those of the same
            place in the policy's observations are in neither.
        places: for each of `COLUMNS`, where its columns are in both together.
    """

    bits: NDArray[np.int64]
    numbers: NDArray[np.int64]
    places: tuple[NDArray[np.int64], ...]


@dataclass(frozen=True, kw_only=True)
class RolloutBatch:
    """The decisions of a rollout by one version of the policy.

    Attributes:
        version: the version of the weights that made the decisions.
        actor: the number of the actor that played.
        arrays: by name, one row per decision: observations float32[K, D], critic_observations float32[K, C],
            masks int8[K, A], log_probs float32[K, A] of all actions, actions int64[K], advantages float32[K],
            returns float32[K], and with mirror descent weights float32[K], how much likelier the other seats' play
            before it is without exploration. NumPy arrays; where the tables are on the GPU, tensors there, with the
            observations in the type in which the networks compute and with columns of zeros at their end (see
            `networks.ALIGNED`).
        rows: int64[R], the rows of the learner's decisions whose returns are known; the others are the opponents', and
            the last ones of seats that wait at the end of the rollout.
        played: the number of the learner's decisions, also of those that are not learned from.
        episodes: the number of episodes that ended.
        winnings: the sum of the learner's returns in them, in `Payoffs.unit`.
        seconds: duration of the tables' steps.
        total_seconds: duration of the rollout.
        packing: not None: `arrays` has ``bits`` and ``numbers`` in place of observations and masks, and the actions in
            the smallest type.
    """

    version: int
    actor: int
    arrays: dict[str, Any]
    rows: NDArray[np.int64]
    played: int
    episodes: int
    winnings: float
    seconds: float
    total_seconds: float
    packing: Packing | None = None

    @property
    def decisions(self) -> int:
        """The number of decisions to learn from."""
        return len(self.rows)

    @property
    def nbytes(self) -> int:
        """The size of the arrays in bytes."""
        return sum(array.nbytes for array in self.arrays.values())

    def packed(self) -> "RolloutBatch":
        """Return the learner's decisions alone, in less memory. Numbers in observations are rounded to float16."""
        packing, count = self._packing(), self.decisions
        arrays = {name: array[self.rows] for name, array in self.arrays.items() if name not in COLUMNS}
        arrays["actions"] = arrays["actions"].astype(np.min_scalar_type(len(packing.places[2])))
        arrays["bits"] = np.empty((-(-count // 8), len(packing.bits)), np.uint8)
        arrays["numbers"] = np.empty((count, len(packing.numbers)), np.float16)
        for start in range(0, count, BLOCK):
            columns = self._columns(slice(start, start + BLOCK))
            of_block = np.packbits(columns[:, packing.bits].astype(np.bool_), axis=0)
            arrays["bits"][start // 8 : start // 8 + len(of_block)] = of_block
            _convert(columns[:, packing.numbers], arrays["numbers"][start : start + BLOCK])
        return replace(self, arrays=arrays, rows=np.arange(count), packing=packing)

    def _columns(self, part: slice) -> NDArray[np.float32]:
        rows = self.rows[part]
        return np.concatenate([self.arrays[name][rows] for name in COLUMNS], axis=1)

    def _packing(self) -> Packing:
        """Return what of this batch may be stored how."""
        seen, critic, masks = (self.arrays[name].shape[1] for name in COLUMNS)
        common = min(seen, critic)
        bits, copies = np.ones(seen + critic + masks, np.bool_), np.zeros(seen + critic + masks, np.bool_)
        copies[seen : seen + common] = True
        for start in range(0, self.decisions, BLOCK):
            columns = self._columns(slice(start, start + BLOCK))
            bits &= ((columns == 0) | (columns == 1)).all(axis=0)
            copies[seen : seen + common] &= (columns[:, seen : seen + common] == columns[:, :common]).all(axis=0)
        stored = np.flatnonzero(bits & ~copies), np.flatnonzero(~bits & ~copies)
        places = np.zeros(len(bits), np.int64)
        places[np.concatenate(stored)] = np.arange(len(bits) - copies.sum())
        places[copies] = places[np.flatnonzero(copies) - seen]
        return Packing(*stored, tuple(np.split(places, [seen, seen + critic])))

    def unpacked(self) -> "RolloutBatch":
        """Return the batch with the arrays as `arrays` describes them."""
        if self.packing is None:
            return self
        packing, count = self.packing, self.decisions
        arrays = {name: np.array(array) for name, array in self.arrays.items()}  # those of Ray cannot be written
        bits, numbers = arrays.pop("bits"), arrays.pop("numbers")
        arrays["actions"] = arrays["actions"].astype(np.int64)
        for name, places, dtype in zip(COLUMNS, packing.places, (np.float32, np.float32, np.int8), strict=True):
            arrays[name] = np.empty((count, len(places)), dtype)
        stored = np.empty((BLOCK, len(packing.bits) + len(packing.numbers)), np.float32)
        for start in range(0, count, BLOCK):
            block, part = stored[: count - start], slice(start, start + BLOCK)
            of_block = bits[start // 8 : (start + BLOCK) // 8]
            block[:, : len(packing.bits)] = np.unpackbits(of_block, axis=0, count=len(block))
            _convert(numbers[part], block[:, len(packing.bits) :])
            for name, places in zip(COLUMNS, packing.places, strict=True):
                arrays[name][part] = block.take(places, axis=1)
        return replace(self, arrays=arrays, packing=None)


def _convert(source: NDArray[Any], out: NDArray[Any]) -> None:
    """Write numbers in another type. PyTorch converts float16 thirty times as fast as NumPy."""
    torch.from_numpy(out).copy_(torch.from_numpy(source))


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
    else:
        generator = torch.Generator(device).manual_seed(int(random.integers(2**63)))
        order = torch.randperm(len(rows), device=device, generator=generator)
        order = torch.from_numpy(rows).to(device)[order]
    return {name: tensor.index_select(0, order) for name, tensor in tensors.items()}
