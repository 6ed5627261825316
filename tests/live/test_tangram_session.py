"""The agent's end of tangram.md without a socket: turns, steps away from collisions, bad input, several games."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from live.small_game import SmallGame, polygon
from parlour import envs
from parlour.envs import Action, AgentResponse, GameEnv, MessageIntent
from parlour.envs.tangram.pieces import PIECES
from parlour.envs.tangram.silhouettes import library
from parlour.wrappers.agents.policy import PolicyAgent
from parlour.wrappers.live.common.sessions import Decision, LogNote, SendMessage
from parlour.wrappers.live.tangram import messages as m
from parlour.wrappers.live.tangram.agent_session import PLACES, STEPS, ChatRequested, TangramAgentSession
from parlour.wrappers.live.tangram.placing import collisions, figure_moves, separated
from parlour.wrappers.policies.loading import make_policy

GAME = envs.game("tangram", aspect="godot")
NOBODYS = "A lighthouse on a rock"


def play(shape="Red", x=50.0, y=50.0, rotation=0.0):
    return Action("play", {"shape": shape, "position": [x, y], "rotation": rotation})


def sent(events):
    """Return the messages that go out, asserting that each can be read as the document has it."""
    found = [event.message for event in events if isinstance(event, SendMessage)]
    for message in found:
        assert m.decode_agent(m.encode(message)) == message
        assert len(m.encode(message)) < 1_000
    return found


def decision(events):
    (found,) = (event for event in events if isinstance(event, Decision))
    return found


def turn(session, game, answer):
    """Play the agent's turn; `answer(turn_state)` is the agent. Return how many plays it took."""
    events = session.receive(game.message())
    for plays in range(100):
        if any(isinstance(event, Decision) for event in events):
            asked = decision(events)
            (message,) = session.act(answer(asked.turn_state), asked.turn)
        else:
            (message,) = sent(events)
        if isinstance(message, m.Finish):
            game.finish()
            return plays
        events = session.receive(game.put(message))
    raise AssertionError("the turn does not end")


def scripted(*answers):
    left = iter(answers)
    return lambda state: next(left, Action("finish"))


def begun(poses):
    """Return a session and its game after a turn on the empty board, with pieces that the person has put there."""
    session, game = TangramAgentSession(GAME), SmallGame("A square")
    turn(session, game, scripted())
    game.poses.update(poses)
    return session, game


# Turns.


@pytest.mark.parametrize("godot", [False, True])
def test_a_turn_is_request_play_feedback_finish(godot):
    session, game = TangramAgentSession(GAME, "game-1"), SmallGame("A square", godot=godot)
    asked = decision(session.receive(game.message()))
    state = asked.turn_state
    assert (state.match_id, state.game_id, state.phase, state.is_my_turn) == ("game-1", "tangram-v0", "play", True)
    assert state.game_state["objective"] == "A square"
    assert list(state.game_state["off_board"]) == list(PIECES)
    assert [offer.action_type for offer in state.allowed_actions] == ["play", "finish", "message_only"]
    assert session.act(play("Red", 40, 50, 405), asked.turn) == [m.Play(shape="Red", position=(40, 50), rotation=45)]
    asked = decision(session.receive(game.put(m.Play(shape="Red", position=(40, 50), rotation=45))))
    assert asked.turn_state.phase == "feedback"
    assert asked.turn_state.game_state["moved"] == {"shape": "Red", "from": None}
    assert asked.turn_state.game_state["on_board"]["Red"]["position"] == [40, 50]
    assert session.act(Action("finish"), asked.turn) == [m.Finish()]
    assert (session.turns, session.plays, session.undone) == (1, 1, 0)


def test_a_piece_that_lay_on_the_board_is_told_with_where_it_came_from():
    session, game = TangramAgentSession(GAME), SmallGame("A square", poses={"Red": (30.0, 30.0, 90.0)})
    asked = decision(session.receive(game.message()))
    session.act(play("Red", 40, 50), asked.turn)
    asked = decision(session.receive(game.put(m.Play(shape="Red", position=(40, 50), rotation=0))))
    was = {"position": [30, 30], "rotation": 90}
    assert asked.turn_state.game_state["moved"] == {"shape": "Red", "from": was}


