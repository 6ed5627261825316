"""The host's end of the poker protocol without a socket: what seats are shown, actions, and the clock."""

import json

import pytest
from live.poker_options import rules
from live.poker_room import Room, error_code, kinds, pass_turn, room_card
from parlour.envs.holdem.hands import card_number
from parlour.wrappers.live.poker import messages as m
from parlour.wrappers.live.poker.host_session import PokerDue, PokerHostSession

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


def test_pot_is_all_chips_and_every_state_adds_up():
    room = Room(3)
    assert room.state(1)["pot"] == 3
    room.act("raiseTo", 20)
    assert room.state(1)["pot"] == 23
    room.check_down()
    for seat in range(3):
        for state in room.inbox[seat]:
            if state["type"] == "game_state":
                assert sum(player["stack"] for player in state["players"]) + state["pot"] == 300


def test_players_come_in_seat_order_with_flags_only_where_true():
    room = Room(min_players=3)
    for name, seat in (("a", 5), ("b", 1), ("c", 3)):
        room.join(name, seat)
    for seat in (5, 1, 3):
        room.connect(seat)
    state = room.state(1)
    assert [player["seat"] for player in state["players"]] == [1, 3, 5]
    assert all(set(player) <= {"seat", "name", "stack", "bet", "cards"} for player in state["players"])
    assert state["dealer"] == 1  # hand 1: the lowest occupied seat
    room.act("raiseTo", 100)
    room.act("fold")
    players = {player["seat"]: player for player in room.state(5)["players"]}
    assert players[1]["allIn"] is True and players[3]["folded"] is True
    assert "folded" not in players[1] and "allIn" not in players[3]


def test_cards_of_others_are_in_no_message_before_a_showdown():
    room = Room(3, raise_cap=None)
    for _ in range(20):
        for seat in range(3):
            state = room.state(seat)
            assert [player["seat"] for player in state["players"] if "cards" in player] == [seat]
            own = next(player for player in state["players"] if player["seat"] == seat)["cards"]
            assert [card_number(card) for card in own] == room.table.table.cards[seat].tolist()
        room.act("call" if room.table.table.to_call else "check")
        if room.table.due.what == "hand":
            room.deal()


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


def test_seq_counts_hands_actions_and_streets():
    room = Room(2)
    assert room.table.seq == 1  # the hand began
    room.act("call")
    assert room.table.seq == 2
    room.act("check")
    assert room.table.seq == 4  # and the flop opened
    room.act("fold")
    assert room.table.seq == 6  # and the hand ended
    room.deal()
    assert room.table.seq == 7


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


def test_a_token_belongs_to_its_seat():
    room = Room(3)
    token = room.token
    room.act("call")
    assert error_code(room.act("call", seat=2, turn_token=token)) == m.NOT_YOUR_TURN
    assert error_code(room.act("call", seat=1, turn_token=token)) == m.INVALID_ACTION


def test_a_token_never_issued_is_an_invalid_action():
    assert error_code(Room(2).act("call", turn_token="made-up")) == m.INVALID_ACTION


@pytest.mark.parametrize("expected", [0, 2, 999])
def test_another_seq_is_stale(expected):
    assert error_code(Room(2).act("call", expected_seq=expected)) == m.STALE_SEQ


def test_expected_seq_may_be_left_out():
    room = Room(2)
    sends = room.send(0, type="action", action={"turn_token": room.token, "kind": "call"})
    assert sends[0][1]["type"] == "ack"


def test_stale_seq_is_told_before_not_your_turn():
    assert error_code(Room(2).act("call", seat=1, expected_seq=0)) == m.STALE_SEQ
    assert error_code(Room(2).act("call", seat=1)) == m.NOT_YOUR_TURN


def test_before_the_first_hand_there_is_nothing_to_do():
    room = Room()
    room.join("a")
    room.connect(0)
    action = {"turn_token": "x", "kind": "call"}
    assert error_code(room.send(0, type="action", action=action, expected_seq=0)) == m.INVALID_TABLE_STATE


def test_between_two_hands_nobody_is_to_act():
    room = Room(2)
    room.act("fold")
    assert error_code(room.act("call", seat=0, turn_token="x")) == m.NOT_YOUR_TURN
    assert error_code(room.act("call", seat=0, turn_token="")) == m.NOT_YOUR_TURN


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


