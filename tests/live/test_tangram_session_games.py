"""The tangram agent's protocol without a socket: several games, the player, bad input, policies."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from live.settled import act
from live.small_game import SmallGame
from live.tangram_turns import GAME, NOBODYS, NONSENSE, decision, play, scripted, sent, turn
from parlour import envs
from parlour.envs import Action, GameEnv
from parlour.envs.tangram.lattice import PIECES
from parlour.envs.tangram.silhouettes import library, text_of
from parlour.wrappers.agents.policy import PolicyAgent
from parlour.wrappers.live.common.agent_turn import Turn
from parlour.wrappers.live.common.player import Note
from parlour.wrappers.live.tangram import messages as m
from parlour.wrappers.live.tangram.agent import ChatTurn, TangramAgentSession
from parlour.wrappers.live.tangram.board_tracker import figure_moves
from parlour.wrappers.policies.loading import make_policy

# Between turns, and other games.


def test_everything_is_seen_anew_in_every_turn():
    session, game = TangramAgentSession(GAME), SmallGame("A square")
    turn(session, game, scripted(play("Red", 40, 40)))
    game.poses = {"Blue": (70.0, 70.0, 10.0)}
    state = decision(session.receive(game.message())).state.game_state
    assert list(state["on_board"]) == ["Blue"]
    assert "Red" in state["off_board"]
    game.objective = "A triangle"
    other = decision(session.receive(game.message())).state.game_state
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


def test_objectives_may_name_figures_of_ones_own():
    text = text_of(library()["A rocket"]).replace("A rocket", "My tower") + text_of(library()["A square"])
    game = envs.game("tangram", figure=text, aspect="godot")
    asked = decision(TangramAgentSession(game).receive(SmallGame("my tower").message()))
    known = decision(TangramAgentSession(GAME).receive(SmallGame("A rocket").message()))
    assert asked.state.game_state["silhouette"] == known.state.game_state["silhouette"]


# The player.


def test_a_player_is_answered_in_and_out_of_turn():
    session, game = TangramAgentSession(GAME), SmallGame("A square")
    (heard,) = session.receive(game.message("chatRequest", message="Hello?"))
    assert isinstance(heard, ChatTurn)
    assert heard.text == "Hello?"
    assert not heard.board.is_my_turn
    assert heard.board.allowed_actions == []
    assert "A square" in act(session, None, heard)[0].message
    asked = decision(session.receive(game.message()))
    assert asked.state.messages[0].content == "Hello?"
    (heard,) = session.receive(game.message("chatRequest", message="And now?"))
    assert len(act(session, play(), asked)) == 1  # the question did not move the turn
    (heard,) = session.receive({"type": "chatRequest", "message": "blind"})
    assert heard.board is None


def test_a_long_talk_is_forgotten():
    session, game = TangramAgentSession(GAME), SmallGame("A square")
    for number in range(200):
        (heard,) = session.receive(game.message("chatRequest", message=str(number)))
        act(session, "aha", heard)
    said = decision(session.receive(game.message())).state.messages
    assert [one.content for one in said] == [text for number in range(175, 200) for text in (str(number), "aha")]


# Bad input.


def test_a_feedback_without_a_play_finishes():
    session, game = TangramAgentSession(GAME), SmallGame("A square")
    assert sent(session.receive(game.message("playFeedback"))) == [m.Finish()]
    asked = decision(session.receive(game.message()))
    assert sent(session.receive(game.message("playFeedback"))) == [m.Finish()]  # before the answer
    assert act(session, play(), asked) == []


def test_a_piece_that_vanished_is_played_elsewhere_or_not_at_all():
    session, game = TangramAgentSession(GAME), SmallGame("A square")
    asked = decision(session.receive(game.message()))
    act(session, play(), asked)
    asked = decision(session.receive(game.message("playFeedback")))
    tables, _ = GAME.view.load(asked.state)  # what agents are told makes sense
    assert (asked.state.phase, int(tables[0].moved)) == ("play", -1)
    assert act(session, play(), asked) == [m.Finish()]


def test_an_error_of_the_game_ends_the_turn_and_is_not_answered():
    session, game = TangramAgentSession(GAME), SmallGame("A square")
    asked = decision(session.receive(game.message()))
    for error in ({"type": "error", "message": "no \x1b[31m"}, {"type": "error"}, {"type": "error", "message": [1]}):
        events = session.receive(error)
        assert sent(events) == []
        (note,) = events
        assert isinstance(note, Note)
        assert note.problem
        assert "\x1b" not in note.text
    assert act(session, play(), asked) == []
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
            decisions = [event for event in events if isinstance(event, Turn)]
            asked = decisions[0] if decisions else asked
            ours = item["type"] in ("playRequest", "playFeedback")
            assert len(out) + len(decisions) == (1 if ours or item["type"] in ("hello", "chatRequest") else 0)
        elif asked is not None:
            assert len(act(session, item, asked)) <= 1
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
                tables, seat = game.view.load(asked.state)
                assert np.array_equal(game.mask(tables[0], seat), wanted["action_mask"])
                for encoder in game.versions.values():
                    shown, seen = encoder.observation(env.table, seat), encoder.observation(tables[0], seat)
                    np.testing.assert_allclose(seen, shown, rtol=0, atol=1e-3 if godot else 0)
                ours = asked.state.to_dict()
                for state in (ours, theirs):
                    del state["match_id"], state["messages"]
                    if godot:
                        del state["game_state"]
                assert ours == theirs
                act(session, response, asked)
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
        answer = agent.respond(asked.state)
        assert asked.read(answer) == answer
        assert len(act(session, answer, asked)) == 1
