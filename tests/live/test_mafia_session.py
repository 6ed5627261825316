"""The forwarding protocol without a socket, at both ends: any message gets its answer, and nothing else happens."""

import json
import random

import msgspec
import numpy as np
import pytest
from live.fuzzing import MESSAGES, ODD, WORKERS, changed, fuzzed, mutated
from mafia_players import context, session
from parlour.wrappers.live.common import limits
from parlour.wrappers.live.common.player import Over, Played
from parlour.wrappers.live.mafia import messages as wire
from parlour.wrappers.live.mafia.agent import (
    CALLS,
    NOTHING_TO_SAY,
    STREAM_LIMIT,
    MafiaAgentSession,
    MafiaLimits,
    MafiaTurn,
    night_targets,
)
from parlour.wrappers.live.mafia.host import Fault

STATE, PRIVATE, PUBLIC = context(role="mafia")
PLAIN = msgspec.to_builtins(STATE), msgspec.to_builtins(PRIVATE), msgspec.to_builtins(PUBLIC)


def call(id=1, method="think", info=None, **fields):
    info = info or (PLAIN[1] if method in ("think", "nightAction") else PLAIN[2])
    return json.dumps({"id": id, "method": method, "context": PLAIN[0], "info": info, **fields})


def problem(service, data):
    """The only message for some data, which is an error."""
    (reply,) = service.receive(data)
    assert isinstance(reply, wire.Reply)
    return json.loads(wire.encode(reply))


def begun(service, data):
    (turn,) = service.receive(data)
    assert isinstance(turn, MafiaTurn)
    return turn


def answered(service, turn, answer=None):
    """The messages that answer a turn."""
    response, why = turn.settle(lambda: answer)
    return [json.loads(wire.encode(reply)) for reply in service.reply(turn, Played(response, why))], why


# The agents' end.


async def test_a_call_and_its_answer():
    service = MafiaAgentSession(seconds=5)
    turn = begun(service, call())
    assert (turn.id, turn.table, turn.agent_id, turn.method, turn.seconds) == (1, 1, "p1", "think", 5)
    assert turn.context == STATE and turn.info == PRIVATE and service.waits(turn)
    assert await turn.take("Hm.")
    assert turn.settle(lambda: None)[0].action.payload == {"text": "Hm."}
    assert answered(service, turn) == ([{"id": 1, "done": True}], None)
    assert not service.waits(turn) and answered(service, turn)[0] == []


@pytest.mark.parametrize(
    ("method", "answer", "result"),
    [
        ("nightAction", wire.NightAction("KILL", "p2"), {"actionType": "KILL", "targetId": "p2"}),
        (
            "nightAction",
            {"actionType": "KILL", "targetId": "p2", "metadata": {"sure": np.float32(0.5), "of": np.arange(2)}},
            {"actionType": "KILL", "targetId": "p2", "metadata": {"sure": 0.5, "of": [0, 1]}},
        ),
        ("vote", wire.VoteAction(None), {"targetId": None}),
        ("vote", wire.VoteAction("p2", "why not"), {"targetId": "p2", "reason": "why not"}),
    ],
)
def test_the_result_of_an_action_is_the_documents(method, answer, result):
    service = MafiaAgentSession()
    turn = begun(service, call("x", method, agent="p1"))
    assert answered(service, turn, answer) == ([{"id": "x", "done": True, "result": result}], None)


@pytest.mark.parametrize(
    ("method", "answer", "why"),
    [
        ("nightAction", wire.NightAction("KILL", "p2", {"plan": object()}), "is no JSON"),
        ("nightAction", wire.NightAction("KILL", "p2", {"\ud800": 1}), "surrogates"),
        ("nightAction", wire.NightAction("KILL", "p1"), "agent itself"),
        ("nightAction", None, "must KILL"),
        ("vote", None, "no vote"),
        ("vote", wire.VoteAction("p9"), "no player 'p9'"),
    ],
)
def test_what_is_no_choice_or_no_json_gets_the_documents_answer(method, answer, why):
    service = MafiaAgentSession(chance=random.Random(1))
    messages, replaced = answered(service, begun(service, call("x", method, agent="p1")), answer)
    assert why in replaced and set(messages[0]) == {"id", "done", "result"}
    target = messages[0]["result"]["targetId"]
    assert target is None if method == "vote" else target in ("p2", "p3", "p4", "p5")


