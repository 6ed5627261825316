"""Scripted opponents. They are policies: they get the observation and the mask of their seat, and nothing else."""

from collections.abc import Callable
from functools import cache, partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..core.compiled import compiled
from ..core.game import Game
from ..core.plain_python import constant
from ..core.rng import GOLDEN, choose, mix, streams
from ..core.rollout import random_bot
from .hands import equity
from .ranges import HOLDINGS
from .table import CALL_ACTION, FIRST_FRACTION, FOLD_ACTION, LEAST_RAISE


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


@compiled
def _read(seen: Any, fields: Any, hole: Any, open_board: Any) -> Any:
    """Write the own and the open cards; return the number of open ones, and of opponents in the hand."""
    cards, board, folded, seated, seats = fields[0], fields[1], fields[2], fields[3], fields[7]
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
    return shown, opponents


@partial(compiled, allocates=True)
def _tight(observations: Any, masks: Any, words: Any, fields: Any, out: Any) -> None:
    """Tight-aggressive: raise as a clear favourite, call when the pot odds are good enough, else check or fold."""
    pot, to_call = fields[4], fields[5]
    hole = np.empty(2, np.int8)
    open_board = np.empty(5, np.int8)
    for i in range(len(masks)):
        seen = observations[i]
        shown, opponents = _read(seen, fields, hole, open_board)
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


OPENS = constant([0.45, 0.46, 0.27, 0.21, 0.17, 0.15, 0.13, 0.12, 0.11], np.float64)
"""The share of the hands that `regular` raises first in, by the number of players who act after it, from one on: those
of published ranges for 100 big blinds, which say 15 to 20 % under the gun at six seats, 40 to 55 % on the button."""
BIG_BLIND = 0.01
"""As it is observed, squared."""


@partial(compiled, allocates=True)
def _regular(observations: Any, masks: Any, words: Any, fields: Any, out: Any) -> None:
    """Before the flop, raise and call with shares of the best hands, by position; later by equity, with some bluffs."""
    pot, to_call, bet, seats, half, whole, better = fields[4:]
    hole = np.empty(2, np.int8)
    open_board = np.empty(5, np.int8)
    for i in range(len(masks)):
        seen, size = observations[i], half
        shown, opponents = _read(seen, fields, hole, open_board)
        owed = seen[to_call] ** 2
        words[0] += GOLDEN
        if shown == 0:
            most, equal = 0.0, 0
            for seat in range(seats):
                most = max(most, seen[bet + seat] ** 2)
            for seat in range(1, seats):
                equal += seen[bet + seat] ** 2 > 0.99 * most
            place = better[hole[0], hole[1]]
            if most < 1.5 * BIG_BLIND and owed > 0 and equal == 1:  # first in: all opponents act after it
                raises, calls = place < OPENS[opponents - 1], False
            elif most < 1.5 * BIG_BLIND:
                raises, calls, size = place < 0.12, place < 0.35, whole
            elif most < 5 * BIG_BLIND:
                raises, calls, size = place < 0.05, place < (0.3 if owed < 2 * BIG_BLIND else 0.14), whole
            else:
                raises, calls, size = place < 0.022, place < 0.06, whole
        else:
            share = equity(hole, open_board, shown, opponents, SAMPLES, words[0])
            among_two = share * (opponents + 1) / 2
            bluffs = opponents == 1 and among_two < 0.35 and mix(words[0]) & np.uint64(3) == 0
            raises = among_two > 0.85 if owed > 0 else among_two > 0.62 or bluffs
            calls = share > owed / (owed + seen[pot] ** 2) + 0.07
        if raises:
            out[i] = _nearest(masks[i], size)
        else:
            out[i] = CALL_ACTION if calls or owed == 0 else FOLD_ACTION


@compiled
def _nearest(mask: Any, wanted: int) -> int:
    """Return the legal raise whose index is the nearest; `CALL_ACTION` if there is none."""
    for distance in range(len(mask)):
        for action in (wanted - distance, wanted + distance):
            if LEAST_RAISE <= action < len(mask) and mask[action]:
                return action
    return CALL_ACTION


def _known_by_regular(game: Game) -> tuple[Any, ...]:
    """Return the indices of raises by half of the pot and by the pot, and for every hand the share of better ones."""
    fractions = np.array([*game.options["pot_fractions"], np.inf])
    half, whole = (FIRST_FRACTION + int(np.abs(fractions - wanted).argmin()) for wanted in (0.5, 1.0))
    return half, whole, _better()


@cache
def _better() -> NDArray[np.float64]:
    """Return for each two cards the share of the hands with more equity against two random ones: float64[52, 52]."""
    kinds: dict[tuple[int, int, bool], list[tuple[int, int]]] = {}
    for first, second in HOLDINGS.tolist():
        kinds.setdefault((first // 4, second // 4, first % 4 == second % 4), []).append((first, second))
    board = np.zeros(5, np.int8)
    strength = {kind: equity(np.array(some[0], np.int8), board, 0, 2, 4_000, 7) for kind, some in kinds.items()}
    better, done = np.zeros((52, 52)), 0
    for kind in sorted(kinds, key=lambda kind: -strength[kind]):
        rows, columns = np.array(kinds[kind]).T
        better[rows, columns] = better[columns, rows] = (done + len(rows) / 2) / len(HOLDINGS)
        done += len(rows)
    return better


class HoldemBot:
    """A scripted policy for batches.

    Args:
        rule: compiled ``rule(observations, masks, words, fields, out)``.
        game: hold'em with any options.
        seed: seed of the bot's random stream; None takes entropy from the operating system.
        known: returns what else the rule knows of the game.
    """

    encoder = "v0"

    def __init__(
        self,
        rule: Callable[..., None],
        game: Game,
        seed: int | None = None,
        known: Callable[[Game], tuple[Any, ...]] = lambda game: (),
    ) -> None:
        self._rule = rule
        self._words = streams(seed, 1)
        slices = ("players.cards", "board", "players.folded", "players.seated", "pot", "toCall", "players.bet")
        starts = [game.encoders[self.encoder].layout["game_state." + name].start for name in slices]
        self._fields = (*starts, game.seats, *known(game))

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
    "regular": partial(HoldemBot, _regular, known=_known_by_regular),
}
"""`random`: any legal action. `call`: never folds, never raises. `tight`: tight-aggressive by Monte-Carlo equity.
`maniac`: raises four times in five. `regular`: raises first in with as many hands as strong players, by position."""
