"""Hosted mafia matches per second."""

import asyncio

import numpy as np
from parlour.envs import game as make_game
from parlour.envs.mafia.bots import PERSONALITIES
from parlour.wrappers.live.mafia.hosted_match import HostedMatch
from parlour.wrappers.live.mafia.local_agents import MafiaScriptedAgent
from parlour.wrappers.live.mafia.match_report import EventFeed
from parlour.wrappers.live.mafia.messages import AgentConfig, ScriptedConfig, read

from .base import Row, Seconds, rate


def mafia_host(seconds: Seconds) -> list[Row]:
    """Hosted matches of ten scripted agents: thoughts, statements, every event, both observers' streams as JSON."""
    game = make_game("mafia", seats=10)
    configs = [
        AgentConfig(type="scripted", scripted_config=read({"personality": one}, ScriptedConfig))
        for one in PERSONALITIES
    ]
    events: list[int] = []

    async def play(matches: int) -> None:
        for _ in range(matches):
            seed = len(events)
            feed = EventFeed(f"bench-{seed}")
            agents = [
                MafiaScriptedAgent(f"p{i + 1}", f"Player {i + 1}", configs[i % 4], seed=10 * seed + i)
                for i in range(10)
            ]
            await HostedMatch(game, agents, feed=feed, seed=seed).play()
            events.append(len(feed.admin))

    def run() -> int:
        asyncio.run(play(10))
        return 10

    value = rate(run, seconds)
    note = f"{np.mean(events):.0f} events a match, each as JSON in the admins' stream, and the public ones in theirs"
    return [Row("mafia-host", "hosted mafia, ten scripted agents, all streams", value, "matches/s", 50, note=note)]
