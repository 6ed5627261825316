"""Our game in the role of the live one: its session, and both ends, rude agents too, over sockets."""

import asyncio
import io
import json
import time
from typing import get_args

import aiohttp
import pytest
from live.small_server import socket_served
from live.table_people import Program, raising
from parlour import envs
from parlour.envs import Action, AgentResponse, MessageIntent
from parlour.envs.core.match import Match
from parlour.wrappers.agents.policy import PolicyAgent
from parlour.wrappers.live.common import clock
from parlour.wrappers.live.tangram import messages as m
from parlour.wrappers.live.tangram.agent import TangramAgentServer
from parlour.wrappers.live.tangram.host import Person, TangramHost, TangramHostSession, TurnEnded
from parlour.wrappers.logs.match_log import MatchLog, read
from parlour.wrappers.policies.loading import make_policy
from parlour.wrappers.replay.log_reader import moments, replay

GAME = envs.game("tangram", figure="A square", aspect="godot", turns=6)
FINISH = Action("finish")
RED = {"type": "play", "shape": "Red", "position": [50, 50], "rotation": 405.0, "timestamp": "2026-01-02T03:04:05Z"}


def bot(name, game=GAME):
    return PolicyAgent(game, make_policy(name, game, seed=1))


@pytest.fixture
def table():
    """A table where it is the agent's turn."""
    match = Match(GAME)
    match.reset(seed=1)
    table = TangramHostSession(match)
    assert table.play(FINISH)[0].ok
    return table


# The session.


def test_a_turn_is_request_feedback_and_over(table):
    request = table.request()
    assert request.objective == "A square"
    assert list(request.state.off_board) == list(m.PIECES)
    (feedback,) = table.receive(json.dumps(RED))
    assert isinstance(feedback, m.PlayFeedback)
    red = feedback.state.on_board["Red"]
    assert (red.position, red.rotation, red.collisions) == ((50, 50), 45, [])
    assert len(red.vertices) == 3
    for dialect in get_args(m.Dialect):
        read_again = m.decode_game(m.encode(feedback, dialect))
        assert read_again.state.on_board["Red"].position == pytest.approx((50, 50), abs=1e-4)
    assert table.receive({"type": "finish"}) == [TurnEnded()]
    assert not table.agents_turn


BAD_PLAYS = [{"shape": "Orange"}, {"position": "here"}, {"position": [-1, 50]}, {"rotation": 1e300}]


@pytest.mark.parametrize("bad", BAD_PLAYS, ids=str)
def test_a_play_that_cannot_be_played_costs_the_turn(table, bad):
    table.request()
    refused, over = table.receive({**RED, **bad})
    assert isinstance(refused, m.Error) and refused.message
    assert over.problem
    assert not table.agents_turn
    assert table.refused == 1


# Both ends.


