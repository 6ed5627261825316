"""The poker agent's protocol without sockets: what it reads from the wire, turns, rejections, the end of hands."""

import json
import math
import random

import numpy as np
import pytest
from live.poker_room import Room
from live.settled import act
from live.small_host import Host
from parlour import envs
from parlour.envs import Action, AgentResponse
from parlour.envs.holdem.view import Offer
from parlour.envs.testing.trial import in_observations
from parlour.wrappers.live.common.player import Note, Over, Turn
from parlour.wrappers.live.poker import messages
from parlour.wrappers.live.poker.agent import (
    Busted,
    HandEnded,
    PokerAgentSession,
    SeatTaken,
    TableEnded,
    UnreadableTurn,
)
from parlour.wrappers.live.poker.messages import GameState, Option
from parlour.wrappers.live.poker.table_tracker import read_offers


def sessions(host, **known):
    """The sessions of all seats, which may know blinds and antes beforehand."""
    made = [PokerAgentSession() for _ in range(host.game.seats)]
    for seat, session in enumerate(made):
        vars(session._tracker).update(known)
        session.receive(host.wrap({"type": "welcome", "seat": seat, "agent_id": "a", "timeout": 30000}))
    return made


def decisions(events):
    return [event for event in events if isinstance(event, Turn)]


TABLES = [
    {"seats": 2},
    {"seats": 3, "stacks": [30, 200, 90], "ante": 1},
    {"seats": 6, "stacks": 60, "small_blind": 1, "big_blind": 2, "ante": 1},
    {"seats": 6, "pot_fractions": (0.5, 1), "raise_cap": 4},
    {"seats": 9, "stacks": [40, 0, 35, 7, 400, 1, 60, 80, 25]},
    {"seats": 10, "small_blind": 5, "big_blind": 10, "stacks": 1000, "ante": 3},
    {"seats": 4, "small_blind": 0, "big_blind": 3, "stacks": 40},
]

DIALECTS = [{}, {"envelope": True, "omit": True, "pot_of_finished_streets": True}, {"omit": True, "unpaid": True}]


def check_reading(host, agent, seat):
    """Law 1 through the wire, for one seat at one moment."""
    game, table, state = host.game, host.table, agent.turn_state()
    loaded, mine = game.view.load(state)
    assert mine == seat
    assert in_observations(game.versions, (loaded[0], mine), (table, seat)) is None
    np.testing.assert_array_equal(game.mask(loaded[0], mine), game.mask(table, seat))
    view = game.turn_state(table, seat)
    assert state.game_state == {**view.game_state, "hand": host.hand}
    assert state.allowed_actions == view.allowed_actions
    for name in ("agent_id", "phase", "is_my_turn", "current_turn_agent_id", "game_over", "outcome"):
        assert getattr(state, name) == getattr(view, name)


def table(seed=0, **options):
    """A heads-up host and the session of the seat that is to act."""
    host = Host(envs.game("holdem", seats=2, **options), seed)
    host.deal()
    seat = int(host.table.turn)
    session = PokerAgentSession()
    assert session.receive({"type": "welcome", "seat": seat, "timeout": 5000}) == [SeatTaken(seat, 5000)]
    return host, seat, session


# Turns, tokens and rejections.


def asked(**options):
    """The host, the seat and the session of a table, and the decision that its turn asks for."""
    host, seat, session = table(**options)
    [decision] = session.receive(host.state(seat))
    return host, seat, session, decision


def test_an_answer_carries_token_and_seq():
    host, _, session, decision = asked()
    [action] = act(session, AgentResponse(Action("raiseTo", {"amount": 7})), decision)
    raised = {"turn_token": host.token, "kind": "raiseTo", "amount": 7}
    assert json.loads(messages.encode(action)) == {"type": "action", "action": raised, "expected_seq": host.seq}
    assert act(session, Action("fold"), decision) == []  # a turn has one answer
    assert [one.action.turn_token for one in session.give_up(decision)] == [host.token]  # it could not be encoded
    acked = session.receive({"type": "ack", "turn_token": host.token, "seq": host.seq + 1})
    assert (acked, session.actions) == ([], 1)


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
        Action("raiseTo", {"amount": "seven"}),
        Action("check"),
        Action("submit_bid", {"bid": 1}),
        {"action_type": 5},
        None,
    ],
    ids=repr,
)
def test_nonsense_becomes_the_safe_action(response):
    *_, session, decision = asked()
    assert isinstance(decision.settle(lambda: response)[1], str)
    [action] = act(session, response, decision)
    assert action.action.kind == "fold"  # the small blind faces a bet


