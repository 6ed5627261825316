"""The tangram game's wire types, strict out, tolerant in; and both ends under broken messages."""

import json
import random

import msgspec
import pytest
from live.fuzzing import MESSAGES, WORKERS, fuzzed, mutated
from live.settled import act
from live.small_game import SmallGame
from live.tangram_turns import GAME, NONSENSE
from live.test_poker_messages import CLIENT, SERVER
from msgspec import Struct
from parlour.envs.core.match import Match
from parlour.envs.core.turn_state import Action
from parlour.envs.tangram.lattice import PIECES
from parlour.wrappers.live.common.player import Note, Turn
from parlour.wrappers.live.poker import messages as poker
from parlour.wrappers.live.tangram import messages as m
from parlour.wrappers.live.tangram.agent import TangramAgentSession
from parlour.wrappers.live.tangram.host import TangramHostSession, TurnEnded

RED = {
    "position": [12.5, 40.25],
    "vertices": [[12.5, 48.2], [-2.7, 32.3], [27.7, 32.3]],
    "rotation": 45.0,
    "collisions": ["Blue", "BOUNDARY"],
}
STATE = {
    "on_board": {"Red": RED},
    "off_board": {"Green": {"vertices": [[0.0, 4.0], [-7.6, -4.0], [7.6, -4.0]], "rotation": 0.0}},
}
WHEN = "2026-01-02T03:04:05+00:00"
PLAYING = {"objective": "A house", "state": STATE, "board_img": "aGk=", "drawer_img": "aGk=", "timestamp": WHEN}
FROM_GAME = [
    {"type": "playRequest", **PLAYING},
    {"type": "playFeedback", **PLAYING},
    {"type": "chatRequest", "message": "the roof?", **PLAYING},
    {"type": "error", "message": "no such shape", "timestamp": WHEN},
]
AGENT = [
    {"type": "play", "shape": "Red", "position": [12.5, 40.25], "rotation": 45.0, "timestamp": WHEN},
    {"type": "finish", "timestamp": WHEN},
    {"type": "chat", "message": "I move the roof.", "timestamp": WHEN},
    {"type": "error", "message": "this is no JSON", "timestamp": WHEN},
]
# As the source of the real game writes it.
GODOT = {
    "type": "playRequest",
    "objective": "A house",
    "state": {
        "on_board": {
            "Red": {
                "position": {
                    "position": "(11.6082, 39.4265)",  # VCenter of a piece whose origin lies at (12.5, 40.25)
                    "vertices": ["(12.5, 48.2)", "(-2.7, 32.3)", "(27.7, 32.3)"],
                },
                "rotation": 45,
                "collisions": ["Blue", "BOUNDARY"],
            }
        },
        "off_board": {"Green": {"rotation": 0}},
    },
    "board_img": "aGk=",
    "drawer_img": "aGk=",
    "timestamp": 17.25,
}


@pytest.mark.parametrize(
    ("message", "decode", "encode"),
    [
        *((one, m.decode_game, m.encode) for one in FROM_GAME),
        *((one, m.decode_agent, m.encode) for one in AGENT),
        *((one, poker.decode_server, poker.encode) for one in SERVER),
        *((one, poker.decode_client, poker.encode) for one in CLIENT),
    ],
    ids=lambda value: value["type"] if isinstance(value, dict) else "",
)
def test_messages_survive_both_ways_to_the_letter(message, decode, encode):
    """Those of the game, and of poker."""
    for form in (message, json.dumps(message), json.dumps(message).encode()):
        read = decode(form)
        assert not isinstance(read, m.Unknown | poker.Unknown), read
        assert json.loads(encode(read)) == message


@pytest.mark.parametrize(
    ("name", "marker"),  # by hand from the game's scene: 0.4 · offset, over 3.37 and 3.22 pixels a unit
    [("Red", (-0.0742, -1.2422)), ("Cream", (0.0, -1.0093)), ("Blue", (0.8918, -0.3843)), ("Green", (0.0, 0.0))],
)
def test_the_real_game_reports_another_point_than_it_is_told(name, marker):
    for rotation, turn in [(0, lambda x, y: (x, y)), (180, lambda x, y: (-x, -y)), (540.0, lambda x, y: (-x, -y))]:
        right, up = turn(*marker)
        board = {name: {"position": {"position": f"({50 + right}, {50 + up})"}, "rotation": rotation}}
        read = m.decode_game({"type": "playRequest", "state": {"on_board": board}})
        assert read.state.on_board[name].position == pytest.approx((50, 50), abs=1e-4)
        flat = m.decode_game(
            {"type": "playRequest", "state": {"on_board": {name: {"position": [50, 50], "rotation": 0}}}}
        )
        assert flat.state.on_board[name].position == (50, 50)  # the documented form reports the origin


