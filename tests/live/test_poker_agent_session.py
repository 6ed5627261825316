"""The poker agent's protocol without sockets: turns, rejections, the end of hands and tables."""

import json
import math

import numpy as np
import pytest
from live.poker_sessions import decisions, table
from live.settled import act
from parlour.envs import Action, AgentResponse
from parlour.wrappers.agents.policy import PolicyAgent
from parlour.wrappers.live.common.agent_turn import Turn
from parlour.wrappers.live.common.player import Note, Over
from parlour.wrappers.live.poker import messages
from parlour.wrappers.live.poker.agent_session import (
    HandEnded,
    PokerAgentSession,
    SeatTaken,
    TableEnded,
    UnreadableTurn,
)
from parlour.wrappers.policies.loading import make_policy

# Turns, tokens and rejections.


def test_an_answer_carries_token_and_seq():
    host, seat, session = table()
    [decision] = session.receive(host.state(seat))
    [action] = act(session, AgentResponse(Action("raiseTo", {"amount": 7})), decision)
    assert json.loads(messages.encode(action)) == {
        "type": "action",
        "action": {"turn_token": host.token, "kind": "raiseTo", "amount": 7},
        "expected_seq": host.seq,
    }
    assert act(session, Action("fold"), decision) == []  # a turn has one answer
    assert session.receive({"type": "ack", "turn_token": host.token, "seq": host.seq + 1}) == []
    assert session.actions == 1


def test_a_state_names_the_agent_that_is_to_act():
    host, seat, session = table()
    [decision] = session.receive(host.state(seat))
    assert decision.state.current_turn_agent_id == f"player_{seat}"
    host.play(1)  # call; now the other one decides
    session.receive(host.state(seat))
    assert session.turn_state().current_turn_agent_id == f"player_{1 - seat}"


def test_an_end_of_hand_that_the_next_hand_has_overtaken_takes_no_turn():
    host, seat, session = table()
    ending = []
    while not ending:
        session.receive(host.state(seat))
        ending = host.play()
    session.receive(ending[0])
    host.deal()
    if host.table.turn != seat:
        host.play(1)
    [decision] = decisions(session.receive(host.state(seat)))
    [event] = session.receive(ending[1])
    assert isinstance(event, HandEnded) and (event.hand, event.stack) == (1, None)
    assert session.turn == decision.id and session.hands_played == 1
    assert act(session, Action("fold"), decision) != []
    [note] = session.receive({"type": "hand_complete", "hand": 1, "results": [], "showdown": False})
    assert isinstance(note, Note) and session.hands_played == 1


def test_a_state_of_the_hand_before_that_comes_late_takes_no_turn():
    host, seat, session = table()
    before = []
    while not (before and before[-1][1]):
        state = host.state(seat)
        session.receive(state)
        before.append((state, host.play()))
    host.deal()
    if host.table.turn != seat:
        host.play(1)
    [decision] = decisions(session.receive(host.state(seat)))
    for state, _ in before:  # in some of them it was this seat's turn
        [note] = session.receive(state)
        assert isinstance(note, Note) and "old state" in note.text
    assert session.turn == decision.id
    assert act(session, Action("fold"), decision) != []
    session.receive({"type": "ack", "turn_token": host.token, "seq": host.seq + 1})
    assert decisions(session.receive(before[0][0]))  # without a turn to lose, the newest message is believed


@pytest.mark.parametrize(
    "response",
    [
        Action("raiseTo", {"amount": float("nan")}),
        Action("raiseTo", {"amount": True}),
        Action("raiseTo", {"amount": "seven"}),
        Action("raiseTo", {}),
        Action("check"),
        Action("call", {"amount": 2}),
        Action("submit_bid", {"bid": 1}),
        Action("message_only"),
        {"action_type": 5},
        {"action": {"action_type": "fold", "payload": []}},
        None,
        "fold",
        [1],
    ],
    ids=repr,
)
def test_nonsense_becomes_the_safe_action(response):
    host, seat, session = table()
    [decision] = session.receive(host.state(seat))
    assert isinstance(decision.settle(lambda: response)[1], str)
    [action] = act(session, response, decision)
    assert action.action.kind == "fold"  # the small blind faces a bet