def test_what_the_agent_says_goes_before_what_it_does():
    session, game = TangramAgentSession(GAME), SmallGame("A square")
    asked = decision(session.receive(game.message()))
    words = [MessageIntent("public", "The roof!"), MessageIntent("private", "hm", ["player_0"])]
    first, second = session.act(AgentResponse(play(), words), asked.turn)
    assert first == m.Chat(message="The roof!")
    assert isinstance(second, m.Play)
    asked = decision(session.receive(game.put(second)))
    assert [one.content for one in asked.turn_state.messages] == ["The roof!"]
    many = [MessageIntent("public", "\U0001f9e9" * 5_000)] * 10
    *said, last = session.act(AgentResponse(Action("finish"), many), asked.turn)
    assert isinstance(last, m.Finish)
    assert len(said) == 3
    assert all(len(m.encode(one).encode()) < 2_000 for one in said)


def test_an_old_answer_and_a_second_one_send_nothing():
    session, game = TangramAgentSession(GAME), SmallGame("A square")
    old = decision(session.receive(game.message()))
    new = decision(session.receive(game.message()))
    assert session.act(play(), old.turn) == []
    assert session.safe_action(old.turn) == []
    assert len(session.act(play(), new.turn)) == 1
    assert session.act(play(), new.turn) == []
    assert session.safe_action(new.turn) == []


NONSENSE = [
    None,
    7,
    "play",
    {"action": 3},
    Action("fold"),
    AgentResponse(Action("finish"), [3]),
    Action("play"),
    play("Orange"),
    play(x=math.nan),
    play(x=-0.5),
    play(y=100.1),
    play(rotation=math.inf),
    Action("play", {"shape": 3, "position": [50, 50], "rotation": 0}),
    Action("play", {"shape": "Red", "position": [50], "rotation": 0}),
    AgentResponse(action=None),
]


@pytest.mark.parametrize("answer", NONSENSE, ids=lambda answer: str(answer)[:60])
def test_nonsense_is_refused_and_finishes(answer):
    session, game = TangramAgentSession(GAME), SmallGame("A square")
    asked = decision(session.receive(game.message()))
    assert session.refusal(answer)
    assert session.act(answer, asked.turn) == [m.Finish()]


# Collisions.


@pytest.mark.parametrize("godot", [False, True])
@pytest.mark.parametrize("margin", [0.0, 0.15, 0.5])
def test_a_piece_that_touches_is_moved_away_until_the_game_is_content(margin, godot):
    session, game = TangramAgentSession(GAME), SmallGame("A square", margin, godot)
    spot = next(place for place in figure_moves({"Red": (50.0, 50.0, 0.0)}, 0.0))
    assert turn(session, game, scripted(play("Red"))) == 1
    plays = turn(session, game, scripted(play(spot[0], *spot[1])))
    assert plays == 1 if not margin else 2 <= plays <= 1 + len(STEPS)
    assert session.undone == game.undone == 0
    x, y, _ = game.poses[spot[0]]
    assert math.dist((x, y), spot[1][:2]) <= 2 * margin + 0.2
    # From now on a gap is left from the start.
    third = next(place for place in figure_moves({"Red": (50.0, 50.0, 0.0), spot[0]: spot[1]}, 0.0))
    assert turn(session, game, scripted(play(third[0], *third[1]))) == 1
    assert game.undone == 0
    assert len(game.poses) == 3


def test_the_agent_sees_its_pieces_where_it_meant_them():
    session, game = TangramAgentSession(GAME), SmallGame("A square", 0.3, godot=True)
    (name, pose) = next(figure_moves({"Red": (50.0, 50.0, 0.0)}, 0.0))
    turn(session, game, scripted(play("Red")))
    turn(session, game, scripted(play(name, *pose)))
    seen = decision(session.receive(game.message())).turn_state.game_state["on_board"]
    assert seen[name]["position"] == list(pose[:2])
    assert list(game.poses[name][:2]) != list(pose[:2])
    game.poses[name] = (10.0, 80.0, 3.0)  # the person moves it
    seen = decision(session.receive(game.message())).turn_state.game_state["on_board"]
    assert seen[name]["position"] == [10, 80]


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
    assert turn(session, game, lambda state: play("Red", next(places), 50)) <= PLACES * (1 + len(STEPS))
    assert session.undone == 1
    session, game = TangramAgentSession(GAME), Grumpy(NOBODYS)
    assert turn(session, game, scripted()) <= PLACES * (1 + len(STEPS))


