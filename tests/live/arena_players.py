"""Agents for tests of the arena: ours, others that misbehave, and a client of the sessions."""

import asyncio
from contextlib import asynccontextmanager

from aiohttp import web
from live.small_server import served
from live.table_people import BARGAINING
from parlour.wrappers.agents.policy import PolicyAgent
from parlour.wrappers.live.arena.agent import ArenaAgent, ArenaPollingAgent, PollingTimes
from parlour.wrappers.live.common.match_session import MatchLimits
from parlour.wrappers.policies.loading import make_policy

FREE = MatchLimits(actions=None)


def ours(name, game=BARGAINING, policy="random", seed=1):
    return ArenaAgent(name, PolicyAgent(game, make_policy(policy, game, seed=seed)))


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


QUICK = PollingTimes(running=0.01, waiting=0.05, retry=0.01)


def polling(name, url, game=BARGAINING, policy="random", **options):
    return ArenaPollingAgent(ours(name, game, policy), url, times=QUICK, **options)


class Client:
    """A client as the platform's guide for agents describes it: nothing but these calls."""

    def __init__(self, http, url):
        self.http, self.url = http, url

    async def call(self, method, path, **kind):
        async with self.http.request(method, self.url + path, **kind) as reply:
            return reply.status, await reply.json()

    async def state(self, token):
        return (await self.call("GET", "/api/sessions/state", params={"token": token}))[1]

    async def post(self, path, **body):
        return await self.call("POST", f"/api/sessions/{path}", json=body)

    async def turn(self, token):
        """Poll until it is this player's turn, or the match is over."""
        while True:
            state = await self.state(token)
            if state["status"] not in ("waiting", "running") or state.get("is_my_turn"):
                return state
            await asyncio.sleep(0.01)
