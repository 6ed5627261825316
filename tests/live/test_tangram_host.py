"""Our game in the role of the live one: the session that plays it, and both ends over real sockets."""

import asyncio
import io
import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from live.event_loops import on_loop
from msgspec import Struct
from parlour import envs
from parlour.envs import Action, AgentResponse, MessageIntent
from parlour.envs.core.match import Match
from parlour.wrappers.agents.policy import PolicyAgent
from parlour.wrappers.live.tangram import messages as m
from parlour.wrappers.live.tangram.agent import TangramAgentServer
from parlour.wrappers.live.tangram.host import AgentSaid, Person, TangramHost, TangramHostSession, TurnEnded
from parlour.wrappers.logs.match_log import MatchLog, read, replay
from parlour.wrappers.policies.loading import make_policy
from parlour.wrappers.replay.log_reader import moments

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
    for dialect in m.DIALECTS:
        read_again = m.decode_game(m.encode(feedback, dialect))
        assert read_again.state.on_board["Red"].position == pytest.approx((50, 50), abs=1e-4)
    assert table.receive({"type": "finish"}) == [TurnEnded()]
    assert not table.agents_turn


def test_another_piece_puts_the_first_one_back_and_a_collision_undoes(table):
    table.request()
    table.receive(RED)
    (feedback,) = table.receive({**RED, "shape": "Blue"})
    assert list(feedback.state.on_board) == ["Blue"]
    table.receive({"type": "finish"})
    table.play(FINISH)
    table.request()
    (feedback,) = table.receive({**RED, "shape": "Cream"})
    assert feedback.state.on_board["Cream"].collisions == ["Blue"]
    table.receive({"type": "finish"})
    assert list(table.state().game_state["on_board"]) == ["Blue"]


BAD_PLAYS = [
    {"shape": "Orange"},
    {"shape": None},
    {"position": [50]},
    {"position": "here"},
    {"position": [-1, 50]},
    {"rotation": None},
    {"rotation": 1e300},
]


@pytest.mark.parametrize("bad", BAD_PLAYS, ids=str)
def test_a_play_that_cannot_be_played_costs_the_turn(table, bad):
    table.request()
    refused, over = table.receive({**RED, **bad})
    assert isinstance(refused, m.Error) and refused.message
    assert over.problem
    assert not table.agents_turn
    assert table.refused == 1


def test_out_of_turn_nothing_can_be_played(table):
    table.request()
    table.receive({"type": "finish"})
    before = table.match.table.tobytes()
    for message in (RED, {"type": "finish"}):
        (refused,) = table.receive(message)
        assert isinstance(refused, m.Error)
    assert table.receive({"type": "error", "message": "what?"}) == []
    assert table.receive({"type": "chat", "message": "hello"}) == [AgentSaid("hello")]
    assert table.match.table.tobytes() == before
    assert [one.content for one in table.state().messages] == ["hello"]


def test_an_error_of_the_agent_ends_its_turn(table):
    table.request()
    (over,) = table.receive({"type": "error", "message": "cannot read \x1b[2J"})
    assert "cannot read" in over.problem
    assert "\x1b" not in over.problem
    assert not table.agents_turn


def test_what_the_person_says_goes_to_the_agent(table):
    table.request()
    table.receive({"type": "finish"})
    words = AgentResponse(Action("message_only"), [MessageIntent("public", "The roof?")])
    result, said = table.play(words)
    assert result.ok
    assert [one.message for one in said] == ["The roof?"]
    assert not table.agents_turn
    result, said = table.play(AgentResponse(Action("fold"), [MessageIntent("public", "no")]))
    assert not result.ok
    assert said == []


JSON = st.recursive(
    st.none() | st.booleans() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=4,
)
MESSAGE = JSON | st.fixed_dictionaries(
    {"type": st.sampled_from(["play", "finish", "chat", "error", "hello"])},
    optional={
        "shape": st.sampled_from(["Red", "Blue", "Orange"]) | JSON,
        "position": st.tuples(st.floats(0, 100), st.floats(0, 100)) | JSON,
        "rotation": st.floats() | JSON,
        "message": st.text(max_size=5) | JSON,
    },
)


@given(st.lists(MESSAGE, max_size=12))
@settings(max_examples=50)
def test_whatever_an_agent_says_the_match_goes_on(script):
    match = Match(GAME)
    match.reset(seed=1)
    table = TangramHostSession(match)
    for message in script:
        if not table.agents_turn:
            assert table.over or table.play(FINISH)[0].ok
        if table.over:
            break
        table.request()
        events = table.receive(message)
        assert all(isinstance(event, (Struct, TurnEnded, AgentSaid)) for event in events)
        assert sum(isinstance(event, TurnEnded) for event in events) <= 1


# Both ends.


@pytest.mark.parametrize("dialect", m.DIALECTS)
@pytest.mark.parametrize(("person", "agent"), [("random", "random"), ("solver", "solver"), ("greedy", "random")])
@on_loop
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


@on_loop
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


class Fails:
    """A person whose policy is broken."""

    def respond(self, state):
        raise ValueError("no idea")


@on_loop
async def test_a_person_at_a_terminal():
    lines = ["say hello", "play Red", "dance", "play Red [50,50] 45", "finish", "finish", "finish"]
    screen, said = io.StringIO(), []
    game = envs.game("tangram", figure="A square", aspect="godot", turns=6)
    person = Person(game, io.StringIO("".join(line + "\n" for line in lines)), screen)
    async with TangramAgentServer(Fails(), game) as server:
        (played,) = await TangramHost(game, person, server.url, on_chat=said.append).play(1, seed=1)
        assert played.turns == 6
        assert said == ["0 of 7 pieces are on the board, and I am building: A square."]
        assert "position, rotation is missing" in screen.getvalue()
        assert "'dance' is not one of" in screen.getvalue()
        with pytest.raises(EOFError):
            await TangramHost(game, person, server.url).play(1, seed=1)


@on_loop
async def test_a_person_whose_policy_fails_skips():
    async with TangramAgentServer(Fails(), GAME) as server:
        (played,) = await TangramHost(GAME, Fails(), server.url).play(1, seed=1)
    assert played.turns == 6
    assert server.statistics.replaced == 3
