"""Agents for tests of the arena: ours, and others that misbehave."""

import asyncio
from contextlib import asynccontextmanager

from aiohttp import web
from live.small_server import served
from parlour import envs
from parlour.wrappers.agents.policy import PolicyAgent
from parlour.wrappers.live.arena.agent import ArenaAgent
from parlour.wrappers.live.common.match_session import MatchLimits
from parlour.wrappers.policies.loading import make_policy

FREE = MatchLimits(actions=None)

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
    posted = []

    async def handle(request):
        posted.append((request.path, await request.read()))
        if request.path != "/agent/act":
            return await hook(request) if hook is not None else web.Response()
        return await act(request)

    async with served(web.post("/agent/{call}", handle)) as address:
        yield f"http://{address}/agent", posted


def flood(state):
    return {"action": {"action_type": "message_only"}, "messages": [{"scope": "public", "content": "spam"}]}


def raising(error):
    def act(state):
        raise error

    return act