@pytest.mark.parametrize(
    ("amount", "sent"), [("60", 60), (np.float64(60), 60), (6.5, 6), (3, 4), (math.inf, 100)], ids=repr
)
def test_an_amount_is_whole_and_goes_to_the_nearest_bound(amount, sent):
    *_, session, decision = asked(stacks=100)
    assert decision.settle(lambda: Action("raiseTo", {"amount": amount}))[1] is None
    [action] = act(session, Action("raiseTo", {"amount": amount}), decision)
    assert (action.action.kind, action.action.amount) == ("raiseTo", sent)
    assert type(action.action.amount) is int


def test_an_all_in_that_is_offered_as_a_raise_only_is_a_call():
    host, seat, session = table(stacks=100)
    host.play(host.game.num_actions - 1)  # all-in
    session.receive({"type": "welcome", "seat": 1 - seat})
    offers = [{"kind": "fold"}, {"kind": "raiseTo", "min": 100, "max": 100}]
    [decision] = session.receive(host.state(1 - seat, actions=offers, toCall=None))
    state = decision.state
    assert [action.action_type for action in state.allowed_actions] == ["fold", "call"]
    assert [action["kind"] for action in state.game_state["actions"]] == ["fold", "call"]
    assert state.game_state["toCall"] == 98
    [action] = act(session, Action("call"), decision)
    assert (action.action.kind, action.action.amount) == ("raiseTo", 100)


def test_a_state_that_comes_too_late_does_not_take_the_turn_away():
    host, seat, session, decision = asked()
    before = host.state(1 - seat, seq=host.seq - 1)
    assert [type(event) for event in session.receive(before)] == [Note]
    assert session.turn == decision.id
    session.opened()  # another connection, another count
    assert session.receive(before) == []
    assert session.turn is None


def test_a_hand_ends_once():
    host, seat, session = table()
    session.receive(host.state(seat))
    ending = json.loads(host.play(0)[1]) | {"results": [{"seat": seat, "won": 3}]}
    [event] = session.receive(ending)
    assert isinstance(event, HandEnded) and event.won == 3  # as the platform says, not as the stack does
    assert [type(event) for event in session.receive(ending)] == [Note] and session.hands_played == 1


def test_a_rejected_action_is_decided_again_and_then_played_safe():
    *_, session, first = asked()
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
    host, seat, session, first = asked()
    act(session, Action("call"), first)
    assert session.receive(host.state(seat, seq=host.seq + 4)) == []  # the same turn, a newer table
    _, again = session.receive({"type": "error", "code": "STALE_SEQ", "message": ""})
    [action] = act(session, Action("call"), again)
    assert action.expected_seq == host.seq + 4


def test_after_a_new_connection_an_answer_without_ack_goes_out_again():
    host, seat, session, decision = asked()
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


@pytest.mark.parametrize("waits", [True, False])
def test_a_table_without_others_is_silent_without_a_word(waits):
    host, seat, session = table()
    session.opened()
    state = json.loads(host.state(seat))
    status = {"type": "table_status", "status": "waiting", "seat_id": seat, "current_players": 1}
    session.receive(status if waits else {**state, "phase": "ended", "players": state["players"][:1]})
    assert [type(event) for now in (0.0, 60.0, 120.0) for event in session.tick(now)] == [messages.Ping] * 2
    session.receive({"type": "player_joined", "seatId": 5, "stack": 100})
    session.tick(121.0)
    [over] = session.tick(200.0)
    assert over.again and over.problem is not waits


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


def test_a_newcomer_is_no_part_of_the_hand_under_way():
    host, seat, session = table()
    session.receive(host.state(seat))
    players = json.loads(host.state(seat))["players"]
    newcomer = {"seat": 5, "name": "new", "stack": 100, "bet": 0, "folded": True}
    session.receive({"type": "player_joined", "seatId": 5, "agentName": "new", "stack": 100})
    session.receive(host.state(seat, seq=host.seq + 1, players=[*players, newcomer]))
    assert [player["seat"] for player in session.turn_state().game_state["players"]] == [0, 1]


# Hands.


HIGH = 1_000_000