async def test_at_the_deadline_what_was_said_stands():
    service = MafiaAgentSession()
    turn = begun(service, call(1, "say", agent="p1"))
    assert await turn.take("I accuse ")
    turn.problem = "no answer within 5 s"
    assert turn.safe().action.payload == {"text": "I accuse "}
    assert answered(service, turn) == ([{"id": 1, "done": True}], "no answer within 5 s")
    turn = begun(service, call(2, "say", agent="p1"))
    assert answered(service, turn)[0] == [{"id": 2, "chunk": NOTHING_TO_SAY}, {"id": 2, "done": True}]
    turn = begun(service, call(3, "say", agent="p1"))
    assert not await turn.take("x" * 99_999)  # the rest is cut off
    assert len("".join(turn.said)) == STREAM_LIMIT["say"]
    assert "more than 4,000 characters" in answered(service, turn)[1]


def test_whose_statement_it_is():
    service = MafiaAgentSession()
    told = problem(service, call(1, "say"))
    assert told["id"] == 1 and "which agent is to say" in told["error"]
    assert begun(service, call(2, "think")).agent_id == "p1"
    assert begun(service, call(3, "say")).agent_id == "p1"  # the only one on this connection
    info = msgspec.to_builtins(context(me=1)[1])
    assert begun(service, call(4, "think", info)).agent_id == "p2"
    assert "p1, p2" in problem(service, call(5, "vote"))["error"]
    assert begun(service, call(6, "vote", agent="p2")).agent_id == "p2"
    assert "info is 'p2''s" in problem(service, call(7, "think", info, agent="p1"))["error"]


def test_several_calls_at_once_and_given_up_ones():
    service = MafiaAgentSession()
    first, other = begun(service, call(1)), begun(service, call("1", note="cancel"))  # the word cancels nothing
    assert problem(service, call(1))["id"] is None and service.waits(first)  # the running call of that id goes on
    assert service.receive('{"id": 1, "cancel": true}') == service.receive('{"id": 1, "cancel": true}') == []
    assert not service.waits(first) and service.waits(other)
    for number in range(2, 2 + CALLS - 1):
        begun(service, call(number))
    assert "calls are running" in problem(service, call(1))["error"]
    assert service.give_up(other)[0].id == "1" and not service.waits(other)


def test_a_connection_that_does_not_say_what_it_is_ends():
    silent, honest = MafiaAgentSession(), MafiaAgentSession()
    for service in (silent, honest):
        assert service.tick(100.0) == []
    silent.receive("hello"), begun(honest, call())
    assert silent.tick(99.9 + limits.SILENT_SECONDS) == honest.tick(100.0 + limits.SILENT_SECONDS) == []
    assert isinstance(silent.tick(100.0 + limits.SILENT_SECONDS)[0], Over)


@pytest.mark.parametrize(
    "message, hint",
    [
        ("{", "no call"),
        (b"\xff\xfe", "no call"),
        ('{"id": 7}', "method"),
        ('{"id": 7, "method": "shout", "context": {}, "info": {}}', "method"),
        ('{"id": 7, "method": "vote", "context": [], "info": {}}', "context is no GameState"),
        ('{"id": {"a": 1}, "method": "vote"}', "id"),
        ("[" * 100_000, "no call"),
        ('{"id": 7, "cancel": 1}', "method"),
    ],
)
def test_what_cannot_be_read_is_answered(message, hint):
    told = problem(MafiaAgentSession(), message)
    assert hint in told["error"] and set(told) == {"id", "error"}
    assert told["id"] == (7 if '"id": 7' in str(message) else None)


@pytest.mark.parametrize(
    ("spoil", "words"),
    [
        (lambda call: call["context"].update(gameId="g" * 201), "an id or name has 201 characters"),
        (lambda call: call["context"]["players"][1].update(name="n" * 300), "an id or name has 300 characters"),
        (lambda call: call["context"].update(players=call["context"]["players"] * 5), "context has 25 players"),
        (
            lambda call: call["info"]["privateKnowledge"].update(nightActions={str(i): "p1" for i in range(21)}),
            "privateKnowledge holds more",
        ),
        (lambda call: call["info"]["self"].update(id=5), "self"),
        (lambda call: call.update(info=PLAIN[2]), "PrivateInfo"),
    ],
)
def test_what_no_match_has_is_refused(spoil, words):
    spoiled = json.loads(call(1, "nightAction"))
    spoil(spoiled)
    assert words in problem(MafiaAgentSession(), json.dumps(spoiled))["error"]