@pytest.mark.parametrize(
    ("amount", "sent"),
    [
        (60.0, 60),
        ("60", 60),
        (np.float64(60), 60),
        (np.int64(60), 60),
        (6.5, 6),
        (3, 4),
        (-1, 4),
        (10**30, 100),
        (math.inf, 100),
    ],
    ids=repr,
)
def test_an_amount_is_whole_and_goes_to_the_nearest_bound(amount, sent):
    host, seat, session = table(stacks=100)
    [decision] = session.receive(host.state(seat))
    assert decision.settle(lambda: Action("raiseTo", {"amount": amount}))[1] is None
    [action] = act(session, Action("raiseTo", {"amount": amount}), decision)
    assert (action.action.kind, action.action.amount) == ("raiseTo", sent)
    assert type(action.action.amount) is int


def offered(host, seat, session, *actions, **changes):
    """What a turn with these actions shows to the agent: its decision."""
    [decision] = session.receive(host.state(seat, actions=list(actions), **changes))
    state = decision.state
    assert [action["kind"] for action in state.game_state["actions"]] == [
        action.action_type for action in state.allowed_actions
    ]
    return decision


def test_an_all_in_that_is_offered_as_a_raise_only_is_a_call():
    host, seat, session = table(stacks=100)
    host.play(host.game.num_actions - 1)  # all-in
    session.receive({"type": "welcome", "seat": 1 - seat})
    only = {"kind": "raiseTo", "min": 100, "max": 100}
    decision = offered(host, 1 - seat, session, {"kind": "fold"}, only, toCall=None)
    state = decision.state
    assert [action.action_type for action in state.allowed_actions] == ["fold", "call"]
    assert state.game_state["toCall"] == 98
    [action] = act(session, Action("call"), decision)
    assert (action.action.kind, action.action.amount) == ("raiseTo", 100)


def test_a_raise_without_a_call_is_offered_as_it_is():
    host, seat, session = table(stacks=100)
    decision = offered(host, seat, session, {"kind": "fold"}, {"kind": "raiseTo", "min": 100, "max": 100})
    assert [action.action_type for action in decision.state.allowed_actions] == ["fold", "raiseTo"]
    assert "not offered" in decision.settle(lambda: Action("check"))[1]
    game = host.game
    agent = PolicyAgent(game, make_policy("call", game, seed=0))
    assert decision.settle(lambda: agent.respond(decision.state))[1] is None


@pytest.mark.parametrize("kind", ["check", "call"])
def test_check_and_call_can_both_be_offered(kind):
    host, seat, session = table()
    decision = offered(host, seat, session, {"kind": "fold"}, {"kind": "check"}, {"kind": "call"})
    assert [action.action_type for action in decision.state.allowed_actions] == ["fold", "check", "call"]
    [action] = act(session, Action(kind), decision)
    assert action.action.kind == kind


def test_where_neither_check_nor_fold_is_offered_the_safe_action_is_what_is():
    host, seat, session = table()
    offered(host, seat, session, {"kind": "raiseTo", "min": 4, "max": 9})
    [action] = act(session, Action("pass"))
    assert (action.action.kind, action.action.amount) == ("raiseTo", 4)


def test_an_amount_without_end_becomes_the_safe_action():
    host, seat, session = table()
    [decision] = session.receive(host.state(seat))
    assert "number without end" in decision.settle(lambda: Action("call", {"amount": 10**5000}))[1]
    [action] = act(session, Action("call", {"amount": 10**5000}), decision)
    assert action.action.kind == "fold"


def test_a_state_that_comes_too_late_does_not_take_the_turn_away():
    host, seat, session = table()
    before = host.state(1 - seat, seq=host.seq - 1)
    [decision] = session.receive(host.state(seat))
    assert [type(event) for event in session.receive(before)] == [Note]
    assert session.turn == decision.id
    session.opened()  # another connection, another count
    assert session.receive(before) == []
    assert session.turn is None


def test_a_state_with_the_same_seq_is_not_late():
    """Two states of one moment may differ: the later one counts."""
    host, seat, session = table()
    [decision] = session.receive(host.state(seat))
    assert session.receive(host.state(1 - seat)) == []
    assert session.turn is None and act(session, Action("call"), decision) == []


def test_an_unreadable_turn_with_the_same_seq_is_not_late():
    host, seat, session = table()
    assert session.receive(host.state(1 - seat)) == []
    [event] = session.receive(host.state(seat, pot=-2))
    assert isinstance(event, UnreadableTurn) and act(session, None, event)[0].expected_seq == host.seq


def test_a_hand_ends_once():
    host, seat, session = table()
    session.receive(host.state(seat))
    _, ending = host.play(0)
    assert [type(event) for event in session.receive(ending)] == [HandEnded]
    assert [type(event) for event in session.receive(ending)] == [Note]
    assert session.hands_played == 1


