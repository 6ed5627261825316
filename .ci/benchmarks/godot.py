"""Milliseconds that a live tangram game waits for its agent."""

import asyncio
import time
from itertools import pairwise
from typing import Any

import aiohttp
import numpy as np
from parlour.envs import GameEnv
from parlour.envs import game as make_game
from parlour.wrappers.agents.policy import PolicyAgent
from parlour.wrappers.live.tangram import messages
from parlour.wrappers.live.tangram.agent import TangramAgentServer
from parlour.wrappers.live.tangram.host import TangramHostSession
from parlour.wrappers.policies.base import RandomPolicy
from parlour.wrappers.policies.mlp import MlpPolicy

from .base import Row, Seconds


def godot(seconds: Seconds) -> list[Row]:
    """How long a live tangram game waits for its agent, over a local WebSocket, in TangramCollaborativeAI's dialect.

    The agent is an MLP of 256×256 on numeric observations. Boards are those of random play, with 300 KB of pictures,
    which the agent does not use.
    """
    spent = sorted(asyncio.run(_godot_waits(seconds)))
    half, most = np.percentile(spent, (50, 99))
    note = f"{len(spent):,} requests; wall time, so that a busy machine shows"
    return [
        Row("godot-p50", "tangram, playRequest to the reply: median", float(half), "ms", lower=True),
        Row("godot-p99", "tangram, playRequest to the reply: p99", float(most), "ms", 50, lower=True, note=note),
    ]


async def _godot_waits(seconds: Seconds) -> list[float]:
    """Return the milliseconds between each request and the reply."""
    game = make_game("tangram", figure="A house", aspect="godot")
    agent = PolicyAgent(game, MlpPolicy(_random_layers(game.layout.size, 256, 256, game.num_actions), "Tanh", seed=0))
    env, moves = GameEnv(game, "flat"), RandomPolicy(seed=0)

    def go_on() -> None:
        if not env.agents or env.table.done:
            env.reset(seed=len(spent))
        seen = env.observe(env.agent_selection)
        env.step(int(moves.act(seen["observation"][None], seen["action_mask"][None])[0]))

    spent: list[float] = []
    async with (
        TangramAgentServer(agent, game) as server,
        aiohttp.ClientSession() as http,
        http.ws_connect(server.url) as socket,
    ):
        go_on()  # whatever is to be compiled
        begun = time.perf_counter()
        while time.perf_counter() - begun < seconds:
            request = TangramHostSession(env.match).request()
            request.board_img = request.drawer_img = "A" * 150_000
            text = messages.encode(request, "godot")
            before = time.perf_counter()
            await socket.send_str(text)
            await socket.receive_str()
            spent.append(1_000 * (time.perf_counter() - before))
            go_on()
    return spent


def _random_layers(*sizes: int) -> list[tuple[Any, Any]]:
    random = np.random.default_rng(0)
    return [
        (random.normal(0, 0.1, (inputs, outputs)).astype(np.float32), np.zeros(outputs, np.float32))
        for inputs, outputs in pairwise(sizes)
    ]
