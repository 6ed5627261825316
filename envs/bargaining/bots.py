"""Scripted negotiators, and the subgame-perfect split. Bots see the observation and the mask of their seat, no more.

Most bots are a demand: the share of the pie that each wants now. It accepts what gives it no less, and else demands the
lowest share on the grid that does, never less than its reservation value.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..core.game import Game
from ..core.random_policy import random_bot
from .encoders.v0 import LAST

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
NOISE = 1e-5
"""Shares of the pie that the observation's float32 cannot tell apart."""


@dataclass(frozen=True)
class Seen:
    """What a batch of observations tells a negotiator; float64[N], amounts as shares of the pie.

    Attributes:
        reservation: its own value.
        opponent_reservation: the other's, where it is public (else 0).
        offered: what it would get from the opponent's standing offer; −1 without one.
        moves: int64[N], made so far.
        last: float64[N, 4], what it would have got from each of the last moves, newest first (the opponent's, its own,
            …); −1 where that was no offer.
    """

    reservation: Floats
    opponent_reservation: Floats
    offered: Floats
    moves: Ints
    last: Floats


Demand = Callable[[Seen], Floats]


class Reader:
    """Reads the observations of a game.

    Args:
        game: bargaining with any options.
    """

    encoder = "v0"

    def __init__(self, game: Game) -> None:
        table, layout = game.rules.blank[0], game.encoders[self.encoder].layout
        self._all_moves = 2 * int(table.rounds)
        paths = ("my_reservation_value", "current_offer", "last_offer_by", "action_history.moves_left")
        self._starts = [layout["game_state." + path].start for path in paths]
        self._last = layout["game_state.action_history.last"]
        self._public = layout["game_state.opponent_reservation_value"].start if table.public else None

    def see(self, observations: NDArray[np.float32]) -> Seen:
        """Read float32[N, D] observations."""
        rows = observations.astype(np.float64)
        reservation, offer, by, left = self._starts
        last = rows[:, self._last.start : self._last.stop].reshape(-1, LAST, 3)
        return Seen(
            reservation=rows[:, reservation],
            opponent_reservation=np.zeros(len(rows)) if self._public is None else rows[:, self._public],
            offered=np.where(rows[:, by + 1] > 0, rows[:, offer], -1.0),
            moves=np.rint((1 - rows[:, left]) * self._all_moves).astype(np.int64),
            last=np.where(last[:, :, 0] > 0, last[:, :, 1], -1.0),
        )


class Bot(Reader):
    """A negotiator that follows a demand.

    Args:
        demand: from `Seen` to float64[N] shares of the pie.
        game: bargaining with any options.
    """

    def __init__(self, demand: Demand, game: Game) -> None:
        super().__init__(game)
        self._demand, self._last_offer = demand, int(game.rules.blank[0].offers) - 1

    def act(self, observations: NDArray[np.float32], masks: NDArray[np.int8]) -> Ints:
        """Return an action index per row of float32[N, D] observations and int8[N, A] masks: int64[N]."""
        seen = self.see(observations)
        demand = np.maximum(self._demand(seen), seen.reservation)
        number = np.ceil((demand - NOISE) * self._last_offer).astype(np.int64)
        accepts = (seen.offered >= 0) & (seen.offered >= demand - NOISE)
        return np.where(accepts, self._last_offer + 1, np.clip(number, 0, self._last_offer))


class PerfectBot(Reader):
    """Plays the subgame-perfect equilibrium; its offers are the highest on the grid that are accepted.

    Args:
        game: bargaining with public reservation values.

    Raises:
        ValueError: if the reservation values are not public.
    """

    def __init__(self, game: Game) -> None:
        if not game.options["public"]:
            raise ValueError(
                "the subgame-perfect split needs public reservation values: make the game with public=True"
            )
        super().__init__(game)
        self._options = int(game.options["rounds"]), float(game.options["discount"])
        self._last_offer = int(game.rules.blank[0].offers) - 1

    def act(self, observations: NDArray[np.float32], masks: NDArray[np.int8]) -> Ints:
        """Return an action index per row of float32[N, D] observations and int8[N, A] masks: int64[N]."""
        seen = self.see(observations)
        rounds, discount = self._options
        first = seen.moves % 2 == 0
        reservations = np.where(
            first, [seen.reservation, seen.opponent_reservation], [seen.opponent_reservation, seen.reservation]
        )
        demands, values = subgame_perfect(1.0, rounds, discount, reservations)
        rows = np.arange(len(first))
        demand = demands[seen.moves, rows]
        number = np.floor((np.nan_to_num(demand) + NOISE) * self._last_offer).astype(np.int64)
        worth = discount ** ((seen.moves - 1) / 2) * (seen.offered - seen.reservation)
        accepts = (seen.offered >= 0) & (worth >= values[seen.moves, rows] - NOISE)
        waits = np.isnan(demand) | (number < (seen.reservation - NOISE) * self._last_offer)
        return np.where(accepts, self._last_offer + 1, np.where(waits, self._last_offer + 3, number))


