"""Hold'em: local best response, search on the river, all-in pots at equity, and tables live and in the browser."""

from functools import partial
from typing import Any

from ....envs import Game
from ....envs.core.rollout import Policy
from ....envs.holdem.resolving import RiverResolving
from ....wrappers.agents.resolving import ResolvingPolicy
from ..base import Specifics
from .all_in import AllInEquity, without_luck
from .best_response import best_response
from .live_table import differences
from .settings import SETTINGS


def _table(*args: Any, **options: Any) -> Any:
    from .table import poker_table  # imported here: it needs an HTTP server

    return poker_table(*args, **options)


def _searching(policy: Policy, game: Game, *, seed: int | None) -> Policy:
    return ResolvingPolicy(policy, RiverResolving(game, policy), seed=seed)


SPECIFICS = Specifics(
    differences=differences,
    best_responses={
        f"local best response, {setting.name}": partial(best_response, setting=setting) for setting in SETTINGS
    },
    expected_rewards=AllInEquity,
    searching=_searching,
    table=_table,
    without_luck=without_luck,
)
