"""Servers under pings without end, under resets, and with a certificate of their own."""

import asyncio
import base64
import contextlib
import logging
import os
import socket
import ssl
import struct

import aiohttp
import pytest
from live.event_loops import in_virtual_time
from live.poker_client import Client, hosting
from parlour.wrappers.live.common import limits, listening
from parlour.wrappers.live.common.connection import Connection, ConnectionLimits
from parlour.wrappers.live.common.server import ServerSettings, server_tls
from parlour.wrappers.live.poker.host import PokerHost
from parlour.wrappers.live.poker.host_session import PokerRules

PING = b"\x89\x80" + bytes(4)
"""A masked ping without a payload."""


async def opened(host, token="", read=True):
    """Open a WebSocket by hand; return its streams."""
    reader, writer = await asyncio.open_connection("127.0.0.1", int(host.url.rsplit(":", 1)[1]))
    key = base64.b64encode(os.urandom(16)).decode()
    upgrade = "Upgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\n"
    path = f"/v1/ws?token={token}&format=agent"
    writer.write(f"GET {path} HTTP/1.1\r\nHost: {host.url[7:]}\r\n{upgrade}Sec-WebSocket-Key: {key}\r\n\r\n".encode())
    if read:
        await reader.readuntil(b"\r\n\r\n")
    return reader, writer


def reset(writer):
    """End a connection by a reset, without a goodbye."""
    linger = struct.pack("ii", 1, 0)
    writer.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)
    writer.transport.abort()


async def test_pings_are_answered_up_to_a_limit_and_a_flood_of_them_waits_on_the_peers_side():
    async with hosting() as (host, client):
        await client.sit_down()
        await client.register("flood")
        await client.join()
        reader, writer = await opened(host, client.token)
        sent = 0

        async def flood():
            nonlocal sent
            while True:
                writer.write(PING * 1000)
                sent += 1000
                await writer.drain()

        flooding = asyncio.create_task(flood())
        await asyncio.sleep(1.0)
        flooding.cancel()
        late = await latency(client.http, host)
        pongs = 0
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(0.5):
                while True:
                    pongs += (await reader.read(2**16)).count(b"\x8a\x00")
        reset(writer)
    assert late < 5.0
    assert 0 < pongs < 200 < sent  # ten a second, and what was open at first


async def latency(http, host):
    clock = asyncio.get_running_loop().time
    began = clock()
    for _ in range(5):
        async with http.get(host.url + "/v1/tables") as answer:
            assert answer.ok
    return (clock() - began) / 5


async def test_a_ping_is_answered_with_its_payload():
    async with hosting() as (host, client):
        await client.register()
        await client.join()
        reader, writer = await opened(host, client.token)
        writer.write(b"\x89\x82" + bytes(4) + b"hi")
        assert b"\x8a\x02hi" in await until_seen(reader, b"\x8a\x02hi")
        reset(writer)


async def until_seen(reader, wanted):
    data = b""
    async with asyncio.timeout(10):
        while wanted not in data:
            data += await reader.read(1000)
    return data


@pytest.mark.parametrize("when", ["before-the-answer", "after-it", "in-a-frame", "after-pings"])
async def test_a_reset_logs_no_traceback(when, caplog):
    caplog.set_level(logging.INFO)
    async with hosting() as (host, client):
        for _ in range(5):
            await client.register()
            await client.join()
            _, writer = await opened(host, client.token, read=when != "before-the-answer")
            if when == "in-a-frame":
                writer.write(b"\x81\xfe\x01\x00")
            elif when == "after-pings":
                writer.write(PING * 15)
            await writer.drain()
            reset(writer)
            await asyncio.sleep(0.05)
        await client.register("honest")
        await client.join()
        await client.connect()
        assert (await client.receive())["type"] in ("table_status", "welcome")
    assert not any(record.exc_info for record in caplog.records)
    assert len([record for record in caplog.records if "reset" in record.message]) <= 5


async def test_a_host_with_a_certificate_speaks_tls(certificate, monkeypatch, caplog):
    monkeypatch.setattr(limits, "SILENT_SECONDS", 0.5)
    host = PokerHost(PokerRules(seats=2), server=ServerSettings(tls=server_tls(*certificate)))
    trusting = aiohttp.TCPConnector(ssl=ssl.create_default_context(cafile=certificate[0]))
    async with host, aiohttp.ClientSession(connector=trusting) as http:
        assert host.url.startswith("https://") and host.ws_url.startswith("wss://")
        client = await Client(http, host).sit_down()
        assert (await client.receive())["type"] == "table_status"
        assert client.ws_url == host.ws_url
        reader, _ = await asyncio.open_connection("127.0.0.1", int(host.url.rpartition(":")[2]))
        assert await asyncio.wait_for(reader.read(), 5) == b""  # it is closed, and the seat is not
        await client.send({"type": "ping", "payload": {"timestamp": 1}})
        await client.until("pong")
        await client.ws.close()
    assert not any(record.exc_info for record in caplog.records)


