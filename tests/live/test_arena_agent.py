"""Our agents in arenas of others: foreign types in process, and HTTP on 127.0.0.1."""

import asyncio
import logging
import sys
import time
from functools import cache

import aiohttp
import pytest
from aiohttp import web
from beginnings import episode
from live import arena_platform as platform
from live.small_server import served
from logs import Even
from parlour import envs
from parlour.envs import Action, AgentResponse, GameEnv, MessageIntent
from parlour.training.commands.activity import Activity
from parlour.wrappers.agents.base import SeatNames, sentence
from parlour.wrappers.agents.policy import PolicyAgent
from parlour.wrappers.live.arena.agent import ArenaAgent, ArenaAgentServer
from parlour.wrappers.live.common.player import read_response
from parlour.wrappers.logs.match_log import MatchLog, read
from parlour.wrappers.policies.base import RandomPolicy
from parlour.wrappers.replay.log_reader import moments, picture


@cache
def offered():
    """A match of bargaining in which player_0 may accept."""
    env = episode("bargaining")
    env.submit("player_0", Action("pass"))
    env.submit("player_1", Action("submit_offer", {"my_share": 60.0}))
    return env


class Scripted:
    """An agent whose answer is fixed, raised, or late."""

    def __init__(self, answer, late=0.0):
        self.answer, self.late = answer, late

    def respond(self, state):
        time.sleep(self.late)
        if isinstance(self.answer, BaseException):
            raise self.answer
        return self.answer


def policy(game_id="bargaining", **options):
    game = envs.game(game_id, **options)
    return PolicyAgent(game, RandomPolicy(seed=1))


# A platform's own types, as pydantic models.


@pytest.fixture
def spoken():
    """A state with a message in it."""
    env = offered().clone()
    env.send("player_1", MessageIntent("private", "psst", ["player_0"]))
    return env.turn_state("player_0")


def test_a_platforms_pydantic_models_in_and_out(spoken, monkeypatch):
    monkeypatch.setattr(sys.modules[__name__], "AgentResponse", platform.AgentResponse)  # as their module has it
    said = envs.AgentResponse(Action("submit_offer", {"my_share": 60.0}), [MessageIntent("public", "hello")])
    answer = ArenaAgent("me", Scripted(said)).act(platform.TurnState.model_validate(spoken.to_dict()))
    assert type(answer) is platform.AgentResponse
    assert answer.action == platform.Action(action_type="submit_offer", payload={"my_share": 60.0})
    assert answer.messages == [platform.MessageIntent(scope=platform.Scope.PUBLIC, content="hello", to_agent_ids=[])]


def test_every_game_is_played_through_pydantic(game):
    env = GameEnv(game, "flat")
    env.reset(seed=2)
    agent = ArenaAgent("me", PolicyAgent(game, RandomPolicy(seed=1)))
    for _ in range(200):
        if env.table.done:
            break
        acting = env.agent_selection
        answer = agent.act(platform.TurnState.model_validate(env.turn_state(acting).to_dict()))
        assert env.submit(acting, read_response(answer)).ok
    assert agent.statistics.replaced == 0


def test_dicts_and_bare_objects(spoken):
    agent = ArenaAgent("me", Scripted(AgentResponse(Action("accept"))))
    assert agent.act(spoken.to_dict()) == {"action": {"action_type": "accept", "payload": {}}, "messages": []}
    assert type(agent.act(spoken)) is AgentResponse
    bare = type("Bare", (), spoken.to_dict())()
    assert agent.act(bare).action == Action("accept")


@pytest.mark.parametrize("answer", [RuntimeError("boom"), None, {"action": 3}, AgentResponse(action=None)], ids=repr)
def test_a_failing_agent_passes(answer, caplog):
    agent = ArenaAgent("me", Scripted(answer))
    with caplog.at_level(logging.WARNING):
        assert agent.act(offered().turn_state("player_0")).action == Action("pass")
    assert agent.statistics.replaced == 1
    assert len(caplog.records) == 1


def test_a_failing_policy_plays_its_games_safe_action():
    class Broken:
        def act(self, observations, masks):
            raise RuntimeError("boom")

    env = episode("holdem", seats=2)
    agent = ArenaAgent("me", PolicyAgent(env.game, Broken()))
    assert agent.act(env.turn_state(env.agent_selection)).action == Action("fold")


def test_who_sits_where_is_learned_and_forgotten():
    game = envs.game("auction", seats=3)
    env = GameEnv(game, "flat")
    env.reset(seed=1)
    agent = ArenaAgent("c", PolicyAgent(game, RandomPolicy(seed=1)))
    agent.on_match_start("m", game.id, ["a", "b", "c"])
    state = SeatNames(["a", "b", "c"], game.agents).for_agents.state(env.turn_state("player_0"))
    state.match_id = "m"
    seen = agent.turn(state).state
    assert (state.agent_id, seen.agent_id) == ("a", "player_0")
    agent.on_match_end("m", None)
    assert agent.turn(state).state.agent_id == "a"


# Behind HTTP.


def serving(answer):
    return ArenaAgentServer(ArenaAgent("me", Scripted(answer)))


async def post(url, body, **kind):
    async with aiohttp.ClientSession() as http, http.post(url, **({"data": body} | kind)) as reply:
        return reply.status, await reply.read()


