"""Agents for tests of the arena: ours, and others that misbehave."""

import asyncio
from contextlib import asynccontextmanager

from aiohttp import web
from parlour import envs
from parlour.wrappers.agents.policy import PolicyAgent
from parlour.wrappers.live.arena.agent import ArenaAgent
from parlour.wrappers.live.arena.host_session import ArenaLimits
from parlour.wrappers.policies.loading import make_policy

FREE = ArenaLimits(actions=None)

BARGAINING = envs.game("bargaining", rounds=3)


def ours(name, game=BARGAINING, policy="random", seed=1):
    return ArenaAgent(name, PolicyAgent(game, make_policy(policy, game, seed=seed)))


def run(main, within=60):
    return asyncio.run(asyncio.wait_for(main, within))


class Theirs:
    """An agent of others: `act` is whatever is given; it notes what it is told."""

    def __init__(self, name, act):
        self.agent_id, self._act = name, act
        self.told, self.states = [], []

    def act(self, state):
        self.states.append(state)
        return self._act(state)

    def on_match_start(self, match_id, game_id, agent_ids):
        self.told.append((match_id, game_id, agent_ids))

    def on_match_end(self, match_id, outcome):
        self.told.append((match_id, outcome))


def passing(state):
    return {"action": {"action_type": "pass"}}


@asynccontextmanager
async def endpoint(act, hook=None):
    """Serve an agent of others that answers ``/act`` with what `act` returns."""
    app = web.Application()
    posted = []

    async def handle(request):
        posted.append((request.path, await request.read()))
        if request.path != "/agent/act":
            return await hook(request) if hook is not None else web.Response()
        return await act(request)

    app.add_routes([web.post("/agent/{call}", handle)])
    runner = web.AppRunner(app, access_log=None, shutdown_timeout=0.1)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    try:
        yield f"http://127.0.0.1:{runner.addresses[0][1]}/agent", posted
    finally:
        await runner.cleanup()


def flood(state):
    return {"action": {"action_type": "message_only"}, "messages": [{"scope": "public", "content": "spam"}]}


def raising(error):
    def act(state):
        raise error

    return act
