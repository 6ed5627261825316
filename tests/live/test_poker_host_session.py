"""The host's end of the poker protocol without a socket: what seats are shown, actions, the clock, seats, ends."""

import json
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from live.poker_room import Room, error_code, hands_of, kinds, pass_turn, room_card, whole
from live.table_people import holdem
from parlour.envs.holdem import rules as holdem_rules
from parlour.wrappers.live.poker import messages as m
from parlour.wrappers.live.poker.host import OBSERVERS, SITS_OUT_AFTER, PokerDue, PokerHostSession, Refusal
from parlour.wrappers.live.table.poker import PokerTable

# What a seat is shown.


def test_game_state_has_exactly_the_documented_fields():
    room = Room(3)
    base = {"type", "seq", "hand", "phase", "board", "pot", "players", "dealer", "turn", "toCall"}
    for seat in range(3):
        own = {"actions", "turn_token"} if seat == room.turn else set()
        assert set(room.state(seat)) == base | own
    room.act("call")
    assert room.state(0)["last"] == {"seat": 0, "kind": "call", "amount": 2}


def test_the_actor_is_shown_its_choices_in_order():
    room = Room(3)
    state = room.state(0)
    assert state["actions"] == [{"kind": "fold"}, {"kind": "call"}, {"kind": "raiseTo", "min": 4, "max": 100}]
    assert state["toCall"] == 2 and state["turn"] == 0 and state["turn_token"] == "token-0"
    room.act("call")
    room.act("call")
    assert [action["kind"] for action in room.state(2)["actions"]] == ["fold", "check", "raiseTo"]
    assert room.state(2)["toCall"] == 0


def test_nothing_hidden_is_anywhere_in_the_text():
    """Every byte sent before the showdown, searched for every hidden card."""
    room = Room(4)
    table = room.table.table
    while room.table.due.what == "act":
        open_cards = set(table.board[: table.board_count].tolist())
        for seat in range(4):
            known = open_cards | set(table.cards[seat].tolist())
            text = json.dumps([message for message in room.inbox[seat] if message["type"] == "game_state"])
            seen = {card for card in range(52) if f'"{room_card(card)}"' in text}
            assert seen <= known
        room.act("call" if table.to_call else "check")


def test_ack_then_state_to_all_then_hand_complete():
    room = Room(3)
    assert kinds(room.act("fold")) == [(0, "ack"), (0, "game_state"), (1, "game_state"), (2, "game_state")]
    sends = room.act("fold")
    assert kinds(sends) == [
        (1, "ack"),
        *[(seat, "game_state") for seat in range(3)],
        *[(seat, "hand_complete") for seat in range(3)],
    ]
    assert sends[0][1] == {"type": "ack", "turn_token": "token-1", "seq": room.table.seq}
    assert room.state(0)["seq"] == room.table.seq


def test_a_retry_is_acknowledged_again_with_the_stored_seq_before_any_other_check():
    room = Room(3)
    token, seq = room.token, room.table.seq
    first = room.act("call")[0]
    for _ in range(2):
        assert room.act("call", seat=0, turn_token=token, expected_seq=seq) == [first]
    room.act("call")
    assert room.act("raiseTo", 50, seat=0, turn_token=token, expected_seq=999) == [first]
    room.check_down()
    assert room.act("fold", seat=0, turn_token=token, expected_seq=seq) == [
        first
    ]  # the hand is over, not the next dealt
    room.deal()
    assert error_code(room.act("call", seat=0, turn_token=token, expected_seq=seq)) == m.STALE_SEQ
    assert error_code(room.act("call", turn_token=token)) == m.INVALID_ACTION


def test_tokens_are_unguessable_by_default_and_never_repeat():
    table = PokerHostSession()
    for name in "ab":
        table.connect(table.join(name)[0])
    seen = set()
    for _ in range(50):
        due = table.due
        if due.what == "hand":
            table.next_hand()
        else:
            assert due.token not in seen and len(due.token) == 36
            seen.add(due.token)
            pass_turn(table)


# Bad actions.


