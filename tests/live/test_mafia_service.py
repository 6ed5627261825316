"""Our agents behind a WebSocket, over real sockets: streams, agents that misbehave, strangers, and the log."""

import asyncio
import contextlib
import json
import time

import aiohttp
import pytest
from live.mafia_service import answers, asked, client, personality, request, serve
from logs import Even
from mafia_players import FIVE, Endless, EndlessNothing, Plain, Silent, context, remote, warnings
from parlour.training.commands.activity import Activity
from parlour.wrappers.live.common import limits
from parlour.wrappers.live.common.server import ServerSettings
from parlour.wrappers.live.mafia import agent as service_module
from parlour.wrappers.live.mafia import messages as wire
from parlour.wrappers.live.mafia.agent import NOTHING_TO_SAY, STREAM_LIMIT, MafiaAgentServer
from parlour.wrappers.live.mafia.agents import MafiaPolicyAgent, MafiaScriptedAgent
from parlour.wrappers.logs.match_log import MatchLog, read
from parlour.wrappers.replay.log_reader import moments, picture


async def test_a_stream_comes_chunk_by_chunk_and_a_call_given_up_ends():
    stopped = []

    class Slow(MafiaScriptedAgent):
        async def think(self, context, private_info):
            try:
                for word in ("one ", "two ", "three"):
                    yield word
                    await heard.wait()
                    heard.clear()
                await asyncio.Event().wait()
            finally:
                stopped.append(True)

    heard = asyncio.Event()
    async with serve(Slow) as service, client(service) as socket:
        await socket.send_json(request(1, "think"))
        for word in ("one ", "two ", "three"):
            assert (await socket.receive_json())["chunk"] == word  # while the agent waits for us
            heard.set()
        assert not stopped
        await socket.send_json({"id": 1, "cancel": True})
        await socket.send_json(request(1, "nightAction"))
        assert (await socket.receive_json())["result"]["actionType"] == "KILL"
        assert stopped and (service.statistics.decisions, service.statistics.replaced) == (1, 0)


@pytest.mark.parametrize("bad", [Silent, Endless, EndlessNothing])
async def test_agents_that_do_not_answer_are_replaced_in_time(bad, caplog):
    async with serve(bad, deadline=60.0 if bad is Endless else 0.1) as service, client(service) as socket:
        calls = [
            request(number, method, f"p{number + 1}")
            for number, method in enumerate(("think", "say", "nightAction", "vote")[: 4 if bad is Silent else 2])
        ]
        for one in calls:
            await socket.send_json(one)
        got, replaced = await answers(socket, *range(len(calls))), service.statistics.replaced
    said = "".join(part.get("chunk", "") for part in got[1])
    assert said == NOTHING_TO_SAY if bad is not Endless else len(said) == STREAM_LIMIT["say"]
    if bad is Silent:
        assert got[2][-1]["result"]["targetId"] in ("p1", "p2", "p4", "p5")
        assert got[3][-1]["result"]["targetId"] is None
    assert replaced == len(calls) == len(warnings(caplog))


async def test_a_vote_that_blocks_does_not_beat_its_deadline_and_holds_up_nobody():
    class Blocked(Plain):
        async def vote(self, context, public_info):
            time.sleep(1.5)
            return wire.VoteAction("p2")

    agents = {"p1": Blocked, "p3": MafiaScriptedAgent}
    service = MafiaAgentServer(lambda id, name: agents[id](id, name), deadline=0.5)
    async with service, client(service) as socket:
        await socket.send_json(request(1, "vote", "p1"))
        await socket.send_json(request(2, "think", "p3"))
        ends = []
        while len(ends) < 2:
            message = await socket.receive_json()
            ends += [message] if "done" in message else []
    assert ends == [{"id": 2, "done": True}, {"id": 1, "done": True, "result": {"targetId": None}}]
    assert (service.statistics.decisions, service.statistics.replaced) == (2, 1)


async def test_illegal_choices_and_failures_are_replaced_with_one_warning_each(caplog):
    class Failing(Plain):
        async def think(self, context, private_info):
            raise KeyError("think")
            yield ""

        async def night_action(self, context, private_info):
            raise SystemExit("goodbye")

    async with serve(Failing) as service, client(service) as socket:
        for method in ("think", "nightAction"):
            got = await asked(socket, method, method)
        assert got[-1]["result"]["targetId"] in ("p2", "p3", "p4", "p5")
    told = [line.getMessage() for line in warnings(caplog)]
    assert ["KeyError: 'think'" in told[0], "it raised SystemExit" in told[1], len(told)] == [True, True, 2]


async def test_a_service_that_cannot_make_an_agent_says_so(caplog):
    def none(id, name):
        raise OSError("no such run")

    async with MafiaAgentServer(none) as service, client(service) as socket:
        for number in (1, 2):
            assert "there is no agent for 'p1'" in (await asked(socket, number, "think"))[-1]["error"]
    assert service.statistics.replaced == 2 and "no such run" in caplog.text


