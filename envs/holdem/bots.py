"""Scripted opponents. They are policies: they get the observation and the mask of their seat, and nothing else."""

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..core.compiled import compiled
from ..core.game import Game
from ..core.rng import GOLDEN, choose, mix, streams
from ..core.rollout import random_bot
from .hands import equity
from .table import CALL_ACTION, FOLD_ACTION, LEAST_RAISE


@compiled
def _raise(mask: Any, least: int, top: int, bits: Any) -> int:
    """Choose a legal raise with an action index from `least` to `top`; `CALL_ACTION` if there is none."""
    number = choose(mask[: top + 1], least, bits)
    return number if number <= top else CALL_ACTION


@compiled
def _call(observations: Any, masks: Any, words: Any, fields: Any, out: Any) -> None:
    out[:] = CALL_ACTION


@compiled
def _maniac(observations: Any, masks: Any, words: Any, fields: Any, out: Any) -> None:
    """Raise by any amount four times in five, else call."""
    for i in range(len(masks)):
        words[0] += GOLDEN
        raises = mix(words[0]) >> np.uint64(32) < np.uint64(0xCCCCCCCC)
        words[0] += GOLDEN
        out[i] = _raise(masks[i], LEAST_RAISE, masks.shape[1] - 1, mix(words[0])) if raises else CALL_ACTION


@partial(compiled, allocates=True)
def _tight(observations: Any, masks: Any, words: Any, fields: Any, out: Any) -> None:
    """Tight-aggressive: raise as a clear favourite, call when the pot odds are good enough, else check or fold."""
    cards, board, folded, seated, pot, to_call, seats = fields
    hole = np.empty(2, np.int8)
    open_board = np.empty(5, np.int8)
    for i in range(len(masks)):
        seen = observations[i]
        held = 0
        shown = 0
        for card in range(52):
            if seen[cards + card] > 0:
                hole[held] = card
                held += 1
            if seen[board + card] > 0:
                open_board[shown] = card
                shown += 1
        opponents = 0
        for seat in range(1, seats):
            opponents += seen[seated + seat] > 0 and seen[folded + seat] == 0
        words[0] += GOLDEN
        share = equity(hole, open_board, shown, opponents, SAMPLES, words[0])
        owed = seen[to_call] ** 2
        price = owed / (owed + seen[pot] ** 2)
        fair = 1.0 / (opponents + 1)
        # A bet shows strength: the more there is to call, the higher the equity must be.
        wanted = max(price + 0.05, fair if owed > 0 else 0.0)
        words[0] += GOLDEN
        if share > min(0.85, fair + 0.15 + 0.25 * price):
            out[i] = _sized(masks[i], share, mix(words[0]))
        elif owed == 0 or share > wanted:
            out[i] = CALL_ACTION
        else:
            out[i] = FOLD_ACTION


SAMPLES = 64
"""The number of deals that `tight` samples at a decision."""


@compiled
def _sized(mask: Any, share: float, bits: Any) -> int:
    """Choose a raise near the pot; all-in only with an almost certain hand, or if it is the only one."""
    last = len(mask) - 1
    number = _raise(mask, max(LEAST_RAISE, last - 4), last if share > 0.9 else last - 1, bits)
    return last if number == CALL_ACTION and share > 0.75 and mask[last] else number


class HoldemBot:
    """A scripted policy for batches.

    Args:
        rule: compiled ``rule(observations, masks, words, fields, out)``.
        game: hold'em with any options.
        seed: seed of the bot's random stream; None takes entropy from the operating system.
    """

    encoder = "v0"

    def __init__(self, rule: Callable[..., None], game: Game, seed: int | None = None) -> None:
        self._rule = rule
        self._words = streams(seed, 1)
        slices = ("players.cards", "board", "players.folded", "players.seated", "pot", "toCall")
        starts = [game.encoders[self.encoder].layout["game_state." + name].start for name in slices]
        self._fields = (*starts, game.seats)

    def act(self, observations: NDArray[np.float32], masks: NDArray[np.int8]) -> NDArray[np.int64]:
        """Return an action index per row of float32[N, D] observations and int8[N, A] masks: int64[N]."""
        actions = np.empty(len(masks), np.int64)
        self._rule(observations, masks, self._words, self._fields, actions)
        return actions


BOTS: dict[str, Callable[..., Any]] = {
    "random": random_bot,
    "call": partial(HoldemBot, _call),
    "tight": partial(HoldemBot, _tight),
    "maniac": partial(HoldemBot, _maniac),
}
"""`random`: any legal action. `call`: never folds, never raises. `tight`: tight-aggressive by Monte-Carlo equity.
`maniac`: raises four times in five."""
