"""All-in pots paid at equity: the mean result over the boards that may still come, in place of the result of one board.

After the last decision of a hand only the board is random. With the cards of all seats known, the mean result over the
missing cards has the same expectation as the result of one board, and less variance. The rules themselves play every
board, so that side pots and odd chips are paid as at the table.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ....envs import Game
from ....envs.core.compiled import compiled
from ....envs.core.record import Tables
from ....envs.core.rng import GOLDEN, mix, streams
from ....envs.holdem.moves import decode
from ....envs.holdem.rules import step


class AllInEquity:
    """Replaces the rewards of hands that ended with an all-in before the river.

    Only the last hand of an episode is changed: the stacks of the next hand depend on the result of an earlier one.

    Args:
        game: hold'em with its options.
        boards: number of boards per pot. Where no more than that are possible, each of them is played once, and the
            rewards are exact; else boards are drawn at random, and the rewards are unbiased.
        seed: seed of the draws.
    """

    def __init__(self, game: Game, boards: int, seed: int) -> None:
        self._boards = boards
        self._words = streams(seed, 1)
        self._scratch = np.array(game.tables(1).view(np.ndarray))

    def __call__(self, before: Tables, actions: NDArray[np.int64], rewards: NDArray[np.float32]) -> None:
        """Write the mean rewards of those hands.

        Args:
            before: recarray (N,), the tables before the last decision of their episodes. They are not changed.
            actions: int64[N], that decision.
            rewards: float32[N, seats]; only the rows of all-in pots are written.
        """
        _pay_at_equity(before.view(np.ndarray), actions, self._boards, self._words, self._scratch, rewards)


@compiled
def _pay_at_equity(before: Any, actions: Any, boards: int, words: Any, scratch: Any, rewards: Any) -> None:
    cards = np.empty(52, np.int8)
    total = np.empty(rewards.shape[1])
    for i in range(len(before)):
        is_open = before[i].board_count
        _play(before, i, actions[i], scratch)
        if is_open == 5 or not scratch[0].showdown or before[i].hand < before[i].hands:
            continue
        first = 2 * before[i].seats + is_open
        left = 52 - first
        cards[:left] = before[i].deck[first:]
        total[:] = 0
        played = 0
        if is_open == 4 and left <= boards:
            for j in range(left):
                before[i].board[4] = cards[j]
                _add(before, i, actions[i], scratch, total)
                played += 1
        elif is_open == 3 and left * (left - 1) // 2 <= boards:
            for j in range(left):
                for k in range(j):
                    before[i].board[3] = cards[j]
                    before[i].board[4] = cards[k]
                    _add(before, i, actions[i], scratch, total)
                    played += 1
        else:
            for _ in range(boards):
                for place in range(5 - is_open):
                    words[0] += GOLDEN
                    high = mix(words[0]) >> np.uint64(32)
                    drawn = place + np.int64((high * np.uint64(left - place)) >> np.uint64(32))
                    card = cards[drawn]
                    cards[drawn] = cards[place]
                    cards[place] = card
                    before[i].board[is_open + place] = card
                _add(before, i, actions[i], scratch, total)
                played += 1
        for place in range(5 - is_open):
            before[i].board[is_open + place] = before[i].deck[first + place]
        for seat in range(len(total)):
            rewards[i, seat] = total[seat] / played


@compiled
def _play(before: Any, i: int, action: int, scratch: Any) -> None:
    scratch[0] = before[i]
    step(scratch[0], decode(scratch[0], action))


@compiled
def _add(before: Any, i: int, action: int, scratch: Any, total: Any) -> None:
    _play(before, i, action, scratch)
    for seat in range(len(total)):
        total[seat] += scratch[0].rewards[seat]
