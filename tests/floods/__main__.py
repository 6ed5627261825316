"""`make floods`: the share of their speed that honest players keep under each kind of flood. ``ARGS=--help``."""

import asyncio
import json
import os
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import aiohttp
from cyclopts import App, Parameter
from live.processes import python

from . import players
from .floods import FLOODS
from .players import Count

LEAST = 0.8
"""The least ratio between what players of a host keep and what those of the control keep."""
MEGABYTES = 32.0
"""The most memory that a host may have more after a flood."""
ROUNDS = 4
SETTLED = 3.0
"""Seconds after which a flood has begun, and what it may do at once is done."""
HOSTS = {"poker": (players.poker, players.echo_over_websockets), "arena": (players.arena, players.echo_over_http)}
"""Honest players of each host, and those of the control that use the same transport."""
WITHOUT_WEBSOCKETS = {"arena": ("watchers", "frames")}
"""Floods that a host has no door for."""


def process(module, *args):
    pipes = {"stdin": asyncio.subprocess.PIPE, "stderr": asyncio.subprocess.DEVNULL}
    return python("-m", f"floods.{module}", *args, **pipes)


def megabytes(pid):
    return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 2**20


def processor_seconds(pid):
    user, system = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[11:13]
    return (int(user) + int(system)) / os.sysconf("SC_CLK_TCK")


@dataclass
class Played:
    """Turns, in so much time and processor time of the server."""

    turns: int = 0
    seconds: float = 0.0
    processor: float = 0.0

    async def watch(self, count, pid, seconds):
        turns, processor, began = count.turns, processor_seconds(pid), time.monotonic()
        await asyncio.sleep(seconds)
        self.turns += count.turns - turns
        self.processor += processor_seconds(pid) - processor
        self.seconds += time.monotonic() - began


async def measure(server, honest, kind, seconds):
    """Return what was played before and under a flood, turns lost, and megabytes more than before."""
    async with process("servers", server) as host, aiohttp.ClientSession() as http:
        url = (await asyncio.wait_for(host.stdout.readline(), 300)).decode().strip()
        count = Count()
        playing = asyncio.create_task(honest(http, url, count))
        await asyncio.sleep(2 * seconds / ROUNDS)  # rules are compiled
        before, under, more = Played(), Played(), 0.0
        for _ in range(ROUNDS):  # in turns, so that other programs of the machine slow both
            await before.watch(count, host.pid, seconds / ROUNDS)
            async with process("floods", kind, server, url):
                await asyncio.sleep(SETTLED)
                memory = megabytes(host.pid)
                await under.watch(count, host.pid, seconds / ROUNDS)
                more = max(more, megabytes(host.pid) - memory)
        assert not playing.done(), playing.exception()
        host.stdin.close()
        lost = json.loads(await asyncio.wait_for(host.stdout.readline(), 30))["lost"]
        playing.cancel()
        await asyncio.gather(playing, return_exceptions=True)
    return before, under, lost, more


def kept(before, under):
    """Return the share of their turns that players keep, each for the same processor time of the server."""
    return (under.turns / under.processor) / (before.turns / before.processor)


async def table(seconds, kinds):
    """Print a line for every host and kind of flood; return whether all is as it should be."""
    fine = True
    print("| host | flood | turns/s before, under | kept | kept by the control | ratio | turns lost | memory |")
    print("|---|---|---|---|---|---|---|---|")
    for host, (honest, control) in HOSTS.items():
        for kind in kinds:
            if kind in WITHOUT_WEBSOCKETS.get(host, ()):
                continue
            share = kept(*(await measure("control", control, kind, seconds))[:2])
            before, under, lost, more = await measure(host, honest, kind, seconds)
            ratio = kept(before, under) / share if share else float("inf")
            fine = fine and ratio >= LEAST and under.turns > 0 and not lost and more < MEGABYTES
            speeds = f"{before.turns / before.seconds:,.0f}, {under.turns / under.seconds:,.0f}"
            shares = f"{kept(before, under):.2f} | {share:.2f} | {ratio:.2f}"
            print(f"| {host} | {kind} | {speeds} | {shares} | {lost} | {more:+.0f} MB |", flush=True)
    return fine


def run(
    seconds: float = 10.0, floods: Annotated[tuple[str, ...], Parameter(consume_multiple=True)] = tuple(FLOODS)
) -> int:
    """Flood hosts and a bare aiohttp server, and compare what their honest players keep of their speed.

    Exit code 1: a host's players keep less than 0.8 of what the control's keep, lose a turn, or memory grows.

    Args:
        seconds: Seconds of each measurement.
        floods: Kinds of floods.
    """
    return 0 if asyncio.run(table(seconds, floods)) else 1


if __name__ == "__main__":
    app = App("make floods", result_action="return_value")
    app.default(run)
    sys.exit(app())
