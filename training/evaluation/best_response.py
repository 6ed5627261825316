"""Best response: how exploitable a policy is, exactly or as a lower bound, for the games that have a method for it."""

from collections.abc import Callable

from ...envs import Game
from ...envs.core.rollout import Policy
from .games import games_with, measures
from .scores import Score


def best_response(
    policy: Policy, game: Game, *, hands: int = 1_000, seed: int = 0, progress: Callable[[int], None] | None = None
) -> Score:
    """Play a best response against `policy` and return what it wins: at most, or exactly, the policy's exploitability.

    Of several settings of the method, the last one is played.

    Args:
        policy: the policy to exploit.
        game: a game with a method for it, with its options.
        hands: number of hands (episodes).
        seed: seed of the deals and of the method.
        progress: called with the number of hands just played.

    Returns:
        What the responder wins from the policy, in the game's unit, with its 95 % interval (see `exploit`).

    Raises:
        ValueError: if there is no method for the game or its options, or there are too few hands.
    """
    methods = measures(game.name).best_responses
    if not methods:
        names = ", ".join(games_with("best_responses"))
        raise ValueError(f"there is no best response for {game.id}; there is one for {names}")
    return methods[list(methods)[-1]](policy, game, hands=hands, seed=seed, progress=progress).score
