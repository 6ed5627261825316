"""Our mafia host with agents of a service: one that dies, is rude or cannot be reached."""

import json
import logging
from contextlib import asynccontextmanager

import pytest
from live.mafia_service import personality
from live.small_server import socket_served
from mafia_players import FIVE, context, dealt, remote, scripted, warnings
from parlour.wrappers.live.common.server import ServerSettings
from parlour.wrappers.live.mafia.agent import MafiaAgentServer, MafiaLimits
from parlour.wrappers.live.mafia.host import MafiaHost, ServiceConnection

# Our host's end.


async def test_a_match_with_remote_agents_only_is_played_like_one_at_home():
    made = {f"p{seat + 1}": scripted(seat) for seat in range(5)}
    host = MafiaHost(FIVE, seed=3)
    async with MafiaAgentServer(lambda id, name: made[id]) as service:
        async with remote(service.url, 5) as far:
            result = await host.play(far, seed=7)
        near = await host.play([scripted(seat) for seat in range(5)], seed=7)
    assert not result.faults and result.record == near.record  # the same choices, read from the wire


async def test_a_service_that_dies_and_comes_back():
    service = MafiaAgentServer(personality)
    await service.start()
    port = int(service.url.rpartition(":")[2])
    async with remote(service.url) as [agent]:
        assert await agent.vote(*context()[::2])
        await service.stop()
        with pytest.raises(ConnectionError):
            await agent.vote(*context()[::2])
        async with MafiaAgentServer(personality, server=ServerSettings(port=port)):
            assert await agent.vote(*context()[::2])


@asynccontextmanager
async def rude(answer):
    """A service that answers each call with whatever `answer` sends."""

    async def connect(socket):
        async for message in socket:
            await answer(socket, json.loads(message.data))

    async with socket_served(connect) as url:
        yield url


async def hangs_up(socket, call):
    await socket.close()


async def says_nothing(socket, call):
    pass


async def floods(socket, call):
    for _ in range(3_000):
        await socket.send_json({"id": call.get("id"), "chunk": "x" * 100})


async def rubbish(socket, call):
    for text in ("", "{", "[1]", json.dumps({"id": call.get("id"), "chunk": 5}), '{"id": 1000000, "done": true}'):
        await socket.send_str(text)
    await socket.send_json({"id": call.get("id"), "done": True, "result": {"targetId": ["p1"]}})


async def errs(socket, call):
    await socket.send_json({"id": call.get("id"), "error": "no"})


@pytest.mark.usefixtures("only_p1_and_p2_have_a_clock")
@pytest.mark.parametrize("answer", [hangs_up, says_nothing, floods, rubbish, errs])
async def test_a_rude_service_loses_only_its_own_answers(answer, caplog):
    with caplog.at_level(logging.ERROR):
        limits = MafiaLimits(think=0.1, say=0.1, act=0.1, thought=1_000)
        async with rude(answer) as url, remote(url) as far:
            host = MafiaHost(FIVE, seed=3, limits=limits)
            result = await host.play([*far, *(scripted(seat) for seat in range(1, 5))], seed=dealt("mafia"))
    assert result.winner and {fault.agent_id for fault in result.faults} == {"p1"}
    assert not warnings(caplog)


async def test_an_unreachable_service_and_no_address():
    async with remote("ws://127.0.0.1:9") as far:
        agents = [*far, *(scripted(seat) for seat in range(1, 5))]
        result = await MafiaHost(FIVE, seed=3).play(agents, seed=dealt("mafia"))
    assert any("cannot reach" in fault.problem for fault in result.faults)
    for url in ("http://127.0.0.1:9", "3010", ""):
        with pytest.raises(ValueError, match="ws://"):
            ServiceConnection(url)


async def test_a_service_that_never_talks_sense_is_hung_up_on_and_its_words_stay_on_one_line(caplog):
    async def nonsense(socket, call):
        for text in ['{"id": null}', *["\x1b[2J{\n"] * 200]:
            await socket.send_str(text)

    async with rude(nonsense) as url, remote(url) as [agent]:
        state, private, _ = context("NIGHT_ACTIONS", role="mafia")
        with pytest.raises(ConnectionError):
            await agent.night_action(state, private)

    told = [line.getMessage() for line in warnings(caplog)]
    assert told[0].endswith("an answer to no call")
    assert len(told) <= 101 and "closing the connection" in told[-1] and all(line.isprintable() for line in told)
