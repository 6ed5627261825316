"""A policy beside the closed form of its game, for the games that have one."""

from ...envs import Game
from ...envs.core.rollout import Policy
from ..games import specifics
from .comparison import Comparison

MATCHES = 20_000
"""Matches that are compared."""


def compare(policy: Policy, game: Game, *, matches: int = MATCHES, seed: int = 0) -> Comparison | None:
    """Play matches with `policy` in all seats and set them beside the closed form of `game`.

    Args:
        policy: who is compared.
        game: with its options.
        matches: how many, at least 1.
        seed: of the deals. The policy draws from its own stream.

    Returns:
        None for a game, or options of it, without a closed form.
    """
    method = specifics(game.name).compare
    return None if method is None else method(policy, game, matches=matches, seed=seed)
