"""Both ends of mafia's forwarding protocol under a flood of broken frames; see `flooding` for their number."""

import asyncio
import json
from contextlib import asynccontextmanager

from live.flooding import FRAMES, no_traceback, pool
from live.small_server import socket_served
from mafia_players import FIVE, remote, scripted
from parlour.wrappers.live.mafia.agent import MafiaLimits
from parlour.wrappers.live.mafia.host import MafiaHost


@asynccontextmanager
async def hostile_service(frames):
    """A service that answers every call with a hundred broken frames; it yields its URL and a count of the frames."""
    sent = [0]

    async def connect(socket):
        async for message in socket:
            call = json.loads(message.data).get("id")
            for _ in range(100):
                frame = frames[sent[0] % len(frames)]
                frame = frame.replace(":7,", f":{call},") if isinstance(frame, str) else frame  # its own call's
                if socket.closed:
                    break
                await (socket.send_str(frame) if isinstance(frame, str) else socket.send_bytes(frame))
                sent[0] += 1

    async with socket_served(connect) as url:
        yield url, sent


def test_a_host_plays_on_with_a_service_that_floods(caplog):
    frames = pool(
        {"id": 7, "chunk": "a"}, {"id": 7, "done": True, "result": {"targetId": "p2"}}, {"id": 7, "error": ""}
    )
    limits = MafiaLimits(think=0.2, say=0.2, act=0.2)

    async def main():
        faults = []
        host = MafiaHost(FIVE, seed=1, limits=limits)
        async with hostile_service(frames) as (url, sent):
            while sent[0] < FRAMES:
                async with remote(url) as far:
                    seats = [*far, *(scripted(seat) for seat in range(1, 5))]
                    faults += (await host.play(seats)).faults
        return faults

    faults = asyncio.run(main())
    assert faults and {fault.agent_id for fault in faults} == {"p1"}
    no_traceback(caplog)
