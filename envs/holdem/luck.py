"""All-in pots paid at equity: the mean result over the boards that may still come, in place of the result of one board.

After the last decision of a hand only the board is random. With the cards of all seats known, the mean result over the
missing cards has the same expectation as the result of one board, and less variance.
"""

from collections.abc import Mapping
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..core.compiled import compiled
from ..core.record import Tables
from .all_in import expected_chips
from .board_luck import board_luck
from .moves import decode
from .rules import step


class AllInEquity:
    """Replaces the rewards of hands that ended with an all-in before the river.

    Only the last hand of an episode is changed: the stacks of the next hand depend on the result of an earlier one.

    Args:
        seats: number of seats.
        boards: number of boards sampled per pot before the flop. From the flop on all boards count.
        seed: seed of the samples.
    """

    def __init__(self, seats: int, boards: int, seed: int) -> None:
        self._seats = seats
        self._boards = boards
        self._random = np.random.default_rng(seed)

    def __call__(self, before: Tables, actions: NDArray[np.int64], rewards: NDArray[np.float32]) -> None:
        """Write the mean rewards.

        Args:
            before: recarray (N,), the tables before the last decision of their episodes. They are not changed.
            actions: int64[N], that decision.
            rewards: float32[N, seats], the results. Hands without an all-in keep theirs.
        """
        ended = before.copy()
        _play(ended.view(np.ndarray), actions)
        seeds = self._random.integers(2**64, size=len(ended), dtype=np.uint64)
        rewards[:] = expected_chips(ended, self._boards, seeds)[:, : self._seats]


@partial(compiled, compile_first=True)
def _play(tables: Any, actions: Any) -> None:
    for i in range(len(tables)):
        step(tables[i], decode(tables[i], actions[i]))


def without_luck(options: Mapping[str, Any], tables: Tables, returns: NDArray[Any]) -> NDArray[np.float64]:
    """Return the results of finished hands without the luck of the board: float64[N, seats] in chips.

    With two seats, what the cards of every street were worth is taken out (`board_luck`); with more, all-ins count with
    their equity. Several hands per episode keep their results, because their stacks depend on the cards that came; so
    do hands with a given board, which is no luck.
    """
    if options["hands"] != 1 or options["board"] is not None:
        return np.asarray(returns, np.float64)
    if options["seats"] == 2 and options["start"] == "preflop":
        luck = board_luck(tables)
        return np.asarray(returns - np.stack([luck, -luck], axis=1), np.float64)
    return expected_chips(tables)[:, : options["seats"]]
