"""LearnedPolicy: the base class of learned policies."""

import tokenize
import zipfile
import zlib
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...envs.core.compiled import compiled
from ...envs.core.encoder import FULL
from ...envs.core.rng import GOLDEN, fraction, mix, streams
from ...envs.core.rollout import Policy as Policy
from ...envs.core.rollout import RandomPolicy as RandomPolicy
from .trained_for import TrainedFor

Floats = NDArray[np.float32]

DAMAGES = (
    KeyError,
    IndexError,
    AttributeError,
    EOFError,
    RuntimeError,
    ValueError,
    tokenize.TokenError,
    zipfile.BadZipFile,
    zlib.error,
)
"""What NumPy and the reading of its arrays raise for a damaged ``.npz``."""


@compiled
def _softmax(logits: Any, masks: Any, out: Any) -> None:
    """Write the probabilities of the legal actions; illegal ones get 0."""
    for i in range(len(logits)):
        top = -np.inf
        for action in range(masks.shape[1]):
            if masks[i, action] and logits[i, action] > top:
                top = logits[i, action]
        total = 0.0
        for action in range(masks.shape[1]):
            out[i, action] = np.exp(logits[i, action] - top) if masks[i, action] else 0.0
            total += out[i, action]
        for action in range(masks.shape[1]):
            out[i, action] /= total


@compiled
def draw(probabilities: Any, words: Any, out: Any) -> None:
    """Draw an action index per row; an action with probability 0 is never drawn."""
    for i in range(len(probabilities)):
        words[0] += GOLDEN
        left = fraction(mix(words[0]))
        for action in range(probabilities.shape[1]):
            if probabilities[i, action] > 0:
                out[i] = action
                left -= probabilities[i, action]
                if left < 0:
                    break


class LearnedPolicy:
    """Base class of learned policies: it draws an action by its probability, or takes the most likely one.

    Args:
        inputs: the length of its observations.
        outputs: the number of action indices.
        deterministic: whether to play the most likely action instead of drawing one.
        seed: seed of the policy's random stream; None takes entropy from the operating system.

    Attributes:
        trained_for: what it was trained for; None: unknown.
        reward_scale: the factor of the rewards in its training.
    """

    def __init__(self, inputs: int, outputs: int, deterministic: bool, seed: int | None) -> None:
        self.inputs = inputs
        self.outputs = outputs
        self.deterministic = deterministic
        self.trained_for: TrainedFor | None = None
        self.reward_scale = 1.0
        self._words = streams(seed, 1)

    @property
    def stream(self) -> int:
        """The state of the policy's random stream. It can be set."""
        return int(self._words[0])

    @stream.setter
    def stream(self, state: int) -> None:
        self._words = np.array([state], np.uint64)

    @property
    def encoder(self) -> str | None:
        """The name of the encoder whose observations it takes; None: the game's own."""
        return (self.trained_for.encoder or None) if self.trained_for is not None else None

    def set_trained_for(self, trained_for: TrainedFor) -> None:
        """Set what it was trained for.

        Raises:
            ValueError: if its encoder shows hidden information.
        """
        if trained_for.encoder.partition("_")[0] == FULL:
            raise ValueError(
                f"the encoder {trained_for.encoder!r} shows hidden information: no policy with it may play"
            )
        self.trained_for = trained_for
        self.reward_scale = trained_for.reward_scale

    def _distribution(self, observations: Floats, masks: NDArray[np.int8]) -> Floats:
        raise NotImplementedError

    def _value(self, observations: Floats) -> Floats | None:
        raise NotImplementedError

    def values(self, observations: NDArray[np.float32]) -> NDArray[np.float32] | None:
        """Return the critic's estimates of the returns, float32[N] in `Payoffs.unit`; None without a critic."""
        values = self._value(observations)
        return None if values is None else values / np.float32(self.reward_scale)

    def probabilities(self, observations: NDArray[np.float32], masks: NDArray[np.int8]) -> NDArray[np.float32]:
        """Return the probability of each action index, 0 where masked: float32[N, A].

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
        """Return a legal action index per row of float32[N, D] observations and int8[N, A] masks: int64[N]."""
        probabilities = self.probabilities(observations, masks)
        if self.deterministic:
            return np.asarray(probabilities.argmax(axis=1), np.int64)
        actions = np.zeros(len(masks), np.int64)
        draw(probabilities, self._words, actions)
        return actions