def _fixed_share(share: float, seen: Seen) -> Floats:
    return np.full(len(seen.moves), share)


def fair(game: Game, seed: int | None = None) -> Bot:
    """Demand half of the pie."""
    return Bot(partial(_fixed_share, 0.5), game)


def hardliner(game: Game, seed: int | None = None, share: float = 0.9) -> Bot:
    """Demand `share` of the pie to the end."""
    return Bot(partial(_fixed_share, share), game)


def conceder(game: Game, seed: int | None = None, beta: float = 1.0) -> Bot:
    """Concede from the whole pie to the reservation value as time goes by, as its power 1/`beta`.

    Faratin, Sierra and Jennings (1998), time-dependent tactics: 1 is linear, below 1 is boulware (late concessions).
    """
    last = max(1, 2 * int(game.rules.blank[0].rounds) - 2)  # seat 0's last move; no offer after it can be accepted
    return Bot(partial(_conceded_share, last, beta), game)


def _conceded_share(last: int, beta: float, seen: Seen) -> Floats:
    conceded = np.minimum(seen.moves / last, 1.0) ** (1 / beta)
    return np.asarray(1 - (1 - seen.reservation) * conceded)


def boulware(game: Game, seed: int | None = None) -> Bot:
    """Concede late: `conceder` with `beta` 0.2."""
    return conceder(game, seed, 0.2)


def perfect(game: Game, seed: int | None = None) -> PerfectBot:
    """Play the subgame-perfect equilibrium of a game with public reservation values."""
    return PerfectBot(game)


def tit_for_tat(game: Game, seed: int | None = None) -> Bot:
    """Demand the whole pie; then concede as much as the opponent did with its last offer, and take nothing back.

    Faratin, Sierra and Jennings (1998), absolute tit-for-tat.
    """
    return Bot(_returned_share, game)


def _returned_share(seen: Seen) -> Floats:
    now, own, before = seen.last[:, 0], seen.last[:, 1], seen.last[:, 2]
    conceded = np.where((now >= 0) & (before >= 0), np.maximum(now - before, 0.0), 0.0)
    return np.asarray(np.where(own >= 0, own, 1.0) - conceded)


def subgame_perfect(total: float, rounds: int, discount: float, reservations: ArrayLike) -> tuple[Floats, Floats]:
    """Solve the game with known reservation values by backward induction.

    In turn t = 0 … 2·`rounds` − 1 seat t mod 2 moves; an agreement reached in turn t is worth d^(t−1) times share less
    reservation value, with d = √`discount`. The one who moves in turn t + 1 accepts exactly what its own play from
    there is worth, so the mover of turn t offers that, or passes where waiting is worth more. For reservation values 0
    and many rounds this tends to Rubinstein's (1982) split, 1 : d.

    Args:
        total: the pie.
        rounds: of the negotiation.
        discount: per round.
        reservations: of seat 0 and seat 1: shape (2,), or (2, N) for N games at once.

    Returns:
        Two float64 arrays of shape (2·rounds,) or (2·rounds, N). ``demands[t]``: the share that the mover of turn t
        asks for if it accepts nothing; NaN where it passes. ``values[t]``: the utility that it then gets, discounted.
    """
    moves, d = 2 * rounds, discount**0.5
    reservation = np.asarray(reservations, np.float64)
    demands = np.full((moves, *reservation.shape[1:]), np.nan)
    values = np.zeros((moves + 1, *reservation.shape[1:]))
    for t in range(moves - 2, -1, -1):
        mine, theirs = reservation[t % 2], reservation[1 - t % 2]
        demand = total - theirs - values[t + 1] / d**t
        offering = d**t * (demand - mine)
        waiting = values[t + 2]  # the other cannot do better than to let it come to that
        demands[t] = np.where(offering >= waiting, demand, np.nan)
        values[t] = np.maximum(offering, waiting)
    return demands, values[:moves]


BOTS = {
    "random": random_bot,
    "fair": fair,
    "hardliner": hardliner,
    "conceder": conceder,
    "boulware": boulware,
    "tit-for-tat": tit_for_tat,
    "perfect": perfect,
}
"""`random`: any legal number. `fair`: demands half. `hardliner`: demands 90 % to the end. `conceder`: concedes
linearly. `boulware`: concedes late. `tit-for-tat`: concedes as the opponent does. `perfect`: plays the subgame-perfect
equilibrium (public reservation values only)."""
