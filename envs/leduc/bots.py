"""Scripted players. Bots see their seat's observation and mask, no more."""

import numpy as np
from numpy.typing import NDArray

from ..core.game import Game
from ..core.random_policy import random_bot
from .table import CALL, FOLD, RAISE, RANKS


class Bot:
    """Plays by the strength of its hand: 0 to 2 for a jack to a king, 3 for a pair with the open card.

    Args:
        game: Leduc hold'em.
        raises: the least strength with which it raises.
        calls: the least strength with which it calls; below, it folds to a raise.
    """

    encoder = "v0"

    def __init__(self, game: Game, raises: int, calls: int) -> None:
        layout = game.encoders[self.encoder].layout
        self._card, self._board = layout["game_state.my_card"].start, layout["game_state.board"].start
        self._raises, self._calls = raises, calls

    def act(self, observations: NDArray[np.float32], masks: NDArray[np.int8]) -> NDArray[np.int64]:
        """Return an action index per row of float32[N, D] observations and int8[N, A] masks: int64[N]."""
        cards = observations[:, self._card : self._card + len(RANKS)]
        board = observations[:, self._board : self._board + len(RANKS)]
        strength = np.where((cards * board).any(axis=1), len(RANKS), cards.argmax(axis=1))
        wanted = np.where(strength >= self._raises, RAISE, np.where(strength >= self._calls, CALL, FOLD))
        open_ = masks[np.arange(len(masks)), wanted] > 0
        return np.where(open_, wanted, CALL).astype(np.int64)


def call(game: Game, seed: int | None = None) -> Bot:
    """Always call."""
    return Bot(game, raises=len(RANKS) + 1, calls=0)


def tight(game: Game, seed: int | None = None) -> Bot:
    """Raise with a king or a pair, call with a queen, fold a jack."""
    return Bot(game, raises=2, calls=1)


def maniac(game: Game, seed: int | None = None) -> Bot:
    """Always raise; call if no raise is left."""
    return Bot(game, raises=0, calls=0)


BOTS = {"random": random_bot, "call": call, "tight": tight, "maniac": maniac}
"""`random`: any legal action. `call`: always calls. `tight`: raises with a king or a pair, calls with a queen, folds
a jack to a raise. `maniac`: always raises."""