def test_an_agent_that_never_finishes_is_finished():
    session, game = TangramAgentSession(GAME), SmallGame("A square")
    places = iter(range(20, 90))
    assert turn(session, game, lambda state: play("Red", next(places), 50)) == GAME.options["plays"]
    assert len(game.poses) == 1


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


# Between turns, and other games.


def test_everything_is_seen_anew_in_every_turn():
    session, game = TangramAgentSession(GAME), SmallGame("A square")
    turn(session, game, scripted(play("Red", 40, 40)))
    game.poses = {"Blue": (70.0, 70.0, 10.0)}
    state = decision(session.receive(game.message())).turn_state.game_state
    assert list(state["on_board"]) == ["Blue"]
    assert "Red" in state["off_board"]
    game.objective = "A triangle"
    other = decision(session.receive(game.message())).turn_state.game_state
    assert other["silhouette"] != state["silhouette"]
    assert other["turn_number"] == 2


def test_games_do_not_know_of_each_other():
    sessions = [TangramAgentSession(GAME, str(number)) for number in range(3)]
    games = [SmallGame("A square", margin) for margin in (0.0, 0.4, 0.0)]
    for _ in range(2):
        name, pose = next(figure_moves(games[0].poses, 0.0))
        for session, game in zip(sessions, games, strict=True):
            turn(session, game, scripted(play(name, *pose)))
    assert games[0].poses == games[2].poses != games[1].poses


def test_turns_and_skips_are_counted():
    session, game = TangramAgentSession(GAME), SmallGame("A square")
    seen = []

    def answering(*answers):
        answer = scripted(*answers)

        def respond(state):
            if state.phase == "play":
                seen.append((state.game_state["turn_number"], state.game_state["passes"]))
            return answer(state)

        return respond

    turn(session, game, answering())
    for person, answer in [
        ({"Blue": (80.0, 80.0, 0.0)}, play("Red", 20, 20)),
        ({}, Action("finish")),
        ({}, play("Cream", 20, 20)),  # undone
        ({"Blue": (70.0, 80.0, 0.0)}, Action("finish")),
    ]:
        game.poses.update(person)
        turn(session, game, answering(answer))
    assert seen == [(2, 1), (4, 0), (6, 1), (8, 3), (10, 0)]


# The player.


def test_a_player_is_answered_in_and_out_of_turn():
    session, game = TangramAgentSession(GAME), SmallGame("A square")
    (heard,) = session.receive(game.message("chatRequest", message="Hello?"))
    assert isinstance(heard, ChatRequested)
    assert heard.text == "Hello?"
    assert not heard.turn_state.is_my_turn
    assert heard.turn_state.allowed_actions == []
    assert "A square" in session.chat(session.small_talk()).message
    asked = decision(session.receive(game.message()))
    assert asked.turn_state.messages[0].content == "Hello?"
    (heard,) = session.receive(game.message("chatRequest", message="And now?"))
    assert len(session.act(play(), asked.turn)) == 1  # the question did not move the turn
    (heard,) = session.receive({"type": "chatRequest", "message": "blind"})
    assert heard.turn_state is None


def test_a_long_talk_is_forgotten():
    session, game = TangramAgentSession(GAME), SmallGame("A square")
    for number in range(200):
        session.receive(game.message("chatRequest", message=str(number)))
    said = decision(session.receive(game.message())).turn_state.messages
    assert [one.content for one in said] == [str(number) for number in range(150, 200)]


# Bad input.


def test_a_feedback_without_a_play_finishes():
    session, game = TangramAgentSession(GAME), SmallGame("A square")
    assert sent(session.receive(game.message("playFeedback"))) == [m.Finish()]
    asked = decision(session.receive(game.message()))
    assert sent(session.receive(game.message("playFeedback"))) == [m.Finish()]  # before the answer
    assert session.act(play(), asked.turn) == []


def test_a_piece_that_vanished_is_played_elsewhere_or_not_at_all():
    session, game = TangramAgentSession(GAME), SmallGame("A square")
    asked = decision(session.receive(game.message()))
    session.act(play(), asked.turn)
    asked = decision(session.receive(game.message("playFeedback")))
    tables, _ = GAME.view.load(asked.turn_state)  # what agents are told makes sense
    assert (asked.turn_state.phase, int(tables[0].moved)) == ("play", -1)
    assert session.act(play(), asked.turn) == [m.Finish()]


