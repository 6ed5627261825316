"""The two commands as processes: SIGTERM ends them as tidily as Ctrl-C."""

import asyncio
import sys

import pytest
from command_line import address
from live.poker_client import hosting
from live.poker_options import play
from live.processes import SIGNALS, command, stopped
from live.table_people import Program, raising
from parlour.wrappers.logs.match_log import read

pytestmark = [pytest.mark.slow, pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such signals")]


@SIGNALS
async def test_a_host_that_is_stopped_ends_its_tables_and_says_so(sig, code, tmp_path):
    log = tmp_path / "log.jsonl"
    async with command("host", "poker", "--port", "0", "--hand-delay", "0.1", "--log", str(log)) as process:
        first = (await process.stdout.readline()).decode()
        url = address(first)
        assert f" {url.replace('http', 'ws')}/v1/ws " in first
        seen = asyncio.Event()
        playing = [asyncio.create_task(play(url, Program(raising), on_event=lambda _: seen.set())) for _ in range(2)]
        await asyncio.wait_for(seen.wait(), 20)
        returned, err = await stopped(process, sig)
        assert returned == code and "Traceback" not in err
        assert {played.reason for played in await asyncio.gather(*playing)} == {"admin_stopped"}
    assert list(read(log))[-1]["reason"] == "admin_stopped"


@SIGNALS
async def test_an_agent_that_is_stopped_gives_its_seat_back(sig, code):
    left = asyncio.Event()
    on_event = lambda kind, **_: left.set() if kind == "left" else None  # noqa: E731
    async with hosting(on_event=on_event) as (host, _):
        async with command("deploy", "poker", "call", "--api", host.url) as process:
            table = next(iter(host.tables.values()))
            while not table.session.seats or not table.connected(0):
                await asyncio.sleep(0.05)
            returned, err = await stopped(process, sig)
        await asyncio.wait_for(left.wait(), 5)
        assert not table.session.seats
        assert returned == code and "Traceback" not in err


async def test_a_host_for_other_machines_names_a_command_that_works_on_this_one():
    async with command("host", "poker", "--address", "0.0.0.0", "--port", "0", "--access-token", "secret") as process:
        port = address((await process.stdout.readline()).decode()).rpartition(":")[2]
        seat = (await process.stdout.readline()).decode()
    assert seat.split()[-4:] == ["--api", f"http://127.0.0.1:{port}", "--access-token-file", "FILE"]
