"""Evaluation in games with sides (Mafia): a policy plays one whole side, another the other.

Matches are counted, not deals in every seat: who is on which side is part of the deal, and the same deals are played
with the policy on each side, and with the other policy in its place.
"""

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from math import exp, sqrt
from typing import Any

import numpy as np
from numpy.typing import NDArray
from rich.table import Table

from ..envs import Game, VectorGame
from ..envs.core.rng import streams
from ..envs.core.vector import STAY
from ..wrappers.policy import Policy

TABLES = 2_048
"""Tables played side by side."""
Z = 1.959964
"""The normal distribution's 97.5 % quantile."""


@dataclass(frozen=True)
class Share:
    """How often something happened, with its 95 % interval (Wilson's)."""

    share: float
    low: float
    high: float
    matches: int

    @classmethod
    def of(cls, happened: NDArray[np.bool_]) -> "Share":
        """Summarise bool[matches], at least 1."""
        n, p = len(happened), float(happened.mean())
        middle, half = (p + Z * Z / (2 * n)) / (1 + Z * Z / n), Z * sqrt(p * (1 - p) / n + Z * Z / (4 * n * n))
        half /= 1 + Z * Z / n
        return cls(p, max(0.0, middle - half), min(1.0, middle + half), n)

    def __str__(self) -> str:
        return f"{self.share:.3f} [{self.low:.3f}, {self.high:.3f}]"


@dataclass(frozen=True)
class SideScore:
    """A policy in the place of another, on one whole side.

    Attributes:
        side: its name.
        losses: how often the policy lost, the other side played by `against`.
        reference: how often `against` lost in its place, on the same deals.
        ratio: the one divided by the other, with its 95 % interval `low` to `high` (Katz's; None where either never
            lost).
    """

    side: str
    losses: Share
    reference: Share
    ratio: float | None
    low: float | None
    high: float | None

    @classmethod
    def of(cls, side: str, losses: Share, reference: Share) -> "SideScore":
        """Divide."""
        p, q, n, m = losses.share, reference.share, losses.matches, reference.matches
        if not p or not q:
            return cls(side, losses, reference, None, None, None)
        spread = exp(Z * sqrt((1 - p) / (n * p) + (1 - q) / (m * q)))
        return cls(side, losses, reference, p / q, p / q / spread, p / q * spread)


@dataclass(frozen=True)
class SideReport:
    """A policy in a game with sides.

    Attributes:
        against: the other policy's name.
        scores: side by side, the policy against the other.
        wins: how often each side won when the policy played all seats.
        others: the same for the other policy.
    """

    against: str
    scores: Sequence[SideScore]
    wins: dict[str, Share]
    others: dict[str, Share]

    def to_dict(self) -> dict[str, Any]:
        """Return the fields as a dict for JSON."""
        return asdict(self)

    def tables(self, name: str) -> list[Table]:
        """Return the report for people."""
        losses = Table("side", "loses", f"{self.against} in its place", "ratio", "95 % interval")
        losses.title = f"{name} plays one side, {self.against} the other: {self.scores[0].losses.matches:,} matches"
        for score in self.scores:
            ratio, interval = "—", "—"
            if score.ratio is not None:
                ratio, interval = f"{score.ratio:.3f}", f"{score.low:.3f} to {score.high:.3f}"
            losses.add_row(score.side, str(score.losses), str(score.reference), ratio, interval)
        wins = Table("side", f"{name} in all seats", f"{self.against} in all seats", title="wins")
        for side in self.wins:
            wins.add_row(side, str(self.wins[side]), str(self.others[side]))
        return [losses, wins]


def evaluate_sides(
    policy: Policy,
    game: Game,
    other: Policy,
    *,
    against: str = "the other",
    matches: int = 10_000,
    seed: int = 0,
    progress: Callable[[int], None] | None = None,
) -> SideReport:
    """Play `matches` in each of four castings: the policy on each side, in all seats, and nowhere.

    Args:
        policy: who is evaluated.
        game: a game with sides, two of them.
        other: who plays the other seats.
        against: its name.
        matches: deals, at least 1; every casting plays the same ones.
        seed: of the deals. Policies draw from their own streams.
        progress: called with the number of matches just played, of 4 · `matches`.

    Raises:
        ValueError: if the game has no sides.
    """
    if game.sides is None:
        raise ValueError(f"in {game.name} every seat plays for itself")
    seeds = streams(seed, matches).tolist()

    def cast(*players: Policy) -> NDArray[np.int8]:
        results = []
        for start in range(0, matches, TABLES):
            results.append(play(game, players, seeds[start : start + TABLES]))
            if progress is not None:
                progress(len(results[-1]))
        return np.concatenate(results)

    sides = range(len(game.side_names))
    results = {side: cast(*(policy if one == side else other for one in sides)) for side in sides}
    nobody, all_seats = cast(*(other for _ in sides)), cast(*(policy for _ in sides))
    scores = [
        SideScore.of(name, Share.of(results[side][:, side] < 0), Share.of(nobody[:, side] < 0))
        for side, name in enumerate(game.side_names)
    ]
    wins, others = (
        {name: Share.of(result[:, side] > 0) for side, name in enumerate(game.side_names)}
        for result in (all_seats, nobody)
    )
    return SideReport(against, scores, wins, others)


def play(game: Game, players: Sequence[Policy], seeds: Sequence[int]) -> NDArray[np.int8]:
    """Play a match per seed, ``players[i]`` in all seats of side i.

    Returns:
        int8[matches, sides]: 1 where a side won, −1 where it lost, 0 without a winner.
    """
    assert game.sides is not None
    tables = VectorGame(game, len(seeds))
    tables.reset(seed=list(seeds))
    sides = game.sides(tables.tables).astype(np.int64)
    row = np.arange(len(seeds))
    live = np.ones(len(seeds), np.bool_)
    total = np.zeros((len(seeds), game.seats))
    actions = np.empty(len(seeds), np.int64)
    while live.any():
        actions[:] = STAY  # a finished table has been reset already; it waits for the others
        acting = sides[row, tables.turn]
        for side, one in enumerate(players):
            mine = np.flatnonzero(live & (acting == side))
            if len(mine):
                actions[mine] = one.act(tables.observations[mine], tables.action_masks[mine])
        tables.step(actions)
        total[live] += tables.rewards[live]
        live &= ~tables.dones
    results = [np.where(sides == side, total, 0).sum(axis=1) for side in range(len(game.side_names))]
    return np.sign(np.stack(results, axis=1)).astype(np.int8)