@pytest.mark.parametrize(
    ("seat", "kind", "changes", "code"),
    [
        (0, "raiseTo", {"amount": 3}, m.INVALID_ACTION),
        (0, "raiseTo", {"amount": 10**40}, m.VALIDATION_ERROR),
        (0, "raiseTo", {"amount": 5.5}, m.VALIDATION_ERROR),
        (0, "raiseTo", {"amount": True}, m.VALIDATION_ERROR),
        (0, "raiseTo", {}, m.VALIDATION_ERROR),
        (0, "check", {}, m.INVALID_ACTION),
        (0, "call", {"turn_token": "another"}, m.INVALID_ACTION),
        (1, "call", {}, m.NOT_YOUR_TURN),
        (1, "call", {"expected_seq": 0}, m.STALE_SEQ),
        (5, "call", {}, m.NOT_SEATED),
    ],
    ids=str,
)
def test_a_bad_action_gets_its_code_and_changes_nothing(seat, kind, changes, code):
    room = Room(3)
    before, due = room.table.table.tobytes(), room.table.due
    assert error_code(room.act(kind, seat=seat, **changes)) == code
    assert room.table.table.tobytes() == before
    assert room.table.due == due  # same token, and the same clock goes on
    assert room.act("raiseTo", 4)[0][1]["type"] == "ack"


def test_seq_grows_by_1_with_an_action_and_by_1_more_where_a_street_or_the_hand_ends():
    room, seqs = Room(2), [1]
    for kind in ("call", "check", "check", "fold"):
        room.act(kind)
        seqs.append(room.table.seq)
    assert seqs == [1, 2, 4, 5, 7]


BAD_TEXTS = {
    "empty": "",
    "not JSON": "hello {",
    "no type": "{}",
    "a server's message": '{"type": "ack", "turn_token": "x", "seq": 1}',
    "an action without action": '{"type": "action"}',
    "an unknown kind": '{"type": "action", "action": {"turn_token": "x", "kind": "allIn"}}',
    "a seq that is no number": '{"type": "action", "action": {"turn_token": "x", "kind": "call"}, "expected_seq": "1"}',
    "deep": "[" * 100_000,
    "half a surrogate": '"\ud800"',
    "nothing at all": None,
}


@pytest.mark.parametrize("case", BAD_TEXTS)
def test_what_cannot_be_read_gets_a_validation_error(case):
    room = Room(2)
    before, due = room.table.table.tobytes(), room.table.due
    for seat in (0, 1):
        sends = room.take(room.table.receive(seat, BAD_TEXTS[case]))
        assert error_code(sends) == m.VALIDATION_ERROR
        assert sends[0][0] == seat and len(sends[0][1]["message"]) < 400
    assert room.table.table.tobytes() == before and room.table.due == due


def test_ping_is_answered_with_its_payload():
    room = Room(2)
    payload = {"timestamp": 1706835000000}
    assert room.send(1, type="ping", payload=payload) == [(1, {"type": "pong", "payload": payload})]
    assert room.send(1, type="ping") == [(1, {"type": "pong"})]


# The clock.


def test_a_late_seat_folds_where_it_must_pay_and_checks_where_it_is_free():
    room = Room(2)
    room.take(room.table.timeout(0, room.token))
    assert room.state(1)["last"] == {"seat": 0, "kind": "fold"}
    room.deal()
    room.act("call")
    sends = room.take(room.table.timeout(room.turn, room.token))
    assert "ack" not in {kind for _, kind in kinds(sends)}
    assert room.state(1)["last"]["kind"] == "check" and room.state(1)["phase"] == "flop"


def test_a_clock_that_rings_too_late_does_nothing():
    room = Room(2)
    token = room.token
    room.act("call")
    before = room.table.table.tobytes()
    assert room.table.timeout(0, token) == [] and room.table.timeout(1, token) == []
    assert room.table.timeout(0, room.token) == []
    assert room.table.table.tobytes() == before


# Joining and starting.


