"""The tangram agent's protocol without a socket: turns, steps away from collisions, unknown figures."""

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from live.settled import act
from live.small_game import SmallGame, polygon
from live.tangram_turns import GAME, NOBODYS, NONSENSE, begun, decision, play, scripted, sent, turn
from parlour.envs import Action, AgentResponse, MessageIntent
from parlour.envs.tangram.bots import useful_moves
from parlour.envs.tangram.lattice import PIECES
from parlour.wrappers.agents.policy import PolicyAgent
from parlour.wrappers.live.tangram import messages as m
from parlour.wrappers.live.tangram.agent import GAP_TRIES, PLACES, TangramAgentSession
from parlour.wrappers.live.tangram.board_tracker import collisions, figure_moves, separated
from parlour.wrappers.policies.loading import make_policy

# Turns.


@pytest.mark.parametrize("godot", [False, True])
def test_a_turn_is_request_play_feedback_finish(godot):
    session, game = TangramAgentSession(GAME, "game-1"), SmallGame("A square", godot=godot)
    asked = decision(session.receive(game.message()))
    state = asked.state
    assert (state.match_id, state.game_id, state.phase, state.is_my_turn) == ("game-1", "tangram-v0", "play", True)
    assert state.game_state["objective"] == "A square"
    assert list(state.game_state["off_board"]) == list(PIECES)
    assert [offer.action_type for offer in state.allowed_actions] == ["play", "finish", "message_only"]
    assert act(session, play("Red", 40, 50, 405), asked) == [m.Play(shape="Red", position=(40, 50), rotation=45)]
    asked = decision(session.receive(game.put(m.Play(shape="Red", position=(40, 50), rotation=45))))
    assert asked.state.phase == "feedback"
    assert asked.state.game_state["moved"] == {"shape": "Red", "from": None}
    assert asked.state.game_state["on_board"]["Red"]["position"] == [40, 50]
    assert act(session, Action("finish"), asked) == [m.Finish()]
    assert (session.turns, session.plays, session.undone) == (1, 1, 0)


def test_a_piece_that_lay_on_the_board_is_told_with_where_it_came_from():
    session, game = TangramAgentSession(GAME), SmallGame("A square", poses={"Red": (30.0, 30.0, 110.0)})
    asked = decision(session.receive(game.message()))
    act(session, play("Red", 40, 50), asked)
    asked = decision(session.receive(game.put(m.Play(shape="Red", position=(40, 50), rotation=0))))
    was = {"position": [30, 30], "rotation": 110}
    assert asked.state.game_state["moved"] == {"shape": "Red", "from": was}


def test_what_the_agent_says_goes_before_what_it_does():
    session, game = TangramAgentSession(GAME), SmallGame("A square")
    asked = decision(session.receive(game.message()))
    words = [MessageIntent("public", "The roof!"), MessageIntent("private", "hm", ["player_0"])]
    first, second = act(session, AgentResponse(play(), words), asked)
    assert first == m.Chat(message="The roof!")
    assert isinstance(second, m.Play)
    asked = decision(session.receive(game.put(second)))
    assert [one.content for one in asked.state.messages] == ["The roof!"]
    many = [MessageIntent("public", "\U0001f9e9" * 5_000)] * 10
    *said, last = act(session, AgentResponse(Action("finish"), many), asked)
    assert isinstance(last, m.Finish)
    assert len(said) == 3
    assert all(len(m.encode(one).encode()) < 2_000 for one in said)


def test_an_old_answer_and_a_second_one_send_nothing():
    session, game = TangramAgentSession(GAME), SmallGame("A square")
    old = decision(session.receive(game.message()))
    new = decision(session.receive(game.message()))
    assert act(session, play(), old) == []
    assert len(act(session, play(), new)) == 1
    assert act(session, play(), new) == []


def test_the_turn_that_waits_has_a_name():
    session, game = TangramAgentSession(GAME), SmallGame("A square")
    assert session.turn is None
    asked = decision(session.receive(game.message()))
    assert session.turn == asked.id
    act(session, Action("finish"), asked)
    assert session.turn is None


def test_an_answer_to_what_cannot_be_read_repeats_at_most_200_characters():
    session = TangramAgentSession(GAME)
    (answer,) = sent(session.receive({"type": "dance" * 1_000}))
    assert len(answer.message) <= 200


