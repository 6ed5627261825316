"""A plain client of a poker server, for tests over real sockets."""

import json
from contextlib import asynccontextmanager

import aiohttp
from live.poker_options import grouped
from live.table_people import Program, caller
from parlour.wrappers.live.poker.host import PokerHost

CALLER = Program(caller)


class Client:
    """A plain client of the document: REST calls, and one WebSocket."""

    def __init__(self, http, host):
        self.http, self.host = http, host
        self.key = self.token = self.table_id = self.ws = None
        self.seat = None
        self.got = []

    async def call(self, method, path, body=None, key=None, **kwargs):
        headers = {"Authorization": f"Bearer {key or self.key}"} if key or self.key else {}
        async with self.http.request(method, self.host.url + path, json=body, headers=headers, **kwargs) as answer:
            return answer.status, await answer.json()

    async def register(self, name="someone", **kwargs):
        status, agent = await self.call("POST", "/v1/agents", {"name": name}, **kwargs)
        assert status == 201
        self.key, self.agent_id = agent["api_key"], agent["agent_id"]
        return agent

    async def join(self, path="/v1/tables/auto-join", **body):
        status, seat = await self.call("POST", path, {"client_protocol_version": "0.1", **body})
        assert status == 200, seat
        self.token, self.table_id, self.seat, self.ws_url = (
            seat["session_token"],
            seat["table_id"],
            seat["seat_id"],
            seat["ws_url"],
        )
        return seat

    async def connect(self, **kwargs):
        self.ws = await self.http.ws_connect(f"{self.ws_url}?token={self.token}&format=agent", **kwargs)
        return self

    async def sit_down(self, name="someone"):
        await self.register(name)
        await self.join()
        return await self.connect()

    async def receive(self):
        message = await self.ws.receive(timeout=10)
        assert message.type is aiohttp.WSMsgType.TEXT, message
        self.got.append(json.loads(message.data))
        return self.got[-1]

    async def until(self, kind, **fields):
        """Read on to a message of this type and these fields."""
        while True:
            message = await self.receive()
            if message["type"] == kind and all(message.get(key) == value for key, value in fields.items()):
                return message

    async def my_turn(self):
        while True:
            state = await self.until("game_state")
            if state["turn"] == self.seat:
                return state

    async def send(self, message):
        await self.ws.send_str(message if isinstance(message, str) else json.dumps(message))

    async def act(self, state, kind=None, amount=None, **changes):
        await self.send(action(state, kind, amount, **changes))

    async def closed(self):
        """Read to the end and return the close code."""
        while True:
            message = await self.ws.receive(timeout=10)
            if message.type is not aiohttp.WSMsgType.TEXT:
                assert message.type in (aiohttp.WSMsgType.CLOSE, aiohttp.WSMsgType.CLOSED, aiohttp.WSMsgType.CLOSING)
                return self.ws.close_code
            self.got.append(json.loads(message.data))

    async def play(self):
        """Check and call until the table ends; returns the close code."""
        while True:
            message = await self.ws.receive(timeout=10)
            if message.type is not aiohttp.WSMsgType.TEXT:
                return self.ws.close_code
            self.got.append(json.loads(message.data))
            if self.got[-1]["type"] == "game_state" and self.got[-1]["turn"] == self.seat:
                await self.act(self.got[-1])


def action(state, kind=None, amount=None, **changes):
    choice = {"turn_token": state["turn_token"], "kind": kind or state["actions"][1]["kind"]}
    if amount is not None:
        choice["amount"] = amount
    return {"type": "action", "action": choice, "expected_seq": state["seq"], **changes}


@asynccontextmanager
async def hosting(clients=0, **options):
    """A host, and so many clients connected to it."""
    options = {"seats": 6, "seed": 3, "hand_delay": 0, "min_players": max(2, clients), "rate": None, **options}
    async with PokerHost(**grouped(**options)) as host, aiohttp.ClientSession() as http:
        seated = [await Client(http, host).sit_down(f"client-{i}") for i in range(clients)]
        yield (host, *seated) if clients else (host, Client(http, host))


async def refused(client, status, code, *call, **kwargs):
    got, body = await client.call(*call, **kwargs)
    assert (got, body["error"]["code"]) == (status, code)
    assert body["error"]["message"]


async def turned_away(client, code):
    assert (await client.receive())["code"] == code
    assert await client.closed() == 1008
