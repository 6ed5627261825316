"""Other-play: every agent sees the table of an episode under names of its own (Hu et al. 2020)."""

from collections.abc import Mapping
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...envs import Game
from ...envs.core.compiled import compiled

BANK = 512
"""The number of different relabellings; each agent gets one of them in each episode."""


class Relabelling:
    """The relabellings of N tables: one for each seat, drawn again with every episode.

    Args:
        game: the game, with the capability `symmetry`.
        encoder: the encoder of the observations.
        num_envs: the number of tables N.
        seed: seed of the draws.

    Raises:
        ValueError: if the game has no such capability.
    """

    def __init__(self, game: Game, encoder: str, num_envs: int, seed: int) -> None:
        symmetry = game.capabilities.symmetry
        if symmetry is None:
            raise ValueError(f"relabel=True: {game.id} does not say which seats and names may be exchanged")
        layout = game.encoders[encoder].layout
        pairs = [symmetry.relabelling(layout, np.random.default_rng([seed, number])) for number in range(BANK)]
        self._columns, self._actions = (np.array(each, np.int64) for each in zip(*pairs, strict=True))
        self._shown = np.argsort(self._actions, axis=1)
        self._random = np.random.default_rng(seed)
        self._labels = self._random.integers(BANK, size=(num_envs, game.seats))
        self._rows = np.arange(num_envs)

    def show(
        self,
        turn: NDArray[np.int64],
        observations: NDArray[np.float32],
        masks: NDArray[np.int8],
        shown: NDArray[np.float32],
        shown_masks: NDArray[np.int8],
    ) -> None:
        """Write what the agents of the seats `turn` int64[N] see into `shown` float32[N, D] and `shown_masks`
        int8[N, A]."""
        labels = self._labels[self._rows, turn]
        _gather(observations, self._columns, labels, shown)
        _gather(masks, self._actions, labels, shown_masks)

    def meant(self, turn: NDArray[np.int64], actions: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return what the agents' actions int64[N] mean, int64[N]."""
        return self._actions[self._labels[self._rows, turn], actions]

    def of_decisions(
        self,
        observations: NDArray[np.float32],
        masks: NDArray[np.int8],
        actions: NDArray[np.int64],
        random: np.random.Generator,
    ) -> tuple[NDArray[np.float32], NDArray[np.int8], NDArray[np.int64]]:
        """Return decisions that were recorded without names of their own, each under names drawn from `random`.

        Args:
            observations: float32[M, D].
            masks: int8[M, A].
            actions: int64[M].
            random: the generator of the draws.
        """
        labels = random.integers(BANK, size=len(actions))
        shown, shown_masks = np.empty_like(observations), np.empty_like(masks)
        _gather(observations, self._columns, labels, shown)
        _gather(masks, self._actions, labels, shown_masks)
        return shown, shown_masks, self._shown[labels, actions]

    def draw(self, dones: NDArray[np.bool_]) -> None:
        """Draw new names where an episode has ended; `dones` is bool[N]."""
        rows = np.flatnonzero(dones)
        self._labels[rows] = self._random.integers(BANK, size=(len(rows), self._labels.shape[1]))

    def state(self) -> dict[str, Any]:
        """Return the state, in plain numbers; `load` takes it."""
        return {"random": self._random.bit_generator.state, "labels": self._labels.tolist()}

    def load(self, state: Mapping[str, Any]) -> None:
        """Continue from a state."""
        self._random.bit_generator.state = state["random"]
        self._labels[:] = state["labels"]


@partial(compiled, compile_first=True)
def _gather(values: Any, places: Any, labels: Any, out: Any) -> None:
    for row in range(len(values)):
        label = labels[row]
        for k in range(values.shape[1]):
            out[row, k] = values[row, places[label, k]]
