"""Both ends of the poker protocol under broken messages: seeded mutations of what is really sent.

`PARLOUR_FUZZ=1000000` sets how many messages each side gets; `make nightly` does so.
"""

import copy
import json
import os
import random

import pytest
from live.poker_room import Room, whole
from live.small_host import Host
from parlour import envs
from parlour.wrappers.live.common.sessions import Decision, SendMessage
from parlour.wrappers.live.poker import messages
from parlour.wrappers.live.poker.agent_session import PokerAgentSession
from parlour.wrappers.live.poker.full_table import FullTableForm

MESSAGES = int(os.environ.get("PARLOUR_FUZZ", "3000"))
WORKERS = 4
ODD = (
    None,
    True,
    -1,
    0,
    1,
    2**53,
    10**40,
    1.5,
    1e308,
    "",
    "x" * 300,
    "raiseTo",
    [],
    [[]],
    {},
    {"type": "action"},
    "\x00é",
)
KINDS = ("fold", "check", "call", "raiseTo")


def mutated(rng, message):
    """Change, drop, add or exchange some part of a message; sometimes break its text."""
    message = json.loads(json.dumps(message))
    for _ in range(rng.randint(1, 3)):
        place = message
        while isinstance(place, (dict, list)) and place and rng.random() < 0.6:
            key = rng.choice(list(place) if isinstance(place, dict) else range(len(place)))
            if not isinstance(place[key], (dict, list)):
                break
            place = place[key]
        if isinstance(place, dict) and place:
            key = rng.choice(list(place))
            if rng.random() < 0.25:
                del place[key]
            else:
                place[key if rng.random() < 0.9 else "other"] = copy.deepcopy(rng.choice(ODD))
        elif isinstance(place, list):
            place.insert(rng.randint(0, len(place)), copy.deepcopy(rng.choice(ODD)))
    text = json.dumps(message)
    match rng.random():
        case odds if odds < 0.05:
            return text[: rng.randint(0, len(text))]
        case odds if odds < 0.08:
            return text.encode()[::-1]
        case odds if odds < 0.1:
            return message
        case _:
            return text


@pytest.mark.parametrize("worker", range(WORKERS))
def test_a_host_refuses_what_is_broken_and_plays_on(worker):
    rng = random.Random(worker)
    room, sent, hands = None, 0, 0
    while sent < MESSAGES // WORKERS:
        if room is None or room.table.status == "ended":
            room = Room(4, seed=rng.randrange(2**32), stack=60)
            room.table.connect(0, FullTableForm("t", "http://h/skill.md"))
            chips = whole(room.table)
        table = room.table
        if table.due.what == "hand":
            table.next_hand()
            hands += 1
            continue
        seat, token = table.due.seat, table.due.token
        honest = {
            "type": "action",
            "action": {"turn_token": token, "kind": rng.choice(KINDS)},
            "expected_seq": table.seq,
        }
        if honest["action"]["kind"] == "raiseTo":
            honest["action"]["amount"] = rng.choice([int(table.table.raise_min), int(table.table.raise_max), 1, 10**6])
        for _ in range(rng.randint(0, 6)):
            before, seq = table.table.tobytes(), table.seq
            receiver = rng.choice([seat, rng.randrange(6)])
            answers = table.receive(receiver, mutated(rng, honest))
            sent += 1
            assert answers
            if table.seq == seq:
                assert table.table.tobytes() == before
            for answer in answers:
                if isinstance(answer.message, messages.Error):
                    assert answer.message.code in messages.ERROR_CODES and answer.receiver == receiver
            assert whole(table) == chips
            if table.due is None or table.due.what == "hand" or table.due.token != token:
                break
        if table.due is not None and table.due == ("act", seat, token):
            seq = table.seq
            if rng.random() < 0.5:
                table.receive(seat, json.dumps(honest))
            if table.seq == seq:
                table.timeout(seat, token)
            assert table.seq > seq
    assert hands > sent // 1000


@pytest.mark.parametrize("worker", range(WORKERS))
def test_an_agent_takes_whatever_comes_and_answers_its_turns(worker):
    rng = random.Random(worker)
    sent = turns = 0
    while sent < MESSAGES // WORKERS:
        host = Host(envs.game("holdem", seats=3, stacks=60), rng.randrange(2**32), envelope=rng.random() < 0.3)
        session = PokerAgentSession()
        session.receive(host.wrap({"type": "welcome", "seat": 0, "timeout": 1000}))
        while not host.over and host.hand < 20:
            ending = host.deal()
            while not ending:
                clean = host.state(0)
                for _ in range(rng.randint(0, 3)):
                    answer_all(session, session.receive(mutated(rng, json.loads(clean))), rng)
                    sent += 1
                if rng.random() < 0.05:
                    session.reconnected()
                events = session.receive(clean)
                if host.table.turn == 0:
                    turns += 1
                    answer_all(session, events, rng)
                ending = host.play()
            for text in ending:
                answer_all(session, session.receive(mutated(rng, json.loads(text))), rng)
                answer_all(session, session.receive(text), rng)
                sent += 1
    assert turns > 0


def answer_all(session, events, rng):
    """Answer decisions, well or badly; whatever goes out can be encoded, and names one of the platform's actions."""
    for event in events:
        out = []
        if isinstance(event, Decision):
            out = session.act(
                rng.choice([{"action_type": rng.choice(KINDS), "payload": {}}, None, {"a": 1}]), event.turn
            )
        elif isinstance(event, SendMessage):
            out = [event.message]
        for message in out:
            assert message.action.kind in KINDS
            assert isinstance(messages.decode_client(messages.encode(message)), messages.Action)
    session.turn_state()
