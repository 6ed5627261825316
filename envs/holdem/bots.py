"""Scripted opponents. They are policies: they get the observation and the mask of their seat, and nothing else."""

from collections.abc import Callable
from functools import cache, partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..core.compiled import compiled
from ..core.game import Game
from ..core.plain_python import constant
from ..core.rng import GOLDEN, choose, mix, streams
from ..core.rollout import random_bot
from .hands import equity
from .ranges import HOLDINGS
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


Spot = tuple[float, float, float]
"""In which hands a player raises, in which it calls, and its raise as a share of the pot; 0: the least raise."""


class Style(NamedTuple):
    """How a player raises and calls in six spots; the default is that of `regular`.

    Before the flop hands are told by their place: the share of the hands that are better. A call for less than two big
    blinds is made with twice as many. After the flop they are told by their equity among two players: the share of the
    pot at a showdown against random hands, times the number of players, halved. Then a player calls where its share of
    the pot is above the odds by so much.

    Attributes:
        first: before the flop, where all before have folded; it raises with so many times the hands of `OPENS`.
        limped: where others have called the big blind.
        raised: facing a raise below five big blinds.
        reraised: facing a higher one.
        unbet: after the flop, where nothing is to call.
        bet: after the flop, facing a bet.
        bluffs: of its weak hands, one in so many bets into one opponent; 0: none.
    """

    first: Spot = (1.0, 0.0, 0.5)
    limped: Spot = (0.12, 0.35, 1.0)
    raised: Spot = (0.05, 0.14, 1.0)
    reraised: Spot = (0.022, 0.06, 1.0)
    unbet: Spot = (0.62, 0.0, 0.5)
    bet: Spot = (0.85, 0.07, 0.5)
    bluffs: int = 4


OPENS = constant([0.45, 0.46, 0.27, 0.21, 0.17, 0.15, 0.13, 0.12, 0.11], np.float64)
"""The share of the hands that strong players raise first in, by the number of players who act after them, from one on:
published ranges for 100 big blinds say 15 to 20 % under the gun at six seats, 40 to 55 % on the button."""
BIG_BLIND = 0.01
"""As it is observed, squared."""


@partial(compiled, allocates=True)
def _styled(observations: Any, masks: Any, words: Any, fields: Any, out: Any) -> None:
    pot, to_call, bet, seats, better, spots, sizes, bluffs = fields[4:]
    hole = np.empty(2, np.int8)
    open_board = np.empty(5, np.int8)
    for i in range(len(masks)):
        seen = observations[i]
        shown, opponents = _read(seen, fields, hole, open_board)
        owed = seen[to_call] ** 2
        words[0] += GOLDEN
        if shown == 0:
            most, equal = 0.0, 0
            for seat in range(seats):
                most = max(most, seen[bet + seat] ** 2)
            for seat in range(1, seats):
                equal += seen[bet + seat] ** 2 > 0.99 * most
            first = owed > 0 and equal == 1  # then all opponents act after it
            spot = 3 if most > 5 * BIG_BLIND else 2 if most > 1.5 * BIG_BLIND else 0 if first else 1
            place = better[hole[0], hole[1]]
            raises = place < spots[spot, 0] * (OPENS[opponents - 1] if spot == 0 else 1)
            calls = place < spots[spot, 1] * (2 if owed < 2 * BIG_BLIND else 1)
        else:
            spot = 5 if owed > 0 else 4
            share = equity(hole, open_board, shown, opponents, SAMPLES, words[0])
            strength = share * (opponents + 1) / 2
            bluffed = bluffs > 0 and strength < 0.35 and mix(words[0]) % np.uint64(max(1, bluffs)) == 0
            raises = strength > spots[spot, 0] or (spot == 4 and opponents == 1 and bluffed)
            calls = share > owed / (owed + seen[pot] ** 2) + spots[spot, 1]
        if raises:
            out[i] = _nearest(masks[i], sizes[spot])
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


def styled(style: Style, game: Game, seed: int | None = None) -> "HoldemBot":
    """Return the player of a style; see `HoldemBot`."""
    spots = np.array(style[:-1])
    fractions = np.array([0.0, *game.options["pot_fractions"], np.inf])
    sizes = LEAST_RAISE + np.abs(fractions - spots[:, 2:]).argmin(axis=1)
    return HoldemBot(_styled, game, seed, (_better(), spots, sizes, style.bluffs))


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
        more: what else the rule is given.
    """

    encoder = "v0"

    def __init__(
        self, rule: Callable[..., None], game: Game, seed: int | None = None, more: tuple[Any, ...] = ()
    ) -> None:
        self._rule = rule
        self._words = streams(seed, 1)
        slices = ("players.cards", "board", "players.folded", "players.seated", "pot", "toCall", "players.bet")
        starts = [game.encoders[self.encoder].layout["game_state." + name].start for name in slices]
        self._fields = (*starts, game.seats, *more)

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
    "regular": partial(styled, Style()),
}
"""`random`: any legal action. `call`: never folds, never raises. `tight`: tight-aggressive by Monte-Carlo equity.
`maniac`: raises four times in five. `regular`: raises first in with as many hands as strong players, by position."""
