"""Our agents behind a WebSocket, and our host's end of it: over real sockets, with clients that misbehave."""

import asyncio
import contextlib
import json

import aiohttp
import pytest
from live.mafia_service import answers, client, personality, request, run, serve
from mafia_players import Answers, Endless, EndlessNothing, Plain, Silent, context, warnings
from parlour.wrappers.live.common.server import ServerSettings
from parlour.wrappers.live.mafia import messages as wire
from parlour.wrappers.live.mafia.agent import MafiaAgentServer
from parlour.wrappers.live.mafia.agent_calls import NOTHING_TO_SAY, SAYS_LIMIT
from parlour.wrappers.live.mafia.agent_session import MESSAGE_LIMIT
from parlour.wrappers.live.mafia.service_client import RemoteAgent, ServiceConnection


def test_two_agents_on_one_connection_stream_and_choose_at_once():
    async def main():
        async with serve(personality) as service, client(service) as socket:
            calls = [
                request(number, method, agent)
                for number, (method, agent) in enumerate(
                    (method, agent) for method in ("think", "nightAction", "say", "vote") for agent in ("p1", "p2")
                )
            ]
            for one in calls:
                await socket.send_json(one)
            return calls, await answers(socket, *range(8)), service

    calls, got, service = run(main())
    assert service.calls == 8 and service.replaced == 0
    for one in calls:
        *chunks, end = got[one["id"]]
        assert end["done"] is True
        if one["method"] in ("think", "say"):
            assert chunks and all(part["chunk"] for part in chunks) and "result" not in end
        elif one["method"] == "nightAction":
            assert end["result"]["actionType"] == "KILL" and end["result"]["targetId"] != one["agent"]
        else:
            assert end["result"]["targetId"] != one["agent"]


def test_a_stream_comes_chunk_by_chunk():
    class Slow(Plain):
        async def think(self, context, private_info):
            for word in ("one ", "two ", "three"):
                yield word
                await heard.wait()
                heard.clear()

    heard = asyncio.Event()

    async def main():
        async with serve(Slow) as service, client(service) as socket:
            await socket.send_json(request(1, "think"))
            for word in ("one ", "two ", "three"):
                assert (await socket.receive_json())["chunk"] == word  # while the agent waits for us
                heard.set()
            assert await socket.receive_json() == {"id": 1, "done": True}

    run(main())


@pytest.mark.parametrize("bad", [Silent, Endless, EndlessNothing])
async def test_agents_that_do_not_answer_are_replaced_in_time(bad, caplog):
    async with serve(bad, deadline=1.0 if bad is Endless else 0.1) as service, client(service) as socket:
        for number, method in enumerate(("think", "say", "nightAction", "vote")):
            await socket.send_json(request(number, method))
        got, replaced = await answers(socket, 0, 1, 2, 3), service.replaced
    said = "".join(part.get("chunk", "") for part in got[1])
    assert said == NOTHING_TO_SAY if bad is not Endless else len(said) == SAYS_LIMIT
    assert got[2][-1]["result"]["targetId"] in ("p2", "p3", "p4", "p5")
    assert got[3][-1]["result"]["targetId"] is None
    assert replaced == (4 if bad is Silent else 2)
    assert len(warnings(caplog)) == replaced


@pytest.mark.parametrize(
    "night, vote", [(None, None), (wire.NightAction("KILL", "p1"), wire.VoteAction("p1")), (5, [])]
)
async def test_illegal_choices_never_leave_the_service(night, vote):
    agent = MafiaAgentServer(lambda id, name: Answers(night, vote, id=id, name=name), seed=0)
    async with agent as service, client(service) as socket:
        await socket.send_json(request(1, "nightAction"))
        await socket.send_json(request(2, "vote"))
        got = await answers(socket, 1, 2)
    assert got[1][-1]["result"]["targetId"] in ("p2", "p3", "p4", "p5")
    assert got[2][-1]["result"] == {"targetId": None}


async def test_no_agent_and_a_service_that_cannot_make_one():
    def none(id, name):
        raise OSError("no such run")

    async with MafiaAgentServer(none) as service, client(service) as socket:
        await socket.send_json(request(1, "think"))
        got = await answers(socket, 1)
        await socket.send_json(request(2, "think"))
        got, again = got, await answers(socket, 2)
    assert "no agent" in got[1][-1]["error"] and "no agent" in again[2][-1]["error"]


async def test_a_call_given_up_ends_and_its_agent_goes_on():
    stopped = []

    class Slow(Plain):
        async def think(self, context, private_info):
            try:
                yield "one"
                await asyncio.Event().wait()
            finally:
                stopped.append(True)

    async with serve(Slow) as service, client(service) as socket:
        await socket.send_json(request(1, "think"))
        assert (await socket.receive_json())["chunk"] == "one"
        await socket.send_json({"id": 1, "cancel": True})
        await socket.send_json(request(1, "vote"))
        assert await socket.receive_json() == {"id": 1, "done": True, "result": {"targetId": None}}
        assert stopped


async def test_hostile_clients_are_answered_or_dropped_and_others_play_on():
    async with serve(personality) as service, client(service) as good:
        async with client(service) as bad:
            for message in ("", "{", "[]", '{"id": 1}', json.dumps({"id": 2, "method": "think", "context": {}})):
                await bad.send_str(message)
                assert "error" in await bad.receive_json()
            await bad.send_bytes(b"\xff\x00")
            assert "error" in await bad.receive_json()
            await bad.send_json(request(9, "vote"))
            assert (await answers(bad, 9))[9][-1]["done"]
        async with client(service) as bad:
            with contextlib.suppress(ConnectionError):
                await bad.send_str("x" * (MESSAGE_LIMIT + 1))
            assert (await bad.receive()).type in (
                aiohttp.WSMsgType.CLOSE,
                aiohttp.WSMsgType.CLOSED,
                aiohttp.WSMsgType.ERROR,
            )
        async with client(service) as bad:
            for number in range(200):
                await bad.send_json(request(number, "think"))
        await good.send_json(request(1, "vote"))
        assert (await answers(good, 1))[1][-1]["done"]
        base = service.url.replace("ws", "http", 1)
        async with aiohttp.ClientSession() as http:
            async with http.get(base) as reply:
                assert reply.status == 426
            async with http.get(f"{base}/health") as reply:
                assert (await reply.json())["ok"]


async def test_a_token_where_one_is_asked_for(caplog):
    async with serve(personality, server=ServerSettings(access_token="sesame")) as service:
        for token in (None, "open"):
            agent = RemoteAgent("p1", "Ann", ServiceConnection(service.url, token))
            with pytest.raises(ConnectionError, match="cannot reach"):
                await agent.vote(*context()[::2])
            await agent.connection.close()
        agent = RemoteAgent("p1", "Ann", ServiceConnection(service.url, "sesame"))
        assert await agent.vote(*context()[::2])
        await agent.connection.close()
    assert "sesame" not in caplog.text


async def test_a_client_finds_its_agents_again_and_a_stranger_does_not():
    made = []

    def make(id, name):
        made.append(id)
        return Plain(id, name)

    async with MafiaAgentServer(make) as service:
        for address in (f"{service.url}/?client=one", f"{service.url}/?client=one", f"{service.url}/?client=two"):
            async with aiohttp.ClientSession() as http, http.ws_connect(address) as socket:
                await socket.send_json(request(1, "think"))
                await answers(socket, 1)
        for _ in range(2):
            async with client(service) as socket:
                await socket.send_json(request(1, "think"))
                await answers(socket, 1)
    assert len(made) == 4
