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
from live.event_loops import on_loop
from live.poker_client import Client, hosting
from parlour.wrappers.live.common import listening
from parlour.wrappers.live.common.server import server_tls
from parlour.wrappers.live.poker.host import PokerHost

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


@on_loop
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


@on_loop
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
@on_loop
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


@on_loop
async def test_a_host_with_a_certificate_speaks_tls(certificate, monkeypatch, caplog):
    monkeypatch.setattr(listening, "IDLE_SECONDS", 0.5)
    host = PokerHost(seats=2)
    host.tls = server_tls(*certificate)
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