@pytest.mark.parametrize("answer", NONSENSE, ids=lambda answer: str(answer)[:60])
def test_nonsense_is_refused_and_finishes(answer):
    session, game = TangramAgentSession(GAME), SmallGame("A square")
    asked = decision(session.receive(game.message()))
    assert asked.settle(lambda: answer)[1]
    assert act(session, answer, asked) == [m.Finish()]


@pytest.mark.parametrize(
    ("answer", "place"),
    [(play(x=-0.5), (0.0, 50.0)), (play(y=100.1), (50.0, 100.0)), (play(rotation=math.inf), (50.0, 50.0))],
    ids=["left", "below", "turned without end"],
)
def test_a_number_out_of_its_bounds_goes_to_the_nearest_bound(answer, place):
    session, game = TangramAgentSession(GAME), SmallGame("A square")
    asked = decision(session.receive(game.message()))
    (message,) = act(session, answer, asked)
    assert isinstance(message, m.Play) and tuple(message.position) == pytest.approx(place)


# Collisions.


@pytest.mark.parametrize("godot", [False, True])
@pytest.mark.parametrize("margin", [0.0, 0.15, 0.5])
def test_a_piece_that_touches_is_moved_away_until_the_game_is_content(margin, godot):
    session, game = TangramAgentSession(GAME), SmallGame("A square", margin, godot)
    spot = next(place for place in figure_moves({"Red": (50.0, 50.0, 0.0)}, 0.0))
    assert turn(session, game, scripted(play("Red"))) == 1
    plays = turn(session, game, scripted(play(spot[0], *spot[1])))
    assert plays == 1 if not margin else 2 <= plays <= 1 + GAP_TRIES
    assert session.undone == game.undone == 0
    x, y, _ = game.poses[spot[0]]
    assert math.dist((x, y), spot[1][:2]) <= 2 * margin + 0.2
    # From now on a gap is left from the start.
    third = next(place for place in figure_moves({"Red": (50.0, 50.0, 0.0), spot[0]: spot[1]}, 0.0))
    assert turn(session, game, scripted(play(third[0], *third[1]))) == 1
    assert game.undone == 0
    assert len(game.poses) == 3


@pytest.mark.parametrize("first", ["Blue", "Red", "Yellow"])
def test_a_piece_is_moved_away_from_a_piece_of_any_name(first):
    session, game = TangramAgentSession(GAME), SmallGame("A square", 0.3)
    assert turn(session, game, scripted(play(first))) == 1
    name, pose = next(place for place in figure_moves({first: tuple(game.poses[first])}, 0.0))
    turn(session, game, scripted(play(name, *pose)))
    assert session.undone == game.undone == 0
    assert set(game.poses) == {first, name}


def test_the_agent_sees_its_pieces_where_it_meant_them():
    session, game = TangramAgentSession(GAME), SmallGame("A square", 0.3, godot=True)
    (name, pose) = next(figure_moves({"Red": (50.0, 50.0, 0.0)}, 0.0))
    turn(session, game, scripted(play("Red")))
    turn(session, game, scripted(play(name, *pose)))
    seen = decision(session.receive(game.message())).state.game_state["on_board"]
    assert seen[name]["position"] == list(pose[:2])
    assert list(game.poses[name][:2]) != list(pose[:2])
    game.poses[name] = (10.0, 80.0, 3.0)  # the person moves it
    seen = decision(session.receive(game.message())).state.game_state["on_board"]
    assert seen[name]["position"] == pytest.approx([10, 80], abs=1e-3)


def test_a_real_overlap_teaches_no_gap():
    session, game = begun({"Red": (50.0, 50.0, 0.0)})
    assert turn(session, game, scripted(play("Purple", 50, 38))) == 2
    assert game.undone == 0
    assert game.collisions("Purple") == []
    name, pose = next(figure_moves({"Red": (50.0, 50.0, 0.0)}, 0.0))
    turn(session, game, scripted(play(name, *pose)))
    assert game.poses[name][:2] == pose[:2]


def test_where_there_is_no_room_the_agent_plays_elsewhere_or_finishes():
    session, game = begun({"Red": (50.0, 50.0, 0.0)})
    assert turn(session, game, scripted(play("Cream", 50, 50), play("Cream", 20, 20))) == 2
    assert game.poses["Cream"] == (20, 20, 0)
    stubborn = lambda state: play("Purple", 50, 50)  # noqa: E731
    turn(session, game, stubborn)
    assert "Purple" not in game.poses
    assert session.undone == game.undone == 1


