"""Scripted players: those of mafia. What werewolf does not allow is replaced by a random legal action."""

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..core.game import Game
from ..core.rollout import RandomPolicy
from ..mafia import bots as mafia


class Scripted:
    """A scripted player of mafia at a table of werewolf.

    Args:
        make: makes the player of mafia from the game and a seed.
        game: werewolf.
        seed: seed of its random streams; None takes entropy from the operating system.
    """

    encoder = "v0"

    def __init__(self, make: Callable[..., Any], game: Game, seed: int | None = None) -> None:
        self._player = make(game, seed=seed)
        self._random = RandomPolicy(seed)

    def act(self, observations: NDArray[np.float32], masks: NDArray[np.int8]) -> NDArray[np.int64]:
        """Return an action index per row of float32[N, D] observations and int8[N, A] masks: int64[N]."""
        wanted = self._player.act(observations, masks)
        fits = masks[np.arange(len(masks)), wanted] > 0
        return np.where(fits, wanted, self._random.act(observations, masks))


BOTS: dict[str, Callable[..., Any]] = {
    name: make if name == "random" else partial(Scripted, make) for name, make in mafia.BOTS.items()
}
"""`random`: any legal action. The others are those of [mafia](mafia.md): `loyal`, four scripted personalities, and
`mixed`, a different one at every seat. Where they abstain or claim to be a doctor in mafia, they draw an action."""