def test_an_error_of_the_game_ends_the_turn_and_is_not_answered():
    session, game = TangramAgentSession(GAME), SmallGame("A square")
    asked = decision(session.receive(game.message()))
    for error in ({"type": "error", "message": "no \x1b[31m"}, {"type": "error"}, {"type": "error", "message": [1]}):
        events = session.receive(error)
        assert sent(events) == []
        (note,) = events
        assert isinstance(note, LogNote)
        assert note.problem
        assert "\x1b" not in note.text
    assert session.act(play(), asked.turn) == []
    assert decision(session.receive(game.message()))


def test_a_message_of_ten_megabytes_gets_an_error():
    session, game = TangramAgentSession(GAME), SmallGame("A square")
    for message in ("x" * 10**7, b"x" * 10**7, game.message(board_img="A" * 10**7)):
        (answer,) = sent(session.receive(message))
        assert isinstance(answer, m.Error)
        assert "4194304" in answer.message
    assert decision(session.receive(game.message(board_img="A" * 10**6, drawer_img="no image")))


@pytest.mark.parametrize("kind", ["playRequest", "playFeedback"])
@pytest.mark.parametrize("state", [None, 7, {}, {"on_board": {"Orange": {}}}, {"on_board": {"Red": {"rotation": 0}}}])
def test_a_turn_that_cannot_be_read_is_finished(kind, state):
    session, game = TangramAgentSession(GAME), SmallGame("A square")
    decision(session.receive(game.message()))
    assert sent(session.receive({"type": kind, "objective": "A square", "state": state})) == [m.Finish()]
    assert decision(session.receive(game.message()))


@pytest.mark.parametrize(
    "data", ["", "{", "[]", "7", b"\xff", "null", '{"type": "hello"}', '{"type": "chatRequest"}', "[" * 10_000]
)
def test_what_cannot_be_understood_gets_an_error(data):
    session, game = TangramAgentSession(GAME), SmallGame("A square")
    (answer,) = sent(session.receive(data))
    assert isinstance(answer, m.Error)
    assert answer.message
    assert decision(session.receive(game.message()))


def test_a_piece_where_numbers_end_is_no_reason_to_fail():
    session = TangramAgentSession(GAME)
    for objective in ("A square", NOBODYS):
        for far in (1e5, 1e17, 1e300):
            red = {"position": [far, 50], "rotation": 0, "collisions": ["BOUNDARY"]}
            state = {"on_board": {"Red": red, "Blue": {"position": [50, 50], "rotation": 0, "collisions": ["Red"]}}}
            for kind in ("playRequest", "playFeedback", "chatRequest"):
                events = session.receive({"type": kind, "objective": objective, "state": state, "message": "?"})
                assert not any(isinstance(answer, m.Error) for answer in sent(events))


WILD = st.floats() | st.integers() | st.sampled_from([1e9, -1e9, 1e17, 1e308, 90, 45.0, "(1, 2)", None])
PIECE = st.fixed_dictionaries(
    {"position": st.tuples(WILD, WILD) | st.just("(50, 50)"), "rotation": WILD},
    optional={"collisions": st.lists(st.sampled_from([*PIECES, "BOUNDARY", "Orange"]), max_size=3)},
)
STATE = st.fixed_dictionaries({"on_board": st.dictionaries(st.sampled_from(PIECES), PIECE, max_size=4)})
KINDS = ("playRequest", "playRequest", "playFeedback", "playFeedback", "chatRequest", "error", "hello")
MESSAGE = st.fixed_dictionaries(
    {"type": st.sampled_from(KINDS), "state": STATE, "message": st.text(max_size=5)},
    optional={"objective": st.sampled_from(["A square", NOBODYS])},
)
ANSWER = st.sampled_from([*NONSENSE, play(), play("Blue", 10, 10, 33), Action("finish")])


@given(st.lists(MESSAGE | ANSWER, max_size=12))
@settings(max_examples=50)
def test_whatever_comes_in_whatever_order_the_session_goes_on(script):
    session, asked = TangramAgentSession(GAME), None
    for item in script:
        if isinstance(item, dict) and "type" in item:
            events = session.receive(item)
            out = sent(events)
            decisions = [event for event in events if isinstance(event, Decision)]
            asked = decisions[0] if decisions else asked
            ours = item["type"] in ("playRequest", "playFeedback")
            assert len(out) + len(decisions) == (1 if ours or item["type"] == "hello" else 0)
        elif asked is not None:
            assert len(session.act(item, asked.turn)) <= 1
    assert decision(session.receive(SmallGame("A square").message()))


