"""Search on top of policies, for the games that have one."""

from collections.abc import Callable

from ...envs import Game
from ...wrappers.policies.base import Policy


def searching(spec: str, player: Policy, game: Game, seed: int | None = None) -> Policy:
    """Return a policy with its game's search on top, without a time limit; `seed` is for what it draws.

    Raises:
        ValueError: if the game has none, or it cannot search with this policy.
    """
    if game.name not in SEARCHES:
        raise ValueError(f"--search: {spec} plays {game.name}; only {' and '.join(SEARCHES)} have a search")
    return SEARCHES[game.name](player, game, seed)


def _resolving(player: Policy, game: Game, seed: int | None) -> Policy:
    from ...envs.holdem.resolving import HoldemResolving
    from ...wrappers.agents.resolving import ResolvingPolicy

    return ResolvingPolicy(player, HoldemResolving(game, player), seed=seed)


def _planning(player: Policy, game: Game, seed: int | None) -> Policy:
    from ...envs.tangram.planning import TangramPlanning
    from ...wrappers.agents.search import SearchPolicy

    return SearchPolicy(game, player, TangramPlanning(game))  # it draws nothing


SEARCHES: dict[str, Callable[[Policy, Game, int | None], Policy]] = {"holdem": _resolving, "tangram": _planning}
"""The searches by the name of the game. They are imported at their first use, because they load the game."""