def test_a_waiting_table_tells_how_many_players_it_waits_for():
    room = Room(min_players=3)
    room.join("a")
    ((seat, status),) = room.connect(0)
    assert seat == 0
    assert status == {
        "type": "table_status",
        "status": "waiting",
        "seat_id": 0,
        "agent_id": "a",
        "min_players_to_start": 3,
        "current_players": 1,
    }


def test_the_table_starts_when_enough_players_are_connected_with_welcome_and_state_for_all():
    room = Room()
    room.join("a")
    room.join("b")
    room.connect(0)
    assert room.table.status == "waiting" and room.table.seq == 0
    sends = room.connect(1)
    assert kinds(sends) == [(0, "welcome"), (1, "welcome"), (0, "game_state"), (1, "game_state")]
    assert sends[0][1] == {"type": "welcome", "seat": 0, "agent_id": "a", "timeout": 30000}
    assert room.table.seq == 1 and room.table.hand == 1


def test_others_hear_of_a_new_player_with_the_document_names():
    room = Room(2)
    seat, sends = room.table.join("late", "Late")
    assert [(s, json.loads(m.encode(message))) for s, message in sends] == [
        (other, {"type": "player_joined", "seatId": 2, "agentName": "Late", "stack": 100, "agentId": "late"})
        for other in (0, 1)
    ]
    assert seat == 2


@pytest.mark.parametrize("preferred, got", [(None, 0), (4, 4), (99, 0), (-1, 0)])
def test_a_preferred_seat_is_given_where_it_is_free(preferred, got):
    assert Room().join("a", preferred) == got


# Connections.


def test_a_reconnecting_seat_gets_welcome_and_the_current_state_with_its_turn():
    room = Room(3)
    room.table.disconnect(0)
    token = room.token
    sends = room.connect(0)
    assert kinds(sends) == [(0, "welcome"), (0, "game_state")]
    assert sends[1][1]["turn_token"] == token and sends[1][1]["seq"] == room.table.seq
    assert room.act("call")[0][1]["type"] == "ack"


def test_a_disconnected_seat_is_sent_nothing_and_the_clock_acts_for_it():
    room = Room(3)
    room.table.disconnect(0)
    assert {seat for seat, _ in room.take(room.table.timeout(0, room.token))} == {1, 2}
    assert 0 in room.table.seats
    assert not room.table.deserted
    room.table.disconnect(1)
    room.table.disconnect(2)
    assert room.table.deserted
    room.connect(1)
    assert not room.table.deserted


# Coming late, leaving, going bust.


def test_a_late_player_sees_the_hand_listed_as_folded_and_is_dealt_in_next():
    room = Room(2)
    assert room.join("late") == 2
    state = room.connect(2)[1][1]
    assert state["players"][2] == {"seat": 2, "name": "late", "stack": 100, "bet": 0, "folded": True}
    assert state["turn"] == 0 and "actions" not in state
    room.check_down()
    assert [row["seat"] for row in room.last(2, "hand_complete")["results"]] == [0, 1]
    room.deal()
    own = room.state(2)["players"][2]
    assert len(own["cards"]) == 2 and "folded" not in own


def test_a_seat_that_leaves_out_of_turn_is_folded_when_its_turn_comes():
    room = Room(3)
    assert kinds(room.take(room.table.leave(1))) == [(0, "player_left"), (2, "player_left")]
    assert room.last(0, "player_left") == {"type": "player_left", "seatId": 1, "agentId": "agent-1"}
    sends = room.act("call")
    assert kinds(sends) == [(0, "ack"), *[(0, "game_state"), (2, "game_state")] * 2]
    assert room.state(0)["last"] == {"seat": 1, "kind": "fold"} and room.turn == 2
    assert 1 in room.table.seats
    room.check_down()
    assert 1 not in room.table.seats
    room.deal()
    assert [player["seat"] for player in room.state(0)["players"]] == [0, 2]


