"""SolvedPolicy: a strategy solved from samples with an abstraction, whose arrays the game itself reads."""

from collections.abc import Mapping
from os import PathLike
from typing import Any

import msgspec
import numpy as np
from numpy.typing import NDArray

from ...envs.core.rng import streams
from .base import DAMAGES, Floats, LearnedPolicy
from .npz_files import read_arrays, write_arrays
from .trained_for import TrainedFor


class SolvedPolicy(LearnedPolicy):
    """A solved strategy: it plays from observations, and tells exact probabilities.

    Args:
        arrays: what the game's capability `Abstracted` packed.
        trained_for: the game.
        deterministic: play the most likely action instead of drawing one.
        seed: the seed of the policy's own random stream; None: fresh entropy.

    Raises:
        ValueError: if the game reads no such arrays, or they are damaged.
    """

    def __init__(
        self,
        arrays: Mapping[str, NDArray[Any]],
        trained_for: TrainedFor,
        deterministic: bool = False,
        seed: int | None = None,
    ) -> None:
        game = trained_for.make_game()
        abstracted = game.capabilities.abstracted
        if abstracted is None:
            raise ValueError(f"{game.id} with these options reads no solved strategy")
        size = game.encoders[trained_for.encoder or game.encoder].layout.size
        super().__init__(size, game.num_actions, deterministic, seed)
        self.arrays = dict(arrays)
        self._lookup = abstracted.lookup(game, self.arrays)
        if not deterministic:  # for re-solving: see `parlour.envs.holdem.resolving`
            for name in ("bucket_probabilities", "buckets_on"):
                if hasattr(self._lookup, name):
                    setattr(self, name, getattr(self._lookup, name))
        self.set_trained_for(trained_for)

    def _distribution(self, observations: Floats, masks: NDArray[np.int8]) -> Floats:
        return self._lookup(np.asarray(observations, np.float32), masks)

    def _value(self, observations: Floats) -> Floats | None:
        return None

    def save(self, path: str | PathLike[str]) -> None:
        """Write the policy to a ``.npz`` file, with what it was trained for."""
        about = np.array(msgspec.json.encode(self.trained_for).decode())
        arrays: dict[str, Any] = {"solved_for": about, **self.arrays}
        write_arrays(path, arrays)

    @classmethod
    def load(cls, path: str | PathLike[str], deterministic: bool = False, seed: int | None = None) -> "SolvedPolicy":
        """Read what `save` wrote.

        Raises:
            ValueError: if `save` did not write the file, or it is damaged.
        """
        try:
            arrays = read_arrays(path)
            trained_for = msgspec.json.decode(str(arrays.pop("solved_for")), type=TrainedFor)
            policy = cls(arrays, trained_for, deterministic)
        except DAMAGES as error:
            raise ValueError(f"{path} is no saved SolvedPolicy: {error}") from None
        policy._words = streams(seed, 1)  # here, so that a bad seed is not blamed on the file
        return policy
