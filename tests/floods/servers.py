"""A server in a process of its own: a poker host, an arena, or a bare aiohttp server as the control.

It prints its URL, and at the end, when its input ends, a line of JSON: turns that honest players lost.
"""

import asyncio
import json
import resource
import sys
from collections import deque
from contextlib import asynccontextmanager, suppress

from aiohttp import WSMsgType, web
from live.small_server import served

FILES = 512
"""Open files of a server."""
WATCHERS = 20
HONEST = ("ann", "bob")


@asynccontextmanager
async def control():
    """Answer every POST, and send back what comes over a WebSocket, to the latest watchers too."""
    watchers = deque(maxlen=WATCHERS)

    async def echo(request):
        socket = web.WebSocketResponse()
        await socket.prepare(request)
        async for message in socket:
            if message.type is WSMsgType.TEXT:
                for receiver in (socket, *watchers):
                    with suppress(ConnectionError):
                        await receiver.send_str(message.data)
        return socket

    async def watch(request):
        socket = web.WebSocketResponse()
        await socket.prepare(request)
        watchers.append(socket)
        async for _ in socket:
            pass
        return socket

    async def answer(request):
        return web.json_response({"bytes": len(await request.read())})

    async with served(web.get("/ws", echo), web.get("/watch", watch), web.post("/{path:.*}", answer)) as address:
        yield f"http://{address}", lambda: 0


@asynccontextmanager
async def poker():
    from parlour.wrappers.live.poker.host import PokerHost, PokerRoom, PokerRules, PokerTimes

    names, lost = {}, 0

    def note(kind, **fields):
        nonlocal lost
        if kind == "joined":
            names[fields["agent_id"]] = fields["name"]
        elif kind == "hand":
            seats = {one["seat"]: names[one["agent_id"]] for one in fields["players"]}
            lost += sum("cause" in one and seats[one["seat"]] in HONEST for one in fields["actions"])

    rules, times = PokerRules(seats=6, stack=10**8), PokerTimes(hand=0)
    async with PokerHost(rules, times, room=PokerRoom(observers=WATCHERS), on_event=note) as host:
        yield host.url, lambda: lost


@asynccontextmanager
async def arena():
    from parlour import envs
    from parlour.wrappers.live.arena.host import ArenaHost

    lost = 0

    def note(result):
        nonlocal lost
        lost += sum(result.failed.get(name, 0) + result.rejected.get(name, 0) for name in HONEST)

    async with ArenaHost(envs.game("bargaining"), on_result=note) as host:
        yield host.url, lambda: lost


SERVERS = {"poker": poker, "arena": arena, "control": control}


async def serve(name):
    resource.setrlimit(resource.RLIMIT_NOFILE, (FILES, FILES))
    async with SERVERS[name]() as (url, lost):
        print(url, flush=True)
        await asyncio.to_thread(sys.stdin.read)
        print(json.dumps({"lost": lost()}), flush=True)


if __name__ == "__main__":
    asyncio.run(serve(sys.argv[1]))
