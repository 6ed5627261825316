"""Scripted negotiators. Bots get only the observation and the mask of their seat.

Faratin, Sierra and Jennings, "Negotiation decision functions for autonomous agents" (1998): a bot's target is a utility
that falls over the time from the best one to its reservation value. It accepts an offer that is worth at least its
target. Else it offers, of the outcomes that are worth as much, the one that agrees with the latest offers of the others
in most issues ("similarity"), and of these the one that is worth least to itself.
"""

from collections.abc import Callable
from functools import partial

import numpy as np
from numpy.typing import NDArray

from ..core.game import Game
from ..core.rollout import random_bot
from .theory import egalitarian_point, kalai_smorodinsky_point, nash_point, outcome_values

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
NOISE = 1e-5
"""The rounding error of utilities in the observation's float32."""


class Reader:
    """Decodes the observations of a game.

    Args:
        game: multi-issue bargaining with any options.
    """

    encoder = "v0"

    def __init__(self, game: Game) -> None:
        table, self._layout = game.rules.blank[0], game.encoders[self.encoder].layout
        self.seats, self.outcomes = int(table.seats), int(table.outcomes)
        values = np.array([outcome_values(table, outcome) for outcome in range(self.outcomes)])
        width = self._layout["game_state.my_preferences"].shape[1]
        self._chosen = np.eye(width)[values].reshape(self.outcomes, -1)  # the one-hot offer of each outcome

    def read(self, rows: Floats, path: str) -> Floats:
        """Return a slice of float64[N, D] observations: float64[N, size]."""
        part = self._layout["game_state." + path]
        return rows[:, part.start : part.stop]

    def utilities(self, preferences: Floats) -> Floats:
        """Return the utility of every outcome, from flat preferences: float64[N, issues · values] to [N, outcomes]."""
        return np.asarray(preferences @ self._chosen.T)

    def likeness(self, rows: Floats) -> Floats:
        """Return in how many issues each outcome agrees with the others' latest offers: float64[N, outcomes]."""
        offers = self.read(rows, "action_history.latest_offers").reshape(len(rows), self.seats, -1)
        return np.asarray(offers[:, 1:].sum(axis=1) @ self._chosen.T)


class ConcedingBot(Reader):
    """A negotiator that concedes over the time.

    Args:
        beta: 1 is linear, below 1 late concessions, above 1 early ones.
        game: multi-issue bargaining with any options.
    """

    def __init__(self, beta: float, game: Game) -> None:
        super().__init__(game)
        self._beta = beta

    def act(self, observations: NDArray[np.float32], masks: NDArray[np.int8]) -> Ints:
        """Return an action index per row of float32[N, D] observations and int8[N, A] masks: int64[N]."""
        rows = observations.astype(np.float64)
        worth = self.utilities(self.read(rows, "my_preferences"))
        time = 1 - self.read(rows, "action_history.moves_left")
        least = self.read(rows, "my_reservation_value")
        best = np.maximum(worth.max(axis=1, keepdims=True), least)
        target = best - (best - least) * time ** (1 / self._beta)
        fits = worth >= np.minimum(target, worth.max(axis=1, keepdims=True)) - NOISE
        likeness = np.where(fits, self.likeness(rows), -np.inf)
        alike = likeness >= likeness.max(axis=1, keepdims=True) - 0.5
        offer = np.where(alike, worth, np.inf).argmin(axis=1)
        accepts = (masks[:, self.outcomes] == 1) & (self.read(rows, "my_utility") >= target - NOISE)[:, 0]
        return np.where(accepts, self.outcomes, offer)


class PointBot(Reader):
    """Offers the outcome that a solution of cooperative bargaining names, and accepts what is worth as much to it.

    Args:
        solution: `nash_point` or another function from gains (float64[seats, outcomes]) to an outcome.
        game: multi-issue bargaining with public preferences.

    Raises:
        ValueError: if the preferences are not public.
    """

    def __init__(self, solution: Callable[[Floats], int], game: Game) -> None:
        if not game.options["public"]:
            raise ValueError("the named points need public preferences: make the game with public=True")
        super().__init__(game)
        self._solution = solution

    def act(self, observations: NDArray[np.float32], masks: NDArray[np.int8]) -> Ints:
        """Return an action index per row of float32[N, D] observations and int8[N, A] masks: int64[N]."""
        rows = observations.astype(np.float64)
        count = len(rows)
        own, others = (
            self.read(rows, "my_preferences"),
            self.read(rows, "preferences").reshape(count, self.seats - 1, -1),
        )
        worth = [self.utilities(own), *(self.utilities(others[:, k]) for k in range(self.seats - 1))]
        least = np.concatenate([self.read(rows, "my_reservation_value"), self.read(rows, "reservation_values")], axis=1)
        gains = np.stack(worth, axis=1) - least[:, :, None]
        chosen = np.array([self._solution(one) for one in gains], np.int64).reshape(count)
        mine = gains[np.arange(count), 0, np.maximum(chosen, 0)] + least[:, 0]
        accepts = (masks[:, self.outcomes] == 1) & (self.read(rows, "my_utility")[:, 0] >= mine - NOISE) & (chosen >= 0)
        leaves = np.where(chosen < 0, self.outcomes + 1, chosen)
        return np.where(accepts, self.outcomes, leaves)


def linear(game: Game, seed: int | None = None) -> ConcedingBot:
    """Return the bot that concedes evenly."""
    return ConcedingBot(1.0, game)


def boulware(game: Game, seed: int | None = None) -> ConcedingBot:
    """Return the bot that concedes late."""
    return ConcedingBot(0.2, game)


def conceder(game: Game, seed: int | None = None) -> ConcedingBot:
    """Return the bot that concedes early."""
    return ConcedingBot(2.0, game)


def _point(solution: Callable[[Floats], int], game: Game, seed: int | None = None) -> PointBot:
    return PointBot(solution, game)


BOTS = {
    "random": random_bot,
    "aspiration-boulware": boulware,
    "aspiration-linear": linear,
    "aspiration-conceder": conceder,
}
"""`random`: any legal action. `aspiration-boulware`, `aspiration-linear`, `aspiration-conceder`: concede late, evenly
and early."""

PUBLIC_BOTS = {
    "nash": partial(_point, nash_point),
    "kalai-smorodinsky": partial(_point, kalai_smorodinsky_point),
    "egalitarian": partial(_point, egalitarian_point),
}
"""With public preferences: they offer the point of cooperative bargaining theory with this name."""
