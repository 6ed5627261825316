"""Evaluation over duplicate deals: every deal is played once with the policy in each seat."""

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from math import sqrt
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..envs import Game, VectorGame
from ..envs.core.vector import STAY
from ..wrappers.policy import Policy

TABLES = 4_096
"""Tables played side by side."""


@dataclass(frozen=True)
class Score:
    """A mean with its 95 % confidence interval.

    Attributes:
        mean: per game (hold'em: per hand).
        low: lower end of the interval.
        high: upper end.
        deals: independent deals, over which the interval is computed.
        games: games played: each deal once in every seat.
        unit: what `mean` counts, such as ``"big blinds per hand"``.
    """

    mean: float
    low: float
    high: float
    deals: int
    games: int
    unit: str

    @classmethod
    def of(cls, results: NDArray[np.float64], unit: str, games: int) -> "Score":
        """Summarise one result per deal (float64[deals], at least 2): normal interval of the mean."""
        mean = float(results.mean())
        half = 1.96 * float(results.std(ddof=1)) / sqrt(len(results))
        return cls(mean, mean - half, mean + half, len(results), games, unit)

    def to_dict(self) -> dict[str, Any]:
        """Return the fields as a dict for JSON."""
        return asdict(self)

    def __str__(self) -> str:
        return f"{self.mean:+.3f} [{self.low:+.3f}, {self.high:+.3f}]"


def evaluate(
    policy: Policy,
    game: Game,
    opponents: Sequence[Policy],
    *,
    deals: int = 20_000,
    seed: int = 0,
    progress: Callable[[int], None] | None = None,
) -> Score:
    """Play duplicate deals and return what `policy` wins per game.

    The same deal is played with the policy in each seat and the opponents in the others, in the same order to its
    left. What a good hand brings whoever holds it cancels out; the interval counts each deal once.

    Args:
        policy: who is evaluated.
        game: any game with its options.
        opponents: one for every other seat (the first sits to the policy's left), or a single one for all of them.
        deals: how many, at least 2; each is played once per seat.
        seed: of the deals. Policies draw from their own streams.
        progress: called with the number of deals just played.

    Returns:
        The mean in `game.unit` (hold'em: big blinds) per game, with a 95 % interval.

    Raises:
        ValueError: if the number of opponents does not fit the game, or there are fewer than 2 deals.
    """
    if len(opponents) not in (1, game.seats - 1):
        raise ValueError(f"{len(opponents)} opponents at {game.seats} seats: give {game.seats - 1}, or one for all")
    if deals < 2:
        raise ValueError(f"deals={deals}: an interval needs at least 2")
    around = [policy, *opponents] if len(opponents) > 1 else [policy, *opponents * (game.seats - 1)]
    seeds = np.random.SeedSequence(seed).generate_state(deals, np.uint64).tolist()
    size = max(1, TABLES // game.seats)
    results = []
    for start in range(0, deals, size):
        chunk = seeds[start : start + size]
        results.append(_play(game, around, chunk))
        if progress is not None:
            progress(len(chunk))
    per = "hand" if game.options.get("hands") == 1 else "game"
    return Score.of(np.concatenate(results) / game.unit, f"{game.unit_name} per {per}", games=deals * game.seats)


def _play(game: Game, around: Sequence[Policy], seeds: Sequence[int]) -> NDArray[np.float64]:
    """Play every deal once with ``around[0]`` in each seat; return its mean reward of each deal, float64[deals]."""
    tables = VectorGame(game, len(seeds) * game.seats)
    tables.reset(seed=[seed for seed in seeds for _ in range(game.seats)])
    seat = np.tile(np.arange(game.seats), len(seeds))
    # Opponents that are one object act on all their seats in one batch.
    players = list({id(player): player for player in around}.values())
    who = np.array([next(i for i, one in enumerate(players) if one is player) for player in around])
    row = np.arange(tables.num_envs)
    live = np.ones(tables.num_envs, np.bool_)
    total = np.zeros(tables.num_envs)
    actions = np.empty(tables.num_envs, np.int64)
    while live.any():
        actions[:] = STAY  # a finished table has been reset already; it waits for the others
        acting = who[(tables.turn - seat) % game.seats]
        for number, player in enumerate(players):
            mine = np.flatnonzero(live & (acting == number))
            if len(mine):
                actions[mine] = player.act(tables.observations[mine], tables.action_masks[mine])
        tables.step(actions)
        total += tables.rewards[row, seat]
        live &= ~tables.dones
    return total.reshape(-1, game.seats).mean(axis=1)