BAD_AMOUNTS = {
    "below the minimum": (3, m.INVALID_ACTION),
    "above the stack": (101, m.INVALID_ACTION),
    "nothing": (0, m.INVALID_ACTION),
    "huge": (2**52, m.INVALID_ACTION),
    "beyond any number": (10**40, m.VALIDATION_ERROR),
    "fractional": (5.5, m.VALIDATION_ERROR),
    "negative": (-5, m.VALIDATION_ERROR),
    "string": ("10", m.VALIDATION_ERROR),
    "bool": (True, m.VALIDATION_ERROR),
    "list": ([10], m.VALIDATION_ERROR),
    "not a number": (float("nan"), m.VALIDATION_ERROR),
    "infinite": (float("inf"), m.VALIDATION_ERROR),
    "missing": (None, m.VALIDATION_ERROR),
}


@pytest.mark.parametrize("case", BAD_AMOUNTS)
def test_a_bad_raise_is_refused_and_changes_nothing(case):
    room = Room(3)
    amount, code = BAD_AMOUNTS[case]
    before, due = room.table.table.tobytes(), room.table.due
    assert error_code(room.act("raiseTo", amount)) == code
    assert room.table.table.tobytes() == before
    assert room.table.due == due  # same token, and the same clock goes on
    assert room.act("raiseTo", 4)[0][1]["type"] == "ack"


def test_check_and_call_are_not_the_same():
    room = Room(2)
    assert error_code(room.act("check")) == m.INVALID_ACTION
    room.act("call")
    assert error_code(room.act("call")) == m.INVALID_ACTION
    assert room.act("check")[0][1]["type"] == "ack"


def test_the_amount_of_a_call_is_not_looked_at():
    assert Room(2).act("call", 77)[0][1]["type"] == "ack"


def test_the_raise_cap_closes_the_raising():
    room = Room(2, raise_cap=2)
    room.act("raiseTo", 4)
    room.act("raiseTo", 6)
    assert [action["kind"] for action in room.state(room.turn)["actions"]] == ["fold", "call"]
    assert error_code(room.act("raiseTo", 8)) == m.INVALID_ACTION


BAD_TEXTS = {
    "empty": "",
    "not JSON": "hello {",
    "a number": "17",
    "null": "null",
    "a list": "[]",
    "no type": "{}",
    "an unknown type": '{"type": "dance"}',
    "a type that is no string": '{"type": 5}',
    "a server's message": '{"type": "ack", "turn_token": "x", "seq": 1}',
    "an action without action": '{"type": "action"}',
    "an action that is a string": '{"type": "action", "action": "call"}',
    "an unknown kind": '{"type": "action", "action": {"turn_token": "x", "kind": "allIn"}}',
    "no token": '{"type": "action", "action": {"kind": "call"}}',
    "a seq that is no number": '{"type": "action", "action": {"turn_token": "x", "kind": "call"}, "expected_seq": "1"}',
    "deep": "[" * 100_000,
    "deep inside": '{"type": "action", "x": ' + "[" * 100_000,
    "bad bytes": b"\xff\xfe\x00",
    "half a surrogate": '"\ud800"',
    "NaN": '{"type": "action", "action": {"turn_token": "x", "kind": "raiseTo", "amount": NaN}}',
    "nothing at all": None,
    "an object": object(),
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


def test_a_seat_nobody_sits_at_is_told_so():
    room = Room(2)
    assert error_code(room.act("call", seat=5)) == m.NOT_SEATED
    assert error_code(room.connect(5)) == m.NOT_SEATED


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


def test_an_action_after_the_clock_is_stale():
    room = Room(3)
    token, seq = room.token, room.table.seq
    room.take(room.table.timeout(0, token))
    assert error_code(room.act("call", seat=0, turn_token=token, expected_seq=seq)) == m.STALE_SEQ


def test_due_names_the_turn_then_the_next_hand_then_nothing():
    room = Room(2)
    assert room.table.due == PokerDue("act", 0, "token-0")
    room.act("fold")
    assert room.table.due == PokerDue("hand", -1, "1")
    assert room.table.end("admin_stopped") and room.table.due is None
    assert Room().table.due is None


def test_next_hand_during_a_hand_does_nothing():
    assert Room(2).deal() == []


def test_tables_with_the_same_options_share_their_rules():
    first, second, other = PokerHostSession(), PokerHostSession(seed=2), PokerHostSession(**rules(seats=6))
    assert first.game is second.game  # a game takes more memory than all else of a table that has ended
    assert first.table is not second.table
    assert other.game.seats == 6
