"""Comparison of a policy with the known equilibrium of its game, for the games that have one."""

from ...envs import Game
from ...envs.core.rollout import Policy
from .comparison import Comparison
from .games import measures

MATCHES = 20_000
"""Number of matches of a comparison."""


def compare(policy: Policy, game: Game, *, matches: int = MATCHES, seed: int = 0) -> Comparison | None:
    """Play matches with `policy` in all seats and compare them with the known equilibrium of `game`.

    Args:
        policy: the policy to compare.
        game: the game with its options.
        matches: number of matches, at least 1.
        seed: seed of the deals. The policy draws from its own stream.

    Returns:
        The comparison; None for a game, or options of it, without a known equilibrium.
    """
    method = measures(game.name).compare
    return None if method is None else method(policy, game, matches=matches, seed=seed)
