"""Turns per second of in-process arena matches."""

import asyncio

from parlour.envs import game as make_game
from parlour.wrappers.agents.policy import PolicyAgent
from parlour.wrappers.live.arena.agent import ArenaAgent
from parlour.wrappers.live.arena.host import ArenaHost
from parlour.wrappers.policies.loading import make_policy

from .base import Row, Seconds, rate


def arena(seconds: Seconds) -> list[Row]:
    """In-process matches between two bots, from start to end, with a TurnState and an answer in every turn."""
    return [
        Row(f"arena-{name}", f"arena, {name}, {' and '.join(bots)}", _arena(name, bots, seconds), "turns/s", goal)
        for name, bots, goal in (
            ("bargaining", ("fair", "conceder"), 3_000),
            ("auction", ("shade", "truthful"), 3_000),
            ("holdem", ("tight", "call"), None),
        )
    ]


def _arena(name: str, bots: tuple[str, str], seconds: Seconds) -> float:
    game = make_game(name, seats=2) if name != "bargaining" else make_game(name)
    host = ArenaHost(game, seed=0)
    for number, bot in enumerate(bots):
        host.add(ArenaAgent(f"{bot}-{number}", PolicyAgent(game, make_policy(bot, game, seed=number))))

    def run() -> int:
        results = asyncio.run(host.tournament(100))
        return sum(result.actions for result in results)

    return rate(run, seconds)
