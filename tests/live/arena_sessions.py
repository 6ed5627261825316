"""A client of the sessions of an arena, and how quickly tests poll."""

import asyncio

from live.arena_players import BARGAINING, ours
from parlour.wrappers.live.arena.polling_agent import ArenaPollingAgent, PollingTimes

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
