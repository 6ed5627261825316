"""The meta-game: a game in which each side chooses one of several policies. Its equilibrium ranks them."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ...envs import Game
from .cross_play import Matrix

Floats = NDArray[np.float64]

TEMPERATURE = 1e-4
"""Weight of the entropy in the equilibrium, relative to the greatest payoff."""
COOLING = 0.8
"""By which the weight falls from one equilibrium to the next, from 1 down to `TEMPERATURE`."""
RESAMPLED = 200
"""How often the deals are drawn again for the intervals."""

Interval = tuple[float, float]


@dataclass(frozen=True)
class PolicyStanding:
    """One policy's place.

    Attributes:
        name: the policy.
        nash_average: what it wins on average against the equilibrium of the meta-game: 0 if it is a part of it, less
            than 0 if it is not needed.
        nash_interval: its 95 % interval, by drawing the deals again (bootstrap).
        share: its probability in the equilibrium.
        mean: its mean against all others.
        mean_interval: its 95 % interval, by the same draws.
    """

    name: str
    nash_average: float
    nash_interval: Interval
    share: float
    mean: float
    mean_interval: Interval


def advantages(game: Game, matrices: Sequence[Matrix]) -> tuple[Floats, Floats]:
    """Return what every policy wins from every other, and the results of all deals.

    Args:
        game: the game of `matrices`.
        matrices: those of `cross_play`, without mixed teams.

    Returns:
        float64[policies, policies], antisymmetric: half the difference between what the row has in the column's
        company and the reverse, for teams on average over the teams. float64[policies, policies, deals], the same for
        every deal.
    """
    chosen = matrices[:1] if game.capabilities.teams is None else matrices
    results = np.mean([matrix.results for matrix in chosen], axis=0)
    each = np.asarray((results - results.transpose(1, 0, 2)) / 2)
    return each.mean(axis=2), each


def nash_average(payoffs: Floats) -> tuple[Floats, Floats]:
    """Return Nash averages and the equilibrium of a symmetric zero-sum game (Balduzzi et al., NeurIPS 2018).

    The equilibrium is the one of greatest entropy, up to `TEMPERATURE`: the logit equilibrium is followed from great
    entropy to little. A duplicate of a policy changes no rating.

    Args:
        payoffs: float64[N, N], antisymmetric: what the row's policy wins from the column's.

    Returns:
        float64[N], what each policy wins against the equilibrium, and float64[N], the equilibrium.
    """
    scaled = payoffs / max(float(np.abs(payoffs).max()), 1e-12)
    logits, temperature = np.zeros(len(payoffs)), 1.0
    while temperature > TEMPERATURE:
        temperature = max(TEMPERATURE, COOLING * temperature)
        logits = _logit_equilibrium(scaled, temperature, logits)
    share = _softmax(logits)
    return payoffs @ share, share


def _logit_equilibrium(payoffs: Floats, temperature: float, logits: Floats) -> Floats:
    """Return logits x with ``temperature * x == payoffs @ softmax(x)``, by Newton's method from `logits`."""

    def error(x: Floats) -> Floats:
        return np.asarray(temperature * x - payoffs @ _softmax(x))

    wrong = error(logits)
    for _ in range(100):
        if np.abs(wrong).max() < 1e-12:
            break
        share = _softmax(logits)
        slope = temperature * np.eye(len(share)) - payoffs @ (np.diag(share) - np.outer(share, share))
        step, length = np.linalg.solve(slope, wrong), 1.0
        while length > 1e-6 and np.linalg.norm(error(logits - length * step)) > np.linalg.norm(wrong):
            length /= 2
        logits = logits - length * step
        wrong = error(logits)
    return logits


def _softmax(logits: Floats) -> Floats:
    weights = np.exp(logits - logits.max())
    return np.asarray(weights / weights.sum())


def intervals(results: Floats, seed: int = 0) -> tuple[Floats, Floats]:
    """Return the 95 % intervals of the Nash averages and of the means: float64[2, N] each, low and high.

    The deals are drawn again `RESAMPLED` times, with replacement (Efron's percentile bootstrap).
    """
    random, deals = np.random.default_rng(seed), results.shape[2]
    averages, means = [], []
    for _ in range(RESAMPLED):
        drawn = random.multinomial(deals, np.full(deals, 1 / deals))
        payoffs = np.asarray(results @ drawn / deals)
        averages.append(nash_average(payoffs)[0])
        means.append(payoffs.sum(axis=1) / max(1, len(payoffs) - 1))
    low, high = np.quantile([averages, means], (0.025, 0.975), axis=1)
    return np.stack([low[0], high[0]]), np.stack([low[1], high[1]])


def standings(names: Sequence[str], payoffs: Floats, results: Floats, seed: int = 0) -> list[PolicyStanding]:
    """Return the policies' places, the best Nash average first; among equals the greater mean.

    Args:
        names: the policies.
        payoffs: see `advantages`.
        results: see `advantages`.
        seed: of the draws for the intervals.
    """
    average, share = nash_average(payoffs)
    averages_within, means_within = intervals(results, seed)
    means = payoffs.sum(axis=1) / max(1, len(names) - 1)
    unit = max(float(np.abs(payoffs).max()), 1e-12)
    order = sorted(range(len(names)), key=lambda i: (-round(float(average[i]) / unit, 2), -means[i]))
    return [
        PolicyStanding(
            names[i],
            nash_average=float(average[i]),
            nash_interval=(float(averages_within[0, i]), float(averages_within[1, i])),
            share=float(share[i]),
            mean=float(means[i]),
            mean_interval=(float(means_within[0, i]), float(means_within[1, i])),
        )
        for i in order
    ]
