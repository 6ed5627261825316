"""Hosts under a flood of broken frames over sockets, beside honest players, who lose no turn.

`PARLOUR_FLOOD=200000` sets how many frames each host gets; `make nightly` does so. The limits of the rate are taken
away, so that every frame is read.
"""

import asyncio
import json
import os
import random
from contextlib import asynccontextmanager, suppress
from dataclasses import replace

import aiohttp
import pytest
from live.fuzzing import mutated
from live.poker_client import action, hosting
from live.poker_server import CALLER
from live.small_game import SmallGame
from live.table_people import BARGAINING, Program, offering, person
from live.test_tangram_agent import Scripted, serving, turn
from parlour.wrappers.live.poker.agent import play
from parlour.wrappers.live.table import host as table_host
from parlour.wrappers.live.table.host import TableHost
from parlour.wrappers.live.tangram import agent as tangram_agent

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif("PARLOUR_FLOOD" not in os.environ, reason="make nightly runs it"),
    pytest.mark.usefixtures("compiled_poker"),
]

FRAMES = int(os.environ.get("PARLOUR_FLOOD", "2000"))
HOSTILE = 4
"""Hostile connections at once."""


def pool(*messages):
    """So many broken frames that a flood does not spend its time on making them."""
    rng = random.Random(0)
    return [mutated(rng, rng.choice(messages)) for _ in range(1_000)]


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
    playing.cancel()
    await asyncio.gather(playing, return_exceptions=True)


def test_poker_in_a_seat_and_on_the_port(caplog):
    hands = []

    def note(kind, **fields):
        if kind == "hand":
            hands.append(fields)

    async def main():
        async with hosting(seats=3, min_players=3, stack=10**6, timeout=20.0, on_event=note, observers=9) as (
            host,
            hostile,
        ):
            results = [asyncio.create_task(play(host.url, CALLER, name=name, hands=10**9)) for name in ("ann", "bob")]
            while len(next(iter(host.tables.values())).session.seats) < 2:
                await asyncio.sleep(0.01)
            await hostile.register("hostile")
            await hostile.join()
            base = {"type": "action", "action": {"turn_token": "t", "kind": "fold"}, "expected_seq": 3}
            frames = pool(base, {"type": "ping", "payload": {"timestamp": 1}}, {**base, "type": "raise"})

            def answer(message):  # in its seat it plays on, so that the hands go on
                mine = message["type"] == "game_state" and message.get("actions")
                return json.dumps(action(message)) if mine else None

            @asynccontextmanager
            async def connect(number):  # one in the seat, two that look on, one with a wrong token
                seat = f"{hostile.ws_url}?token={hostile.token if number == 0 else 'wrong'}&format=agent"
                watch = f"{host.url}/v1/tables/{hostile.table_id}/watch"
                async with hostile.http.ws_connect(watch if number in (1, 2) else seat) as socket:
                    yield socket

            await flood(connect, frames, answer)
            while len(hands) < 5:
                async with connect(0) as socket:
                    with suppress(TimeoutError):
                        async with asyncio.timeout(2):
                            async for message in socket:
                                text = answer(json.loads(message.data))
                                if text is not None:
                                    await socket.send_str(text)
            assert not any(result.done() for result in results)
            for result in results:
                result.cancel()
            await asyncio.gather(*results, return_exceptions=True)
            return hostile.agent_id

    hostile = asyncio.run(main())
    assert len(hands) >= 5
    for hand in hands:
        names = {player["seat"]: player["agent_id"] for player in hand["players"]}
        assert all(names[one["seat"]] == hostile for one in hand["actions"] if "cause" in one), hand
        assert sum(row["stack"] for row in hand["results"]) == 3 * 10**6
    assert not [record for record in caplog.records if record.exc_info]
    assert not [record for record in caplog.records if "rejected" in record.message or "instead of" in record.message]


def test_a_table_in_the_browser(caplog, monkeypatch):
    monkeypatch.setattr(table_host, "RATE", None)
    turns = 0

    async def honest(ann):
        nonlocal turns
        while True:
            state = await ann.turn()
            if state["turn_state"]["game_over"]:
                await ann.send("again")
                continue
            await ann.act(state["turn"], "submit_offer" if state["turn"] % 3 else "accept", my_share=50)
            turns += (await ann.until("result"))["turn"] == state["turn"]

    async def main():
        async with TableHost(BARGAINING, [None, ("bot", Program(offering))], timeout=20.0) as host, person(host) as ann:
            await ann.sit()

            @asynccontextmanager
            async def connect(number):
                async with person(host) as one:
                    yield one.socket

            response = {"action": {"action_type": "accept", "payload": {}}}
            frames = pool(
                {"type": "act", "turn": 1, "response": response},
                {"type": "sit", "name": "eve", "seat": 0, "token": "t"},
                {"type": "say", "intent": {"scope": "public", "content": "hello"}},
                {"type": "stand"},
            )
            async with beside(honest(ann)):
                await flood(connect, frames)
                while turns < 5:
                    await asyncio.sleep(0.01)
            seats = [(seat.name, seat.program) for seat in host.session.seats]
            assert seats == [("Ann", False), ("bot", True)]
            assert host.session.match.failures == {"player_0": 0, "player_1": 0}

    asyncio.run(main())
    assert not [record for record in caplog.records if record.exc_info]


def test_a_tangram_agent(caplog, monkeypatch):
    monkeypatch.setattr(tangram_agent, "LIMITS", replace(tangram_agent.LIMITS, rate=None))
    turns = 0

    async def honest(connect):
        nonlocal turns
        async with connect() as socket:
            game = SmallGame("A square")
            game.poses = {"Red": (50.0, 50.0, 0.0)}
            while True:
                assert await turn(socket, game) == 0
                turns += 1

    async def main():
        async with serving(Scripted()) as (_, connect):
            base = json.loads(SmallGame("A square").message())
            feedback = {**base, "type": "playFeedback"}
            frames = pool(base, feedback, {"type": "chatRequest", "message": "hi", **feedback})
            async with beside(honest(connect)):
                await flood(lambda number: connect(), frames)
                while turns < 5:
                    await asyncio.sleep(0.01)

    asyncio.run(main())
    assert not [record for record in caplog.records if record.exc_info]
