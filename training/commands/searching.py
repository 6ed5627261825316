"""Search on top of policies and agents, for the games that have one."""

import copy
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from importlib.util import find_spec
from typing import Any

from ...envs import Game
from ...wrappers.agents.base import Agent
from ...wrappers.agents.policy import PolicyAgent
from ...wrappers.agents.ready import ReadyAgent
from ...wrappers.policies.base import Policy

SECONDS = 5.0
"""Most time for a search of an agent."""
ROOM = 4 * 1024**3
"""Bytes of a GPU that must be free: a turn takes at most about 2 GiB."""


def searching(spec: str, player: Policy, game: Game, seed: int | None = None, seconds: float | None = None) -> Policy:
    """Return a policy with its game's search on top; `seed` is for what it draws, and `seconds` its limit for a turn.

    Raises:
        ValueError: if the game has none, or it cannot search with this policy.
    """
    if game.name not in SEARCHES:
        raise ValueError(f"--search: {spec} plays {game.name}; only {' and '.join(SEARCHES)} have a search")
    return SEARCHES[game.name](player, game, seed, seconds)


def searching_policies(players: Mapping[str, Policy], game: Game, seed: int) -> dict[str, Policy]:
    """Return policies by name with search on top, those that can search.

    Raises:
        ValueError: if none can.
    """
    return _some(players, lambda spec, player: searching(spec, player, game, seed))


def searching_agent(spec: str, player: Agent, seed: int | None) -> ReadyAgent:
    """Return the agent of a policy with its game's search on top, within `SECONDS`; the policy's action stands ready.

    Raises:
        ValueError: if it is no policy, or cannot search.
    """
    if not isinstance(player, PolicyAgent):
        raise ValueError(f"--search needs a policy, and {spec} is none")
    game, policy = player.game, copy.deepcopy(player.policy)
    if game.name == "tangram":
        from ...envs.tangram.completion import TangramPlanning
        from ...wrappers.agents.search import SearchAgent

        return ReadyAgent(player, SearchAgent(game, policy, TangramPlanning(game)))
    return ReadyAgent(player, PolicyAgent(game, searching(spec, policy, game, seed, SECONDS)), 2 * SECONDS)


def searching_agents(specs: Sequence[str], agents: Sequence[Any], seed: int | None) -> list[Any]:
    """Return agents with search on top, those that can search.

    Raises:
        ValueError: if none can.
    """
    places = {str(number): player for number, player in enumerate(agents)}
    return list(_some(places, lambda place, player: searching_agent(specs[int(place)], player, seed)).values())


def _some(players: Mapping[str, Any], search: Callable[[str, Any], Any]) -> dict[str, Any]:
    chosen, errors = dict(players), list[ValueError]()
    for name, player in players.items():
        try:
            chosen[name] = search(name, player)
        except ValueError as error:
            errors.append(error)
    if len(errors) == len(chosen):
        raise errors[0]
    return chosen


def _resolving(player: Policy, game: Game, seed: int | None, seconds: float | None) -> Policy:
    from ..solving.resolving import HoldemResolving, ResolvingPolicy

    resolving = HoldemResolving(game, player, turn_resolver=turn_resolver())
    if seconds is not None:
        resolving.warm_up()
    return ResolvingPolicy(player, resolving, seconds=seconds, seed=seed)


def turn_resolver() -> Any:
    """Return the resolver of a GPU where PyTorch finds one with `ROOM`, and can use it."""
    from ..solving.subgame import Resolver

    if find_spec("torch") is not None:
        import torch

        with suppress(RuntimeError):  # a GPU that this PyTorch has no code for
            if torch.cuda.is_available() and torch.ones(1, device="cuda") and torch.cuda.mem_get_info()[0] >= ROOM:
                from ..solving.subgame_gpu import GpuResolver

                return GpuResolver
    return Resolver


def _planning(player: Policy, game: Game, seed: int | None, seconds: float | None) -> Policy:
    from ...envs.tangram.completion import TangramPlanning
    from ...wrappers.agents.search import SearchPolicy

    return SearchPolicy(game, player, TangramPlanning(game), seconds=seconds)  # it draws nothing


SEARCHES: dict[str, Callable[[Policy, Game, int | None, float | None], Policy]] = {
    "holdem": _resolving,
    "tangram": _planning,
}
"""The searches by the name of the game. They are imported at their first use, because they load the game."""
