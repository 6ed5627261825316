"""Our agents behind a WebSocket, and our host's end of it: over real sockets, with clients that misbehave."""

import asyncio
import contextlib
import json
import logging
from contextlib import asynccontextmanager

import aiohttp
import msgspec
import pytest
from aiohttp import web
from logs import Even
from mafia_players import (
    FIVE,
    NAMES,
    Answers,
    Endless,
    EndlessNothing,
    Plain,
    Silent,
    context,
    dealt,
    scripted,
    warnings,
)
from parlour.wrappers.live.mafia import messages as wire
from parlour.wrappers.live.mafia.agent import MafiaAgentServer
from parlour.wrappers.live.mafia.agent_calls import NOTHING_TO_SAY, SAYS_LIMIT
from parlour.wrappers.live.mafia.agent_session import MESSAGE_LIMIT
from parlour.wrappers.live.mafia.host import MafiaHost
from parlour.wrappers.live.mafia.limits import MafiaLimits
from parlour.wrappers.live.mafia.policy_agent import MafiaPolicyAgent
from parlour.wrappers.live.mafia.scripted_agent import MafiaScriptedAgent
from parlour.wrappers.live.mafia.service_client import RemoteAgent, ServiceConnection
from parlour.wrappers.logs.match_log import MatchLog, read
from parlour.wrappers.replay.log_reader import moments
from parlour.wrappers.replay.moment import picture


def run(main, within=120):
    return asyncio.run(asyncio.wait_for(main, within))


def request(id, method, agent="p1", phase=None, **settings):
    phase = phase or {"vote": "DAY_VOTING", "say": "DAY_DISCUSSION"}.get(method, "NIGHT_ACTIONS")
    seat = int(agent[1:]) - 1
    state, private, public = context(phase, me=seat, **{"role": "mafia", **settings})
    info = public if method in ("say", "vote") else private
    return {"id": id, "agent": agent, "method": method, **msgspec.to_builtins({"context": state, "info": info})}


@asynccontextmanager
async def client(service, **settings):
    async with aiohttp.ClientSession() as http, http.ws_connect(service.url, **settings) as socket:
        yield socket


async def answers(socket, *ids):
    """What comes for these calls until all have ended: {id: [messages]}."""
    got = {id: [] for id in ids}
    while not all(parts and ("done" in parts[-1] or "error" in parts[-1]) for parts in got.values()):
        message = json.loads((await socket.receive(timeout=90)).data)
        got[message["id"]].append(message)
    return got


def serve(agent, **settings):
    return MafiaAgentServer(lambda id, name: agent(id=id, name=name), port=0, seed=0, **settings)


def personality(id, name):
    return MafiaScriptedAgent(id, name, seed=1)


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
def test_agents_that_do_not_answer_are_replaced_in_time(bad, caplog):
    async def main():
        async with serve(bad, deadline=0.1) as service, client(service) as socket:
            for number, method in enumerate(("think", "say", "nightAction", "vote")):
                await socket.send_json(request(number, method))
            return await answers(socket, 0, 1, 2, 3), service.replaced

    got, replaced = run(main())
    said = "".join(part.get("chunk", "") for part in got[1])
    assert said == NOTHING_TO_SAY if bad is not Endless else len(said) == SAYS_LIMIT
    assert got[2][-1]["result"]["targetId"] in ("p2", "p3", "p4", "p5")
    assert got[3][-1]["result"]["targetId"] is None
    assert replaced == (4 if bad is Silent else 2)
    assert len(warnings(caplog)) == replaced


@pytest.mark.parametrize(
    "night, vote", [(None, None), (wire.NightAction("KILL", "p1"), wire.VoteAction("p1")), (5, [])]
)
def test_illegal_choices_never_leave_the_service(night, vote):
    async def main():
        agent = MafiaAgentServer(lambda id, name: Answers(night, vote, id=id, name=name), port=0, seed=0)
        async with agent as service, client(service) as socket:
            await socket.send_json(request(1, "nightAction"))
            await socket.send_json(request(2, "vote"))
            return await answers(socket, 1, 2)

    got = run(main())
    assert got[1][-1]["result"]["targetId"] in ("p2", "p3", "p4", "p5")
    assert got[2][-1]["result"] == {"targetId": None}


