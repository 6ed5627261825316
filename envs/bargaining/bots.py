"""Scripted negotiators, and the subgame-perfect split. Bots get only the observation and the mask of their seat.

Most bots are defined by a demand: a share of the pie that depends on the observation. Such a bot accepts an offer of at
least its demand. Else it offers the lowest share on the grid that meets the demand and its reservation value.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..core.game import Game
from ..core.rollout import random_bot
from .encoders import LAST

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
NOISE = 1e-5
"""The rounding error of shares of the pie in the observation's float32."""


@dataclass(frozen=True)
class Seen:
    """A decoded batch of observations: float64[N], amounts as shares of the pie.

    Attributes:
        reservation: the observer's reservation value.
        opponent_reservation: the opponent's, if it is public; else 0.
        offered: the observer's share in the opponent's current offer; −1 without one.
        moves: int64[N], the number of moves so far.
        last: float64[N, 4], the observer's share in each of the last four moves, newest first; −1 if the move was not
            an offer.
    """

    reservation: Floats
    opponent_reservation: Floats
    offered: Floats
    moves: Ints
    last: Floats


Demand = Callable[[Seen], Floats]


class Reader:
    """Decodes the observations of a game.

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
        """Decode float32[N, D] observations."""
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


class BargainingBot(Reader):
    """A negotiator that is defined by a demand.

    Args:
        demand: function from `Seen` to float64[N] shares of the pie.
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


def fair(game: Game, seed: int | None = None) -> BargainingBot:
    """Return the bot that demands half of the pie."""
    return BargainingBot(partial(_fixed_share, 0.5), game)


def hardliner(game: Game, seed: int | None = None, share: float = 0.9) -> BargainingBot:
    """Return the bot that demands `share` of the pie until the end."""
    return BargainingBot(partial(_fixed_share, share), game)


def conceder(game: Game, seed: int | None = None, beta: float = 1.0) -> BargainingBot:
    """Return the bot that concedes from the whole pie to its reservation value, by the time to the power 1/`beta`.

    Faratin, Sierra and Jennings (1998), time-dependent tactics: 1 is linear, below 1 is boulware (late concessions).
    """
    last = max(1, 2 * int(game.rules.blank[0].rounds) - 2)  # seat 0's last move; no offer after it can be accepted
    return BargainingBot(partial(_conceded_share, last, beta), game)


def _conceded_share(last: int, beta: float, seen: Seen) -> Floats:
    conceded = np.minimum(seen.moves / last, 1.0) ** (1 / beta)
    return np.asarray(1 - (1 - seen.reservation) * conceded)


def boulware(game: Game, seed: int | None = None) -> BargainingBot:
    """Return the bot that concedes late: `conceder` with `beta` 0.2."""
    return conceder(game, seed, 0.2)


def perfect(game: Game, seed: int | None = None) -> PerfectBot:
    """Return the bot that plays the subgame-perfect equilibrium; the reservation values must be public."""
    return PerfectBot(game)


def tit_for_tat(game: Game, seed: int | None = None) -> BargainingBot:
    """Return the bot that demands the whole pie, and then concedes as much as the opponent did with its last offer.

    It never raises its demand. Faratin, Sierra and Jennings (1998), absolute tit-for-tat.
    """
    return BargainingBot(_returned_share, game)


def _returned_share(seen: Seen) -> Floats:
    now, own, before = seen.last[:, 0], seen.last[:, 1], seen.last[:, 2]
    conceded = np.where((now >= 0) & (before >= 0), np.maximum(now - before, 0.0), 0.0)
    return np.asarray(np.where(own >= 0, own, 1.0) - conceded)


def subgame_perfect(total: float, rounds: int, discount: float, reservations: ArrayLike) -> tuple[Floats, Floats]:
    """Solve the game with known reservation values by backward induction.

    In turn t = 0 … 2·`rounds` − 1 seat t mod 2 moves. An agreement in turn t has the utility d^(t−1) · (share −
    reservation value), with d = √`discount`. The mover of turn t + 1 accepts exactly the value of its own best play
    from there. So the mover of turn t offers that value, or passes if waiting has a higher value. For reservation
    values 0 and many rounds this tends to Rubinstein's (1982) split, 1 : d.

    Args:
        total: the pie.
        rounds: the number of rounds.
        discount: the factor per round.
        reservations: the reservation values of seat 0 and seat 1: shape (2,), or (2, N) for N games at once.

    Returns:
        Two float64 arrays of shape (2·rounds,) or (2·rounds, N). ``demands[t]``: the share that the mover of turn t
        demands if it does not accept; NaN if it passes. ``values[t]``: its discounted utility then.
    """
    moves, d = 2 * rounds, discount**0.5
    reservation = np.asarray(reservations, np.float64)
    demands = np.full((moves, *reservation.shape[1:]), np.nan)
    values = np.zeros((moves + 1, *reservation.shape[1:]))
    for t in range(moves - 2, -1, -1):
        mine, theirs = reservation[t % 2], reservation[1 - t % 2]
        demand = total - theirs - values[t + 1] / d**t
        offering = d**t * (demand - mine)
        waiting = values[t + 2]  # the opponent cannot get more than by this play
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
"""`random`: any legal action. `fair`: demands half. `hardliner`: demands 90 % until the end. `conceder`: concedes
linearly. `boulware`: concedes late. `tit-for-tat`: concedes as the opponent does. `perfect`: plays the subgame-perfect
equilibrium (public reservation values only)."""