async def test_it_answers_over_http(spoken):
    async with serving(AgentResponse(Action("accept"))) as server:
        for path, body in (
            ("match_start", {"match_id": "m", "game_id": "bargaining-v0", "agent_ids": ["me", "you"], "more": 1}),
            ("act", {**spoken.to_dict(), "novelty": [1]}),
            ("match_end", {"match_id": "m", "outcome": {"payoffs": []}}),
        ):
            status, answer = await post(f"{server.endpoint}/{path}", None, json=body)
            assert status == 200, answer
            if path == "act":
                assert AgentResponse.from_json(answer) == AgentResponse(Action("accept"))
        async with aiohttp.ClientSession() as http, http.get(f"{server.endpoint}/health") as reply:
            assert (await reply.json())["agent_id"] == "me"
        assert (server.turns, server.matches) == (1, 1)
        await server.played(1)


async def logged(path, agent, state, order=(), **options):
    """Have an agent answer one turn of a match that begins and ends, writing a log; return the answer."""
    with MatchLog(path) as log:
        async with ArenaAgentServer(ArenaAgent("me", agent), log=log, **options) as server:
            start = {"match_id": state.match_id, "game_id": state.game_id, "agent_ids": list(order)}
            assert (await post(f"{server.endpoint}/match_start", None, json=start))[0] == 200
            _, answer = await post(f"{server.endpoint}/act", state.to_json())
            waiting = {**state.to_dict(), "is_my_turn": False}
            assert (await post(f"{server.endpoint}/act", None, json=waiting))[0] == 200
            end = {"match_id": state.match_id, "outcome": {"reason": "agreed"}}
            assert (await post(f"{server.endpoint}/match_end", None, json=end))[0] == 200
    return AgentResponse.from_json(answer)


@pytest.mark.parametrize("game_id", ["bargaining", "mafia"])
def test_a_log_tells_what_the_agent_saw_thought_and_did(tmp_path, game_id):
    game = envs.game(game_id)
    env = GameEnv(game, "flat")
    env.reset(seed=1)
    order = [f"bot{letter}" for letter in "abcdefghij"[: game.seats]]
    acting = env.agent_selection
    state = SeatNames(order, game.agents).for_agents.state(env.turn_state(acting))
    path = tmp_path / "log.jsonl"
    sent = asyncio.run(logged(path, PolicyAgent(game, Even()), state, order))
    assert [line["kind"] for line in read(path)] == ["joined", "turn", "ended"]
    assert list(read(path))[-1] == {"kind": "ended", "match_id": state.match_id, "outcome": {"reason": "agreed"}}
    moment, end = moments(path)
    assert (end.agent, end.note) == (None, "reason agreed")
    assert moment.agent == order[game.agents.index(acting)]
    assert moment.states[moment.agent] == state
    assert moment.action == sentence(sent.action)
    assert moment.action in moment.probabilities and len(moment.probabilities) > 1
    assert moment.value == 0.25 and moment.note == ""
    assert not any(seat in " ".join(moment.probabilities) for seat in game.agents)
    assert picture([state])


@pytest.mark.parametrize(
    "agent, options, words",
    [
        (Scripted(RuntimeError("boom")), {}, "boom"),
        (Scripted(KeyboardInterrupt()), {}, "KeyboardInterrupt"),
        (Scripted(AgentResponse(Action("accept")), late=0.3), {"deadline": 0.05}, "no answer within 0.05 s"),
    ],
)
def test_a_log_tells_what_was_replaced(tmp_path, agent, options, words):
    agent.thoughts = lambda: {"value": 9.0}  # of an earlier answer
    path = tmp_path / "log.jsonl"
    asyncio.run(logged(path, agent, offered().turn_state("player_0"), **options))
    moment, _ = moments(path)
    assert moment.action == "pass" and words in moment.note and moment.value is None


async def test_what_cannot_be_read_gets_400_and_an_error_of_ours_the_safe_action(monkeypatch):
    async with serving(AgentResponse(Action("accept"))) as server:
        for fails in ("match", "for_match", "on_match_end"):
            monkeypatch.setattr(server.agent, fails, lambda *args: 1 / 0)
            _, answer = await post(f"{server.endpoint}/act", offered().turn_state("player_0").to_json())
            assert AgentResponse.from_json(answer).action == Action("pass")
        assert Activity(statistics=server.agent.statistics).problem() == "an error of ours: see the log"
        assert (await post(f"{server.endpoint}/match_end", None, json={"match_id": "m", "outcome": None}))[0] == 200
        for path in ("act", "match_start", "match_end"):
            for body in (b"", b"{", b"[]", b'"x"', b"\xff", b"[" * 100_000, b"{}"):
                status, answer = await post(f"{server.endpoint}/{path}", body)
                assert status == 400, (path, body[:9], answer)


async def test_registration_retries_and_gives_up():
    calls = []

    async def register(request):
        calls.append(await request.json())
        return web.json_response({}, status=[503, 201, 409][min(len(calls), 3) - 1])

    async with serving(None) as server:
        async with served(web.post("/api/register", register)) as address:
            arena = f"http://{address}"
            await server.register(arena, wait=0.01)
            told = {"agent_id": "me", "endpoint": server.endpoint, "agent_type": "remote", "display_name": "me"}
            assert calls[-1] == told
            with pytest.raises(ConnectionError, match="409"):
                await server.register(arena)
        with pytest.raises(ConnectionError, match="after 2 tries"):
            await server.register(arena, retries=1, wait=0.01)
        with pytest.raises(ValueError, match="is no address"):
            await server.register("ftp://127.0.0.1")

    assert len(calls) == 3
