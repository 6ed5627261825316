"""Hosted mafia matches per second."""

import asyncio

import numpy as np
from parlour.envs import game as make_game
from parlour.envs.mafia.bots import PERSONALITIES
from parlour.wrappers.live.mafia.agents import MafiaScriptedAgent
from parlour.wrappers.live.mafia.host import HostedMatch
from parlour.wrappers.live.mafia.messages import AgentConfig, Event, ScriptedConfig, read

from .base import Row, Seconds, rate


def mafia_host(seconds: Seconds) -> list[Row]:
    """Hosted matches of ten scripted agents: thoughts, statements, every event."""
    game = make_game("mafia", seats=10)
    configs = [
        AgentConfig(type="scripted", scripted_config=read({"personality": one}, ScriptedConfig))
        for one in PERSONALITIES
    ]
    events: list[int] = []

    async def play(matches: int) -> None:
        for _ in range(matches):
            seed = len(events)
            events.append(0)

            def count(_: Event, match: int = seed) -> None:
                events[match] += 1

            agents = [
                MafiaScriptedAgent(f"p{i + 1}", f"Player {i + 1}", configs[i % 4], seed=10 * seed + i)
                for i in range(10)
            ]
            await HostedMatch(game, agents, game_id=f"bench-{seed}", seed=seed, on_event=count).play()

    def run() -> int:
        asyncio.run(play(10))
        return 10

    value = rate(run, seconds)
    note = f"{np.mean(events):.0f} events a match"
    return [Row("mafia-host", "hosted mafia, ten scripted agents", value, "matches/s", 50, note=note)]