def test_the_real_games_dialect_says_the_same():
    theirs, ours = m.decode_game(GODOT), m.decode_game(FROM_GAME[0])
    red = theirs.state.on_board["Red"]
    assert red.position == pytest.approx((12.5, 40.25), abs=1e-4)
    assert msgspec.structs.replace(red, position=(12.5, 40.25)) == ours.state.on_board["Red"]
    assert theirs.state.off_board == {"Green": m.DrawerPiece(rotation=0.0)}
    assert theirs.timestamp == 17.25


def test_our_host_writes_the_real_games_dialect():
    message = m.decode_game(GODOT)
    assert json.loads(m.encode(message, "godot")) == GODOT
    assert m.encode(m.decode_agent(AGENT[0]), "godot") == m.encode(m.decode_agent(AGENT[0]))


VECTORS = [
    [12.5, 40.25],
    "(12.5, 40.25)",
    " ( 1.25e1 , 40.25 ) ",
    "Vector2(12.5, 40.25)",
    {"x": 12.5, "y": 40.25},
    {"x": "12.5", "y": 40.25, "z": 0},
    ["12.5", "40.25"],
]


@pytest.mark.parametrize("vector", VECTORS, ids=repr)
def test_vectors_of_every_kind(vector):
    piece = {**RED, "position": vector, "vertices": [vector] * 3}
    nested = {"position": {"position": vector, "vertices": [vector] * 3}, "rotation": "45"}
    for form in (piece, [piece], nested):
        read = m.decode_game({"type": "playRequest", "state": {"on_board": {"Green": form}}})
        assert read.state.on_board["Green"].position == (12.5, 40.25)
        assert read.state.on_board["Green"].vertices == [(12.5, 40.25)] * 3
        assert read.state.on_board["Green"].rotation == 45
    assert m.decode_agent({**AGENT[0], "position": vector}).position == (12.5, 40.25)


NO_VECTORS = [None, "(" + "9" * 5_000 + ", 1)", {"x": 1}, [10**400, 1], "(1 2)", "(nan, 1)", [1, 2, 3], [True, 1]]


@pytest.mark.parametrize("vector", NO_VECTORS, ids=lambda v: repr(v)[:20])
def test_what_is_no_vector_is_told(vector):
    read = m.decode_game({"type": "playRequest", "state": {"on_board": {"Red": {**RED, "position": vector}}}})
    assert isinstance(read, m.Unknown)
    assert read.type == "playRequest"
    assert "Red.position" in read.reason
    assert len(read.reason) < 300


def test_what_can_be_done_without():
    bare = {"type": "playRequest", "state": {"on_board": {"Red": {"position": [1, 2], "rotation": 3}}}}
    read = m.decode_game(bare)
    assert read == m.PlayRequest(
        state=m.State(on_board={"Red": m.BoardPiece(position=(1, 2), rotation=3)}, off_board={})
    )
    useless = {"objective": 3, "board_img": {"a": 1}, "drawer_img": 5, "timestamp": [1], "somethingNew": {"a": [1]}}
    assert m.decode_game({**bare, **useless}) == read
    assert m.decode_game({**bare, "timestamp": 10**400}) == read
    poor = {**RED, "vertices": ["(1, x)"], "collisions": [1, "Blue", None, "Blue", "a wall", "BOUNDARY"]}
    piece = m.decode_game({"type": "playRequest", "state": {"on_board": {"Red": poor}}}).state.on_board["Red"]
    assert piece.vertices == []
    assert piece.collisions == ["Blue", "BOUNDARY"]
    off = m.decode_game({"type": "playRequest", "state": {"off_board": {"Red": {"rotation": "north"}}}})
    assert off.state.off_board == {"Red": m.DrawerPiece()}


