"""Scripted players. Bots see their seat's observation and mask, no more."""

from math import comb

import numpy as np
from numpy.typing import NDArray

from ..core.game import Game
from ..core.random_policy import random_bot


class Bot:
    """Plays by how likely a bid holds, if the other's dice are as good as unknown ones.

    It challenges a bid whose probability is below `doubts`; else it makes the legal bid with the highest probability.

    Args:
        game: liar's dice with any options.
        doubts: a probability.
    """

    encoder = "v0"

    def __init__(self, game: Game, doubts: float) -> None:
        table = game.rules.blank[0]
        layout = game.encoders[self.encoder].layout
        self._dice, self._faces, self._wild = int(table.dice), int(table.faces), bool(table.wild)
        self._start, self._doubts = layout["game_state.my_dice"].start, doubts

    def _holds(self, own: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return the probability of every bid: float64[bids], given the player's own dice `own` int64[faces]."""
        dice, faces = self._dice, self._faces
        chances = []
        for quantity in range(1, 2 * dice + 1):
            for face in range(faces):
                wild = self._wild and face != faces - 1
                share, missing = (1 + wild) / faces, quantity - own[face] - (own[-1] if wild else 0)
                others = range(max(0, missing), dice + 1)
                chances.append(sum(comb(dice, k) * share**k * (1 - share) ** (dice - k) for k in others))
        return np.array(chances)

    def act(self, observations: NDArray[np.float32], masks: NDArray[np.int8]) -> NDArray[np.int64]:
        """Return an action index per row of float32[N, D] observations and int8[N, A] masks: int64[N]."""
        actions = np.empty(len(masks), np.int64)
        dice = np.rint(observations[:, self._start : self._start + self._faces] * self._dice).astype(np.int64)
        for row, (own, mask) in enumerate(zip(dice, masks, strict=True)):
            holds = self._holds(own)
            open_ = np.flatnonzero(mask[:-1])
            challenge = mask[-1] and (not len(open_) or holds[open_[0] - 1 if len(open_) else -1] < self._doubts)
            actions[row] = len(holds) if challenge else open_[holds[open_].argmax()]
        return actions


def careful(game: Game, seed: int | None = None) -> Bot:
    """Return the bot that challenges bids with a probability below one half."""
    return Bot(game, 0.5)


def credulous(game: Game, seed: int | None = None) -> Bot:
    """Return the bot that challenges bids with a probability below one tenth."""
    return Bot(game, 0.1)


BOTS = {"random": random_bot, "careful": careful, "credulous": credulous}
"""`random`: any legal action. `careful`: challenges a bid that holds with less than one half, as far as its own dice
tell; else it makes the likeliest bid. `credulous`: the same, but it challenges below one tenth only."""