def test_the_safe_action_checks_where_it_can():
    host, seat, session = table()
    host.play(1)
    session.receive({"type": "welcome", "seat": 1 - seat})
    session.receive(host.state(1 - seat))
    assert [action.action.kind for action in act(session, Action("pass"))] == ["check"]


def test_a_rejected_action_is_decided_again_and_then_played_safe():
    host, seat, session = table()
    [first] = session.receive(host.state(seat))
    act(session, Action("call"), first)
    error = {"type": "error", "code": "INVALID_ACTION", "message": "no"}
    note, again = session.receive(error)
    assert note.rejected and isinstance(again, Turn) and again.again
    act(session, Action("call"), again)
    note, send = session.receive(error)
    assert send.action.kind == "fold"
    assert [event.rejected for event in session.receive(error)] == [True]  # the server will act for us
    assert session.rejected == 3


def test_a_stale_answer_is_given_again_from_the_newest_state():
    host, seat, session = table()
    [first] = session.receive(host.state(seat))
    act(session, Action("call"), first)
    assert session.receive(host.state(seat, seq=host.seq + 4)) == []  # the same turn, a newer table
    _, again = session.receive({"type": "error", "code": "STALE_SEQ", "message": ""})
    [action] = act(session, Action("call"), again)
    assert action.expected_seq == host.seq + 4


def test_a_late_answer_is_not_sent():
    host, seat, session = table()
    [decision] = session.receive(host.state(seat))
    host.play(1)
    session.receive(host.state(seat))
    assert act(session, Action("call"), decision) == []
    assert session.turn is None
    stale = session.receive({"type": "error", "code": "STALE_SEQ", "message": ""})
    assert [type(event) for event in stale] == [Note]


def test_after_a_new_connection_an_answer_without_ack_goes_out_again():
    host, seat, session = table()
    [decision] = session.receive(host.state(seat))
    session.opened()
    assert session.receive(host.state(seat)) == []  # the agent still thinks
    [action] = act(session, Action("call"), decision)
    session.opened()
    session.receive({"type": "welcome", "seat": seat})
    assert session.receive(host.state(seat)) == [action]
    session.receive({"type": "ack", "turn_token": host.token, "seq": 9})
    session.opened()
    assert session.receive(host.state(seat)) == []


# The clock.


def test_pings_and_patience_begin_with_the_connection():
    host, seat, session = table()
    assert session.tick(1000.0) == []  # there is no connection yet
    session.opened()
    assert session.tick(1000.0) == session.tick(1009.0) == []
    session.receive(host.state(seat))
    assert [type(event) for event in (*session.tick(1019.0), *session.tick(1030.5))] == [messages.Ping]
    [over] = session.tick(1040.0)  # the turns of this table take 5 s
    assert (over.reason, over.again, over.problem) == ("no news of the table for 20 s", True, True)
    assert session.tick(2000.0) == []  # told once


def test_a_table_without_others_is_silent_without_a_warning():
    host, seat, session = table()
    session.opened()
    state = json.loads(host.state(seat))
    session.receive({**state, "phase": "ended", "players": state["players"][:1]})
    session.tick(0.0)
    [over] = session.tick(60.0)
    assert over.again and not over.problem


def test_who_leaves_plays_the_hand_to_its_end():
    host, seat, session = table()
    session.receive(host.state(seat))
    session.leave("until")
    assert session.tick(1.0) == []
    _, ending = host.play(0)
    assert session.receive(ending)[-1] == Over("until")


# What a server says.


def test_what_a_server_says_cannot_steer_the_log():
    steer = "\x1b[2J\nfake line\u202e"
    session = PokerAgentSession()
    said = [
        *session.receive({"type": "error", "code": steer, "message": steer}),
        *session.receive({"type": "error", "code": "TABLE_ENDED", "message": steer}),
        *session.receive({"type": steer}),
        *session.receive({"type": "game_state", "phase": steer}),
        *session.receive({"type": "table_status", "status": "ended", "reason": steer}),
    ]
    texts = [str(getattr(event, "error", None) or vars(event).get("text") or vars(event)["reason"]) for event in said]
    assert len(texts) == 6 and all(text.isprintable() for text in texts), texts
    assert texts[1] == "TABLE_ENDED: \\x1b[2J\\nfake line\\u202e"


@pytest.mark.parametrize("code", messages.FATAL_CODES)
def test_fatal_codes(code):
    [over] = PokerAgentSession().receive({"type": "error", "code": code, "message": "m"})
    assert str(over.error) == f"{code}: m"