def test_a_seat_that_leaves_in_its_turn_folds_at_once_and_the_hand_may_end():
    room = Room(2)
    sends = room.take(room.table.leave(0))
    assert kinds(sends) == [(1, "player_left"), (1, "game_state"), (1, "hand_complete")]
    assert room.last(1, "hand_complete")["results"][1] == {
        "seat": 1,
        "cards": room.state(1)["players"][1]["cards"],
        "won": 2,
    }
    assert room.deal()[0][1] == {
        "type": "table_status",
        "status": "ended",
        "reason": "insufficient_players",
        "final_stacks": [{"seat_id": 1, "agent_id": "agent-1", "stack": 101}],
    }


def test_a_leaving_seat_is_nobodys():
    room = Room(3)
    room.take(room.table.leave(1))
    for refused in (lambda: room.table.leave(1), lambda: room.table.leave(4)):
        with pytest.raises(Refusal) as refusal:
            refused()
        assert refusal.value.code == m.NOT_SEATED
    assert error_code(room.connect(1)) == m.NOT_SEATED
    assert error_code(room.send(1, type="ping")) == m.NOT_SEATED
    with pytest.raises(Refusal) as refusal:
        room.join("agent-1")
    assert refusal.value.code == m.ALREADY_SEATED


def test_of_those_who_left_only_so_many_are_remembered(monkeypatch):
    monkeypatch.setattr("parlour.wrappers.live.poker.host.MOST_LEFT", 3)
    room = Room()
    for i in range(10):
        room.take(room.table.leave(room.join(f"agent-{i}")))
    assert list(room.table._left) == ["agent-7", "agent-8", "agent-9"]


def test_no_rebuy_by_leaving_and_coming_back():
    room = Room(3, seed=1, raise_cap=None)
    room.act("raiseTo", 100)
    room.act("call")
    room.act("fold")
    stacks = room.table.table.stack
    lost = 0 if stacks[0] == 0 else 1
    assert stacks[lost] == 0
    room.take(room.table.leave(lost))
    with pytest.raises(Refusal) as refusal:
        room.join(f"agent-{lost}")
    assert refusal.value.code == m.INVALID_TABLE_STATE


def test_with_rebuy_a_busted_player_is_dealt_in_again_with_a_new_stack():
    room = Room(2, seed=1, raise_cap=None, rebuy=True)
    room.act("raiseTo", 100)
    room.act("call")
    busted = int(np.flatnonzero(room.table.table.stack[:2] == 0)[0])
    assert room.table.stack(busted) == 0  # until the next hand
    room.take(room.table.next_hand())
    assert room.table.status == "running" and room.table.hand == 2
    assert len(room.state(busted)["players"][busted]["cards"]) == 2
    assert sum(room.table.stack(seat) + room.state(0)["players"][seat]["bet"] for seat in (0, 1)) == 300
    room.act("fold")
    assert {room.table.stack(0), room.table.stack(1)} <= {99, 101, 199, 201, 98, 102, 198, 202}


# Sitting out.


def played_by(table, hands):
    """Let everybody fold for so many hands; return who was dealt in each one, and its dealer and big blind."""
    hands_played = []
    for _ in range(hands):
        seated = np.flatnonzero(table.table.seated).tolist()
        big = max(seated, key=lambda seat: table.table.bet[seat])
        hands_played.append((seated, int(table.table.dealer), big))
        while table.due is not None and table.due.what == "act":
            pass_turn(table)
        table.next_hand()
    return hands_played


@pytest.mark.parametrize("count", [3, 4, 6])
def test_who_sits_out_for_a_hand_is_back_with_the_big_blind_and_no_sooner(count):
    for out in range(count):
        for before in range(count):
            table = Room(count, seats=count).table
            played_by(table, before)
            table.sit_out(out, True)
            played_by(table, 1)
            missed = played_by(table, 1)[0]
            table.sit_out(out, False)
            after = played_by(table, count + 2)
            assert out not in missed[0]
            back = next(number for number, (seated, *_) in enumerate(after) if out in seated)
            assert after[back][2] == out, (out, before, after)
            assert all(len(seated) == count for seated, *_ in after[back:])
            big_blinds = [big for *_, big in [missed, *after]]
            assert all(one != other for one, other in pairwise(big_blinds))


