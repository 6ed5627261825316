"""The tangram agent's protocol without a socket: turns, collisions, unknown figures, people."""

import math
import random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from live.settled import act
from live.small_game import Knows, SmallGame, polygon
from live.tangram_turns import GAME, NOBODYS, NONSENSE, begun, decision, play, scripted, sent, turn
from parlour import envs
from parlour.envs import Action, AgentResponse, GameEnv, MessageIntent
from parlour.envs.tangram.bots import useful_moves
from parlour.envs.tangram.lattice import PIECES
from parlour.envs.tangram.silhouettes import library, objective, text_of
from parlour.wrappers.agents.policy import PolicyAgent
from parlour.wrappers.live.common.player import Note
from parlour.wrappers.live.tangram import messages as m
from parlour.wrappers.live.tangram.agent import (
    GAP_TRIES,
    PLACES,
    ChatTurn,
    TangramAgentSession,
    collisions,
    figure_moves,
    separated,
    spread,
)
from parlour.wrappers.live.tangram.agent import GAPS as WIDER
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


@pytest.mark.parametrize("answer", NONSENSE, ids=lambda answer: str(answer)[:60])
def test_nonsense_is_refused_and_finishes(answer):
    session, game = TangramAgentSession(GAME), SmallGame("A square")
    asked = decision(session.receive(game.message()))
    assert asked.settle(lambda: answer)[1]
    assert act(session, answer, asked) == [m.Finish()]


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


def test_where_there_is_no_room_the_agent_plays_elsewhere():
    session, game = begun({"Red": (50.0, 50.0, 0.0)})
    assert turn(session, game, scripted(play("Cream", 50, 50), play("Cream", 20, 20))) == 2
    assert game.poses["Cream"] == (20, 20, 0)


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


# Between turns, and other games.


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


@pytest.mark.parametrize("kind", ["playRequest", "playFeedback"])
@pytest.mark.parametrize("state", [None, 7, {}, {"on_board": {"Orange": {}}}, {"on_board": {"Red": {"rotation": 0}}}])
def test_a_turn_that_cannot_be_read_is_finished(kind, state):
    session, game = TangramAgentSession(GAME), SmallGame("A square")
    decision(session.receive(game.message()))
    assert sent(session.receive({"type": kind, "objective": "A square", "state": state})) == [m.Finish()]
    assert decision(session.receive(game.message()))


def test_a_piece_where_numbers_end_is_no_reason_to_fail():
    session = TangramAgentSession(GAME)
    for words in ("A square", NOBODYS):
        for far in (1e5, 1e17, 1e300):
            red = {"position": [far, 50], "rotation": 0, "collisions": ["BOUNDARY"]}
            state = {"on_board": {"Red": red, "Blue": {"position": [50, 50], "rotation": 0, "collisions": ["Red"]}}}
            for kind in ("playRequest", "playFeedback", "chatRequest"):
                events = session.receive({"type": kind, "objective": words, "state": state, "message": "?"})
                assert not any(isinstance(answer, m.Error) for answer in sent(events))


# Policies.


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


RED = (50.0, 50.0, 0.0)
NAME, PLACE = next(figure_moves({"Red": RED}, 0.0))
"""A piece, and a place of it that touches Red."""
GAPS = [0.0, *WIDER[:GAP_TRIES]]
"""The gaps of the tries of a turn, as long as nothing is learned."""


class Content(SmallGame):
    """Finds fault with the first plays of a turn, up to a number, and notes the places of all."""

    def started(self, faults):
        self.faults, self.places = faults, []

    def put(self, play):
        self.places.append((*play.position, play.rotation))
        return super().put(play)

    def collisions(self, name):
        return ["Red"] if len(self.places) <= self.faults and name == self.moved else []


@pytest.mark.parametrize("faults", range(len(GAPS)))
def test_every_try_leaves_a_larger_gap_until_the_game_is_content(faults):
    session, game = TangramAgentSession(GAME), Content("A square")
    for expected, name, place in ((0, "Red", RED), (faults, NAME, PLACE)):
        game.started(expected)
        turn(session, game, scripted(play(name, *place)))
    wanted = [spread(NAME, PLACE, RED, {"Red": RED}, gap) if gap else PLACE for gap in GAPS[: faults + 1]]
    assert game.places == [pytest.approx(place, abs=1e-6) for place in wanted]


SOLVED = {name: tuple(objective("A square").poses(0, "godot")[i].tolist()) for i, name in enumerate(PIECES)}


@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize("margin", [0.0, 0.2])
@pytest.mark.parametrize("aspect", ["godot", "square"])
def test_a_person_who_is_not_exact_and_an_agent_build_together(aspect, margin, seed):
    draw = random.Random(seed)
    name = draw.choice(PIECES)
    x, y, rotation = SOLVED[name]
    small = SmallGame("A square", margin, godot=True)
    small.poses[name] = (x + draw.uniform(-25, 25), y + draw.uniform(-25, 25), rotation + 2)
    session = TangramAgentSession(envs.game("tangram", aspect=aspect))
    for _ in range(8):  # six pieces, and the first one is straightened
        turn(session, small, Knows(aspect).respond)
    assert len(small.poses) == 7
    assert not any(map(small.collisions, small.poses))
    assert small.shape.geom_type == "Polygon"
    filled = small.shape.buffer(-0.25 - margin).area
    assert filled == pytest.approx(16 * (25.6 / 3.37) * (25.6 / 3.22), rel=0.15)
