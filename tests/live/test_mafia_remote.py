"""Our mafia host with agents of a service: one that dies, is rude or cannot be reached; logs of the service."""

import asyncio
import json
import logging
from contextlib import asynccontextmanager

import aiohttp
import pytest
from live.mafia_service import answers, client, personality, request, run, serve
from live.small_server import socket_served
from logs import Even
from mafia_players import FIVE, NAMES, Answers, Plain, context, dealt, scripted, warnings
from parlour.wrappers.live.common.server import ServerSettings
from parlour.wrappers.live.mafia.agent import MafiaAgentServer
from parlour.wrappers.live.mafia.host import MafiaHost
from parlour.wrappers.live.mafia.limits import MafiaLimits
from parlour.wrappers.live.mafia.local_agents import MafiaPolicyAgent, MafiaScriptedAgent
from parlour.wrappers.live.mafia.service_client import RemoteAgent, ServiceConnection
from parlour.wrappers.logs.match_log import MatchLog, read
from parlour.wrappers.replay.log_reader import moments, picture

# Our host's end.


async def test_a_match_with_remote_agents_only_is_played_like_one_at_home():
    made = {f"p{seat + 1}": scripted(seat) for seat in range(5)}
    host = MafiaHost(FIVE, seed=3)
    async with MafiaAgentServer(lambda id, name: made[id]) as service:
        connection = ServiceConnection(service.url)
        far = [RemoteAgent(f"p{seat + 1}", NAMES[seat], connection) for seat in range(5)]
        result = await host.play(far, seed=7)
        near = await host.play([scripted(seat) for seat in range(5)], seed=7)
        await connection.close()
    assert not result.faults and result.record == near.record  # the same choices, read from the wire


async def test_a_service_that_dies_and_comes_back():
    service = MafiaAgentServer(personality)
    await service.start()
    port = int(service.url.rpartition(":")[2])
    connection = ServiceConnection(service.url)
    agent = RemoteAgent("p1", "Ann", connection)
    assert await agent.vote(*context()[::2])
    await service.stop()
    with pytest.raises(ConnectionError):
        await agent.vote(*context()[::2])
    async with MafiaAgentServer(personality, server=ServerSettings(port=port)):
        assert await agent.vote(*context()[::2])
    await connection.close()


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


@pytest.mark.usefixtures("only_p1_and_p2_have_a_clock")
@pytest.mark.parametrize("answer", [hangs_up, says_nothing, floods, rubbish, errs])
async def test_a_rude_service_loses_only_its_own_answers(answer, caplog):
    with caplog.at_level(logging.ERROR):
        limits = MafiaLimits(think=0.1, say=0.1, act=0.1, thought=1_000)
        async with rude(answer) as url:
            host = MafiaHost(FIVE, seed=3, limits=limits)
            connection = ServiceConnection(url)
            remote = RemoteAgent("p1", "Ann", connection)
            result = await host.play([remote, *(scripted(seat) for seat in range(1, 5))], seed=dealt("mafia"))
            await connection.close()
    assert result.winner and {fault.agent_id for fault in result.faults} == {"p1"}
    assert not warnings(caplog)


async def test_an_unreachable_service_and_no_address():
    connection = ServiceConnection("ws://127.0.0.1:9")
    agents = [RemoteAgent("p1", "Ann", connection), *(scripted(seat) for seat in range(1, 5))]
    result = await MafiaHost(FIVE, seed=3).play(agents, seed=dealt("mafia"))
    await connection.close()
    assert any("cannot reach" in fault.problem for fault in result.faults)
    for url in ("http://127.0.0.1:9", "3010", ""):
        with pytest.raises(ValueError, match="ws://"):
            ServiceConnection(url)
    with pytest.raises(ValueError, match="deadline"):
        MafiaAgentServer(personality, deadline=0)


async def test_pages_of_other_sites_are_refused():
    status = []
    async with serve(Plain) as service, aiohttp.ClientSession() as http:
        for headers in ({"Origin": "https://evil.example"}, {"Host": "evil.example"}, {}):
            async with http.get(service.url.replace("ws", "http", 1), headers=headers) as answer:
                status.append(answer.status)
    assert status == [403, 403, 426]


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
async def test_what_no_match_has_is_refused(spoil, words):
    call = request(1, "nightAction")
    spoil(call)
    async with serve(Plain) as service, client(service) as socket:
        await socket.send_json(call)
        await socket.send_json(request(2, "nightAction"))
        got, made = await answers(socket, 1, 2), len(service._agent_calls._agents)
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