def test_nobody_waits_where_fewer_than_two_others_play():
    table = Room(4, seats=4).table
    for seat in (0, 1):
        table.sit_out(seat, True)
    played_by(table, 2)
    table.sit_out(2, True)
    played_by(table, 1)
    assert table.due is None  # one seat alone is left
    for seat in (0, 1):
        table.sit_out(seat, False)
    table.next_hand()
    assert played_by(table, 1)[0][0] == [0, 1, 3]


def test_a_seat_that_is_connected_and_silent_sits_out_until_it_says_something():
    room, late = Room(3, stack=1000), 0

    def play_hand():
        nonlocal late
        while room.table.due.what == "act":
            if room.turn == 2:
                late += 1
                room.connect(2)  # neither to come back nor what is refused is an answer
                room.send(2, type="action", action={"turn_token": room.token, "kind": "raiseTo", "amount": 1})
                room.take(room.table.timeout(2, room.token))
            else:
                room.act("call" if room.table.table.to_call else "check")
        room.deal()

    for _ in range(2):
        play_hand()
    before = late
    assert before >= 2
    for _ in range(6):
        room.send(2, type="ping")  # a program may ping for ever
        play_hand()
    assert late == before
    room.send(2, type="action", action={"turn_token": "an old one", "kind": "fold"}, expected_seq=room.table.seq)
    for _ in range(6):
        play_hand()
    assert late == before + 1 and room.table.seats[2].idle >= 6


def test_a_seat_that_stays_silent_is_to_leave_and_one_that_answers_is_not():
    room = Room(3, stack=1000)
    room.check_down()
    for seat in (1, 2):
        room.table.seats[seat].missed = SITS_OUT_AFTER
    room.table.seats[1].out = True  # it has said so
    room.connect(1)
    room.join("fourth")
    room.connect(3)
    for hand in range(3 * 6):
        assert room.table.silent == []
        if hand == 10:
            room.table.disconnect(2)
            room.connect(2)  # to come back is no answer
            room.table.seats[2].missed = SITS_OUT_AFTER
        room.deal()
        room.check_down()
    assert room.table.silent == [2]


def test_an_address_has_a_third_of_the_seats_or_what_the_operator_says():
    for options, most in (({}, 2), ({"seats_per_address": 4}, 4), ({"seats": 2}, 1)):
        table = Room(**options).table
        for number in range(most):
            table.join(f"one-{number}", address="one")
        with pytest.raises(Refusal, match=f"at most {most} of"):
            table.join("one-more", address="one")
        table.join("another", address="two")
    table = Room().table
    for number in range(6):
        table.join(f"here-{number}")  # on this machine
    browser, page = PokerTable(holdem(seats=6), [None] * 6).session, type("Page", (), {"address": "one"})
    for number, client in enumerate((page(), page(), page())):
        browser.connect(client)
        told = browser.receive(client, f'{{"type": "sit", "name": "P{number}"}}')
    assert told[0].message.message == "one address has at most 2 of 6 seats here"
    assert [seat.name for seat in browser.seats[:3]] == ["P0", "P1", None]


# The end of hands and tables.


def test_hand_complete_shows_the_hands_that_were_not_folded():
    room = Room(3)
    room.act("fold")
    room.check_down()
    shown = {
        seat: [row["seat"] for row in room.last(seat, "hand_complete")["results"] if "cards" in row]
        for seat in range(3)
    }
    assert shown == {0: [0, 1, 2], 1: [1, 2], 2: [1, 2]}
    ranks = [row.get("rank") for row in room.last(1, "hand_complete")["results"]]
    assert ranks[0] is None and all(ranks[1:])
    assert room.last(1, "hand_complete")["showdown"] is True


def test_an_all_in_runs_the_board_out_in_one_state():
    room = Room(2, raise_cap=None)
    seq = room.table.seq
    room.act("raiseTo", 100)
    sends = room.act("call")
    assert kinds(sends) == [(1, "ack"), *[(s, "game_state") for s in (0, 1)], *[(s, "hand_complete") for s in (0, 1)]]
    state = room.state(0)
    assert state["phase"] == "ended" and len(state["board"]) == 5 and state["turn"] is None and state["pot"] == 0
    assert state["seq"] == seq + 3