def test_a_game_that_finds_fault_with_everything_gets_its_turn_back():
    class Grumpy(SmallGame):
        def collisions(self, name):
            return ["BOUNDARY"]

    session, game = TangramAgentSession(GAME), Grumpy("A square")
    places = iter(range(10, 90))
    assert turn(session, game, lambda state: play("Red", next(places), 50)) <= PLACES * (1 + GAP_TRIES)
    assert session.undone == 1
    session, game = TangramAgentSession(GAME), Grumpy(NOBODYS)
    assert turn(session, game, scripted()) <= PLACES * (1 + GAP_TRIES)


def test_an_agent_that_never_finishes_is_finished():
    session, game = TangramAgentSession(GAME), SmallGame("A square")
    places = iter(range(20, 90))
    assert turn(session, game, lambda state: play("Red", next(places), 50)) == GAME.options["plays"]
    assert len(game.poses) == 1


# Turns that would end without a move.


@pytest.mark.parametrize("piece", ["Red", "Blue", "Brown"])
@pytest.mark.parametrize("godot", [False, True])
def test_a_stray_piece_beside_the_figure_stops_nobody(piece, godot):
    agent = PolicyAgent(GAME, make_policy("solver", GAME, seed=1))
    session, game = TangramAgentSession(GAME, useful=useful_moves), SmallGame("A cat", godot=godot)
    game.poses[piece] = (12.0, 50.0, 17.0)
    for _ in range(7):
        assert turn(session, game, agent.respond) > 0
    assert len(game.poses) == 7
    assert not any(map(game.collisions, game.poses))
    assert turn(session, game, agent.respond) == 0  # solved: nothing is moved any more


def test_an_agent_that_never_moves_has_moves_made_for_it():
    session, game = TangramAgentSession(GAME, useful=useful_moves), SmallGame("A square")
    for _ in range(7):
        assert turn(session, game, scripted()) == 1
    assert len(game.poses) == session.helped == session.plays == 7
    stubborn = lambda state: play("Red", 50, 50)  # noqa: E731
    session, game = begun({"Cream": (50.0, 50.0, 0.0)})
    session = TangramAgentSession(GAME, useful=useful_moves)
    turn(session, game, stubborn)
    assert session.undone == game.undone == 0
    assert len(game.poses) == 2


@given(st.dictionaries(st.sampled_from(PIECES), st.tuples(st.floats(5, 95), st.floats(5, 95), st.floats(0, 360))))
@settings(max_examples=50)
def test_apart_keeps_its_word(poses):
    for name, pose in poses.items():
        others = {one: other for one, other in poses.items() if one != name}
        moved = separated(name, pose, others, 0.3)
        if moved is not None:
            own = polygon(name, *moved)
            assert moved[2] == pose[2]
            assert all(own.distance(polygon(one, *other)) > 0.28 for one, other in others.items())
            assert min(own.bounds) > 0.28 and max(own.bounds) < 99.72
            assert collisions(name, {**others, name: moved}) == []


# A figure that nobody knows.


@pytest.mark.parametrize("godot", [False, True])
@pytest.mark.parametrize("margin", [0.0, 0.3, 0.7])
@pytest.mark.parametrize("objective", [NOBODYS, ""])
def test_an_unknown_objective_becomes_a_figure_that_holds_together(objective, margin, godot):
    session, game = TangramAgentSession(GAME), SmallGame(objective, margin, godot)
    for number in range(14):
        if number == 2:
            game.poses["Purple"] = (20.0, 20.0, 30.0)
        if number == 4:
            first = next(iter(game.poses))
            game.poses[first] = (85.0, 80.0, 12.0)
        turn(session, game, None)
    assert len(game.poses) == 7
    assert not any(map(game.collisions, game.poses))
    assert game.shape.geom_type == "Polygon"
    assert turn(session, game, None) == 0  # it stands: nothing is moved any more


@given(
    st.dictionaries(st.sampled_from(PIECES), st.tuples(st.floats(-20, 120), st.floats(-20, 120), st.floats(0, 360))),
    st.sampled_from([0.0, 0.3]),
)
@settings(max_examples=25)
def test_it_makes_the_best_of_any_board(poses, margin):
    session, game = TangramAgentSession(GAME), SmallGame(NOBODYS, margin, poses=dict(poses))
    before = sum(bool(game.collisions(name)) for name in game.poses)
    for _ in range(2):
        turn(session, game, None)
    assert sum(bool(game.collisions(name)) for name in game.poses) <= before
    assert len(game.poses) >= len(poses)