async def test_a_call_given_up_while_the_connection_closes_takes_no_other_call_with_it(caplog):
    asked = context()[::2]

    async def babbles(socket, call):
        for _ in range(100):
            await socket.send_str("?")
        await asyncio.sleep(0.5)  # it does not answer the close frame before

    async with rude(babbles) as url:
        connection = ServiceConnection(url)
        first, second, third = (RemoteAgent(f"p{seat}", NAMES[seat], connection) for seat in range(3))
        running = asyncio.create_task(first.vote(*asked))
        while "closing the connection" not in caplog.text:
            await asyncio.sleep(0.01)
        late = asyncio.create_task(third.vote(*asked))
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.05):
                await second.vote(*asked)
        ends = await asyncio.wait_for(asyncio.gather(running, late, return_exceptions=True), 20)
        assert [type(end) for end in ends] == [ConnectionError, ConnectionError]
        await connection.close()


async def test_an_agent_that_cancels_itself_loses_only_its_own_answers():
    class Cancelled(MafiaScriptedAgent):
        async def night_action(self, *asked):
            raise asyncio.CancelledError

        vote = night_action

    agents = [Cancelled("p1", NAMES[0], seed=1), *(scripted(seat) for seat in range(1, 5))]
    result = await MafiaHost(FIVE, seed=2).play(agents)
    assert {fault.agent_id for fault in result.faults} == {"p1"}
    assert {fault.method for fault in result.faults if "it cancelled itself" in fault.problem} == {
        "nightAction",
        "vote",
    }


async def played(service, *calls, path="?client=s3cret"):
    """The calls one after another; then the client goes."""
    async with aiohttp.ClientSession() as http, http.ws_connect(service.url + path) as socket:
        got = []
        for number, call in enumerate(calls):
            await socket.send_json(call | {"id": number})
            got.append((await answers(socket, number))[number])
        return got


async def test_a_log_tells_what_a_policy_saw_thought_and_did(tmp_path):
    path = tmp_path / "log.jsonl"
    with MatchLog(path) as log:
        service = MafiaAgentServer(lambda id, name: MafiaPolicyAgent(id, name, FIVE, Even()), log=log)
        async with service:
            phases = {"nightAction": "NIGHT_ACTIONS", "say": "DAY_DISCUSSION", "vote": "DAY_VOTING"}
            asked = [(request(0, "think", phase=phase), request(0, method)) for method, phase in phases.items()]
            got = await played(service, *(call for pair in asked for call in pair))
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


async def test_a_log_tells_what_was_replaced_and_each_agent_by_itself(tmp_path):
    path = tmp_path / "log.jsonl"
    with MatchLog(path) as log:
        agent = MafiaAgentServer(lambda id, name: Answers(None, [], id=id, name=name), seed=0, log=log)
        async with agent as service:
            calls = [request(0, "think", agent, "DAY_VOTING") for agent in ("p1", "p2")]
            await played(service, *calls, request(0, "vote", "p2"), request(0, "nightAction", "p1"), path="")
    vote, night, _ = moments(path)
    assert (vote.agent, vote.action, vote.think) == ("p2", "vote", "I accuse Bob.") and "replaced" in vote.note
    assert night.agent == "p1" and night.action.startswith("nightAction KILL p") and "replaced" in night.note
    assert night.think == ""  # that was of another phase
    assert {line["agent_id"] for line in read(path) if line["kind"] == "ended"} == {"p1", "p2"}


async def test_a_log_that_cannot_be_written_costs_no_answer(tmp_path, caplog):
    log = MatchLog(tmp_path / "log.jsonl")
    async with serve(Plain, log=log) as service:
        log.close()
        assert (await played(service, request(0, "vote")))[0][-1]["result"] == {"targetId": None}
    assert any("left out of the match log" in line.message for line in warnings(caplog))