def test_no_agent_and_a_service_that_cannot_make_one():
    def none(id, name):
        raise OSError("no such run")

    async def main():
        async with MafiaAgentServer(none, port=0) as service, client(service) as socket:
            await socket.send_json(request(1, "think"))
            got = await answers(socket, 1)
            await socket.send_json(request(2, "think"))
            return got, await answers(socket, 2)

    got, again = run(main())
    assert "no agent" in got[1][-1]["error"] and "no agent" in again[2][-1]["error"]


def test_a_call_given_up_ends_and_its_agent_goes_on():
    stopped = []

    class Slow(Plain):
        async def think(self, context, private_info):
            try:
                yield "one"
                await asyncio.Event().wait()
            finally:
                stopped.append(True)

    async def main():
        async with serve(Slow) as service, client(service) as socket:
            await socket.send_json(request(1, "think"))
            assert (await socket.receive_json())["chunk"] == "one"
            await socket.send_json({"id": 1, "cancel": True})
            await socket.send_json(request(1, "vote"))
            assert await socket.receive_json() == {"id": 1, "done": True, "result": {"targetId": None}}
            assert stopped

    run(main())


def test_hostile_clients_are_answered_or_dropped_and_others_play_on():
    async def main():
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

    run(main())


def test_a_token_where_one_is_asked_for(caplog):
    async def main():
        async with serve(personality, access_token="sesame") as service:
            for token in (None, "open"):
                agent = RemoteAgent("p1", "Ann", ServiceConnection(service.url, token))
                with pytest.raises(ConnectionError, match="cannot reach"):
                    await agent.vote(*context()[::2])
                await agent.connection.close()
            agent = RemoteAgent("p1", "Ann", ServiceConnection(service.url, "sesame"))
            assert await agent.vote(*context()[::2])
            await agent.connection.close()

    run(main())
    assert "sesame" not in caplog.text


def test_a_client_finds_its_agents_again_and_a_stranger_does_not():
    made = []

    def make(id, name):
        made.append(id)
        return Plain(id, name)

    async def main():
        async with MafiaAgentServer(make, port=0) as service:
            for address in (f"{service.url}/?client=one", f"{service.url}/?client=one", f"{service.url}/?client=two"):
                async with aiohttp.ClientSession() as http, http.ws_connect(address) as socket:
                    await socket.send_json(request(1, "think"))
                    await answers(socket, 1)
            for _ in range(2):
                async with client(service) as socket:
                    await socket.send_json(request(1, "think"))
                    await answers(socket, 1)

    run(main())
    assert len(made) == 4


# Our host's end.


def test_a_match_with_remote_agents_only_is_played_like_one_at_home():
    async def main():
        made = {f"p{seat + 1}": scripted(seat) for seat in range(5)}
        async with MafiaAgentServer(lambda id, name: made[id], port=0) as service, MafiaHost(FIVE, seed=3) as host:
            connection = ServiceConnection(service.url)
            far = [RemoteAgent(f"p{seat + 1}", NAMES[seat], connection) for seat in range(5)]
            result = await host.play(far, seed=7)
            near = await host.play([scripted(seat) for seat in range(5)], seed=7)
            await connection.close()
            return result, near

    far, near = run(main())
    assert not far.faults and far.record == near.record  # the same choices, read from the wire


def test_a_service_that_dies_and_comes_back():
    async def main():
        service = MafiaAgentServer(personality, port=0)
        await service.start()
        port = int(service.url.rpartition(":")[2])
        connection = ServiceConnection(service.url)
        agent = RemoteAgent("p1", "Ann", connection)
        assert await agent.vote(*context()[::2])
        await service.stop()
        with pytest.raises(ConnectionError):
            await agent.vote(*context()[::2])
        async with MafiaAgentServer(personality, port=port):
            assert await agent.vote(*context()[::2])
        await connection.close()

    run(main())