@pytest.mark.parametrize("code", sorted(set(messages.ERROR_CODES) - set(messages.FATAL_CODES)))
def test_other_codes_without_an_answer_are_news(code):
    assert [type(event) for event in PokerAgentSession().receive({"type": "error", "code": code})] == [Note]


def test_any_order_of_first_messages():
    host, seat, session = table()
    session = PokerAgentSession()
    waiting = {"status": "waiting", "seat_id": seat, "min_players_to_start": 2, "current_players": 1}
    assert session.receive({"type": "table_status", "table_id": "t", "seq": 0, "ts": 0, "payload": waiting}) == []
    assert session.receive({"type": "street_dealt", "hand": 1, "street": "flop", "cards": ["As"]}) == []
    assert session.receive({"type": "pong", "table_id": "t", "payload": {"timestamp": 1}}) == []
    assert len(decisions(session.receive(host.state(seat)))) == 1
    assert session.receive({"type": "welcome", "seat": seat}) == [SeatTaken(seat, None)]
    assert session.receive({"type": "player_left", "seatId": 8}) == []


def test_the_end_of_a_table():
    session = PokerAgentSession()
    session.receive({"type": "welcome", "seat": 3})
    stacks = [{"seat_id": 3, "agent_id": "a", "stack": 77}]
    ended = {"type": "table_status", "status": "ended", "reason": "abandoned", "final_stacks": stacks}
    assert session.receive(ended) == [TableEnded("abandoned", 77), Over("abandoned")]
    assert session.receive({"type": "table_status", "status": "ended"}) == [TableEnded("ended", None), Over("ended")]


def test_what_was_won_is_counted_to_the_final_stack():
    host, seat, session = table()
    session.receive(host.state(seat))
    final = [{"seat_id": seat, "agent_id": "a", "stack": 140}]
    session.receive({"type": "table_status", "status": "ended", "reason": "done", "final_stacks": final})
    assert session.net == -60
    session.receive({"type": "table_status", "status": "ended"})
    assert session.net == -60  # a status without stacks changes nothing


def test_a_newcomer_is_no_part_of_the_hand_under_way():
    host, seat, session = table()
    session.receive(host.state(seat))
    players = json.loads(host.state(seat))["players"]
    newcomer = {"seat": 5, "name": "new", "stack": 100, "bet": 0, "folded": True}
    session.receive({"type": "player_joined", "seatId": 5, "agentName": "new", "stack": 100})
    session.receive(host.state(seat, seq=host.seq + 1, players=[*players, newcomer]))
    assert [player["seat"] for player in session.turn_state().game_state["players"]] == [0, 1]


# Hands.


def test_the_outcome_of_a_hand_is_told():
    host, seat, session = table()
    session.receive(host.state(seat))
    ending = host.play(0)
    events = [event for message in ending for event in session.receive(message)]
    [over] = [event for event in events if isinstance(event, HandEnded)]
    assert (over.hand, over.won, over.stack) == (1, 0, 199)
    assert session.net == -1


def test_a_hand_counts_what_it_won_and_not_what_was_won_before():
    host, seat, session = table()
    nets = []
    for _ in range(3):
        ended = []
        while not ended:
            session.receive(host.state(seat))
            ended = host.play(0 if host.table.turn == seat else 1)  # we fold, or the other one calls
        events = [event for message in ended for event in session.receive(message)]
        nets += [event.net for event in events if isinstance(event, HandEnded)]
        before = session.net
        host.deal()
    assert len(nets) == 3 and sum(nets) == before == session.net
    assert all(net < 0 for net in nets)


def test_players_on_later_seats_are_not_us():
    host, seat, session = table()
    assert seat == 0
    session.receive(host.state(seat))
    assert session.in_hand
    players = json.loads(host.state(seat))["players"]
    own = next(player for player in players if player["seat"] == seat)
    session.receive(host.state(seat, seq=host.seq + 1, players=[{**own, "folded": True}, players[1 - seat]]))
    assert not session.in_hand


def test_who_is_busted_is_told_so_once():
    host, seat, session = table()
    session.receive(host.state(seat))
    players = json.loads(host.state(seat))["players"]
    nothing = {"stack": 0, "bet": 0, "cards": None, "all_in": False, "folded": True}
    gone = [{**player, **nothing} if player["seat"] == seat else player for player in players]
    told = []
    for later in (1, 2):
        told += session.receive(host.state(seat, seq=host.seq + later, hand=2, players=gone, turn=1 - seat, actions=[]))
    assert [type(event).__name__ for event in told] == ["Busted"]
    assert session.busted
