"""The browser's table without a socket: what clients may not see, and arbitrary input."""

import json

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from live.table_room import Room
from parlour import envs
from parlour.wrappers.live.table import messages as m

# Secrecy.


def test_no_client_is_told_what_its_seat_may_not_know(game):
    """Whatever a client's seat cannot know may be another: the client is told the same."""
    room = Room((None,) * game.seats, game).connect(99)
    for seat in range(game.seats):
        room.sit(seat, f"name {seat}")
    match, generator = room.table.match.match, np.random.default_rng(1)

    def told(client):
        room.inbox.clear()
        room.table._latest.clear()
        return room.take(room.table._states([client])).inbox[client]

    assert game.seats == 1 or told(0) != told(game.seats - 1)
    assert bool(told(99)) == (game.public_view is not None)
    for client in (0, game.seats - 1, 99):
        seen, dealt = told(client), match.tables.copy()
        game.view.resample(match.table, client if client < 99 else 0, generator)
        assert match.tables.tobytes() != dealt.tobytes()
        assert told(client) == seen
        match.tables[:] = dealt


# Whatever comes.


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)

LIKELY = st.fixed_dictionaries(
    {"type": st.sampled_from(["sit", "stand", "act", "say", "again", "ping", "x"])},
    optional={
        "name": JSON | st.just("Ann"),
        "token": JSON,
        "seat": JSON | st.integers(-3, 3),
        "turn": JSON | st.integers(-3, 30),
        "response": JSON
        | st.fixed_dictionaries(
            {"action": st.fixed_dictionaries({"action_type": st.sampled_from(["pass", "accept"]), "payload": JSON})}
        ),
        "intent": JSON | st.fixed_dictionaries({"scope": st.sampled_from(["public", "private"]), "content": st.text()}),
        "access_token": JSON,
    },
)


@settings(suppress_health_check=[HealthCheck.too_slow], max_examples=60)
@given(st.lists(st.tuples(st.integers(1, 3), LIKELY | JSON), max_size=12))
def test_whatever_clients_send_is_answered_and_the_table_goes_on(inputs):
    room = Room((None, "bot", None), envs.game("auction", seats=3, rounds=2))
    for client in (1, 2, 3):
        room.connect(client)
    for client, data in inputs:
        before = len(room.inbox[client])
        room.take(room.table.receive(client, json.dumps(data)))
        assert len(room.inbox[client]) > before
        if room.table.due is not None and room.table.due.who == "program":
            room.program()
    for client in (1, 2, 3):
        if room.table._clients[client] is None:
            room.send(client, "sit", name=f"late {client}")
    while room.table.status == "running":
        room.take(room.table.failed(room.table.turn, "late"))
    assert room.table.status in ("over", "waiting")


@pytest.mark.parametrize("data", ["", "{", "[]", "null", b"\xff", '{"type":"sit","name":"\\ud800"}', "[" * 10_000])
def test_what_is_no_message_is_refused(data):
    room = Room().connect(1)
    room.take(room.table.receive(1, data))
    assert room.last(1, "error")["code"] == m.VALIDATION_ERROR