def test_blinds_that_put_everybody_all_in_end_the_hand_at_once():
    room = Room(2)
    room.act("fold")
    room.table.table.stack[:2] = 1
    seq = room.table.seq
    sends = room.deal()
    assert kinds(sends) == [*[(s, "game_state") for s in (0, 1)], *[(s, "hand_complete") for s in (0, 1)]]
    assert room.table.due == PokerDue("hand", -1, "2") and room.table.seq == seq + 2
    assert room.last(0, "hand_complete")["showdown"] is True
    assert room.chips == 2


def test_the_table_ends_when_one_player_has_all_chips():
    room = Room(2, raise_cap=None, seed=3)
    while room.table.status == "running":
        if room.table.due.what == "hand":
            room.deal()
        elif room.table.table.raise_max:
            room.act("raiseTo", int(room.table.table.raise_max))
        else:
            room.act("call")
    for seat in (0, 1):
        ended = room.inbox[seat][-1]
        assert ended["status"] == "ended" and ended["reason"] == "insufficient_players"
        assert sorted(row["stack"] for row in ended["final_stacks"]) == [0, 200]
    assert error_code(room.send(0, type="action", action={"turn_token": "x", "kind": "call"})) == m.TABLE_ENDED
    assert room.connect(0)[0][1] == ended


def test_a_table_that_is_ended_during_a_hand_gives_the_chips_back():
    room = Room(3)
    room.act("raiseTo", 40)
    sends = room.take(room.table.end("abandoned"))
    assert kinds(sends) == [(seat, "table_status") for seat in range(3)]
    assert [row["stack"] for row in sends[0][1]["final_stacks"]] == [100, 100, 100]
    assert room.table.end("abandoned") == [] and room.deal() == []


def test_what_an_agent_says_of_its_action_is_logged_and_shown_to_no_player():
    room = Room(2)
    action = {"turn_token": room.token, "kind": "call", "reasoning": "x" * 2001}
    assert error_code(room.send(room.turn, type="action", action=action)) == "VALIDATION_ERROR"
    room.send(room.turn, type="action", action={**action, "reasoning": "cheap enough"})
    room.check_down()
    assert room.table.hand_log["actions"][0]["reasoning"] == "cheap enough"
    assert "cheap enough" not in json.dumps(room.inbox)


def test_the_hand_log_tells_the_whole_hand():
    room = Room(3, hands=1)
    room.act("raiseTo", 6)
    room.take(room.table.timeout(1, room.token))
    room.act("call")
    room.check_down()
    log = room.table.hand_log
    assert log["actions"][:3] == [
        {"street": "preflop", "seat": 0, "kind": "raiseTo", "amount": 6},
        {"street": "preflop", "seat": 1, "kind": "fold", "cause": "timeout"},
        {"street": "preflop", "seat": 2, "kind": "call", "amount": 4},
    ]
    assert [player["stack"] for player in log["players"]] == [100, 100, 100]
    assert sum(row["stack"] for row in log["results"]) == 300 and len(log["board"]) == 5
    json.dumps(log)
    room.deal()
    assert room.table.status == "ended" and room.table.reason == "admin_stopped"


# Chance.


def test_a_seed_makes_the_cards_and_no_seed_makes_none_alike():
    assert (
        hands_of(PokerHostSession(seed=5)) == hands_of(PokerHostSession(seed=5)) != hands_of(PokerHostSession(seed=6))
    )
    assert hands_of(PokerHostSession()) != hands_of(PokerHostSession())


def test_without_a_seed_no_hand_follows_from_the_one_before():
    table = PokerHostSession()
    for name in "ab":
        table.connect(table.join(name)[0])
    copy = table.table.copy()
    while table.due.what == "act":
        holdem_rules.step(copy, holdem_rules.Move(0, 0) if copy.to_call else holdem_rules.Move(2, 0))
        pass_turn(table)
    copy.dealer = holdem_rules.next_dealer(copy)
    holdem_rules.deal(copy)
    table.next_hand()
    assert table.table.deck.tolist() != copy.deck.tolist()


