"""One stranger's floods, each from 127.0.0.2 in a process of its own, until it is killed.

``python -m floods.floods KIND SERVER URL``
"""

import asyncio
import base64
import itertools
import os
import sys
from contextlib import suppress
from urllib.parse import urlsplit

import aiohttp

AT_ONCE = 4
"""Connections that flood at once."""
IDLE = 400
"""Sockets that say nothing."""
ADDRESS = ("127.0.0.2", 0)
REGISTERING = {"poker": "/v1/agents", "arena": "/api/sessions/create", "control": "/agents"}
EMPTY = b"\x00\x80" + bytes(4)
"""A continuation frame without a payload."""


async def opened(url):
    parts = urlsplit(url)
    return await asyncio.open_connection(parts.hostname, parts.port, local_addr=ADDRESS)


async def registrations(server, url):
    """Register, take a seat, and never connect: fifty a second."""
    connector = aiohttp.TCPConnector(local_addr=ADDRESS)
    async with aiohttp.ClientSession(url, connector=connector) as http:
        for number in itertools.count():
            body = {"player_name" if server == "arena" else "name": f"eve {number}"}
            async with http.post(REGISTERING[server], json=body) as reply:
                key = (await reply.json()).get("api_key", "")
            headers = {"Authorization": f"Bearer {key}"}
            async with http.post("/v1/tables/auto-join", json={}, headers=headers) as reply:
                await reply.read()
            await asyncio.sleep(0.02)


async def watch_path(server, url):
    if server == "control":
        return "/watch"
    async with aiohttp.ClientSession() as http, http.get(f"{url}/v1/tables") as reply:
        return f"/v1/tables/{(await reply.json())['tables'][0]['id']}/watch"


async def watching(url, path, read=True):
    """Open a WebSocket by hand; return its streams, where the answer is read if it is wanted."""
    reader, writer = await opened(url)
    key = base64.b64encode(os.urandom(16)).decode()
    upgrade = f"Upgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: {key}"
    writer.write(f"GET {path} HTTP/1.1\r\nHost: {urlsplit(url).netloc}\r\n{upgrade}\r\n\r\n".encode())
    if read:
        await reader.readuntil(b"\r\n\r\n")
    return reader, writer


async def silent(open_one, most):
    """Keep so many silent sockets open, and open another for each that is closed; a hundred a second at most."""

    async def one():
        while True:
            with suppress(OSError, asyncio.IncompleteReadError, TimeoutError):
                reader, writer = await asyncio.wait_for(open_one(), 2)
                while await reader.read(2**16):
                    pass
                writer.close()
            await asyncio.sleep(most / 100)

    await asyncio.gather(*(one() for _ in range(most)))


async def watchers(server, url):
    """Look on, and say nothing."""
    path = await watch_path(server, url)
    await silent(lambda: watching(url, path), 100)


async def idle(server, url):
    """Open sockets, and say nothing."""
    await silent(lambda: opened(url), IDLE)


async def repeated(send):
    async def one():
        while True:
            with suppress(OSError, asyncio.IncompleteReadError):
                await send()

    await asyncio.gather(*(one() for _ in range(AT_ONCE)))


async def frames(server, url):
    """Send empty continuation frames."""
    path = await watch_path(server, url)

    async def send():
        reader, writer = await watching(url, path)
        writer.write(b"\x01\x80" + bytes(4))
        reading = asyncio.create_task(reader.read())
        while not reading.done():
            writer.write(EMPTY * 1000)
            await writer.drain()

    await repeated(send)


async def headers(server, url):
    """Send headers of a megabyte."""

    async def send():
        reader, writer = await opened(url)
        writer.write(b"GET / HTTP/1.1\r\nX: " + b"x" * 2**20)
        await reader.read()
        writer.close()

    await repeated(send)


async def gzip(server, url):
    """Send bodies that say they are compressed, and are not."""
    connector = aiohttp.TCPConnector(local_addr=ADDRESS)
    async with aiohttp.ClientSession(url, connector=connector) as http:

        async def send():
            coded = {"Content-Encoding": "gzip", "Content-Type": "application/json"}
            with suppress(aiohttp.ClientError):
                async with http.post(REGISTERING[server], data=b"\x1f\x8b garbage" * 1000, headers=coded) as reply:
                    await reply.read()

        await repeated(send)


async def nothing(server, url):
    """Do nothing: what the measurement itself varies by."""
    await asyncio.Event().wait()


FLOODS = {one.__name__: one for one in (registrations, watchers, idle, frames, headers, gzip, nothing)}

if __name__ == "__main__":
    asyncio.run(FLOODS[sys.argv[1]](*sys.argv[2:]))
