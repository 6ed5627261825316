"""Honest players: two who play as fast as the server answers. `count` counts their turns."""

import asyncio
from types import SimpleNamespace

from live import arena_players
from live.poker_client import Client

from .servers import HONEST


class Count:
    """Turns that were played."""

    def __init__(self):
        self.turns = 0


async def echo_over_websockets(http, url, count):
    """Two who send a text and wait for it, over and over."""

    async def one(name):
        async with http.ws_connect(f"{url}/ws") as socket:
            while True:
                await socket.send_str(name)
                await socket.receive_str()
                count.turns += 1

    await asyncio.gather(*map(one, HONEST))


async def echo_over_http(http, url, count):
    """Two who post a text and wait for the answer, over and over."""

    async def one(name):
        while True:
            async with http.post(url, json={"name": name}) as reply:
                await reply.read()
                count.turns += 1

    await asyncio.gather(*map(one, HONEST))


async def poker(http, url, count):
    """Two in seats who check or call."""

    async def one(name):
        client = await Client(http, SimpleNamespace(url=url)).sit_down(name)
        while True:
            await client.act(await client.my_turn())
            count.turns += 1

    await asyncio.gather(*map(one, HONEST))


async def arena(http, url, count):
    """Two who meet in sessions: an offer, and it is accepted."""

    client = arena_players.Client(http, url)

    async def play(token):
        while (state := await client.state(token))["status"] in ("waiting", "running"):
            if state.get("is_my_turn"):
                offered = any(one["action_type"] == "accept" for one in state["allowed_actions"])
                choice = ("accept", {}) if offered else ("submit_offer", {"my_share": 50})
                await client.post("act", token=token, action_type=choice[0], payload=choice[1])
                count.turns += 1

    while True:
        _, first = await client.post("create", player_name=HONEST[0])
        _, second = await client.post("join", player_name=HONEST[1], invite_code=first["invite_codes"][0])
        await asyncio.gather(play(first["token"]), play(second["token"]))
