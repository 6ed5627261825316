"""The host's end of the poker protocol without a socket: ends, chance, arbitrary input, and observers."""

import json

import numpy as np
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from live.poker_room import Room, error_code, hands_of, kinds, pass_turn, stack_deck, whole
from parlour.envs.holdem import rules
from parlour.wrappers.live.poker import messages as m
from parlour.wrappers.live.poker.host_messages import OBSERVERS
from parlour.wrappers.live.poker.host_session import PokerDue, PokerHostSession
from parlour.wrappers.live.poker.table_data import Refusal

# The end of hands and tables.


def test_hand_complete_shows_nothing_without_a_showdown_but_the_receivers_own():
    room = Room(3)
    room.act("fold")
    room.act("fold")
    for seat in range(3):
        done = room.last(seat, "hand_complete")
        assert done["showdown"] is False and done["hand"] == 1
        assert [row["seat"] for row in done["results"] if "cards" in row] == [seat]
        assert [row["won"] for row in done["results"]] == [0, 0, 2]
        assert not any("rank" in row for row in done["results"])


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


def test_side_pots_and_uncalled_chips_go_to_whom_they_belong():
    room = Room(3, raise_cap=None)
    room.table.table.stack[:3] = 30, 69, 98  # behind the blinds of 1 (seat 1) and 2 (seat 2)
    stack_deck(room, {0: "As Ah", 1: "Ks Kh", 2: "Qs Qh"}, "2c 3d 4h 8s 9c")
    room.act("raiseTo", 30)
    room.act("raiseTo", 70)
    room.act("call")
    results = {row["seat"]: row["won"] for row in room.last(0, "hand_complete")["results"]}
    assert results == {0: 90, 1: 80, 2: 0}
    assert room.table.table.stack[:3].tolist() == [90, 80, 30]


def test_the_odd_chip_goes_to_the_first_winner_left_of_the_dealer():
    room = Room(3)
    stack_deck(room, {0: "As Kh", 1: "2s 7h", 2: "Ad Kc"}, "Qs Jd Th 3c 3d")
    room.act("raiseTo", 5)
    room.act("fold")
    room.act("call")
    room.check_down()
    won = [row["won"] for row in room.last(0, "hand_complete")["results"]]
    assert won == [5, 0, 6]


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


def test_max_hands_ends_the_table():
    room = Room(2, max_hands=2)
    for _ in range(2):
        room.check_down()
        room.deal()
    assert room.table.status == "ended" and room.table.reason == "admin_stopped" and room.table.hand == 2


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
    room = Room(3)
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
        rules.step(copy, rules.Move(0, 0) if copy.to_call else rules.Move(2, 0))
        pass_turn(table)
    copy.dealer = rules.next_dealer(copy)
    rules.deal(copy)
    table.next_hand()
    assert table.table.deck.tolist() != copy.deck.tolist()


# Anything at any time.


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=6), inner, max_size=3),
    max_leaves=8,
)

near_actions = st.fixed_dictionaries(
    {"type": st.just("action") | json_values},
    optional={
        "action": st.fixed_dictionaries(
            {},
            optional={
                "turn_token": st.sampled_from(["TOKEN", "token-0"]) | json_values,
                "kind": st.sampled_from(["fold", "check", "call", "raiseTo"]) | json_values,
                "amount": st.integers(-5, 250) | json_values,
            },
        )
        | json_values,
        "expected_seq": st.just("SEQ") | st.integers(0, 40) | json_values,
    },
)

inputs = st.one_of(
    st.tuples(st.just("receive"), st.integers(-1, 6), near_actions | json_values | st.text() | st.binary()),
    st.tuples(st.just("honest"), st.sampled_from(["fold", "call", "call", "raise", "raise"]), st.integers(0, 200)),
    st.tuples(st.sampled_from(["leave", "connect", "disconnect", "timeout", "replay"]), st.integers(-1, 6), st.none()),
    st.tuples(st.sampled_from(["join", "next_hand"]), st.integers(0, 8), st.none()),
)


def apply(room, step, used):
    """Make one of `inputs` happen; returns what was sent, and whether nothing may have changed."""
    table = room.table
    what, seat, value = step
    if what == "receive":
        if isinstance(value, dict):
            value = json.dumps(value).replace('"TOKEN"', json.dumps(table._hand.token)).replace('"SEQ"', str(table.seq))
        return room.take(table.receive(seat, value))
    if what == "honest":
        if table.due is None or table.due.what != "act":
            return []
        used.append((room.turn, table._hand.token))
        record = table.table
        if seat == "raise" and record.raise_max:
            return room.act("raiseTo", min(int(record.raise_max), int(record.raise_min) + value))
        return room.act(seat if seat == "fold" else "call" if record.to_call else "check")
    if what == "replay":
        return room.act("fold", seat=used[-1][0], turn_token=used[-1][1]) if used else []
    if what == "timeout":
        return room.take(table.timeout(seat, table._hand.token))
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
        if step[0] in ("receive", "replay") and "game_state" not in answers:
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
    room.take(room.table.connect_observer())
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


def test_nobody_is_told_of_those_who_do_not_look_on():
    room = Room(players=2)
    room.act("fold")
    assert OBSERVERS not in room.inbox
