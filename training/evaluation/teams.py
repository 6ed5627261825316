"""`parlour play_teams`: mafia by sides. What the mafia and the town win when one policy plays each, and how they play."""

from collections.abc import Callable
from dataclasses import dataclass
from math import exp, nan, sqrt

import numpy as np
from numpy.typing import NDArray

from ...envs import Game, play_until_done
from ...envs.core.record import Tables
from ...envs.core.rng import streams
from ...envs.mafia.habits import habits
from ...envs.mafia.table import MAFIA_WINS, TOWN_WINS
from ...wrappers.policies.base import Policy

TABLES = 4_096
"""Matches played side by side."""


@dataclass(frozen=True)
class Share:
    """The share of the matches that a side won, with its 95 % interval (Wilson's).

    Attributes:
        share: of all matches, 0 to 1.
        low: lower end of the interval.
        high: upper end.
        matches: how many were played.
    """

    share: float
    low: float
    high: float
    matches: int

    @classmethod
    def of(cls, won: int, matches: int) -> "Share":
        """Return the share of `won` in `matches`, at least 1."""
        share, z2 = won / matches, 1.959964**2
        middle = (share + z2 / (2 * matches)) / (1 + z2 / matches)
        half = sqrt(z2 * (share * (1 - share) / matches + z2 / (4 * matches**2))) / (1 + z2 / matches)
        return cls(share, middle - half, middle + half, matches)

    def __str__(self) -> str:
        return f"{self.share:.3f} [{self.low:.3f}, {self.high:.3f}]"


@dataclass(frozen=True)
class Ratio:
    """One share by another, with its 95 % interval (Katz's).

    Attributes:
        ratio: not a number where either share is 0, and so are `low` and `high`.
        low: lower end of the interval.
        high: upper end.
    """

    ratio: float
    low: float
    high: float

    @classmethod
    def of(cls, one: Share, other: Share) -> "Ratio":
        """Divide `one` by `other`."""
        p, q = one.share, other.share
        if not p or not q:
            return cls(nan, nan, nan)
        spread = exp(1.959964 * sqrt((1 - p) / (one.matches * p) + (1 - q) / (other.matches * q)))
        return cls(p / q, p / q / spread, p / q * spread)

    def __str__(self) -> str:
        return f"{self.ratio:.3f} [{self.low:.3f}, {self.high:.3f}]"


@dataclass(frozen=True)
class TeamResult:
    """What both sides won and how they played.

    Attributes:
        mafia: the matches that the mafia won.
        town: the matches that the town won; the rest ended by the limit of days.
        days: the mean length.
        habits: by side (``"mafia"``, ``"town"``) the shares that `habits` tells.
    """

    mafia: Share
    town: Share
    days: float
    habits: dict[str, dict[str, float]]


def finished(game: Game, mafia: Policy, town: Policy, seeds: NDArray[np.uint64]) -> Tables:
    """Play one match per seed with `mafia` in all seats of the mafia and `town` in all others.

    Returns:
        The records of the matches as they ended, recarray of shape (len(seeds),).
    """
    tables = game.tables(len(seeds))
    tables.stream = seeds
    assert game.capabilities.teams is not None
    play_until_done(game, [town, mafia], tables, who=game.capabilities.teams.of)
    return tables


def play_teams(
    game: Game,
    mafia: Policy,
    town: Policy,
    *,
    matches: int = 5_000,
    seed: int = 0,
    progress: Callable[[int], None] | None = None,
) -> TeamResult:
    """Play `matches` matches, `mafia` against `town`.

    Args:
        game: mafia with its options.
        mafia: plays all seats of the mafia.
        town: plays all other seats.
        matches: how many, at least 1.
        seed: of the deals. Policies draw from their own streams.
        progress: called with the number of matches just played.
    """
    if matches < 1:
        raise ValueError(f"matches={matches}: need at least 1")
    seeds, done = streams(seed, matches), []
    for start in range(0, matches, TABLES):
        done.append(finished(game, mafia, town, seeds[start : start + TABLES]))
        if progress is not None:
            progress(len(done[-1]))
    tables = np.concatenate(done).view(np.recarray)
    won = [int((tables.winner == winner).sum()) for winner in (MAFIA_WINS, TOWN_WINS)]
    return TeamResult(
        Share.of(won[0], matches),
        Share.of(won[1], matches),
        float(tables.round_number.astype(np.int64).mean()),
        {"mafia": habits(tables, True), "town": habits(tables, False)},
    )
