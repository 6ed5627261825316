"""Honest players: two who play as fast as the server answers. `count` counts their turns."""

import asyncio
import json

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
        async with http.post(f"{url}/v1/agents", json={"name": name}) as reply:
            key = (await reply.json())["api_key"]
        headers = {"Authorization": f"Bearer {key}"}
        async with http.post(f"{url}/v1/tables/auto-join", json={}, headers=headers) as reply:
            token = (await reply.json())["session_token"]
        async with http.ws_connect(f"{url}/v1/ws?token={token}&format=agent") as socket:
            while True:
                message = json.loads(await socket.receive_str())
                if message["type"] == "game_state" and message.get("actions"):
                    kind = message["actions"][1]["kind"]
                    action = {"turn_token": message["turn_token"], "kind": kind}
                    await socket.send_json({"type": "action", "action": action, "expected_seq": message["seq"]})
                    count.turns += 1

    await asyncio.gather(*map(one, HONEST))


async def arena(http, url, count):
    """Two who meet in sessions: an offer, and it is accepted."""

    async def call(path, **body):
        async with http.post(f"{url}/api/sessions/{path}", json=body) as reply:
            return await reply.json()

    async def play(token):
        while True:
            async with http.get(f"{url}/api/sessions/state", params={"token": token}) as reply:
                state = await reply.json()
            if state["status"] not in ("waiting", "running"):
                return
            if state.get("is_my_turn"):
                offered = any(one["action_type"] == "accept" for one in state["allowed_actions"])
                choice = ("accept", {}) if offered else ("submit_offer", {"my_share": 50})
                await call("act", token=token, action_type=choice[0], payload=choice[1])
                count.turns += 1

    while True:
        first = await call("create", player_name=HONEST[0])
        second = await call("join", player_name=HONEST[1], invite_code=first["invite_codes"][0])
        await asyncio.gather(play(first["token"]), play(second["token"]))