def test_a_player_is_heard_over_a_board_that_cannot_be_read():
    for state in (None, 7, {"on_board": {"Orange": RED}}):
        read = m.decode_game({"type": "chatRequest", "message": "hello", "state": state})
        assert read == m.ChatRequest(message="hello")


@pytest.mark.parametrize(
    "data",
    [
        "{",
        "[]",
        '{"type": 3}',
        '{"type": "playrequest"}',
        '{"type": "playRequest", "state": {"on_board": {"Red": {"position": [1, 2], "rotation": NaN}}}}',
        b"\xff\xfe",
        "[" * 100_000,
        '{"type": "chatRequest"}',
        '{"type": "chatRequest", "message": 3}',
        None,
        3.5,
    ],
    ids=lambda data: repr(data)[:30],
)
def test_nothing_raises(data):
    assert isinstance(m.decode_game(data), m.Unknown)
    assert isinstance(m.decode_agent(data), m.Unknown)


@fuzzed
def test_a_host_refuses_what_is_broken_and_plays_on(worker):
    rng = random.Random(worker)
    session, sent, honest, refused = None, 0, 0, 0
    while sent < MESSAGES // WORKERS:
        if session is None or session.match.done:
            match = Match(GAME)
            match.reset(seed=rng.randrange(2**32))
            session = TangramHostSession(match)
        if not session.agents_turn:
            legal = session.match.game.mask(session.match.table, 0).nonzero()[0]
            answer = session.match.game.view.encode(session.match.table, int(rng.choice(legal.tolist())))
            session.play(answer)
            continue
        session.request()
        while session.agents_turn and rng.random() < 0.8:
            place = [rng.uniform(0, 100), rng.uniform(0, 100)]
            play = {"type": "play", "shape": rng.choice(PIECES), "position": place, "rotation": rng.uniform(0, 360)}
            base = rng.choices([play, {"type": "chat", "message": "hi"}, {"type": "finish"}], (8, 2, 1))[0]
            before = session.match.table.tobytes()
            events = session.receive(mutated(rng, base))
            sent += 1
            ended = any(isinstance(event, TurnEnded) for event in events)
            refusals = [one for one in events if isinstance(one, m.Error)]
            refused += len(refusals)
            if refusals and not ended:
                assert session.match.table.tobytes() == before
            for event in events:
                assert isinstance(event, (Struct, TurnEnded))
                if isinstance(event, Struct):
                    json.loads(m.encode(event))
            if ended:
                session.request()
        if session.agents_turn:
            events = session.receive('{"type": "finish"}')
            assert events == [TurnEnded("")] and not session.agents_turn
            honest += 1
    assert honest > sent / 100 and refused > sent / 10


def answers(session, events, rng):
    """Answer decisions, well or badly; whatever goes out can be read at the other end."""
    out = []
    for event in events:
        assert isinstance(event, (Struct, Turn, Note))
        if isinstance(event, Struct):
            out.append(event)
        elif isinstance(event, Turn):
            out += act(session, rng.choice([Action("finish"), *NONSENSE]), event)
    for message in out:
        assert m.decode_agent(m.encode(message)) == message


@fuzzed
def test_an_agent_takes_whatever_comes_and_answers_its_turns(worker):
    rng = random.Random(worker)
    sent = turns = 0
    while sent < MESSAGES // WORKERS:
        session, game = TangramAgentSession(GAME), SmallGame("A square", godot=rng.random() < 0.5)
        for _ in range(20):
            name = rng.choice(PIECES)
            game.poses[name] = rng.uniform(10, 90), rng.uniform(10, 90), 45.0 * rng.randrange(8)
            clean = game.message()
            base = json.loads(clean)
            for _ in range(rng.randint(1, 8)):
                kind = rng.choices(["playRequest", "playFeedback", "chatRequest"], (4, 2, 1))[0]
                answers(session, session.receive(mutated(rng, {**base, "type": kind, "message": "hi"})), rng)
                sent += 1
            events = session.receive(clean)
            [asked] = [event for event in events if isinstance(event, Turn)]
            assert set(asked.state.game_state["on_board"]) == set(game.poses)
            [finish] = act(session, Action("finish"), asked)
            assert isinstance(finish, m.Finish)
            turns += 1
    assert turns > 0