@pytest.mark.parametrize("ours", [True, False], ids=["in-our-turn", "in-anothers"])
def test_a_single_high_seq_does_not_hide_the_states_after_it(ours):
    host, seat, session = table()
    if ours:
        [decision] = session.receive(host.state(seat, seq=HIGH))
        [sent] = act(session, Action("call"), decision)
        session.receive({"type": "ack", "turn_token": sent.action.turn_token, "seq": host.seq + 1})
    host.play(1)
    if not ours:
        session.receive(host.state(seat, seq=HIGH))
    host.play(1)
    while host.table.turn != seat:
        session.receive(host.state(seat))
        host.play(1)
    [decision] = session.receive(host.state(seat))
    [sent] = act(session, Action("check"), decision)
    assert (sent.action.turn_token, sent.expected_seq) == (host.token, host.seq)


@pytest.mark.parametrize(("step", "late"), [(1, True), (2, True), (3, False), (4, False)])
def test_seq_jumps_where_it_grows_by_more_than_2(step, late):
    """An action that ends a street makes it grow by 2. After a jump a lower one may be the right one."""
    host, seat, session = table()
    for seq in (10, 11, 11 + step):
        session.receive(host.state(1 - seat, seq=seq))
    notes = session.receive(host.state(1 - seat, seq=10 + step))
    assert [isinstance(note, Note) for note in notes] == [True] * late
    assert session.seq == (11 if late else 10) + step


def test_a_turn_with_a_new_token_is_answered_whatever_its_seq():
    host, seat, session = table()
    host.seq += 100
    session.receive(host.state(1 - seat))
    assert session.turn is None
    [decision] = decisions(session.receive(host.state(seat, seq=3, turn_token="another")))
    assert decision.id == "another"


def test_states_that_share_a_seq_are_all_read():
    host, seat, session = table()
    host.seq = 4
    session.receive(host.state(seat, seq=4))
    host.play(1)
    session.receive(host.state(seat, seq=4))
    history = session.turn_state().game_state["history"]
    assert [(entry["seat"], entry["kind"]) for entry in history] == [(seat, "call")]
    session.receive(host.state(seat, seq=4))
    assert session.turn_state().game_state["history"] == history


def test_once_a_seq_is_called_stale_the_token_alone_names_the_turn():
    host, seat, session = table()
    [first] = session.receive(host.state(seat, seq=HIGH))
    [sent] = act(session, Action("call"), first)
    assert sent.expected_seq == HIGH
    _, again = session.receive({"type": "error", "code": "STALE_SEQ", "message": ""})
    [sent] = act(session, Action("call"), again)
    assert (sent.action.turn_token, sent.action.kind, sent.expected_seq) == (host.token, "call", None)


def test_who_has_no_chips_left_is_busted_once_and_counts_no_further_hand():
    host = Host(envs.game("holdem", seats=3, stacks=[2, 100, 100]), 5)
    session = PokerAgentSession(leave_busted=True)
    session.receive({"type": "welcome", "seat": 0})
    busted = dealt = 0
    while host.hand < 30 and not host.over and not (busted and host.hand > dealt + 3):
        dealt += int(host.table.stack[0] > 0)
        ending = host.deal()
        while not ending:
            told = session.receive(host.state(0))
            assert (Over("busted") in told) == busted  # in a hand without it: a host may give a new stack before
            busted += sum(isinstance(event, Busted) for event in told)
            ending = host.play()
        for message in ending:
            busted += sum(isinstance(event, Busted) for event in session.receive(message))
            assert Over("busted") not in session.receive(message)
    assert host.hand > dealt and (busted, session.hands_played) == (1, dealt)
    assert session.busted and not session.in_hand


MONEY = [
    {"type": "welcome", "seat": 1, "real_money": True},
    {"type": "welcome", "seat": 1, "deposit_status": "pending"},
    {"type": "table_status", "status": "waiting", "seat_id": 1, "real_money": True},
    {"type": "deposit_confirmed", "deposit_id": "d", "amount_usdc": 1.5, "tx_hash": "0x"},
    {"type": "payout_initiated", "payout_id": "p", "status": "pending"},
    {"type": "payout_initiated", "table_id": "t", "ts": 1, "payload": {"amount_usdc": "much"}},
]


@pytest.mark.parametrize("message", MONEY, ids=repr)
def test_signs_of_real_money_are_told(message):
    [over] = [event for event in PokerAgentSession().receive(message) if isinstance(event, Over)]
    assert over.error.code == "REAL_MONEY" and message["type"] in str(over.error)
    assert not any(isinstance(event, Over) for event in PokerAgentSession(real_money=True).receive(message))


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


@pytest.mark.parametrize(
    "changes",
    [{"turn_token": None}, {"turn_token": ""}, {"actions": None}, {"actions": []}, {"actions": [{}]}, {"turn": 7}],
    ids=repr,
)
def test_an_unreadable_state_in_which_it_is_not_our_turn_is_news(changes):
    host, seat, session = table()
    assert [type(event) for event in session.receive(host.state(seat, pot=-2, **changes))] == [Note]


