"""The arena's match: what mistakes cost, and the limits of actions, messages and talk."""

import pytest
from live.arena_matches import FREE, TALK, bargaining, offer
from parlour import envs
from parlour.envs import Action, AgentResponse
from parlour.envs.core.turn_state import MESSAGES_PER_TURN
from parlour.wrappers.live.common.match_session import MatchLimits, MatchSession


@pytest.mark.parametrize("kind", ["rejected", "failed"])
def test_what_a_mistake_costs(kind):
    def err(session):
        return session.act("ann", None) if kind == "rejected" else session.failed("ann", "RuntimeError: boom")

    session = bargaining(**{kind: "keep"}, attempts=2)
    err(session)
    assert session.turn == "ann" and session.forced["ann"] == 0
    err(session)
    assert session.turn == "bob" and session.forced["ann"] == 1
    assert session.turn_state("bob").game_state["action_history"] == [{"agent_id": "ann", "action": "pass", "round": 1}]

    session = bargaining(**{kind: "pass"})
    err(session)
    assert session.turn == "bob" and session.actions == 1

    session = bargaining(**{kind: "end"})
    err(session)
    assert session.turn is None
    assert session.error.startswith("ann: ")
    assert session.outcome["reason"] == "error"
    assert session.outcome["payoffs"] == [{"agent_id": "ann", "utility": 0}, {"agent_id": "bob", "utility": 0}]
    state = session.turn_state("bob")
    assert state.game_over and state.outcome == session.outcome and state.current_turn_agent_id is None
    assert session.failed("ann", "late").error == "match_not_running"


def test_a_late_agent_loses_its_turn_and_no_more():
    session = bargaining(failed="keep")
    assert session.timeout("bob").error == "not_your_turn"
    assert session.timeout("ann").ok
    assert session.turn == "bob"
    assert session.failures == {"ann": 1, "bob": 0}


def test_the_safe_action_stands_in_where_a_game_has_no_pass():
    session = MatchSession(envs.game("holdem", seats=2, button=0), ("ann", "bob"), seed=1)
    session.timeout(session.turn)
    assert session.outcome["reason"] == "fold"


def test_endless_talk_ends_in_a_pass():
    session = bargaining(messages=10, waits=3)
    for _ in range(3):
        assert session.act("ann", TALK).ok
        assert session.turn == "ann"
    assert session.act("ann", TALK).ok
    assert session.turn == "bob" and session.forced["ann"] == 1
    assert len(session.turn_state("bob").messages) == 4
    assert session.act("bob", Action("pass")).ok
    notes = [event.get("replaced") for event in session.events if event["kind"] == "turn"]
    assert notes[-2:] == ["it only talked", None]


@pytest.mark.parametrize("game", ["holdem", "bargaining", "auction", "kuhn", "leduc", "liars_dice"])
def test_endless_passes_end_the_match(game):
    made = envs.game(game, seats=2) if game in ("holdem", "auction") else envs.game(game)
    session = MatchSession(made, ("ann", "bob"), seed=1)
    for _ in range(20):
        if session.turn is None:
            break
        assert session.act(session.turn, Action("pass")).ok
    assert session.turn is None


def test_twenty_actions_are_the_limit_of_two():
    game = envs.game("bargaining", rounds=50)
    session = MatchSession(game, ("ann", "bob"), seed=1)
    while session.turn:
        session.act(session.turn, offer(90))
    assert session.actions == 20
    assert session.outcome["reason"] == "max_actions_exceeded"
    session = MatchSession(game, ("ann", "bob"), seed=1, limits=FREE)
    while session.turn:
        session.act(session.turn, offer(90))
    assert session.actions == 100
    assert session.outcome["reason"] == "max_rounds_exceeded"


def test_more_than_two_have_no_limit_of_actions():
    trio = MatchSession(envs.game("auction", seats=3, rounds=10), ("ann", "bob", "eve"), seed=1)
    while trio.turn:
        assert trio.act(trio.turn, Action("pass")).ok
    assert trio.actions == 30
    assert trio.outcome["reason"] == "max_rounds_exceeded"


def test_a_match_that_is_cut_short_pays_the_rounds_that_have_ended():
    game = envs.game("cournot", rounds=30)  # price 100 less what both produce; a unit costs 20
    session = MatchSession(game, ("ann", "bob"), seed=1, limits=MatchLimits(actions=7))
    while session.turn:
        assert session.act(session.turn, Action("submit_quantity", {"quantity": 30})).ok
    assert session.outcome["reason"] == "max_actions_exceeded"
    # (100 - 60 - 20) for each of 30 units, three times; the fourth round has not ended.
    assert session.outcome["payoffs"] == [{"agent_id": name, "utility": 1800} for name in ("ann", "bob")]


@pytest.mark.parametrize(
    "wrong", [{"actions": 0}, {"messages": 11}, {"waits": -1}, {"attempts": 0}, {"rejected": "shout"}]
)
def test_wrong_limits_are_told(wrong):
    with pytest.raises(ValueError, match=next(iter(wrong))):
        MatchLimits(**wrong)


def test_messages_are_counted_before_they_are_read():
    class Unread(dict):
        def items(self):
            raise AssertionError("it was read")

    session = bargaining()
    for answer in (
        {"action": offer(1), "messages": [Unread()] * 12_000},
        AgentResponse(Action("pass"), [Unread()] * 12_000),
    ):
        result = session.act("ann", answer)
        assert (result.error, session.turn) == ("game_rule_violation", "ann")
    assert session.rejections["ann"] == 2


def test_an_agent_may_send_as_many_messages_as_a_turn_has():
    session = bargaining()
    sent = [session.send("bob", TALK["messages"][0]).ok for _ in range(MESSAGES_PER_TURN + 1)]
    assert sent == [True] * MESSAGES_PER_TURN + [False]
    assert session.act("ann", offer(60)).ok
    assert session.send("bob", TALK["messages"][0]).ok  # in the next turn


def test_messages_of_answers_count_towards_the_limit_of_a_turn():
    session = bargaining(messages=2, waits=9, rejected="keep", attempts=9)
    assert session.act("ann", TALK).ok
    assert session.send("ann", TALK["messages"][0]).ok
    result = session.act("ann", TALK)
    assert (result.error, session.turn) == ("game_rule_violation", "ann")
    assert session.act("ann", offer(60)).ok  # without messages there is nothing to count


def test_a_match_that_is_over_is_nobodys_turn_in_any_view():
    session = bargaining(failed="end")
    session.failed("ann", "RuntimeError: boom")
    for agent in ("ann", "bob"):
        state = session.turn_state(agent)
        assert (state.is_my_turn, state.current_turn_agent_id, state.allowed_actions) == (False, None, [])


def test_only_the_acting_agent_can_give_up_and_that_ends_the_match():
    session = bargaining()
    for other in ("bob", "eve"):
        session.gave_up(other, "it is gone")
        assert session.turn == "ann" and session.failures == {"ann": 0, "bob": 0}
    session.gave_up("ann", "it is gone")
    assert session.turn is None and session.outcome["reason"] == "error"
    session.gave_up("ann", "again")
    assert session.failures == {"ann": 1, "bob": 0}


def test_who_acts_out_of_turn_is_told_whose_turn_it_is():
    assert bargaining().act("bob", offer(60)).error_detail == "bob cannot act: it is ann's turn"