@asynccontextmanager
async def rude(answer):
    """A service that answers each call with whatever `answer` sends."""

    async def connect(request):
        socket = web.WebSocketResponse()
        await socket.prepare(request)
        async for message in socket:
            await answer(socket, json.loads(message.data))
        return socket

    app = web.Application()
    app.add_routes([web.get("/", connect)])
    runner = web.AppRunner(app, shutdown_timeout=0.1)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    try:
        yield f"ws://127.0.0.1:{runner.addresses[0][1]}"
    finally:
        await runner.cleanup()


async def hangs_up(socket, call):
    await socket.close()


async def says_nothing(socket, call):
    pass


async def floods(socket, call):
    for _ in range(3_000):
        await socket.send_json({"id": call.get("id"), "chunk": "x" * 100})


async def rubbish(socket, call):
    for text in (
        "",
        "{",
        "[1]",
        json.dumps({"id": call.get("id"), "chunk": 5}),
        json.dumps({"id": 10**6, "done": True}),
    ):
        await socket.send_str(text)
    await socket.send_json({"id": call.get("id"), "done": True, "result": {"targetId": ["p1"]}})


async def errs(socket, call):
    await socket.send_json({"id": call.get("id"), "error": "no"})


@pytest.mark.parametrize("answer", [hangs_up, says_nothing, floods, rubbish, errs])
def test_a_rude_service_loses_only_its_own_answers(answer, caplog):
    async def main():
        limits = MafiaLimits(think=0.1, say=0.1, act=0.1, thought=1_000)
        async with rude(answer) as url, MafiaHost(FIVE, seed=3, limits=limits) as host:
            connection = ServiceConnection(url)
            remote = RemoteAgent("p1", "Ann", connection)
            result = await host.play([remote, *(scripted(seat) for seat in range(1, 5))], seed=dealt("mafia"))
            await connection.close()
            return result

    with caplog.at_level(logging.ERROR):
        result = run(main())
    assert result.winner and {fault.agent_id for fault in result.faults} == {"p1"}
    assert not warnings(caplog)


def test_an_unreachable_service_and_no_address():
    async def main():
        async with MafiaHost(FIVE, seed=3) as host:
            connection = ServiceConnection("ws://127.0.0.1:9")
            remote = RemoteAgent("p1", "Ann", connection)
            result = await host.play([remote, *(scripted(seat) for seat in range(1, 5))], seed=dealt("mafia"))
            await connection.close()
            return result

    assert any("cannot reach" in fault.problem for fault in run(main()).faults)
    for url in ("http://127.0.0.1:9", "3010", ""):
        with pytest.raises(ValueError, match="ws://"):
            ServiceConnection(url)
    with pytest.raises(ValueError, match="deadline"):
        MafiaAgentServer(personality, deadline=0)


def test_pages_of_other_sites_are_refused():
    async def main():
        status = []
        async with serve(Plain) as service, MafiaHost(FIVE) as host, aiohttp.ClientSession() as http:
            for url in (service.url, host.url + "/observe"):
                for headers in ({"Origin": "https://evil.example"}, {"Host": "evil.example"}, {}):
                    async with http.get(url.replace("ws", "http", 1), headers=headers) as answer:
                        status.append(answer.status)
        return status

    assert run(main()) == [403, 403, 426, 403, 403, 426]


@pytest.mark.parametrize(
    ("spoil", "words"),
    [
        (lambda call: call["context"].update(gameId="g" * 201), "an id or name has 201 characters"),
        (lambda call: call["context"]["players"][1].update(name="n" * 300), "an id or name has 300 characters"),
        (lambda call: call["context"].update(players=call["context"]["players"] * 5), "context has 25 players"),
        (
            lambda call: call["info"]["privateKnowledge"].update(nightActions={str(i): "p1" for i in range(21)}),
            "privateKnowledge holds more",
        ),
    ],
)
def test_what_no_match_has_is_refused(spoil, words):
    async def main():
        call = request(1, "nightAction")
        spoil(call)
        async with serve(Plain) as service, client(service) as socket:
            await socket.send_json(call)
            await socket.send_json(request(2, "nightAction"))
            return await answers(socket, 1, 2), service._agent_calls.agents

    got, made = run(main())
    assert words in got[1][0]["error"] and "result" in got[2][0] and made == 1