def test_an_unreadable_state_does_not_disturb_a_decision_under_way():
    host, seat, session, decision = asked()
    assert session.receive(host.state(seat, pot=-2)) == []
    late = session.receive(host.state(seat, pot=-2, seq=host.seq - 1, turn_token="an older turn's"))
    assert [type(event) for event in late] == [Note]
    [action] = act(session, Action("call"), decision)
    session.opened()
    assert session.receive(host.state(seat, pot=-2)) == [action]


@pytest.mark.parametrize("dialect", DIALECTS, ids=["document", "platform", "unpaid"])
@pytest.mark.parametrize("options", TABLES, ids=lambda options: f"{options['seats']}-seats")
def test_every_seat_reads_from_the_wire_what_the_environment_observes(options, dialect):
    game = envs.game("holdem", **options)
    known = {key: options.get(key, default) for key, default in (("small_blind", 1), ("big_blind", 2), ("ante", 0))}
    for seed in range(6 if game.seats < 6 else 2):
        host = Host(game, seed + 6 * DIALECTS.index(dialect), **dialect)
        agents = sessions(host, **known)
        for other, stack in enumerate(host.table.stack.tolist()):
            for agent in agents:
                agent.receive(host.wrap({"type": "player_joined", "seatId": other, "stack": stack}))
        dealt = [0] * game.seats
        while not host.over and host.hand < (12 if game.seats < 6 else 8):
            dealt = [count + bool(stack) for count, stack in zip(dealt, host.table.stack.tolist(), strict=False)]
            ending = host.deal()
            while not ending:
                for seat, agent in enumerate(agents):
                    events = agent.receive(host.state(seat))
                    assert len(decisions(events)) == (seat == host.table.turn)
                    check_reading(host, agent, seat)
                ending = host.play()
            for message in ending:
                for agent in agents:
                    agent.receive(message)
        for seat, agent in enumerate(agents):
            assert agent.hands_played == dealt[seat]
            assert agent.net == host.table.stack[seat] - host.table.stacks[seat]


def test_behind_a_short_big_blind_the_first_call_tells_the_full_one():
    game = envs.game("holdem", seats=3, stacks=[100, 100, 3], small_blind=2, big_blind=10)
    host = Host(game)
    host.table.dealer = 2  # the next is 0, so seat 2 posts the big blind
    host.deal()
    assert host.table.turn == 0
    agent = PokerAgentSession()
    agent.receive({"type": "welcome", "seat": 0, "timeout": 1})
    agent.receive(host.state(0))
    check_reading(host, agent, 0)


@pytest.mark.parametrize("seed", range(4))
def test_joining_in_the_middle_of_a_hand_gives_a_playable_reading(seed):
    game = envs.game("holdem", seats=6, stacks=80)
    host = Host(game, seed, pot_of_finished_streets=seed % 2 == 0, omit=seed % 3 == 0)
    while not host.over and host.hand < 20:
        ending = host.deal()
        while not ending:
            seat = int(host.table.turn)
            agent = PokerAgentSession()
            welcome = {"type": "welcome", "seat": seat, "agent_id": "a", "timeout": 30000}
            first = [welcome, host.state(seat)] if host.rng.random() < 0.5 else [host.state(seat)]
            [decision] = decisions([event for message in first for event in agent.receive(message)])
            state = decision.state.game_state
            tables, mine = game.view.load(decision.state)
            np.testing.assert_array_equal(game.mask(tables[0], mine), game.mask(host.table, seat))
            true = game.view.game_state(host.table, seat).to_dict()
            same = ["seat", "phase", "board", "dealer", "turn", "actions", "toCall", "smallBlind", "bigBlind"]
            assert {name: state[name] for name in same} == {name: true[name] for name in same}
            for player, other in zip(state["players"], true["players"], strict=True):
                assert player["committed"] >= player["bet"]
                assert player["stack"] == other["stack"]
            assert state["last"] is None or state["last"]["seat"] == true["last"]["seat"]
            if true["phase"] == "preflop" and len(true["history"]) <= true["turn"] - true["dealer"] - 3:
                assert state["history"] == true["history"]  # nobody acted twice: nothing is lost
            ending = host.play()


