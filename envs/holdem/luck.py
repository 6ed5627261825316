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
from .hands import card_set, set_strength
from .ranges import run_outs
from .rules import decode, entry_bet, entry_seat, log_first, pay_pots, step


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


OPEN = np.array((0, 3, 4, 5))
"""Open cards before the flop, on the flop, on the turn and on the river."""
PREFLOP_BOARDS = 300
"""The default number of boards sampled before the flop; from the flop on all boards count."""


def board_luck(tables: Any, boards: int = PREFLOP_BOARDS) -> NDArray[np.float64]:
    """Return seat 0's winnings by the cards of the board, in chips, with mean 0: float64[N]. Seat 1 lost as much.

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
