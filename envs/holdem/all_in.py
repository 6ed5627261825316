"""All-in equity: what every seat wins on average over the rest of the board, in hands with no decision left."""

from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..core.compiled import compiled
from .board_luck import OPEN
from .hands import card_set, set_strength
from .ranges import run_outs
from .rules import pay_pots

BOARDS = 300
"""The default number of boards sampled before the flop; from the flop on all boards count."""


def expected_chips(tables: Any, boards: int = BOARDS, seeds: NDArray[np.uint64] | None = None) -> NDArray[np.float64]:
    """Return the mean net chips of every seat over all run-outs of the board: float64[N, 10].

    The run-outs are those that the hole cards of all seats leave. The pots and their winners are those of the rules.
    If the last action of a hand was on the river, or the hand had no showdown, it is what the seats won.

    Args:
        tables: records of hands that have ended, shape (N,).
        boards: number of boards sampled before the flop.
        seeds: uint64[N], seeds of the samples. None: the same cards give the same boards.
    """
    out = np.asarray(tables.rewards, np.float64).copy()
    _expected_chips(tables.copy(), OPEN, boards, np.zeros(len(tables), np.uint64) if seeds is None else seeds, out)
    return out


@partial(compiled, compile_first=True)
def _expected_chips(tables: Any, opened: Any, samples: int, seeds: Any, out: Any) -> None:
    for i in range(len(tables)):
        table = tables[i]
        street = 3
        while street > 0 and table.log_end[street] == table.log_end[street - 1]:
            street -= 1
        if table.showdown and street < 3:
            _mean_chips(table, opened[street], samples, seeds[i], out[i])


@compiled
def _mean_chips(table: Any, count: int, samples: int, seed: Any, out: Any) -> None:
    """Write the mean over all run-outs after the first `count` cards of the board. The record is overwritten."""
    shown = card_set(table.board, count)
    taken = shown
    for seat in range(table.seats):
        if table.seated[seat]:
            taken |= card_set(table.cards[seat], 2)
    boards = run_outs(taken, shown, count, samples, seed ^ np.uint64(taken))
    out[:] = 0
    for board in boards:
        for seat in range(table.seats):
            table.won[seat] = 0
            table.strength[seat] = -1
            if table.seated[seat] and not table.folded[seat]:
                table.strength[seat] = set_strength(card_set(table.cards[seat], 2) | board)
        pay_pots(table)
        for seat in range(table.seats):
            out[seat] += (table.won[seat] - table.committed[seat]) / len(boards)