@pytest.mark.parametrize("seed", range(4))
def test_missed_messages_cost_no_chips_and_little_history(seed):
    """A seat that loses states in mid-hand: chips stay exact; checks and raises are the likeliest that lead there."""
    game = envs.game("holdem", seats=4, stacks=200)
    host, loss = Host(game, seed), random.Random(seed)
    agent = PokerAgentSession()
    agent.receive({"type": "welcome", "seat": 0, "timeout": 1})
    exact = total = 0
    while not host.over and host.hand < 25:
        ending = host.deal()
        first = True
        while not ending:
            mine = host.table.turn == 0
            if first or mine or loss.random() < 0.6:
                agent.receive(host.state(0))
                first = False
            if mine:
                state, true = agent.turn_state().game_state, game.view.game_state(host.table, 0).to_dict()
                assert state["players"] == true["players"]
                assert (state["pot"], state["last"]) == (true["pot"], true["last"])
                total += 1
                exact += state["history"] == true["history"]
            ending = host.play()
        for message in ending:
            agent.receive(message)
    assert exact > 0.8 * total
    assert agent.net == host.table.stack[0] - 200


def actions_by_hand(seed):
    """Play a table to its end with short stacks and random actions; return the number of actions of each hand."""
    generator = np.random.default_rng(seed)
    players, stack = int(generator.integers(2, 4)), int(generator.integers(3, 9))
    room = Room(players, seats=players, stack=stack, seed=seed)
    agents = [PokerAgentSession() for _ in range(players)]
    read, before, actions = [0] * players, [stack] * players, []
    ended = [[] for _ in range(players)]
    while True:
        for seat, agent in enumerate(agents):
            for message in room.inbox[seat][read[seat] :]:
                ended[seat] += [one for one in agent.receive(message) if isinstance(one, HandEnded)]
            read[seat] = len(room.inbox[seat])
        due = room.table.due
        if due is None or len(actions) == 200:
            return actions
        if due.what == "act":
            kinds = {one["kind"]: one for one in room.state(room.turn)["actions"]}
            kind = str(generator.choice(sorted(kinds)))
            bounds = [kinds[kind].get(name) for name in ("min", "max")]
            room.act(kind, None if None in bounds else int(generator.integers(bounds[0], bounds[1] + 1)))
            continue
        actions.append(len(room.table.hand_log["actions"]))
        now = [room.table.stack(seat) for seat in range(players)]
        for seat in range(players):
            if before[seat]:
                last = ended[seat][-1]
                assert (last.hand, last.stack, last.net) == (room.table.hand, now[seat], now[seat] - before[seat])
        before = now
        room.deal()


def test_the_net_of_each_hand_is_the_change_of_the_stack():
    actions = [count for seed in range(60) for count in actions_by_hand(seed)]
    assert actions.count(0) > 10 and len(actions) > 300


def state(*options, to_call=0, bets=(1, 2)):
    players = [messages.Player(seat=seat, stack=100, bet=bet, folded=False) for seat, bet in enumerate(bets)]
    known = {"players": players, "actions": list(options), "to_call": to_call}
    return GameState(seq=1, hand=1, phase="preflop", board=[], pot=sum(bets), **known)


@pytest.mark.parametrize(
    ("bounds", "read"),
    [
        ((4, 9), (4, 9)),
        ((9, 9), (9, 9)),
        ((12, 9), (9, 9)),  # an all-in below the least raise
        ((None, 9), (9, 9)),
        ((0, 9), (9, 9)),
    ],
)
def test_the_least_raise_is_never_above_the_largest(bounds, read):
    option = Option(kind="raiseTo", min=bounds[0], max=bounds[1])
    assert read_offers(state(option), 0)[0] == [Offer("raiseTo", *read)]


@pytest.mark.parametrize(
    ("call", "more", "seat", "price"),
    [
        (Option(kind="call", max=7), {"to_call": 5}, 0, 5),
        (Option(kind="call", max=7), {}, 0, 7),
        (Option(kind="call"), {"bets": (1, 6)}, 0, 5),
        (Option(kind="call"), {"bets": (1, 6)}, None, 6),
        (Option(kind="call"), {"bets": (6, 6)}, 0, 1),
        (Option(kind="call"), {"bets": ()}, 0, 1),
        (Option(kind="call"), {"to_call": 0, "bets": (2, 6)}, 0, 4),
        (Option(kind="check"), {"to_call": 5}, 0, 0),
        (Option(kind="fold"), {"bets": ()}, 0, 0),
    ],
)
def test_the_price_is_the_platforms_else_what_is_owed_by_the_bets(call, more, seat, price):
    assert read_offers(state(call, **more), seat)[1] == price
