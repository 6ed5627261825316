"""The host's end of the poker protocol without a socket: joining, connections, leaving and going bust."""

import json
from itertools import pairwise

import numpy as np
import pytest
from live.poker_options import rules
from live.poker_room import Room, error_code, kinds, pass_turn
from parlour.wrappers.live.poker import messages as m
from parlour.wrappers.live.poker.host_session import PokerHostSession
from parlour.wrappers.live.poker.table_data import Refusal

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


def test_a_taken_seat_is_not_given_twice():
    room = Room()
    room.join("a", 3)
    assert room.join("b", 3) == 0


def test_join_refusals_have_documented_codes():
    room = Room(2, seats=2)
    with pytest.raises(Refusal) as refusal:
        room.join("agent-0")
    assert refusal.value.code == m.ALREADY_SEATED
    with pytest.raises(Refusal) as refusal:
        room.join("c")
    assert refusal.value.code == m.TABLE_FULL
    room.take(room.table.end("admin_stopped"))
    with pytest.raises(Refusal) as refusal:
        room.join("c")
    assert refusal.value.code == m.TABLE_ENDED


@pytest.mark.parametrize(
    "options", [{"seats": 1}, {"seats": 11}, {"min_players": 7}, {"min_players": 1}, {"stack": 0}, {"max_hands": 0}]
)
def test_wrong_options_are_named(options):
    with pytest.raises(ValueError, match=next(iter(options))):
        PokerHostSession(**rules(**{"seats": 6, **options}))


def test_the_defaults_are_the_platforms():
    table = PokerHostSession()
    options = table.game.options
    assert (options["small_blind"], options["big_blind"], options["stacks"], options["raise_cap"]) == (1, 2, 100, 4)
    assert table.game.seats == 9 and table.rules.min_players == 2


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


@pytest.mark.parametrize("actions", range(12))
def test_disconnect_at_every_point_of_a_hand(actions):
    room = Room(3)
    for _ in range(actions):
        if room.table.due.what == "act":
            room.act("call" if room.table.table.to_call else "check")
    gone = room.turn if room.turn >= 0 else 0
    room.table.disconnect(gone)
    while room.table.hand < 3:
        if room.table.due.what == "hand":
            room.deal()
        elif room.turn == gone:
            room.take(room.table.timeout(gone, room.token))
        else:
            room.act("call" if room.table.table.to_call else "check")
    room.connect(gone)
    assert room.state(gone)["hand"] == 3
    assert room.chips == 300


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


def test_an_all_in_player_who_leaves_still_plays_for_the_pot_and_takes_its_chips():
    room = Room(3)
    room.act("raiseTo", 100)
    room.take(room.table.leave(0))
    room.act("call")
    room.act("fold")
    assert room.table.due.what == "hand" and 0 not in room.table.seats
    kept = sum(int(room.table.table.stack[seat]) for seat in (1, 2))
    won = next(row["won"] for row in room.last(1, "hand_complete")["results"] if row["seat"] == 0)
    assert kept + won == 300


def test_everybody_may_leave():
    room = Room(3)
    for seat in (1, 2, 0):
        room.take(room.table.leave(seat))
    assert room.table.due.what == "hand" and room.table.seats == {}
    room.deal()
    assert room.table.status == "ended"


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


def test_who_comes_back_has_the_chips_it_left_with():
    room = Room(3)
    room.act("raiseTo", 30)
    room.act("fold")
    room.act("fold")
    room.take(room.table.leave(2))
    assert room.join("agent-2") == 2
    assert room.table.stack(2) == 98


def test_of_those_who_left_only_so_many_are_remembered(monkeypatch):
    monkeypatch.setattr("parlour.wrappers.live.poker.host_session.MOST_LEFT", 3)
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


def test_with_rebuy_one_who_left_without_chips_comes_back_with_a_new_stack():
    room = Room(3, seed=1, raise_cap=None, rebuy=True)
    room.act("raiseTo", 100)
    room.act("call")
    room.act("fold")
    lost = int(np.flatnonzero(room.table.table.stack[:3] == 0)[0])
    room.take(room.table.leave(lost))
    assert room.join(f"agent-{lost}") == lost
    room.take(room.table.next_hand())
    assert room.state(lost)["players"][lost]["cards"]


def test_the_last_hand_gives_no_new_stack():
    room = Room(2, seed=1, raise_cap=None, rebuy=True, max_hands=1)
    room.act("raiseTo", 100)
    room.act("call")
    room.take(room.table.next_hand())
    assert room.table.status == "ended"
    assert sorted(room.table.stack(seat) for seat in (0, 1)) == [0, 200]


def test_leaving_a_waiting_table_frees_the_seat():
    room = Room()
    room.join("a")
    room.take(room.table.leave(0))
    assert room.table.seats == {} and room.join("b") == 0


def test_a_busted_seat_stays_listed_and_is_skipped():
    room = Room(3, seed=1, raise_cap=None)
    room.act("raiseTo", 100)
    room.act("call")
    room.act("fold")
    busted = int(np.flatnonzero(room.table.table.stack[:3] == 0)[0])
    room.deal()
    player = room.state(2)["players"][busted]
    assert (player["stack"], player["bet"]) == (0, 0) and "allIn" not in player and "folded" not in player
    assert "cards" not in room.state(busted)["players"][busted]
    assert room.state(2)["dealer"] != busted and room.turn == room.state(2)["dealer"]  # heads-up now
    room.check_down()
    assert [row["seat"] for row in room.last(2, "hand_complete")["results"]] == sorted({0, 1, 2} - {busted})


def test_the_dealer_moves_to_the_next_seat_with_chips():
    room = Room(min_players=3)
    for name, seat in (("a", 1), ("b", 4), ("c", 5)):
        room.join(name, seat)
    dealers = []
    for seat in (1, 4, 5):
        room.connect(seat)
    for _ in range(4):
        dealers.append(room.state(1)["dealer"])
        room.check_down()
        room.deal()
    assert dealers == [1, 4, 5, 1]


def test_heads_up_the_dealer_posts_the_small_blind_and_acts_first():
    room = Room(2)
    state = room.state(0)
    assert state["dealer"] == 0 and state["turn"] == 0
    assert [player["bet"] for player in state["players"]] == [1, 2]
    room.act("call")
    room.act("check")
    assert room.turn == 1  # after the flop the other one


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


def test_who_sits_in_again_before_a_hand_was_dealt_does_not_wait():
    table = Room(4, seats=4).table
    table.sit_out(2, True)
    table.sit_out(2, False)
    assert all(len(seated) == 4 for seated, *_ in played_by(table, 5))


def test_a_seat_that_is_connected_and_silent_sits_out_until_it_says_something():
    room, late = Room(3, stack=1000), 0

    def play_hand():
        nonlocal late
        while room.table.due.what == "act":
            if room.turn == 2:
                late += 1
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
    play_hand()
    play_hand()
    assert late > before