def test_a_service_that_never_talks_sense_is_hung_up_on_and_its_words_stay_on_one_line(caplog):
    async def nonsense(socket, call):
        for _ in range(200):
            await socket.send_str("\x1b[2J{\n")

    async def main():
        async with rude(nonsense) as url:
            connection = ServiceConnection(url)
            agent = RemoteAgent("p1", "Ann", connection)
            state, private, _ = context("NIGHT_ACTIONS", role="mafia")
            with pytest.raises(ConnectionError):
                await agent.night_action(state, private)
            await connection.close()

    run(main(), 30)
    told = [line.getMessage() for line in warnings(caplog)]
    assert len(told) <= 101 and "closing the connection" in told[-1] and all(line.isprintable() for line in told)


async def played(service, *calls, path="?client=s3cret"):
    """The calls one after another; then the client goes."""
    async with aiohttp.ClientSession() as http, http.ws_connect(service.url + path) as socket:
        got = []
        for number, call in enumerate(calls):
            await socket.send_json(call | {"id": number})
            got.append((await answers(socket, number))[number])
        return got


def test_a_log_tells_what_a_policy_saw_thought_and_did(tmp_path):
    path = tmp_path / "log.jsonl"

    async def main():
        with MatchLog(path) as log:
            service = MafiaAgentServer(lambda id, name: MafiaPolicyAgent(id, name, FIVE, Even()), port=0, log=log)
            async with service:
                phases = {"nightAction": "NIGHT_ACTIONS", "say": "DAY_DISCUSSION", "vote": "DAY_VOTING"}
                asked = [(request(0, "think", phase=phase), request(0, method)) for method, phase in phases.items()]
                return await played(service, *(call for pair in asked for call in pair))

    got = run(main())
    assert [line["kind"] for line in read(path)] == ["joined", "turn", "turn", "turn", "ended"]
    assert "s3cret" not in path.read_text()
    *told, end = moments(path)
    night, said, vote = told
    assert end.agent is None
    assert night.action == f"nightAction KILL {got[1][-1]['result']['targetId']}"
    assert said.action == "say " + "".join(part.get("chunk", "") for part in got[3])
    assert vote.action == f"vote {got[5][-1]['result']['targetId'] or ''}".strip()
    for moment, thought in zip(told, got[::2], strict=True):
        assert moment.agent == "p1" and moment.value == 0.25
        assert moment.think == "".join(part.get("chunk", "") for part in thought)
        assert sum(moment.probabilities.values()) == pytest.approx(1, abs=0.01)
        players = moment.states["p1"].game_state["players"]
        assert [player["role"] for player in players] == ["mafia"] + ["unknown"] * 4
    for moment in (night, vote):
        assert moment.action in moment.probabilities
    assert "say I am innocent." in said.probabilities
    assert picture([vote.states["p1"]])


def test_a_log_tells_what_was_replaced_and_each_agent_by_itself(tmp_path):
    path = tmp_path / "log.jsonl"

    async def main():
        with MatchLog(path) as log:
            agent = MafiaAgentServer(lambda id, name: Answers(None, [], id=id, name=name), port=0, seed=0, log=log)
            async with agent as service:
                calls = [request(0, "think", agent, "DAY_VOTING") for agent in ("p1", "p2")]
                await played(service, *calls, request(0, "vote", "p2"), request(0, "nightAction", "p1"), path="")

    run(main())
    vote, night, _ = moments(path)
    assert (vote.agent, vote.action, vote.think) == ("p2", "vote", "I accuse Bob.") and "replaced" in vote.note
    assert night.agent == "p1" and night.action.startswith("nightAction KILL p") and "replaced" in night.note
    assert night.think == ""  # that was of another phase
    assert {line["agent_id"] for line in read(path) if line["kind"] == "ended"} == {"p1", "p2"}


def test_a_log_that_cannot_be_written_costs_no_answer(tmp_path, caplog):
    async def main():
        log = MatchLog(tmp_path / "log.jsonl")
        async with serve(Plain, log=log) as service:
            log.close()
            return await played(service, request(0, "vote"))

    assert run(main())[0][-1]["result"] == {"targetId": None}
    assert any("left out of the match log" in line.message for line in warnings(caplog))
