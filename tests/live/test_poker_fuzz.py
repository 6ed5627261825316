"""Both ends of the poker protocol under broken messages; see `fuzzing`."""

import json
import random

import pytest
from live.fuzzing import MESSAGES, WORKERS, mutated
from live.poker_room import Room, pass_turn, whole
from live.settled import act
from live.small_host import Host
from parlour import envs
from parlour.wrappers.live.common.agent_turn import Turn
from parlour.wrappers.live.poker import messages
from parlour.wrappers.live.poker.agent_session import PokerAgentSession

KINDS = ("fold", "check", "call", "raiseTo")


@pytest.mark.parametrize("worker", range(WORKERS))
def test_a_host_refuses_what_is_broken_and_plays_on(worker):
    rng = random.Random(worker)
    room, sent, hands = None, 0, 0
    while sent < MESSAGES // WORKERS:
        if room is None or room.table.status == "ended":
            room = Room(4, seed=rng.randrange(2**32), stack=60)
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
                pass_turn(table)
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
                    session.opened()
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
        if isinstance(event, Turn):
            out = act(session, rng.choice([{"action_type": rng.choice(KINDS), "payload": {}}, None, {"a": 1}]), event)
        elif isinstance(event, messages.Action):
            out = [event]
        for message in out:
            assert message.action.kind in KINDS
            assert isinstance(messages.decode_client(messages.encode(message)), messages.Action)
    session.turn_state()