# Policies.


@pytest.mark.parametrize("godot", [False, True])
@pytest.mark.parametrize("margin", [0.0, 0.2])
@pytest.mark.parametrize("aspect", ["godot", "square"])
@pytest.mark.parametrize("bot", ["greedy", "solver"])
def test_bots_build_a_square_on_the_wire(bot, aspect, margin, godot):
    game = envs.game("tangram", aspect=aspect)
    agent = PolicyAgent(game, make_policy(bot, game, seed=1))
    session, small = TangramAgentSession(game), SmallGame("A square", margin, godot)
    for _ in range(10):
        turn(session, small, agent.respond)
    assert not any(map(small.collisions, small.poses))
    assert small.undone == 0
    if bot == "solver":
        assert len(small.poses) == 7
        assert small.shape.area == pytest.approx(16 * 7.596 * 7.95, rel=0.15)


@pytest.mark.parametrize("godot", [False, True])
@pytest.mark.parametrize(("person", "agent"), [("greedy", "greedy"), ("random", "solver"), ("random", "random")])
def test_what_the_agent_sees_on_the_wire_is_what_the_environment_shows(person, agent, godot):
    """Law 1 through the wire: bit for bit, and up to rounding where the game rounds, which the real one does."""
    game = envs.game("tangram", figure="library", split=None, aspect="godot", turns=14)
    bots = {"player_0": make_policy(person, game, seed=3), "player_1": make_policy(agent, game, seed=3)}
    decisions = 0
    for seed in range(8):
        env = GameEnv(game, "flat")
        env.reset(seed=seed)
        session, kind = TangramAgentSession(game), "playRequest"
        while not env.table.done:
            acting, wanted = env.agent_selection, env.observe(env.agent_selection)
            number = int(bots[acting].act(wanted["observation"][None], wanted["action_mask"][None])[0])
            response = game.view.encode(env.table, number)
            if acting == "player_1":
                decisions += 1
                theirs = env.turn_state("player_1").to_dict()
                asked = decision(session.receive(on_the_wire(kind, theirs["game_state"], godot)))
                tables, seat = game.view.load(asked.turn_state)
                assert np.array_equal(game.mask(tables[0], seat), wanted["action_mask"])
                np.testing.assert_allclose(
                    game.observation(tables[0], seat), wanted["observation"], rtol=0, atol=1e-3 if godot else 0
                )
                ours = asked.turn_state.to_dict()
                for state in (ours, theirs):
                    del state["match_id"], state["messages"]
                    if godot:
                        del state["game_state"]
                assert ours == theirs
                session.act(response, asked.turn)
            assert env.submit(acting, response).ok
            same_turn = acting == env.agent_selection == "player_1"
            kind = "playFeedback" if same_turn and response.action.action_type == "play" else "playRequest"
    assert decisions > 50


def on_the_wire(kind, game_state, godot):
    """Write a board as our host does."""
    state = {key: game_state[key] for key in ("on_board", "off_board")}
    message = m.decode_game({"type": kind, "objective": game_state["objective"], "state": state})
    return m.encode(message, "godot" if godot else "documented")


WILD_POSE = st.tuples(st.floats(-1e6, 1e6) | st.floats(0, 100), st.floats(0, 100), st.floats(-1e9, 1e9))


@given(st.dictionaries(st.sampled_from(PIECES), WILD_POSE), st.sampled_from(sorted(library())))
@settings(max_examples=30)
def test_policies_have_an_answer_to_every_board(poses, figure):
    on_board = {name: {"position": [x, y], "rotation": turned} for name, (x, y, turned) in poses.items()}
    for bot in ("random", "greedy", "solver"):
        session, agent = TangramAgentSession(GAME), PolicyAgent(GAME, make_policy(bot, GAME, seed=1))
        asked = decision(session.receive({"type": "playRequest", "objective": figure, "state": {"on_board": on_board}}))
        answer = agent.respond(asked.turn_state)
        assert session.refusal(answer) is None
        assert len(session.act(answer, asked.turn)) == 1
