"""Every message of the poker platform, both directions, as documented and as it sends them."""

import json

import pytest
from parlour.wrappers.live.poker import messages as m

WELCOME = {"type": "welcome", "seat": 3, "agent_id": "agt_abc123...", "timeout": 30000}
STATE = {
    "type": "game_state",
    "seq": 42,
    "hand": 5,
    "phase": "flop",
    "board": ["As", "Kh", "7d"],
    "pot": 100,
    "players": [
        {"seat": 0, "name": "Player1", "stack": 950, "bet": 25},
        {"seat": 3, "name": "MyAgent", "stack": 925, "bet": 25, "cards": ["Ac", "Qh"]},
    ],
    "dealer": 0,
    "turn": 3,
    "last": {"seat": 0, "kind": "raiseTo", "amount": 25},
    "actions": [{"kind": "fold"}, {"kind": "call"}, {"kind": "raiseTo", "min": 50, "max": 925}],
    "toCall": 0,
    "turn_token": "550e8400-e29b-41d4-a716-446655440099",
}
HAND = {
    "type": "hand_complete",
    "hand": 5,
    "results": [
        {"seat": 3, "cards": ["Ac", "Qh"], "rank": "Two Pair, Aces and Kings", "won": 150},
        {"seat": 0, "cards": ["8c", "2h"], "won": 0},
    ],
    "showdown": True,
}
WAITING = {
    "type": "table_status",
    "status": "waiting",
    "seat_id": 3,
    "agent_id": "agt_abc",
    "min_players_to_start": 2,
    "current_players": 1,
}
ENDED = {
    "type": "table_status",
    "status": "ended",
    "reason": "abandoned",
    "final_stacks": [{"seat_id": 0, "agent_id": "a", "stack": 7}],
}
SERVER = [
    WELCOME,
    STATE,
    {"type": "ack", "turn_token": "550e8400-e29b-41d4-a716-446655440099", "seq": 43},
    {"type": "error", "code": "NOT_YOUR_TURN", "message": "It is not your turn to act"},
    HAND,
    WAITING,
    ENDED,
    {"type": "player_joined", "seatId": 2, "agentName": "OtherAgent", "stack": 1000},
    {"type": "player_joined", "seatId": 2, "agentName": "OtherAgent", "stack": 1000, "agentId": "agt_2"},
    {"type": "player_left", "seatId": 2},
    {"type": "pong", "payload": {"timestamp": 1706835000000}},
]
TOKEN = "550e8400-e29b-41d4-a716-446655440099"
CLIENT = [
    {"type": "action", "action": {"turn_token": TOKEN, "kind": "call"}, "expected_seq": 42},
    {"type": "action", "action": {"turn_token": TOKEN, "kind": "raiseTo", "amount": 100}, "expected_seq": 42},
    {"type": "action", "action": {"turn_token": TOKEN, "kind": "fold"}},
    {"type": "ping", "payload": {"timestamp": 1706835000000}},
    {"type": "ping"},
]


def test_what_is_null_or_0_in_the_document_travels_and_the_rest_is_left_out():
    player = m.Player(seat=1, name=None, stack=5, bet=0)
    state = m.GameState(
        seq=0, hand=1, phase="preflop", board=[], pot=0, players=[player], dealer=1, turn=None, to_call=0
    )
    assert json.loads(m.encode(state)) == {
        "type": "game_state",
        "seq": 0,
        "hand": 1,
        "phase": "preflop",
        "board": [],
        "pot": 0,
        "players": [{"seat": 1, "name": None, "stack": 5, "bet": 0}],
        "dealer": 1,
        "turn": None,
        "toCall": 0,
    }


@pytest.mark.parametrize("message", SERVER, ids=lambda message: message["type"])
def test_the_envelope_is_unwrapped(message):
    payload = {name: value for name, value in message.items() if name not in ("type", "seq")}
    if message["type"] == "pong":
        payload = message["payload"]
    wrapped = {"type": message["type"], "table_id": "t", "seq": message.get("seq", 0), "ts": 1, "payload": payload}
    assert m.decode_server(json.dumps(wrapped)) == m.decode_server(message)


def test_unknown_fields_are_ignored_and_optional_ones_may_be_missing_or_null():
    for missing in ("dealer", "turn", "last", "actions", "toCall", "turn_token"):
        thin = {name: value for name, value in STATE.items() if name != missing}
        assert isinstance(m.decode_server(thin), m.GameState), missing
        assert isinstance(m.decode_server({**STATE, missing: None}), m.GameState), missing
    player = {"seat": 0, "name": None, "stack": 1, "bet": 0, "cards": None, "folded": None, "allIn": None, "mood": 1}
    assert isinstance(m.decode_server({**STATE, "players": [player], "new": {"deep": []}}), m.GameState)
    assert isinstance(m.decode_server({"type": "error", "code": "NEW_CODE"}), m.Error)


def test_unknown_types_and_kinds():
    assert m.decode_server({"type": "chat"}).type == "chat"
    assert m.decode_client({"type": "game_state"}).type == "game_state"  # a server's, not a client's
    bad = {"type": "action", "action": {"turn_token": "t", "kind": "allIn"}}
    assert isinstance(m.decode_client(bad), m.Unknown)


def test_json_has_one_kind_of_number_and_null_is_as_good_as_nothing():
    action = '{"type": "action", "action": {"turn_token": "t", "kind": "raiseTo", "amount": 1e2}, "expected_seq": 4.0}'
    assert m.decode_client(action) == m.Action(
        action=m.Choice(turn_token="t", kind="raiseTo", amount=100), expected_seq=4
    )
    assert m.decode_server({"type": "welcome", "seat": 2.0, "timeout": 30000.0}) == m.Welcome(seat=2, timeout=30000)
    assert m.decode_server({"type": "error", "code": "TABLE_ENDED", "message": None}) == m.Error(code="TABLE_ENDED")
    assert isinstance(m.decode_server({"type": "welcome", "seat": 1e308}), m.Unknown)
