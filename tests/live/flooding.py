"""A flood of broken frames over sockets, for the tests of all hosts and agents' ends; see `fuzzing` for the frames.

`PARLOUR_FLOOD=200000` sets how many frames each of them gets; `make nightly` does so.
"""

import asyncio
import json
import os
import random
from contextlib import asynccontextmanager, suppress

import aiohttp
from live.fuzzing import mutated

FRAMES = int(os.environ.get("PARLOUR_FLOOD", "500"))
HOSTILE = 4
"""Hostile connections at once."""


def pool(*messages):
    """So many broken frames that a flood does not spend its time on making them."""
    rng = random.Random(0)
    return [mutated(rng, rng.choice(messages)) for _ in range(1_000)]


async def each(send, frames):
    """Await `send(number, frame)` for `FRAMES` frames in a circle, by several senders at once."""
    sent = 0

    async def one(number):
        nonlocal sent
        while sent < FRAMES:
            frame = frames[sent % len(frames)]
            sent += 1
            await send(number, frame)

    await asyncio.gather(*map(one, range(HOSTILE)))


async def flood(connect, frames, answer=None):
    """Send frames over several connections at once, read what comes, and connect again where one is closed.

    Args:
        connect: makes a connection, as an async context manager; given the connection's number.
        frames: are sent in a circle.
        answer: what is sent in answer to a text; None: nothing.
    """
    sent = 0

    async def read(socket):
        async for message in socket:
            if message.type is aiohttp.WSMsgType.TEXT and answer is not None:
                text = answer(json.loads(message.data))
                if text is not None:
                    await socket.send_str(text)

    async def one(number):
        nonlocal sent
        while sent < FRAMES:
            async with connect(number) as socket:
                reading = asyncio.create_task(read(socket))
                with suppress(ConnectionError):
                    while sent < FRAMES and not socket.closed:
                        frame = frames[sent % len(frames)]
                        await (socket.send_str(frame) if isinstance(frame, str) else socket.send_bytes(frame))
                        sent += 1
                        await asyncio.sleep(0)
                reading.cancel()
                await asyncio.gather(reading, return_exceptions=True)

    await asyncio.gather(*map(one, range(HOSTILE)))
    assert sent >= FRAMES


@asynccontextmanager
async def beside(honest):
    """Let an honest player play beside a block; it must neither fail nor stop by itself."""
    playing = asyncio.create_task(honest)
    yield
    assert not playing.done(), playing
    while not playing.done():  # `asyncio.wait_for` of Python 3.11 can lose a cancellation
        playing.cancel()
        await asyncio.wait([playing], timeout=0.1)


def no_traceback(caplog):
    """No error of ours may be logged with its traceback."""
    assert not [record for record in caplog.records if record.exc_info]
