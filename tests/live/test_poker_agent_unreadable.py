"""The poker agent's protocol without sockets: states that cannot be read."""

import pytest
from live.poker_sessions import table
from live.settled import act
from parlour.envs import Action
from parlour.wrappers.live.common.player import Note
from parlour.wrappers.live.poker import messages
from parlour.wrappers.live.poker.agent_session import (
    UnreadableTurn,
)

UNREADABLE = {
    "pot": {"pot": -2},
    "phase": {"phase": "dealing"},
    "bet": {"players": [{"seat": 0, "stack": 100}]},
    "seq": {"seq": "?"},
    "hand": {"hand": None},
}


@pytest.mark.parametrize("field", UNREADABLE)
@pytest.mark.parametrize("envelope", [False, True])
def test_a_turn_in_an_unreadable_state_is_answered_by_the_safe_action(field, envelope):
    host, seat, session = table()
    host.envelope = envelope
    [event] = session.receive(host.state(seat, **UNREADABLE[field]))
    assert isinstance(event, UnreadableTurn) and field in event.problem
    [action] = act(session, None, event)
    assert action.action == messages.Choice(turn_token=host.token, kind="fold")
    assert action.expected_seq == (None if field == "seq" else host.seq)
    assert session.receive(host.state(seat, **UNREADABLE[field])) == []  # a turn has one answer
    assert session.receive(host.state(seat)) == []
    assert act(session, Action("call")) == [] and session.turn is None
    assert session.receive({"type": "ack", "turn_token": host.token, "seq": host.seq + 1}) == []
    assert session.actions == 1


FOLD_CALL = [{"kind": "fold"}, {"kind": "call"}]


@pytest.mark.parametrize(
    "changes",
    [
        {"actions": [*FOLD_CALL, {"kind": "raiseTo", "min": -1, "max": -1}]},
        {"actions": [*FOLD_CALL, {"kind": "raiseTo", "min": "all", "max": 1e300}]},
        {"actions": [{"kind": "fold", "min": -1}, {"kind": "call", "max": -1}]},
        {"actions": FOLD_CALL, "toCall": -1},
        {"actions": FOLD_CALL, "dealer": -2, "last": {"seat": 1, "kind": "call", "amount": -1}},
    ],
    ids=repr,
)
def test_a_field_that_may_be_missing_and_cannot_be_read_is_missing(changes):
    host, seat, session = table()
    [decision] = session.receive(host.state(seat, **changes))
    assert decision.state.game_state["actions"] == FOLD_CALL
    assert decision.state.game_state["toCall"] == 1
    [action] = act(session, Action("call"), decision)
    assert action.action.kind == "call"


@pytest.mark.parametrize("told", [{}, {"toCall": 0}])
@pytest.mark.parametrize("actions", [None, [], [{"kind": "straddle"}]], ids=repr)
def test_a_turn_without_actions_is_answered_by_the_safe_action(actions, told):
    host, seat, session = table()
    [event] = session.receive(host.state(seat, actions=actions, **told))
    assert isinstance(event, UnreadableTurn) and "no action" in event.problem
    [action] = act(session, None, event)
    assert action.action == messages.Choice(turn_token=host.token, kind="fold")  # a blind is to be called
    assert act(session, Action("call")) == []
    rejected = session.receive({"type": "error", "code": "INVALID_ACTION", "message": "no"})
    assert [event.rejected for event in rejected] == [True]


def test_a_turn_without_actions_and_nothing_to_call_is_a_check():
    host, seat, session = table()
    host.play(1)
    session.receive({"type": "welcome", "seat": 1 - seat})
    [event] = session.receive(host.state(1 - seat, actions=None))
    [action] = act(session, None, event)
    assert action.action.kind == "check"


def test_a_state_with_neither_actions_nor_a_token_is_no_turn():
    host, seat, session = table()
    assert session.receive(host.state(seat, actions=None, turn_token=None)) == []


def test_unread_the_safe_action_is_to_check_where_that_is_offered():
    host, seat, session = table()
    [event] = session.receive(host.state(seat, pot=-2, actions=[{"kind": "fold"}, {"kind": "check"}]))
    [action] = act(session, None, event)
    assert action.action.kind == "check"


@pytest.mark.parametrize(
    "changes",
    [{"turn_token": None}, {"turn_token": ""}, {"actions": None}, {"actions": []}, {"actions": [{}]}, {"turn": 7}],
    ids=repr,
)
def test_an_unreadable_state_in_which_it_is_not_our_turn_is_news(changes):
    host, seat, session = table()
    assert [type(event) for event in session.receive(host.state(seat, pot=-2, **changes))] == [Note]


def test_an_unreadable_state_does_not_disturb_a_decision_under_way():
    host, seat, session = table()
    [decision] = session.receive(host.state(seat))
    assert session.receive(host.state(seat, pot=-2)) == []
    late = session.receive(host.state(seat, pot=-2, seq=host.seq - 1, turn_token="an older turn's"))
    assert [type(event) for event in late] == [Note]
    [action] = act(session, Action("call"), decision)
    session.opened()
    assert session.receive(host.state(seat, pot=-2)) == [action]


def test_a_safe_action_given_unread_goes_out_again_after_a_lost_connection_and_once_rejected_never():
    host, seat, session = table()
    [event] = session.receive(host.state(seat, pot=-2))
    [action] = act(session, None, event)
    session.opened()
    assert session.receive(host.state(seat, pot=-2)) == [action]
    rejected = session.receive({"type": "error", "code": "INVALID_ACTION", "message": "no"})
    assert [event.rejected for event in rejected] == [True]
    assert session.receive(host.state(seat, pot=-2)) == []


def test_after_an_unread_turn_the_game_goes_on():
    host, seat, session = table()
    session.receive(host.state(seat, phase="dealing"))
    host.play(1)
    host.play(1)
    if host.table.turn != seat:
        session.receive(host.state(seat))
        host.play(1)
    [decision] = session.receive(host.state(seat))
    assert {entry["street"] for entry in decision.state.game_state["history"]} <= {"preflop", "flop"}
    assert len(act(session, Action("check"), decision)) == 1
