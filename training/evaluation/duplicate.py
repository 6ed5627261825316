"""Duplicate play: every deal is played once in each seat; and scores with their intervals."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from math import sqrt
from typing import Any

import numpy as np
from numpy.typing import NDArray
from rich.table import Table

from ...envs import Game, play_until_done, streams
from ...envs.core.counted import counted
from ...envs.core.rollout import tables_with_seed
from ...wrappers.policies.base import Policy
from ..parallel.tasks import Tick, ignore
from ..terminal.console import table_of


@dataclass(frozen=True)
class Score:
    """A mean with its 95 % confidence interval.

    Attributes:
        mean: mean return per game (hold'em: per hand).
        low: lower end of the interval.
        high: upper end.
        deals: number of independent deals, over which the interval is computed.
        games: number of games: each deal once per seat.
        unit: the unit of `mean`, such as ``"big blinds per hand"``.
    """

    mean: float
    low: float
    high: float
    deals: int
    games: int
    unit: str

    @classmethod
    def of(cls, results: NDArray[np.float64], unit: str, games: int) -> "Score":
        """Return the mean and Student's interval of one result per deal (float64[deals], at least 2)."""
        mean = float(results.mean())
        half = student_quantile(len(results) - 1) * float(results.std(ddof=1)) / sqrt(len(results))
        return cls(mean, mean - half, mean + half, len(results), games, unit)

    @classmethod
    def share(cls, won: int, matches: int, unit: str) -> "Score":
        """Return the share `won` of `matches`, at least 1, with Wilson's interval."""
        share, z2 = won / matches, 1.959964**2
        middle = (share + z2 / (2 * matches)) / (1 + z2 / matches)
        half = sqrt(z2 * (share * (1 - share) / matches + z2 / (4 * matches**2))) / (1 + z2 / matches)
        return cls(share, middle - half, middle + half, matches, matches, unit)

    def reversed(self) -> "Score":
        """Return the score of the opponent in a zero-sum game of two seats."""
        return replace(self, mean=-self.mean, low=-self.high, high=-self.low)

    def to_dict(self) -> dict[str, Any]:
        """Return the fields as a dict for JSON."""
        return asdict(self)

    def __str__(self) -> str:
        sign = "" if self.unit.startswith("share") else "+"
        return f"{self.mean:{sign}.3f} [{self.low:{sign}.3f}, {self.high:{sign}.3f}]"

    def in_two_lines(self) -> str:
        """Return the mean with its interval below it, with a sign or, for shares, none."""
        return str(self).replace(" ", "\n", 1)


class RunningScore:
    """The mean of results that come one by one, with its interval; its size does not grow with their number.

    Attributes:
        count: the number of results.
        mean: their mean so far.

    >>> score = RunningScore("chips per hand")
    >>> for result in (1.0, 3.0, 2.0):
    ...     score.add(result)
    >>> score.in_words()
    '+2.00 chips per hand (95 %: -0.48 to +4.48)'
    """

    def __init__(self, unit: str) -> None:
        self.unit = unit
        self.count, self.mean, self._squares = 0, 0.0, 0.0  # the squares are those of differences from the mean

    def add(self, result: float) -> None:
        """Count a result, by Welford's formulas."""
        self.count += 1
        difference = result - self.mean
        self.mean += difference / self.count
        self._squares += difference * (result - self.mean)

    def score(self) -> Score | None:
        """Return the mean with Student's interval; None: there are fewer than 2 results."""
        count, mean = self.count, self.mean
        if count < 2:
            return None
        half = student_quantile(count - 1) * sqrt(self._squares / (count - 1) / count)
        return Score(mean, mean - half, mean + half, count, count, self.unit)

    def in_words(self) -> str:
        """Return it for a line of text; empty: there are fewer than 2 results."""
        one = self.score()
        return "" if one is None else f"{one.mean:+.2f} {one.unit} (95 %: {one.low:+.2f} to {one.high:+.2f})"


def student_quantile(freedom: int) -> float:
    """Return the 97.5 % quantile of Student's t (Abramowitz and Stegun 26.7.5; within 1 % from 3 degrees on)."""
    if freedom < 3:
        return (12.706, 4.303)[freedom - 1]
    z = 1.959964
    first, second = (z**3 + z) / 4, (5 * z**5 + 16 * z**3 + 3 * z) / 96
    third = (3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / 384
    return z + first / freedom + second / freedom**2 + third / freedom**3


def score_table(scores: Mapping[str, Score], title: str, wins: Mapping[str, Score] | None = None) -> Table:
    """Return the returns of a policy by opponent as a table, beside what each opponent wins from it.

    Args:
        scores: the mean return of the policy, by opponent.
        title: the title, before the unit.
        wins: what the opponent wins from the policy, by opponent; None: not shown.
    """
    unit = next(iter(scores.values())).unit
    beside = [] if wins is None else ["wins from it", "95 % interval"]
    rows = []
    for name, score in scores.items():
        won = [] if wins is None else ["", ""] if name not in wins else cells(wins[name], "red", "green")
        rows.append([name, *cells(score), *won, f"{score.deals:,}"])
    return table_of(["against", "return", "95 % interval", *beside, "deals"], rows, f"{title} ({unit})")


def cells(score: Score, above: str = "green", below: str = "red") -> list[str]:
    """Return a mean and its interval; the mean in the colour of where the interval is, above 0 or below."""
    colour = above if score.low > 0 else below if score.high < 0 else "yellow"
    return [f"[{colour}]{score.mean:+.2f}[/]", f"{score.low:+.2f} to {score.high:+.2f}"]


TABLES = 4_096
"""Number of tables played at the same time."""


def evaluate(
    policy: Policy,
    game: Game,
    opponents: Sequence[Policy],
    *,
    deals: int = 20_000,
    seed: int = 0,
    progress: Tick = ignore,
    adjusted: bool = True,
) -> Score:
    """Play duplicate deals and return the mean return of `policy` per game.

    The same deal is played with the policy in each seat and the opponents in the others, in the same order to its
    left. So the luck of the deal cancels out. The interval counts each deal once.

    Args:
        policy: the policy to evaluate.
        game: any game with its options.
        opponents: one for every other seat (the first sits to the policy's left), or a single one for all of them.
        deals: number of deals, at least 2; each is played once per seat.
        seed: seed of the deals. Policies draw from their own streams.
        progress: called with the number of deals just played.
        adjusted: whether to take out more luck where the game has a method for it (hold'em: that of the
            board with two seats, that of all-ins with more). The mean stays the same, the interval shrinks.

    Returns:
        The mean in `game.payoffs.unit` (hold'em: big blinds) per game, with a 95 % interval.

    Raises:
        ValueError: if the number of opponents does not fit the game, or there are fewer than 2 deals.
    """
    results = results_of_deals(policy, game, opponents, deals=deals, seed=seed, progress=progress, adjusted=adjusted)
    return Score.of(results.mean(axis=1), unit_per_game(game), games=deals * game.seats)


def unit_per_game(game: Game) -> str:
    """Return the unit of a mean return, such as ``"big blinds per hand"``."""
    return f"{game.payoffs.unit_name} per {game.payoffs.episode_name}"


def results_of_deals(
    policy: Policy,
    game: Game,
    opponents: Sequence[Policy],
    *,
    deals: int,
    seed: int = 0,
    progress: Tick = ignore,
    adjusted: bool = True,
) -> NDArray[np.float64]:
    """Return the results of `policy` by deal and seat, float64[deals, seats] in `game.payoffs.unit`.

    The arguments are those of `evaluate`.
    """
    if len(opponents) not in (1, game.seats - 1):
        given = f"{counted(len(opponents), 'opponents')} at {counted(game.seats, 'seats')}"
        raise ValueError(f"{given}: give {game.seats - 1}, or one for all")
    if deals < 2:
        raise ValueError(f"deals={deals}: an interval needs at least 2")
    around = [policy, *(opponents if len(opponents) > 1 else list(opponents) * (game.seats - 1))]
    policies = list({id(each): each for each in around}.values())  # one object acts on all its seats in one batch
    who = np.array([next(i for i, one in enumerate(policies) if one is each) for each in around])
    seeds, size = streams(seed, deals).tolist(), max(1, TABLES // game.seats)
    results = []
    for start in range(0, deals, size):
        deal = [seed for seed in seeds[start : start + size] for _ in range(game.seats)]
        seat = np.arange(len(deal)) % game.seats  # of the policy: a deal has a table for each
        tables = tables_with_seed(game, len(deal), deal)
        seated = who[(np.arange(game.seats) - seat[:, None]) % game.seats]
        total = play_until_done(game, policies, tables, who=lambda _: seated)  # noqa: B023 (asked for at once)
        if adjusted and game.capabilities.variance_reduction is not None:
            total = game.capabilities.variance_reduction.without_luck(tables, total)
        results.append(total[np.arange(len(tables)), seat].reshape(-1, game.seats) / game.payoffs.unit)
        progress(len(results[-1]))
    return np.concatenate(results)