# Anything at any time.


inputs = st.one_of(
    st.tuples(st.just("honest"), st.sampled_from(["fold", "call", "call", "raise", "raise"]), st.integers(0, 200)),
    st.tuples(st.sampled_from(["leave", "connect", "disconnect", "timeout", "replay"]), st.integers(-1, 6), st.none()),
    st.tuples(st.sampled_from(["join", "next_hand"]), st.integers(0, 8), st.none()),
)


def apply(room, step, used):
    """Make one of `inputs` happen; returns what was sent, and whether nothing may have changed."""
    table = room.table
    what, seat, value = step
    if what == "honest":
        if table.due is None or table.due.what != "act":
            return []
        used.append((room.turn, table.token))
        record = table.table
        if seat == "raise" and record.raise_max:
            return room.act("raiseTo", min(int(record.raise_max), int(record.raise_min) + value))
        return room.act(seat if seat == "fold" else "call" if record.to_call else "check")
    if what == "replay":
        return room.act("fold", seat=used[-1][0], turn_token=used[-1][1]) if used else []
    if what == "timeout":
        return room.take(table.timeout(seat, table.token))
    if what == "next_hand":
        return room.take(table.next_hand())
    try:
        if what == "join":
            room.join(f"agent-{seat}")
        elif what == "leave":
            return room.take(table.leave(seat))
        elif what == "connect":
            return room.connect(seat)
        else:
            table.disconnect(seat)
    except Refusal as refusal:
        assert refusal.code in m.ERROR_CODES and refusal.message
    return []


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(steps=st.lists(inputs, max_size=60), players=st.integers(0, 4))
def test_anything_at_any_time(steps, players):
    room = Room(players)
    used = []
    agents = {f"agent-{i}" for i in range(players)}
    for step in steps:
        before, seq = room.table.table.tobytes(), room.table.seq
        sends = apply(room, step, used)
        agents |= {seat.agent_id for seat in room.table.seats.values()}
        assert whole(room.table) == 100 * len(agents)
        assert room.table.seq >= seq
        answers = [message["type"] for _, message in sends]
        if step[0] == "replay" and "game_state" not in answers:
            assert room.table.table.tobytes() == before and room.table.seq == seq
            assert len(answers) <= 1
        for seat, message in sends:
            if message["type"] == "error":
                assert message["code"] in m.ERROR_CODES
            if message["type"] == "game_state":
                assert all("cards" not in p for p in message["players"] if p["seat"] != seat)
                assert ("turn_token" in message) == ("actions" in message) == (message["turn"] == seat)
                assert all(p["stack"] >= 0 and p["bet"] >= 0 for p in message["players"])


# Those who look on.


def test_those_who_look_on_are_told_everything_but_cards_and_choices():
    room, rng = Room(players=3, stack=40), np.random.default_rng(4)
    room.take(room.table.news(OBSERVERS))
    room.table.observed = True
    while room.table.status == "running" and room.table.hand < 12:
        while room.table.due.what == "act":
            kind = rng.choice(["fold", "call", "call", "call"])
            room.act("check" if kind == "call" and not room.table.table.to_call else str(kind))
        room.take(room.table.next_hand())
    room.take(room.table.end("admin_stopped"))
    shown, mine = room.inbox[OBSERVERS], room.inbox[0]
    assert [message["type"] for message in shown if message["type"] != "table_status"]
    for message in shown:
        if message["type"] == "game_state":
            assert not {"actions", "turn_token"} & message.keys()
            assert not any("cards" in player for player in message["players"])
        elif message["type"] == "hand_complete":
            assert all("cards" not in row or "rank" in row for row in message["results"])
    assert any("cards" in row for message in shown for row in message.get("results", ()))
    seqs = [message["seq"] for message in mine if message["type"] == "game_state"]
    assert [message["seq"] for message in shown if message["type"] == "game_state"] == seqs
    assert shown[-1] == mine[-1]
