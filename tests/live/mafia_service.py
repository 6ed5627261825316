"""A service of mafia agents in a test, and a client for it."""

import json
from contextlib import asynccontextmanager

import aiohttp
import msgspec
from mafia_players import context
from parlour.wrappers.live.mafia.agent import MafiaAgentServer
from parlour.wrappers.live.mafia.agents import MafiaScriptedAgent


def request(id, method, agent="p1", phase=None, **settings):
    phase = phase or {"vote": "DAY_VOTING", "say": "DAY_DISCUSSION"}.get(method, "NIGHT_ACTIONS")
    seat = int(agent[1:]) - 1
    state, private, public = context(phase, me=seat, **{"role": "mafia", **settings})
    info = public if method in ("say", "vote") else private
    return {"id": id, "agent": agent, "method": method, **msgspec.to_builtins({"context": state, "info": info})}


@asynccontextmanager
async def client(service, **settings):
    async with aiohttp.ClientSession() as http, http.ws_connect(service.url, **settings) as socket:
        yield socket


async def asked(socket, number, *call):
    """Make a call; return the messages that answer it."""
    await socket.send_json(request(number, *call))
    return (await answers(socket, number))[number]


async def answers(socket, *ids):
    """What comes for these calls until all have ended: {id: [messages]}."""
    got = {id: [] for id in ids}
    while not all(parts and ("done" in parts[-1] or "error" in parts[-1]) for parts in got.values()):
        message = json.loads((await socket.receive(timeout=90)).data)
        got[message["id"]].append(message)
    return got


def serve(agent, **settings):
    return MafiaAgentServer(lambda id, name: agent(id=id, name=name), seed=0, **settings)


def personality(id, name):
    return MafiaScriptedAgent(id, name, seed=1)
