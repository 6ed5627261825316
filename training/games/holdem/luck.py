"""Luck: results of hold'em in which an all-in counts with its equity in place of the cards that came."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ....envs import Game
from ....envs.core.record import Tables
from ....envs.holdem.all_in import expected_chips


def without_luck(game: Game, tables: Tables, returns: NDArray[Any]) -> NDArray[np.float64]:
    """Return the results of finished hands, where all-ins count with their equity: float64[N, seats] in chips.

    Several hands per episode keep their results: their stacks depend on the cards that came.
    """
    if game.options["hands"] != 1:
        return np.asarray(returns, np.float64)
    return expected_chips(tables)[:, : game.seats]
