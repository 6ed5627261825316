"""A policy that solves the end of a game again before it acts there, on top of any policy, within a time limit."""

import math
import time
from collections.abc import Callable
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from ...envs.core.record import Tables
from ...envs.core.rollout import played
from .base import search_seconds


class Resolving(Protocol):
    """A game's part."""

    def strategy(self, table: Any, left: Callable[[], float]) -> NDArray[np.float64] | None:
        """Return how likely each action index of the acting seat is, float64[A]; None: as the policy plays.

        `left` returns the seconds left, infinity where there is no limit. The function calls it often, and returns
        where none are left.
        """
        ...

    def strategies(self, table: Any, left: Callable[[], float]) -> NDArray[np.float64] | None:
        """Return the same for each private hand of the acting seat, float64[H, A], in the game's order of hands."""
        ...


class ResolvingPolicy:
    """Plays as a policy does, and by a new solution where the game's part finds one in time.

    It plans on records, which `act_on` gets: `PolicyAgent` and `play_until_done` call that. `act` is the policy's. The
    policy's action is chosen first, so it stands ready when time is over.

    Args:
        policy: the policy.
        resolving: the game's part.
        seconds: most time for the decisions of one call; None: no limit.
        seed: seed of the draws from new solutions; None takes entropy from the operating system.
        clock: returns the time in seconds.

    Attributes:
        encoder: the encoder of the policy.
        resolved: number of decisions by new solutions.

    Raises:
        ValueError: for seconds not above 0.
    """

    def __init__(
        self,
        policy: Any,
        resolving: Resolving,
        *,
        seconds: float | None = None,
        seed: int | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        if seconds is not None and not seconds > 0:  # nan is not above 0
            raise ValueError(f"seconds={seconds}: need more than 0")
        self.policy = policy
        self.encoder = getattr(policy, "encoder", None)
        self.resolved = 0
        self._resolving, self._seconds, self._clock = resolving, seconds, clock
        self._most = seconds  # for the next decision
        self._random = np.random.default_rng(seed)

    def set_seconds_left(self, seconds: float | None) -> None:
        """Take at most `SEARCH_SHARE` of the seconds left for the next answer; None: only the own limit counts."""
        self._most = search_seconds(self._seconds, seconds)

    def act(self, observations: NDArray[np.float32], masks: NDArray[np.int8]) -> NDArray[np.int64]:
        """Return the policy's actions: int64[N]."""
        return np.asarray(self.policy.act(observations, masks), np.int64)

    def act_on(
        self, tables: Tables, rows: NDArray[np.int64], observations: NDArray[np.float32], masks: NDArray[np.int8]
    ) -> NDArray[np.int64]:
        """Return an action per table in `rows` (int64[M]), by observations and masks of the same length: int64[M]."""
        until = None if self._most is None else self._clock() + self._most

        def left() -> float:
            return math.inf if until is None else until - self._clock()

        actions = np.array(self.act(observations, masks), np.int64)
        for index, row in enumerate(rows.tolist()):
            chances = self._resolving.strategy(tables[row], left) if left() > 0 else None
            open_chances = None if chances is None else chances * masks[index]
            if open_chances is not None and open_chances.sum() > 0:
                actions[index] = self._random.choice(len(open_chances), p=open_chances / open_chances.sum())
                self.resolved += 1
        return actions

    def probabilities_on(
        self, table: Any, hands: NDArray[np.int64], observations: NDArray[np.float32], masks: NDArray[np.int8]
    ) -> NDArray[np.float64]:
        """Return how likely it plays each action at a table with each of some private hands: float64[M, A].

        This is for measures: it takes no account of `seconds`.

        Args:
            table: the record; its acting seat decides.
            hands: int64[M], indices in the game's order of hands (hold'em: `HOLDINGS`).
            observations: the seat's observations with these hands, float32[M, D].
            masks: their masks, int8[M, A].
        """
        chances = self._resolving.strategies(table, lambda: math.inf)
        likely = played(self.policy) or self.policy.probabilities
        return np.asarray(likely(observations, masks) if chances is None else chances[hands], np.float64)
