"""Scripted players. Bots see their seat's observation and mask, no more."""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..core.game import Game
from ..core.random_policy import random_bot
from .table import RANKS

Chances = Mapping[str, tuple[float, float, float]]
"""The probability of a bet with each rank, by the moves so far: ``""``, ``"p"``, ``"b"``, ``"pb"``."""


def equilibrium_chances(bluff: float = 1 / 3) -> Chances:
    """Return Kuhn's equilibria: one for every probability `bluff` of the first seat's bet with a jack, 0 to 1/3."""
    third = 1 / 3
    return {"": (bluff, 0, 3 * bluff), "pb": (0, bluff + third, 1), "p": (third, 0, 1), "b": (0, third, 1)}


ALWAYS: Chances = dict.fromkeys(("", "p", "b", "pb"), (1.0, 1.0, 1.0))
HONEST: Chances = {"": (0, 0, 1), "p": (0, 0, 1), "b": (0, 1, 1), "pb": (0, 1, 1)}


class Bot:
    """Bets with a probability that depends on its card and on the moves so far.

    Args:
        chances: of a bet.
        game: Kuhn poker.
        seed: of the bot's own random stream; None for fresh entropy.
    """

    encoder = "v0"

    def __init__(self, chances: Chances, game: Game, seed: int | None = None) -> None:
        layout = game.encoders[self.encoder].layout
        self._card, self._history = layout["game_state.my_card"].start, layout["game_state.action_history"].start
        # By whether the first move was a bet, whether there was a first, whether there was a second; and by the card.
        self._chances = np.array([[chances["p"], chances["b"]], [chances[""], chances["pb"]]])
        self._generator = np.random.default_rng(seed)

    def act(self, observations: NDArray[np.float32], masks: NDArray[np.int8]) -> NDArray[np.int64]:
        """Return an action index per row of float32[N, D] observations and int8[N, A] masks: int64[N]."""
        cards = observations[:, self._card : self._card + len(RANKS)].argmax(axis=1)
        moves = observations[:, self._history : self._history + 4] > 0
        one, two = moves[:, :2].any(axis=1), moves[:, 2:].any(axis=1)
        first_seat = ~one | two
        chances = self._chances[first_seat.astype(int), np.where(first_seat, two, moves[:, 1]).astype(int), cards]
        return (self._generator.random(len(masks)) < chances).astype(np.int64)


def equilibrium(game: Game, seed: int | None = None, bluff: float = 1 / 3) -> Bot:
    """Play one of Kuhn's equilibria."""
    return Bot(equilibrium_chances(bluff), game, seed)


def honest(game: Game, seed: int | None = None) -> Bot:
    """Bet with the king alone, call with the queen too."""
    return Bot(HONEST, game, seed)


def always(game: Game, seed: int | None = None) -> Bot:
    """Always bet."""
    return Bot(ALWAYS, game, seed)


BOTS: dict[str, Callable[..., Any]] = {
    "random": random_bot,
    "equilibrium": equilibrium,
    "honest": honest,
    "maniac": always,
}
"""`random`: any legal action. `equilibrium`: one of Kuhn's equilibria, in which the first player bets every king and
bluffs with a third of its jacks; nobody wins from it but by the seat. `honest`: bets with the king alone, calls with
the queen too, never bluffs. `maniac`: always bets."""