def test_a_wrong_certificate_is_named(certificate, tmp_path):
    cert, _ = certificate
    with pytest.raises(ValueError, match=r"cannot use the certificate .*cert\.pem"):
        server_tls(cert)
    with pytest.raises(ValueError, match="nothing"):
        server_tls(tmp_path / "nothing.pem")


# Frames.


def frame(payload=b"", opcode=1, last=True):
    """A masked frame."""
    length = struct.pack("!B", 0x80 | len(payload)) if len(payload) < 126 else struct.pack("!BH", 0xFE, len(payload))
    return bytes([0x80 * last | opcode]) + length + bytes(4) + payload


EMPTY = frame(opcode=0, last=False)
"""A continuation without a payload."""


async def test_empty_continuations_count_and_too_many_end_the_connection():
    async with hosting(rate=None) as (host, client):
        await client.sit_down()
        await client.register("flood")
        await client.join()
        reader, writer = await opened(host, client.token)
        writer.write(frame(last=False))
        closing = asyncio.create_task(until_seen(reader, b"too many frames"))
        with contextlib.suppress(ConnectionError):
            for _ in range(100):
                writer.write(EMPTY * 10_000)
                await asyncio.wait_for(writer.drain(), 5)
        assert b"\x03\xf0too many frames" in await closing  # 1008
        await asyncio.wait_for(ended(reader), 5)
        writer.close()
        assert await latency(client.http, host) < 1.0


async def ended(reader):
    with contextlib.suppress(ConnectionError):
        while await reader.read(2**16):
            pass


async def test_a_message_in_many_fragments_is_one_message():
    async with hosting() as (host, client):
        await client.register()
        await client.join()
        reader, writer = await opened(host, client.token)
        ping = b'{"type": "ping", "payload": {"timestamp": 1}}'
        parts = [frame(ping[at : at + 1], opcode=0, last=False) for at in range(1, len(ping))]
        data = b"".join([frame(ping[:1], last=False), *parts, EMPTY * 500, frame(opcode=0)])
        for at in range(0, len(data), 5):
            writer.write(data[at : at + 5])
            await asyncio.sleep(0)
        assert b'"type":"pong"' in await until_seen(reader, b'"type":"pong"')
        reset(writer)


class Parser:
    def __init__(self):
        self.data = b""

    def feed_data(self, data):
        self.data += data
        return False, b""


@pytest.mark.parametrize("step", [1, 2, 3, 7, 1000, 10**6])
@in_virtual_time
async def test_fragments_are_counted_however_they_arrive(step):
    lengths = [0, 1, 125, 126, 1000]
    whole = [frame(b"x" * length, opcode) for length in lengths for opcode in (1, 2, 9)]
    parts = [frame(b"\x00" * length, opcode=0, last=False) for length in lengths]
    unmasked = [b"\x82\x7f" + struct.pack("!Q", 70_000) + b"\x00" * 70_000, b"\x81\x01a"]
    rounds = int(2 * limits.FRAGMENTS) // len(parts)
    data = b"".join(whole * 10 + unmasked + (parts + whole) * rounds) if step >= 1000 else b"".join(whole + unmasked)
    parser, exceeded = Parser(), []
    limit = listening.FrameLimit(parser, lambda: exceeded.append(True))
    for at in range(0, len(data), step):
        limit.feed_data(data[at : at + step])
    assert parser.data == data and not exceeded
    more = EMPTY * int(2 * limits.FRAGMENTS + 1)
    for at in range(0, len(more), step):
        limit.feed_data(more[at : at + step])
    assert exceeded == [True]
    assert len(parser.data) < len(data + more)


@in_virtual_time
async def test_empty_messages_of_one_who_only_listens_are_read_slowly():
    connection = Connection(Messages(), None, ConnectionLimits(rate=50.0))
    clock = asyncio.get_running_loop().time
    began, taken = clock(), 0
    async for data in connection.messages():
        assert data == ""
        taken += 1
        if taken == 120:
            break
    assert 0.3 < clock() - began < 0.5  # a hundred at once, and then fifty a second


class Messages:
    """A WebSocket with empty messages without end."""

    async def receive(self, timeout):
        return aiohttp.WSMessage(aiohttp.WSMsgType.TEXT, "", None)