async def test_an_error_of_ours_is_answered_counted_and_in_the_agents_health(monkeypatch, caplog):
    monkeypatch.setattr(service_module, "read_choice", lambda *_: 1 / 0)
    monkeypatch.setattr(service_module.MafiaTurn, "safe", lambda self: 1 / 0)
    async with serve(Plain) as service, client(service) as socket:
        assert "an error of ours" in (await asked(socket, 1, "vote"))[-1]["error"]
        assert Activity(statistics=service.statistics).problem() is not None
        monkeypatch.undo()
        assert (await asked(socket, 2, "vote"))[-1]["result"] == {"targetId": None}
    assert (service.statistics.decisions, service.statistics.replaced) == (2, 1)


# Strangers.


async def test_hostile_clients_are_answered_or_dropped_and_others_play_on():
    async with serve(personality) as service, client(service) as good:
        async with client(service) as bad:
            for message in ("", "{", "[]", '{"id": 1}', json.dumps({"id": 2, "method": "think", "context": {}})):
                await bad.send_str(message)
                assert "error" in await bad.receive_json()
            await bad.send_bytes(b"\xff\x00")
            assert "error" in await bad.receive_json()
            assert (await asked(bad, 9, "vote"))[-1]["done"]
        async with client(service) as bad:
            with contextlib.suppress(ConnectionError):
                await bad.send_str("x" * (limits.SERVICE.frame + 1))
            ends = aiohttp.WSMsgType.CLOSE, aiohttp.WSMsgType.CLOSED, aiohttp.WSMsgType.ERROR
            assert (await bad.receive()).type in ends
        async with client(service) as bad:
            for number in range(200):
                await bad.send_json(request(number, "think"))
        assert (await asked(good, 1, "vote"))[-1]["done"]
        base = service.url.replace("ws", "http", 1)
        async with aiohttp.ClientSession() as http, http.get(f"{base}/health") as reply:
            assert (await reply.json())["ok"]


async def test_a_token_where_one_is_asked_for(caplog):
    async with serve(personality, server=ServerSettings(access_token="sesame")) as service:
        for token in (None, "open"):
            async with remote(service.url, token=token) as [agent]:
                with pytest.raises(ConnectionError, match="cannot reach"):
                    await agent.vote(*context()[::2])
        async with remote(service.url, token="sesame") as [agent]:
            assert await agent.vote(*context()[::2])
    assert "sesame" not in caplog.text


@contextlib.asynccontextmanager
async def sockets(service, number, *calls, name=""):
    """So many connections, each of which makes these calls; `name` names each of them."""
    async with aiohttp.ClientSession() as http, contextlib.AsyncExitStack() as stack:
        made = []
        for i in range(number):
            path = f"/?client={name}{i}" if name else ""
            made.append(await stack.enter_async_context(http.ws_connect(service.url + path)))
            for call in calls:
                await made[-1].send_json(call)
                await answers(made[-1], call["id"])
        yield made


async def test_idle_strangers_lock_nobody_out_and_end(monkeypatch):
    monkeypatch.setattr(limits, "SERVICE_CLIENTS", 4)
    async with serve(personality) as service:
        async with sockets(service, 4) as idle, client(service) as honest:
            assert (await asked(honest, 1, "vote"))[-1]["done"]
            assert (await idle[0].receive(timeout=60)).type is not aiohttp.WSMsgType.TEXT  # the oldest gave way
        monkeypatch.setattr(limits, "SILENT_SECONDS", 0.1)
        async with sockets(service, 2) as idle:
            assert [(await socket.receive(timeout=60)).data for socket in idle] == [1008, 1008]


async def test_a_client_finds_its_agents_again_and_a_stranger_does_not(monkeypatch):
    monkeypatch.setattr(service_module, "AGENTS", 2)
    made = []

    def make(id, name):
        made.append(id)
        return Plain(id, name)

    async with MafiaAgentServer(make) as service:
        for name in ("one", "one", "two", "", "", "two", "one"):
            async with sockets(service, 1, request(1, "think"), name=name) as [socket]:
                for number in range(2, 2 + 5 * (name == "")):  # a stranger's other matches take no place of others
                    call = request(number, "think")
                    await socket.send_json({**call, "context": {**call["context"], "gameId": f"g{number}"}})
                    await answers(socket, number)
    assert len(made) == 14


# Logs.


async def test_a_log_tells_what_a_policy_saw_thought_and_did(tmp_path):
    path, got = tmp_path / "log.jsonl", []
    with MatchLog(path) as log:
        service = MafiaAgentServer(lambda id, name: MafiaPolicyAgent(id, name, FIVE, Even()), log=log)
        async with service, aiohttp.ClientSession() as http, http.ws_connect(f"{service.url}?client=s3cret") as socket:
            phases = {"nightAction": "NIGHT_ACTIONS", "say": "DAY_DISCUSSION", "vote": "DAY_VOTING"}
            for method, phase in phases.items():
                got.append(await asked(socket, f"think {method}", "think", "p1", phase))
                got.append(await asked(socket, method, method))
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
