"""Policy: what plays from observations, in batches. Random, scripted, learned; by name or from a file."""

from typing import Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from ...envs.core.compiled import compiled
from ...envs.core.random_policy import RandomPolicy as RandomPolicy
from ...envs.core.rng import GOLDEN, mix, streams

Floats = NDArray[np.float32]


@runtime_checkable
class Policy(Protocol):
    """Plays any number of seats at once."""

    def act(self, observations: NDArray[np.float32], masks: NDArray[np.int8]) -> NDArray[np.int64]:
        """Return a legal action number per row of float32[N, D] observations and int8[N, A] masks: int64[N]."""
        ...


@compiled
def _softmax(logits: Any, masks: Any, out: Any) -> None:
    """Write the probabilities of the legal numbers; illegal ones get 0."""
    for i in range(len(logits)):
        top = -np.inf
        for number in range(masks.shape[1]):
            if masks[i, number] and logits[i, number] > top:
                top = logits[i, number]
        total = 0.0
        for number in range(masks.shape[1]):
            out[i, number] = np.exp(logits[i, number] - top) if masks[i, number] else 0.0
            total += out[i, number]
        for number in range(masks.shape[1]):
            out[i, number] /= total


@compiled
def _draw(probabilities: Any, words: Any, out: Any) -> None:
    """Draw a number per row; rounding can never choose one of probability 0."""
    for i in range(len(probabilities)):
        words[0] += GOLDEN
        left = np.float64(mix(words[0]) >> np.uint64(11)) * 2.0**-53
        for number in range(probabilities.shape[1]):
            if probabilities[i, number] > 0:
                out[i] = number
                left -= probabilities[i, number]
                if left < 0:
                    break


class LearnedPolicy:
    """What learned policies share: a distribution over action numbers, sampled or its mode."""

    def __init__(self, inputs: int, outputs: int, deterministic: bool, seed: int | None) -> None:
        self.inputs = inputs
        self.outputs = outputs
        self.deterministic = deterministic
        self.reward_scale = 1.0  # of the rewards it was trained on
        self._words = streams(seed, 1)

    def _distribution(self, observations: Floats, masks: NDArray[np.int8]) -> Floats:
        raise NotImplementedError

    def _value(self, observations: Floats) -> Floats | None:
        raise NotImplementedError

    def values(self, observations: NDArray[np.float32]) -> NDArray[np.float32] | None:
        """Return what the policy expects to win from here on, float32[N] in `Game.unit`; None if it has no critic."""
        values = self._value(observations)
        return None if values is None else values / np.float32(self.reward_scale)

    def probabilities(self, observations: NDArray[np.float32], masks: NDArray[np.int8]) -> NDArray[np.float32]:
        """Return how likely each action number is, 0 where masked: float32[N, A].

        Raises:
            ValueError: if observations or masks do not have the length that the policy was trained on.
        """
        trained, got = (self.inputs, self.outputs), (observations.shape[1], masks.shape[1])
        if trained != got:
            raise ValueError(
                f"the policy was trained on observations of {trained[0]} numbers and {trained[1]} actions, and got "
                f"{got[0]} and {got[1]}: give it the game and the options that it was trained with"
            )
        return self._distribution(observations, masks)

    def act(self, observations: NDArray[np.float32], masks: NDArray[np.int8]) -> NDArray[np.int64]:
        """Return a legal action number per row of float32[N, D] observations and int8[N, A] masks: int64[N]."""
        probabilities = self.probabilities(observations, masks)
        if self.deterministic:
            return np.asarray(probabilities.argmax(axis=1), np.int64)
        actions = np.zeros(len(masks), np.int64)
        _draw(probabilities, self._words, actions)
        return actions
