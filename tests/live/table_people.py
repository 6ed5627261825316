"""People and programs at a table, for tests over real sockets."""

import json
import time
from contextlib import asynccontextmanager
from functools import partial

import aiohttp
from parlour import envs
from parlour.envs import Action, AgentResponse
from parlour.wrappers.live.poker.host import PokerHost as PokerHost

BARGAINING = envs.game("bargaining", rounds=3)
holdem = partial(envs.game, "holdem")


class Program:
    """An agent that does what it is told to."""

    def __init__(self, respond):
        self.respond = respond


def offering(state):
    return AgentResponse(Action("submit_offer", {"my_share": 60}))


def raising(state):
    raise KeyError("my mistake")


def hanging(state):
    time.sleep(0.6)
    return AgentResponse(Action("accept"))


class Person:
    """A page's socket."""

    def __init__(self, socket):
        self.socket = socket
        self.got = []

    async def send(self, kind, **fields):
        await self.socket.send_str(json.dumps({"type": kind, **fields}))

    async def until(self, kind, **wanted):
        while True:
            message = json.loads(await self.socket.receive_str())
            self.got.append(message)
            if message["type"] == kind and all(message.get(name) == value for name, value in wanted.items()):
                return message

    async def turn(self):
        while True:
            state = await self.until("state")
            if state["turn_state"]["is_my_turn"] or state["turn_state"]["game_over"]:
                return state

    async def sit(self, name="Ann"):
        await self.send("sit", name=name)
        return (await self.until("seated"))["token"]

    async def act(self, turn, action_type, **payload):
        await self.send("act", turn=turn, response={"action": {"action_type": action_type, "payload": payload}})


@asynccontextmanager
async def person(host, **options):
    async with aiohttp.ClientSession() as http, http.ws_connect(f"{host.url}/ws", **options) as socket:
        yield Person(socket)


def caller(state):
    kinds = [offer.action_type for offer in state.allowed_actions]
    return AgentResponse(Action("check" if "check" in kinds else "call"))