def test_what_others_send_may_be_more_or_less_than_the_document():
    state = {
        "phase": "DAY_VOTING",
        "players": [{"id": "p1", "name": "Ann", "role": None, "alive": True, "eliminatedRound": None, "mood": "bad"}],
        "votingHistory": None,
        "roundNumber": 1.0,
        "weather": {"rain": True},
    }
    info = {"self": state["players"][0], "gameState": state, "privateKnowledge": {"lastProtected": None}}
    message = json.dumps({"id": 1, "method": "think", "context": state, "info": info, "jsonrpc": "2.0"})
    turn = begun(MafiaAgentSession(), message)
    assert turn.context.round_number == 1 and turn.context.voting_history == []
    assert turn.info.private_knowledge.investigation_results == []


def test_states_have_the_documents_names():
    assert set(PLAIN[0]) == {
        "gameId", "phase", "dayNumber", "roundNumber", "players", "alivePlayers", "deadPlayers", "mafiaCount",
        "townCount", "winner", "lastNightResult", "votingHistory",
    }  # fmt: skip
    assert set(PLAIN[1]) == {"self", "gameState", "privateKnowledge"}
    assert PLAIN[1]["privateKnowledge"] == {"investigationResults": []}
    assert set(PLAIN[0]["players"][0]) == {"id", "name", "role", "alive", "eliminatedRound"}


# Broken messages; see `fuzzing`.


@fuzzed
def test_an_agents_end_answers_every_message_and_begins_every_honest_call(worker):
    rng, end = random.Random(worker), MafiaAgentSession()
    sent = honest = 0
    while sent < MESSAGES // WORKERS:
        running = []
        for _ in range(rng.randint(1, 8)):
            method = rng.choice(["think", "nightAction", "say", "vote"])
            one = json.loads(call(rng.choice([0, "x", rng.randrange(10**6)]), method, agent="p1"))
            for event in end.receive(mutated(rng, rng.choices([one, {"id": one["id"], "cancel": True}], (9, 1))[0])):
                assert event.error if isinstance(event, wire.Reply) else event.state.match_id is not None
                running += [event] if isinstance(event, MafiaTurn) else []
            sent += 1
        running.append(begun(end, call(f"honest {sent}", rng.choice(["think", "vote"]), agent="p1")))
        honest += 1
        for turn in running:
            if end.waits(turn):
                answer = rng.choice([None, {"targetId": "p2"}, changed(rng, {"actionType": "KILL", "targetId": "p2"})])
                messages = answered(end, turn, answer)[0] if rng.random() < 0.8 else end.give_up(turn)
                assert messages and not end.waits(turn)
    assert honest > sent / 20


def told(match, call, rng):
    """Answer a call of a match, honestly or not; return the steps, whether it was honest, and the broken messages."""
    if call.characters:
        honest = rng.random() < 0.5
        steps = [match.chunk(call.number, "Well." if honest else rng.choice(ODD)) for _ in range(rng.randint(1, 3))]
        return [*steps, match.answered(call.number)], honest, len(steps)
    _, info = match.arguments(call.number)
    if call.method == "vote":
        answer = wire.VoteAction(None)
    else:
        answer = wire.NightAction(wire.NIGHT_ACTIONS[info.self.role], night_targets(info)[0])
    if rng.random() < 0.5:
        return [match.answered(call.number, answer)], True, 0
    return [match.answered(call.number, changed(rng, msgspec.to_builtins(answer)))], False, 1


@fuzzed
def test_a_match_takes_any_answer_and_plays_on(worker):
    rng = random.Random(worker)
    sent = honest = 0
    while sent < MESSAGES // WORKERS:
        match = session(rng.randrange(2**32), limits=MafiaLimits(tries=2))
        match.begin()
        old = [0, -1, 10**9]
        while match.calls:
            call = rng.choice(match.calls)
            before = match.match.table.tobytes()
            for _ in range(rng.randint(0, 4)):  # to calls that are not running
                report = rng.choice([match.answered, match.chunk, match.replaced])
                calls, happened = match.calls, report(rng.choice(old), changed(rng, {"a": 1}))
                sent += 1
                assert not happened and match.calls == calls and match.match.table.tobytes() == before
            steps, good, count = told(match, call, rng)
            sent += count
            honest += good
            if good:
                faults = [one for happened in steps for one in happened if isinstance(one, Fault)]
                assert not faults, faults
            old.append(call.number)
        assert match.result is not None
    assert honest > sent / 20
