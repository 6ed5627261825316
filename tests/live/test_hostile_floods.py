"""Hosts under a flood of broken frames over sockets, beside honest players, who lose no turn.

See `flooding` for the number of frames. The limits of the rate are taken away, so that every frame is read.
"""

import asyncio
import json
from contextlib import asynccontextmanager, suppress
from dataclasses import replace

import pytest
from live.flooding import beside, flood, no_traceback, pool
from live.poker_client import CALLER, action, hosting
from live.small_game import SmallGame
from live.table_people import BARGAINING, Program, offering, person
from live.test_tangram_agent import Scripted, serving, turn
from parlour.wrappers.live.poker.agent import SeatRequest, play
from parlour.wrappers.live.table import host as table_host
from parlour.wrappers.live.table.host import TableHost
from parlour.wrappers.live.tangram import agent as tangram_agent


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
    monkeypatch.setattr(table_host, "RATE", None)
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
                while turns < 5:
                    await asyncio.sleep(0.01)
            seats = [(seat.name, seat.program) for seat in host.session.seats]
            assert seats == [("Ann", False), ("bot", True)]

    asyncio.run(main())
    assert not [record for record in caplog.records if "no answer in time" in record.message]
    no_traceback(caplog)


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
    no_traceback(caplog)
