"""Demonstrations: the decisions of a teacher in its own play, and their returns."""

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...envs import Game, play_until_done
from ...envs.core.rollout import Decisions, Policy, act_of, encoder_of, tables_with_seed

TABLES = 512
"""Number of matches played at the same time; their decisions are shuffled together."""


class Demonstrations(NamedTuple):
    """Decisions of a teacher in all seats of some matches, in order.

    Attributes:
        observations: float32[N, D].
        masks: int8[N, A].
        actions: int64[N].
        returns: float32[N], the acting seat's return from this decision on, in `Payoffs.unit`.
    """

    observations: NDArray[np.float32]
    masks: NDArray[np.int8]
    actions: NDArray[np.int64]
    returns: NDArray[np.float32]


def demonstrations(game: Game, teacher: Policy, encoder: str, seed: int) -> Iterator[Demonstrations]:
    """Yield the decisions of `TABLES` whole matches at a time, without end.

    Args:
        game: the game with its options.
        teacher: the teacher, which plays all seats.
        encoder: the name of the learner's encoder, which makes the observations.
        seed: seed of the matches.
    """
    random = np.random.default_rng(seed)
    shown = teacher if encoder_of(teacher, game) == encoder else _Shown(game, teacher, encoder)
    while True:
        yield _matches(game, shown, int(random.integers(2**64, dtype=np.uint64)))


def _matches(game: Game, teacher: Policy, seed: int) -> Demonstrations:
    tables, taken = tables_with_seed(game, TABLES, seed), list[Decisions]()
    total = play_until_done(game, [teacher], tables, on_decisions=taken.append)
    rows, seats, observations, masks, actions, before = (np.concatenate(column) for column in zip(*taken, strict=True))
    returns = (total[rows, seats] - before) / game.payoffs.unit
    return Demonstrations(observations, masks, actions, returns.astype(np.float32))


class _Shown:
    """A teacher that uses another encoder than the demonstrations."""

    def __init__(self, game: Game, teacher: Policy, encoder: str) -> None:
        self.encoder = encoder
        self._teacher = teacher
        self._own = game.encoders[encoder_of(teacher, game)]

    def act(self, observations: NDArray[np.float32], masks: NDArray[np.int8]) -> NDArray[np.int64]:
        """Not called: the teacher's observations are made from the records."""
        raise NotImplementedError

    def act_on(
        self, tables: Any, rows: NDArray[np.int64], observations: NDArray[np.float32], masks: NDArray[np.int8]
    ) -> NDArray[np.int64]:
        """Return the teacher's actions at the tables `rows`."""
        seen = self._own.observations(tables, rows)
        return np.asarray(act_of(self._teacher, tables, rows, seen, masks), np.int64)
