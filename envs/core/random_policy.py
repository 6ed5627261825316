"""RandomPolicy: chooses a random legal action index in any game."""

import numpy as np
from numpy.typing import NDArray

from .game import Game
from .rng import draw_legal, streams


class RandomPolicy:
    """Chooses a legal action index, uniformly.

    Args:
        seed: seed of the policy's random stream; None takes entropy from the operating system.
    """

    def __init__(self, seed: int | None = None) -> None:
        self._words = streams(seed, 1)

    def act(self, observations: NDArray[np.float32], masks: NDArray[np.int8]) -> NDArray[np.int64]:
        """Return a legal action index per row of float32[N, D] observations and int8[N, A] masks: int64[N]."""
        actions = np.zeros(len(masks), np.int64)
        draw_legal(masks, self._words, actions)
        return actions


def random_bot(game: Game, seed: int | None = None) -> RandomPolicy:
    """Return a `RandomPolicy`: the bot `random` of every game."""
    return RandomPolicy(seed)
