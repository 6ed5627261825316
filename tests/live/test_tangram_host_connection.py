"""Our game as the host of rude, slow and lost agents, over real sockets."""

import asyncio
import json
import time

import aiohttp
import pytest
from live.event_loops import on_loop
from live.small_server import socket_served
from parlour import envs
from parlour.envs import Action, AgentResponse
from parlour.wrappers.agents.policy import PolicyAgent
from parlour.wrappers.live.common import client
from parlour.wrappers.live.tangram.agent import TangramAgentServer
from parlour.wrappers.live.tangram.host import TangramHost, TangramTimes
from parlour.wrappers.logs.match_log import MatchLog, read, replay
from parlour.wrappers.policies.loading import make_policy

GAME = envs.game("tangram", figure="A square", aspect="godot", turns=6)
RED = {"type": "play", "shape": "Red", "position": [50, 50], "rotation": 405.0, "timestamp": "2026-01-02T03:04:05Z"}


class Idle:
    """A person who only watches."""

    def respond(self, state):
        return AgentResponse(Action("finish"))


async def silent(socket):
    async for _ in socket:
        pass


async def babbling(socket):
    async for _ in socket:
        await socket.send_str("{")
        await socket.send_str('{"type": "play", "shape": "Orange", "position": [1, 2], "rotation": 0}')


async def talking(socket):
    async for _ in socket:
        for _ in range(100):
            await socket.send_str('{"type": "chat", "message": "wait"}')


async def endless(socket):
    async for _ in socket:
        await socket.send_str(json.dumps(RED))


@pytest.mark.parametrize("handler", [silent, babbling, talking, endless], ids=lambda handler: handler.__name__)
@on_loop
async def test_rude_agents_lose_turns_and_the_match_goes_on(handler, tmp_path):
    path, said = tmp_path / "log.jsonl", []
    async with socket_served(handler) as url:
        with MatchLog(path) as log:
            host = TangramHost(
                GAME, Idle(), url, times=TangramTimes(answer=0.2, retry=0.05), log=log, on_chat=said.append
            )
            (played,) = await host.play(1, seed=1)
    assert played.turns == 6
    assert played.lost == (0 if handler is endless else 3)  # plays are limited: the last one ends the turn
    assert played.outcome["reason"]
    assert bool(said) is (handler is talking)
    assert replay(path).state().tobytes() == host._match.table.tobytes()
    assert sum("problem" in entry for entry in read(path)) == played.lost


@on_loop
async def test_a_connection_that_is_lost_in_a_turn_is_made_again():
    seen = []

    async def leaving(socket):
        async for frame in socket:
            message = json.loads(frame.data)
            seen.append((message["type"], list(message["state"]["on_board"])))
            if len(seen) == 1:
                await socket.send_str(json.dumps(RED))
            elif len(seen) == 2:
                await socket.close()  # with a piece in the hand
            else:
                await socket.send_str('{"type": "finish"}')

    async with socket_served(leaving) as url:
        (played,) = await TangramHost(GAME, Idle(), url, times=TangramTimes(retry=0.05)).play(1, seed=1)
    assert seen[:3] == [("playRequest", []), ("playFeedback", ["Red"]), ("playRequest", ["Red"])]
    assert played.lost == 0


class Slow(Idle):
    """A person who thinks for a while."""

    def respond(self, state):
        time.sleep(0.5)
        return super().respond(state)


@on_loop
async def test_a_person_may_think_for_longer_than_the_agent_waits_for_a_pong(monkeypatch):
    monkeypatch.setattr(client, "HEARTBEAT", 0.1)
    agent = PolicyAgent(GAME, make_policy("random", GAME, seed=1))
    async with TangramAgentServer(agent, GAME) as server:
        (played,) = await TangramHost(GAME, Slow(), server.url).play(1, seed=1)
        await asyncio.wait_for(server.played(1), 5)
        assert (played.turns, played.lost, server.games) == (6, 0, 1)


@on_loop
async def test_what_comes_while_the_person_thinks_is_refused_at_once_and_not_kept_for_the_next_turn():
    heard, said = [], []

    async def eager(socket):
        async for frame in socket:
            heard.append(json.loads(frame.data)["type"])
            if heard[-1] == "playRequest":
                await socket.send_str('{"type": "finish"}')
                await socket.send_str('{"type": "chat", "message": "done"}')
                await socket.send_str(json.dumps(RED))

    async with socket_served(eager) as url:
        host = TangramHost(GAME, Slow(), url, on_chat=said.append)
        (played,) = await host.play(1, seed=1)
    # The person has the turns 1, 3 and 5; the last play comes when the match is over.
    assert heard == ["playRequest", "error"] * 2 + ["playRequest"]
    assert said == ["done", "done"]
    assert (played.lost, played.refused) == (0, 2)
    assert host._match.turn_state("player_0").game_state["on_board"] == {}


@on_loop
async def test_an_agent_that_always_hangs_up_is_not_waited_for():
    async def hanging_up(socket):
        await socket.receive()
        await socket.close()

    async with socket_served(hanging_up) as url:
        (played,) = await TangramHost(GAME, Idle(), url, times=TangramTimes(retry=0.0)).play(1, seed=1)
    assert played.lost == 3


@on_loop
async def test_no_agent_no_match():
    async with socket_served(silent) as url:
        pass
    with pytest.raises(ConnectionError, match="gave up after 10 tries"):
        await TangramHost(GAME, Idle(), url, times=TangramTimes(retry=0.0)).play(1, seed=1)
    async with aiohttp.ClientSession():
        for bad in ("http://127.0.0.1:5000", "ws://", "nonsense"):
            with pytest.raises(ValueError, match="no address"):
                TangramHost(GAME, Idle(), bad)
    with pytest.raises(ValueError, match="documented, godot"):
        TangramHost(GAME, Idle(), "ws://localhost", dialect="unity")
