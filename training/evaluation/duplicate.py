"""Evaluation over duplicate deals: every deal is played once with the policy in each seat."""

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from ...envs import Game, play_until_done
from ...envs.core.counted import counted
from ...envs.core.rng import streams
from ...envs.core.rollout import tables_with_seed
from ...wrappers.policies.base import Policy
from .scores import Score

TABLES = 4_096
"""Number of tables played at the same time."""


def evaluate(
    policy: Policy,
    game: Game,
    opponents: Sequence[Policy],
    *,
    deals: int = 20_000,
    seed: int = 0,
    progress: Callable[[int], None] | None = None,
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
    progress: Callable[[int], None] | None = None,
    adjusted: bool = True,
) -> NDArray[np.float64]:
    """Return what `policy` won of each deal in each seat, float64[deals, seats] in `game.payoffs.unit`.

    The arguments are those of `evaluate`.
    """
    if len(opponents) not in (1, game.seats - 1):
        given = f"{counted(len(opponents), 'opponents')} at {counted(game.seats, 'seats')}"
        raise ValueError(f"{given}: give {game.seats - 1}, or one for all")
    if deals < 2:
        raise ValueError(f"deals={deals}: an interval needs at least 2")
    seeds = streams(seed, deals).tolist()
    size = max(1, TABLES // game.seats)
    results = []
    for start in range(0, deals, size):
        chunk = seeds[start : start + size]
        results.append(results_of_seeds(policy, game, opponents, chunk, adjusted))
        if progress is not None:
            progress(len(chunk))
    return np.concatenate(results)


def results_of_seeds(
    policy: Policy, game: Game, opponents: Sequence[Policy], seeds: Sequence[int], adjusted: bool = True
) -> NDArray[np.float64]:
    """Return what `policy` won of the deals of these seeds in each seat, all played at once.

    It is float64[deals, seats] in `game.payoffs.unit`. The table of deal `d` with the policy in seat `s` has row
    ``d * seats + s``. The other arguments are those of `evaluate`.
    """
    around = [policy, *(opponents if len(opponents) > 1 else list(opponents) * (game.seats - 1))]
    return _play(game, around, seeds, adjusted) / game.payoffs.unit


def _play(game: Game, around: Sequence[Policy], seeds: Sequence[int], adjusted: bool) -> NDArray[np.float64]:
    """Play every deal once with ``around[0]`` in each seat; return its rewards there, float64[deals, seats]."""
    tables = tables_with_seed(game, len(seeds) * game.seats, [seed for seed in seeds for _ in range(game.seats)])
    seat = np.tile(np.arange(game.seats), len(seeds))
    policies = list({id(each): each for each in around}.values())  # one object acts on all its seats in one batch
    who = np.array([next(i for i, one in enumerate(policies) if one is each) for each in around])
    seated = who[(np.arange(game.seats) - seat[:, None]) % game.seats]
    total = play_until_done(game, policies, tables, who=lambda tables: seated)
    reduction = game.capabilities.variance_reduction
    if adjusted and reduction is not None:
        total = reduction.without_luck(tables, total)
    rewards: NDArray[np.float64] = total[np.arange(len(tables)), seat].reshape(-1, game.seats)
    return rewards
