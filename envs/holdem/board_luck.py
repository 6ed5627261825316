"""The luck of the board in hands of two players: what the cards that came were worth, street by street.

When a street is dealt, the chips in the pot are worth each player's share at showdown on average. The cards change that
share. The change has mean 0, whatever the players do, so subtracting it leaves the mean result as it is and makes the
variance smaller: a control variate, as the chance terms of AIVAT are (Burch, Schmid, Moravčík, Morrill and Bowling,
AAAI 2018). After an all-in it is the same as counting the all-in with its equity.
"""

from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..core.compiled import compiled
from .hands import card_set, set_strength
from .ranges import run_outs
from .rules import entry_bet, entry_seat, log_first

OPEN = np.array((0, 3, 4, 5))
"""Open cards before the flop, on the flop, on the turn and on the river."""
BOARDS = 300
"""The default number of boards sampled before the flop; from the flop on all boards count."""


def board_luck(tables: Any, boards: int = BOARDS) -> NDArray[np.float64]:
    """Return what seat 0 won by the cards of the board, in chips, with mean 0: float64[N]. Seat 1 lost as much.

    Args:
        tables: records of two seats, one hand per episode, that have ended, shape (N,).
        boards: number of boards sampled before the flop; the same cards give the same boards.
    """
    out = np.zeros(len(tables))
    _board_luck(tables.view(np.ndarray), OPEN, boards, out)
    return out


@partial(compiled, compile_first=True)
def _board_luck(tables: Any, opened: Any, samples: int, out: Any) -> None:
    for i in range(len(tables)):
        table = tables[i]
        shown = np.int64(table.board_count)
        before = 0.0
        for street in range(3):
            if opened[street] >= shown:
                break
            if street == 0:
                before = share(table, 0, samples)
            after = share(table, opened[street + 1], samples)
            out[i] += pot_after(table, street) * (after - before)
            before = after


@compiled
def pot_after(table: Any, street: int) -> float:
    """Return the chips that both players had put in when a street was over; no more than the other matches."""
    least = np.int64(1) << 40
    for seat in range(2):
        put = np.int64(table.ante)
        for earlier in range(street + 1):
            bet = np.int64(0)
            acted = False
            for k in range(log_first(table, earlier), table.log_end[earlier]):
                if entry_seat(table.log[k]) == seat:
                    bet, acted = np.int64(entry_bet(table.log[k])), True
            if earlier == 0 and not acted:  # a blind alone, all-in
                bet = np.int64(table.committed[seat]) - put
            put += bet
        least = min(least, put)
    return 2.0 * least


@compiled
def share(table: Any, count: int, samples: int) -> float:
    """Return the share of the pot that seat 0 wins on average at showdown, when `count` cards of the board are open."""
    shown = card_set(table.board, count)
    mine, theirs = card_set(table.cards[0], 2), card_set(table.cards[1], 2)
    taken = shown | mine | theirs
    boards = run_outs(taken, shown, count, samples, np.uint64(taken))
    total = 0.0
    for board in boards:
        one, two = set_strength(board | mine), set_strength(board | theirs)
        total += 1.0 if one > two else 0.5 if one == two else 0.0
    return total / len(boards)
