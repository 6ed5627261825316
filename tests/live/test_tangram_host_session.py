"""The game's end of the tangram protocol without a socket: turns, refusals, what is logged."""

import pytest
from parlour import envs
from parlour.envs import Action, AgentResponse, MessageIntent
from parlour.envs.core.match import Match
from parlour.wrappers.live.tangram import messages as m
from parlour.wrappers.live.tangram.host import AgentSaid, TangramHostSession, TurnEnded

GAME = envs.game("tangram", seats=2, aspect="godot", split=None)
ON_THE_BOARD = m.Play(shape="Red", position=(50, 50), rotation=0)
BESIDE_THE_BOARD = m.Play(shape="Red", position=(500, 50), rotation=0)


def begun():
    """A match in which the agent has been asked for its turn, and the lines of its log."""
    lines = []
    match = Match(GAME)
    match.reset(seed=1)
    session = TangramHostSession(match, log=lambda kind, **fields: lines.append((kind, fields)))
    assert session.play(Action("finish"))[0].ok
    assert session.agents_turn
    session.request()
    lines.clear()
    return session, lines


def test_a_person_and_an_agent_make_two():
    match = Match(envs.game("tangram", seats=1))
    with pytest.raises(ValueError, match="1 seat: a person and an agent make 2"):
        TangramHostSession(match)


def test_a_turn_is_play_feedback_finish_and_is_logged():
    session, lines = begun()
    [feedback] = session.receive(m.encode(ON_THE_BOARD))
    assert isinstance(feedback, m.PlayFeedback)
    assert feedback.state.on_board["Red"].position == (50, 50)
    assert session.receive(m.encode(m.Finish())) == [TurnEnded("")]
    assert not session.agents_turn and session.refused == 0
    assert [(kind, fields["agent"], fields["response"].action_type) for kind, fields in lines] == [
        ("turn", session.agent, "play"),
        ("turn", session.agent, "finish"),
    ]
    assert not any("problem" in fields for _, fields in lines)


def test_a_play_that_is_refused_ends_the_turn_and_says_why():
    session, lines = begun()
    [answer, ended] = session.receive(m.encode(BESIDE_THE_BOARD))
    assert isinstance(answer, m.Error)
    assert "off the board" in answer.message and "off the board" in ended.problem
    assert session.refused == 1 and not session.agents_turn
    [(_, fields)] = lines
    assert fields["response"].action_type == "finish" and fields["problem"] == ended.problem


@pytest.mark.parametrize("message", [ON_THE_BOARD, m.Finish()])
def test_out_of_turn_an_action_gets_an_error_and_changes_nothing(message):
    session, lines = begun()
    session.receive(m.encode(m.Finish()))
    before, count = session.match.table.tobytes(), len(lines)
    [answer] = session.receive(m.encode(message))
    assert answer == m.Error(message="it is not the agent's turn")
    assert (session.match.table.tobytes(), len(lines), session.refused) == (before, count, 1)


def test_what_the_agent_says_does_not_end_its_turn():
    session, lines = begun()
    assert session.receive(m.encode(m.Chat(message="The roof!"))) == [AgentSaid("The roof!")]
    assert session.agents_turn
    assert [one.content for one in session.state().messages] == ["The roof!"]
    assert [kind for kind, _ in lines] == ["message"]


def test_an_error_of_the_agent_ends_its_turn():
    session, lines = begun()
    [ended] = session.receive(m.encode(m.Error(message="I am lost")))
    assert "I am lost" in ended.problem and not session.agents_turn
    assert lines[0][1]["problem"] == ended.problem
    assert session.receive(m.encode(m.Error(message="still"))) == []


def test_the_last_play_that_a_turn_has_ends_it():
    match = Match(envs.game("tangram", seats=2, aspect="godot", split=None, plays=1))
    match.reset(seed=1)
    session = TangramHostSession(match)
    assert session.play(Action("finish"))[0].ok
    session.request()
    assert session.receive(m.encode(ON_THE_BOARD)) == [TurnEnded("")]
    assert session.receive(m.encode(m.Error(message="late"))) == []  # there is no turn that this could end


def test_an_answer_repeats_at_most_200_characters():
    session, _ = begun()
    [answer, _] = session.receive({"type": "play", "shape": "x" * 1_000, "position": [50, 50], "rotation": 0})
    assert len(answer.message) <= 200
    [answer] = session.receive({"type": "dance" * 1_000})
    assert len(answer.message) <= 200


def test_what_the_person_says_is_for_the_agent():
    session, _ = begun()
    session.receive(m.encode(m.Finish()))
    result, said = session.play(AgentResponse(Action("finish"), [MessageIntent("public", "Your turn")]))
    assert result.ok and [one.message for one in said] == ["Your turn"]
