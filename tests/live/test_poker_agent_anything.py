"""Whatever a server sends, the poker agent's protocol does not raise, and its answers can be sent."""

from hypothesis import given
from hypothesis import strategies as st
from live.settled import act
from parlour.wrappers.live.common.agent_turn import Turn
from parlour.wrappers.live.poker import messages
from parlour.wrappers.live.poker.agent_session import PokerAgentSession

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
    max_leaves=12,
)

NUMBER = st.integers(-1, 12) | st.sampled_from([None, 2**53, 1.5, "x"])

CARDS = st.lists(st.sampled_from(["As", "Kd", "2c", "Th", "1x", "", "As♠"]), max_size=8)

KIND = st.sampled_from(["fold", "check", "call", "raiseTo", "bet", ""])

PHASE = st.sampled_from(["waiting", "preflop", "flop", "turn", "river", "showdown", "ended", "?"])


def fields(**values):
    return st.fixed_dictionaries({}, optional=values)


STATE = fields(
    seq=NUMBER,
    hand=st.integers(0, 3),
    phase=PHASE,
    board=CARDS,
    pot=NUMBER,
    players=st.lists(
        st.fixed_dictionaries(
            {"seat": st.integers(0, 4), "stack": st.integers(0, 9), "bet": st.integers(0, 9)},
            optional={"cards": CARDS, "folded": st.booleans() | st.none(), "allIn": st.booleans(), "name": st.none()},
        ),
        max_size=6,
    ),
    dealer=NUMBER,
    turn=NUMBER,
    last=st.none() | fields(seat=st.integers(0, 5), kind=KIND, amount=NUMBER),
    actions=st.none() | st.lists(fields(kind=KIND, min=NUMBER, max=NUMBER), max_size=4),
    toCall=NUMBER,
    turn_token=st.none() | st.sampled_from(["a", "b"]),
)

WELL_MEANT = st.fixed_dictionaries(
    {"seq": st.integers(0, 9), "hand": st.integers(0, 2), "phase": PHASE, "board": CARDS, "pot": st.integers(0, 50)}
)

TYPES = ["welcome", "ack", "error", "hand_complete", "table_status", "player_joined", "player_left", "pong", "nope"]

OTHER = fields(
    type=st.sampled_from(TYPES),
    seat=NUMBER,
    timeout=NUMBER,
    code=st.sampled_from(messages.ERROR_CODES),
    turn_token=st.sampled_from(["a", "b"]),
    hand=NUMBER,
    seq=NUMBER,
    results=st.lists(fields(seat=st.integers(0, 5), won=st.integers(0, 30), cards=CARDS), max_size=4),
    showdown=st.booleans(),
    status=st.sampled_from(["waiting", "ended"]),
    seatId=NUMBER,
    stack=NUMBER,
    payload=JSON,
)

STATES = st.builds(lambda known, more: {**known, **more, "type": "game_state"}, WELL_MEANT, STATE)


@given(st.lists(STATES | STATES | OTHER | JSON | st.binary(max_size=20) | st.text(max_size=20), max_size=8), JSON)
def test_nothing_a_server_sends_makes_it_raise(received, answer):
    session = PokerAgentSession()
    for message in received:
        for event in session.receive(message):
            if isinstance(event, Turn):
                assert session.waits(event)
                for action in act(session, answer, event):
                    assert messages.decode_client(messages.encode(action)) == action
        session.turn_state()