@pytest.mark.parametrize("dialect", get_args(m.Dialect))
@pytest.mark.parametrize(("person", "agent"), [("solver", "solver"), ("greedy", "random")])
async def test_whole_matches_over_a_socket(person, agent, dialect, tmp_path):
    game = envs.game("tangram", figure="A square", aspect="godot", turns=10)
    async with TangramAgentServer(bot(agent, game), game) as server:
        with MatchLog(tmp_path / "log.jsonl") as log:
            host = TangramHost(game, bot(person, game), server.url, dialect=dialect, log=log)
            played = await host.play(2, seed=3)
        await asyncio.wait_for(server.played(1), 5)
    assert server.statistics.replaced == 0
    assert [(one.objective, one.refused, one.lost) for one in played] == [("A square", 0, 0)] * 2
    assert server.turns == sum(one.turns // 2 for one in played)
    if agent == "solver":
        assert all(one.outcome["reason"] == "solved" for one in played)
    kinds = [entry["kind"] for entry in read(tmp_path / "log.jsonl")]
    assert kinds.count("match") == kinds.count("end") == 2


class Talks:
    """A person who greets the agent, fails once, and then plays as a bot does."""

    def __init__(self, agent):
        self.agent = agent
        self.asked = 0

    def respond(self, state):
        self.asked += 1
        if self.asked == 1:
            return AgentResponse(Action("message_only"), [MessageIntent("public", "Shall we?")])
        if self.asked == 2:
            raise ValueError("no idea")
        return self.agent.respond(state)


async def test_the_log_of_a_match_replays(tmp_path):
    game = envs.game("tangram", figure="library", aspect="godot", turns=20)
    path = tmp_path / "log.jsonl"
    async with TangramAgentServer(bot("solver", game), game) as server:
        with MatchLog(path) as log:
            host = TangramHost(game, Talks(bot("solver", game)), server.url, log=log)
            (played,) = await host.play(1, seed=5)
    *decisions, last = moments(path)
    assert played.outcome["reason"] == "solved"
    state = last.states["player_0"]
    assert state.outcome == played.outcome
    assert last.note == ""
    assert state.game_state == host._match.turn_state("player_0").game_state
    assert state.messages == host._match.turn_state("player_0").messages
    assert {message.sender_id for message in state.messages} == {"player_0", "player_1"}
    assert replay(path).state().tobytes() == host._match.table.tobytes()
    for agent in ("player_0", "player_1"):
        assert any(one.action.startswith("play ") for one in decisions if one.agent == agent)
    assert [one.agent for one in decisions if "no idea" in one.note] == ["player_0"]
    assert not any(one.action == "no answer" for one in decisions)
    entries = list(read(path))
    assert not any("turn_state" in entry for entry in entries)
    assert sum(entry["kind"] == "turn" and entry["agent"] == "player_1" for entry in entries) > 1


# The person.


async def test_a_person_at_a_terminal():
    lines = ["say hello", "play Red", "dance", "play Red [50,50] 45", "finish", "finish", "finish"]
    screen, said = io.StringIO(), []
    game = envs.game("tangram", figure="A square", aspect="godot", turns=6)
    person = Person(game, io.StringIO("".join(line + "\n" for line in lines)), screen)
    async with TangramAgentServer(Program(raising), game) as server:
        (played,) = await TangramHost(game, person, server.url, on_chat=said.append).play(1, seed=1)
        assert played.turns == 6
        assert said == ["0 of 7 pieces are on the board, and I am building: A square."]
        assert "position, rotation is missing" in screen.getvalue()
        assert "'dance' is not one of" in screen.getvalue()
        with pytest.raises(EOFError):
            await TangramHost(game, person, server.url).play(1, seed=1)


IDLE = Program(lambda state: AgentResponse(FINISH))
"""A person who only watches."""


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
async def test_rude_agents_lose_turns_and_the_match_goes_on(handler, tmp_path):
    path, said = tmp_path / "log.jsonl", []
    async with socket_served(handler) as url:
        with MatchLog(path) as log:
            watch = {"on_chat": lambda text: said.append(text) or int("full")}
            host = TangramHost(GAME, IDLE, url, answer=0.2, wait=0.05, log=log, **watch)
            (played,) = await host.play(1, seed=1)
    assert played.turns == 6
    assert played.lost == (0 if handler is endless else 3)  # plays are limited: the last one ends the turn
    assert played.outcome["reason"]
    assert bool(said) is (handler is talking)
    assert replay(path).state().tobytes() == host._match.table.tobytes()
    assert sum("problem" in entry for entry in read(path)) == played.lost


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
        (played,) = await TangramHost(GAME, IDLE, url, wait=0.05).play(1, seed=1)
    assert seen[:3] == [("playRequest", []), ("playFeedback", ["Red"]), ("playRequest", ["Red"])]
    assert played.lost == 0


SLOW = Program(lambda state: time.sleep(0.5) or AgentResponse(FINISH))
"""A person who thinks for a while."""


async def test_a_person_may_think_for_longer_than_the_agent_waits_for_a_pong(monkeypatch):
    monkeypatch.setattr(clock, "HEARTBEAT", 0.1)
    agent = PolicyAgent(GAME, make_policy("random", GAME, seed=1))
    async with TangramAgentServer(agent, GAME) as server:
        (played,) = await TangramHost(GAME, SLOW, server.url).play(1, seed=1)
        await asyncio.wait_for(server.played(1), 5)
        assert (played.turns, played.lost, server.matches) == (6, 0, 1)


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
        host = TangramHost(GAME, SLOW, url, on_chat=said.append)
        (played,) = await host.play(1, seed=1)
    # The person has the turns 1, 3 and 5; the last play comes when the match is over.
    assert heard == ["playRequest", "error"] * 2 + ["playRequest"]
    assert said == ["done", "done"]
    assert (played.lost, played.refused) == (0, 2)
    assert host._match.turn_state("player_0").game_state["on_board"] == {}


async def test_an_agent_that_always_hangs_up_is_not_waited_for():
    async def hanging_up(socket):
        await socket.receive()
        await socket.close()

    async with socket_served(hanging_up) as url:
        (played,) = await TangramHost(GAME, IDLE, url, wait=0.0).play(1, seed=1)
    assert played.lost == 3


async def test_no_agent_no_match():
    async with socket_served(silent) as url:
        pass
    with pytest.raises(ConnectionError, match="gave up after 10 tries"):
        await TangramHost(GAME, IDLE, url, wait=0.0).play(1, seed=1)
    async with aiohttp.ClientSession():
        for bad in ("http://127.0.0.1:5000", "ws://", "nonsense"):
            with pytest.raises(ValueError, match="no address"):
                TangramHost(GAME, IDLE, bad)
    with pytest.raises(ValueError, match="documented, godot"):
        TangramHost(GAME, IDLE, "ws://localhost", dialect="unity")


def test_a_person_and_an_agent_make_two():
    match = Match(envs.game("tangram", seats=1))
    with pytest.raises(ValueError, match="1 seat: a person and an agent make 2"):
        TangramHostSession(match)
