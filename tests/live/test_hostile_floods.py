"""Hosts under a flood of broken frames over sockets, beside honest players, who lose no turn.

See `flooding` for the number of frames. The limits of the rate are taken away, so that every frame is read.
"""

import asyncio
import json
from contextlib import asynccontextmanager, suppress
from dataclasses import replace

import aiohttp
import pytest
from live.arena_players import FREE, Client, ours, polling
from live.event_loops import until
from live.flooding import FRAMES, beside, each, flood, no_traceback, pool
from live.poker_client import CALLER, action, hosting
from live.small_game import SmallGame
from live.small_server import socket_served
from live.table_people import BARGAINING, Program, offering, person
from live.test_tangram_agent import Scripted, serving, turn
from mafia_players import FIVE, remote, scripted
from parlour.wrappers.live.arena.agent import ArenaAgentServer
from parlour.wrappers.live.arena.host import ArenaHost
from parlour.wrappers.live.common import limits
from parlour.wrappers.live.mafia.agent import MafiaLimits
from parlour.wrappers.live.mafia.host import MafiaHost
from parlour.wrappers.live.poker.agent import SeatRequest, play
from parlour.wrappers.live.table.host import TableHost


@pytest.mark.usefixtures("compiled_poker")
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
            results = [
                asyncio.create_task(play(host.url, CALLER, seat=SeatRequest(name=name))) for name in ("ann", "bob")
            ]
            await until(lambda: len(next(iter(host.tables.values())).session.seats) == 2)
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
            played = hands.copy()  # before anybody leaves
            for result in results:
                result.cancel()
            await asyncio.gather(*results, return_exceptions=True)
            return hostile.agent_id, played

    hostile, played = asyncio.run(main())
    assert len(played) >= 5
    for hand in played:
        names = {player["seat"]: player["agent_id"] for player in hand["players"]}
        assert all(names[one["seat"]] == hostile for one in hand["actions"] if "cause" in one), hand
        assert sum(row["stack"] for row in hand["results"]) == 3 * 10**6
    no_traceback(caplog)
    assert not [record for record in caplog.records if "rejected" in record.message or "instead of" in record.message]


def test_a_table_in_the_browser(caplog, monkeypatch):
    monkeypatch.setattr(limits, "PAGE", replace(limits.PAGE, rate=None))
    turns = 0

    async def honest(ann):
        nonlocal turns
        while True:
            state = await ann.turn()
            if state["turn_state"]["game_over"]:
                await ann.send("again")
                continue
            await ann.act(state["turn"], "submit_offer", my_share=50)
            result = await ann.until("result")
            assert result["turn"] == state["turn"] and result["result"]["ok"], result
            turns += 1

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
                await until(lambda: turns >= 5)
            seats = [(seat.name, seat.program) for seat in host.session.seats]
            assert seats == [("Ann", False), ("bot", True)]

    asyncio.run(main())
    assert not [record for record in caplog.records if "no answer in time" in record.message]
    no_traceback(caplog)


def test_a_tangram_agent(caplog, monkeypatch):
    monkeypatch.setattr(limits, "SCENE", replace(limits.SCENE, rate=None))
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
                await until(lambda: turns >= 5)

    asyncio.run(main())
    no_traceback(caplog)


OFFER = {"action_type": "submit_offer", "payload": {"my_share": 50}}


def bodies(**calls):
    """Broken bodies with the calls that they are for."""
    pools = {call: pool(body) for call, body in calls.items()}
    return [
        (call, frame) for frames in zip(*pools.values(), strict=True) for call, frame in zip(pools, frames, strict=True)
    ]


async def post(http, url, frame):
    """Send a body; whatever it is, it is answered, and never with an error of ours."""
    data = frame if isinstance(frame, bytes) else frame.encode(errors="replace")
    async with http.post(url, data=data) as reply:
        assert reply.status < 500, (url, frame, await reply.text())
        await reply.read()


def test_a_host_plays_on_with_agents_that_poll_and_agents_that_it_calls(caplog):
    matches = 0

    async def sessions(url):
        """Two honest players meet in sessions."""
        nonlocal matches
        async with aiohttp.ClientSession() as http:
            client = Client(http, url)
            while True:
                _, ann = await client.post("create", player_name="ann")
                async with polling("bob", url) as bob:
                    async with asyncio.TaskGroup() as group:
                        group.create_task(bob.play(1, 1, invites=ann["invite_codes"]))
                        while (state := await client.turn(ann["token"]))["status"] == "running":
                            _, told = await client.post("act", token=ann["token"], **OFFER)
                            assert told == {"ok": True}, state
                        assert state["status"] == "finished" and state["error"] is None, state
                    assert (bob.matches, bob.lost, bob.agent.statistics.replaced) == (1, 0, 0)
                matches += 1

    async def called(host):
        """Two honest agents are called by the host."""
        nonlocal matches
        async with ArenaAgentServer(ours("cat")) as cat, ArenaAgentServer(ours("dan")) as dan:
            for server in (cat, dan):
                await server.register(host.url)
            while True:
                for result in await host.tournament(1, ["cat", "dan"]):
                    assert not any(result.rejected.values()) and not any(result.failed.values()), result
                    matches += 1

    async def main():
        async with ArenaHost(BARGAINING, limits=FREE) as host, aiohttp.ClientSession() as http:
            _, seat = await Client(http, host.url).post("create", player_name="eve")
            wire = {"scope": "public", "content": "hello", "to_agent_ids": ["ann"]}
            frames = bodies(
                **{
                    "register": {"agent_id": "eve", "endpoint": "http://127.0.0.1:9/", "supported_games": []},
                    "unregister": {"agent_id": "eve"},
                    "match": {"agent_ids": ["eve", "ann"], "num_matches": 1},
                    "sessions/create": {"game_id": "unfair-split", "player_name": "eve", "num_players": 2},
                    "sessions/join": {"invite_code": seat["invite_codes"][0], "player_name": "mallory"},
                    "sessions/act": {"token": seat["token"], **OFFER, "messages": [wire]},
                }
            )
            async with beside(sessions(host.url)), beside(called(host)):
                await each(lambda _, frame: post(http, f"{host.url}/api/{frame[0]}", frame[1]), frames)
                played = matches
                await until(lambda: matches >= played + 4)

    asyncio.run(main())
    no_traceback(caplog)


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
