"""The forwarding protocol without a socket: any message gets its answer, and nothing else happens."""

import json

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from mafia_players import context
from parlour.wrappers.live.mafia import messages as wire
from parlour.wrappers.live.mafia.agent_session import CALLS, Begin, GivenUp, MafiaAgentSession
from parlour.wrappers.live.mafia.service_client import Chunk, Done, Failed, MafiaCallerSession

STATE, PRIVATE, PUBLIC = context()
PLAIN = msgspec.to_builtins(STATE), msgspec.to_builtins(PRIVATE), msgspec.to_builtins(PUBLIC)


def call(id=1, method="think", info=None, **fields):
    info = info or (PLAIN[1] if method in ("think", "nightAction") else PLAIN[2])
    return json.dumps({"id": id, "method": method, "context": PLAIN[0], "info": info, **fields})


def answer(message):
    return json.loads(message)


def test_a_call_and_its_answer():
    service = MafiaAgentSession()
    begin = service.receive(call())
    assert isinstance(begin, Begin)
    assert (begin.id, begin.agent_id, begin.method) == (1, "p1", "think")
    assert begin.context == STATE and begin.info == PRIVATE
    assert answer(service.chunk(1, "Hm.")) == {"id": 1, "chunk": "Hm."}
    assert answer(service.done(1)) == {"id": 1, "done": True}
    assert service.chunk(1, "late") is None and service.done(1) is None and service.failed(1, "late") is None


def test_the_result_of_an_action_is_the_documents():
    service = MafiaAgentSession()
    for method, result, told in (
        ("nightAction", wire.NightAction("KILL", "p2"), {"actionType": "KILL", "targetId": "p2"}),
        ("nightAction", None, None),
        ("vote", wire.VoteAction(None), {"targetId": None}),
        ("vote", wire.VoteAction("p2", "why not"), {"targetId": "p2", "reason": "why not"}),
    ):
        assert isinstance(service.receive(call("x", method, agent="p1")), Begin)
        assert answer(service.done("x", result)) == {"id": "x", "done": True, "result": told}


def test_both_ends_understand_each_other():
    service, caller = MafiaAgentSession(), MafiaCallerSession()
    for method, info in (("think", PRIVATE), ("say", PUBLIC), ("nightAction", PRIVATE), ("vote", PUBLIC)):
        number, message = caller.call(method, STATE, info, "p1")
        begin = service.receive(message)
        assert (begin.id, begin.method, begin.agent_id) == (number, method, "p1")
        assert (begin.context, begin.info) == (STATE, info)
        assert caller.receive(service.chunk(number, "a")) == Chunk(number, "a")
        assert caller.receive(service.done(number, {"targetId": None})) == Done(number, {"targetId": None})
        assert caller.receive(json.dumps({"id": number, "chunk": "late"})) is None


def test_whose_statement_it_is():
    service = MafiaAgentSession()
    problem = answer(service.receive(call(1, "say")))
    assert problem["id"] == 1 and "which agent is to say" in problem["error"]
    assert service.receive(call(2, "think")).agent_id == "p1"
    assert service.receive(call(3, "say")).agent_id == "p1"  # the only one on this connection
    other = context(me=1)
    info = msgspec.to_builtins(other[1])
    assert service.receive(call(4, "think", info)).agent_id == "p2"
    assert "p1, p2" in answer(service.receive(call(5, "vote")))["error"]
    assert service.receive(call(6, "vote", agent="p2")).agent_id == "p2"
    assert "info is 'p2''s" in answer(service.receive(call(7, "think", info, agent="p1")))["error"]


def test_several_calls_at_once_and_given_up_ones():
    service = MafiaAgentSession()
    assert isinstance(service.receive(call(1)), Begin) and isinstance(service.receive(call("1")), Begin)
    assert answer(service.receive(call(1)))["id"] is None  # the running call of that id goes on
    assert service.receive('{"id": 1, "cancel": true}') == GivenUp(1)
    assert service.receive('{"id": 1, "cancel": true}') is None
    assert service.chunk(1, "late") is None and service.chunk("1", "still here") is not None
    for number in range(2, 2 + CALLS - 1):
        assert isinstance(service.receive(call(number)), Begin)
    assert "calls are running" in answer(service.receive(call(1)))["error"]


@pytest.mark.parametrize(
    "message, hint",
    [
        ("", "no call"),
        ("{", "no call"),
        ("[]", "no call"),
        ("null", "no call"),
        (b"\xff\xfe", "no call"),
        ('{"id": 7}', "method"),
        ('{"id": 7, "method": "shout", "context": {}, "info": {}}', "method"),
        ('{"id": 7, "method": "vote", "context": {}, "info": {}}', "context is no GameState"),
        ('{"id": 7, "method": "vote", "context": [], "info": {}}', "context is no GameState"),
        ('{"id": {"a": 1}, "method": "vote"}', "id"),
        ("[" * 100_000, "no call"),
        ('{"id": 7, "cancel": 1}', "method"),
    ],
)
def test_what_cannot_be_read_is_answered(message, hint):
    service = MafiaAgentSession()
    problem = answer(service.receive(message))
    assert hint in problem["error"] and set(problem) == {"id", "error"}
    assert problem["id"] == (7 if '"id": 7' in str(message) else None)


def test_a_wrong_info_is_told_by_its_field():
    info = json.loads(json.dumps(PLAIN[1]))
    info["self"]["id"] = 5
    assert "self" in answer(MafiaAgentSession().receive(call(1, "think", info)))["error"]
    assert "PrivateInfo" in answer(MafiaAgentSession().receive(call(1, "nightAction", PLAIN[2])))["error"]


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
    begin = MafiaAgentSession().receive(message)
    assert begin.context.round_number == 1 and begin.context.voting_history == []
    assert begin.info.private_knowledge.investigation_results == []


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda part: st.lists(part, max_size=3) | st.dictionaries(st.text(max_size=8), part, max_size=3),
    max_leaves=12,
)


@given(
    st.one_of(
        JSON,
        st.fixed_dictionaries(
            {},
            optional={
                "id": JSON,
                "method": JSON | st.sampled_from(["think", "say", "vote", "nightAction"]),
                "context": JSON,
                "info": JSON,
                "cancel": JSON,
                "agent": JSON,
                "chunk": JSON,
                "done": JSON,
                "error": JSON,
                "result": JSON,
            },
        ),
    )
)
def test_any_json_is_answered_or_ignored_at_both_ends(value):
    service, caller = MafiaAgentSession(), MafiaCallerSession()
    message = json.dumps(value)
    reply = service.receive(message)
    if isinstance(reply, bytes):
        assert "error" in answer(reply)
    assert caller.receive(message) is None or isinstance(caller.receive(message), Failed)


@given(st.binary(max_size=200) | st.text(max_size=200))
def test_any_bytes_are_answered(data):
    reply = MafiaAgentSession().receive(data)
    assert reply is None or "error" in answer(reply)
    assert MafiaCallerSession().receive(data) is None or isinstance(MafiaCallerSession().receive(data), Failed)


def test_every_running_call_fails_with_the_connection():
    caller = MafiaCallerSession()
    numbers = [caller.call("think", STATE, PRIVATE)[0] for _ in range(3)]
    assert set(caller.lost()) == set(numbers)
    assert not caller.lost() and caller.give_up(numbers[0]) is None


def test_configs_and_events_have_the_documents_names():
    config = wire.AgentConfig(
        type="scripted", scripted_config=wire.ScriptedConfig(personality="social", lie_frequency=0.5)
    )
    assert answer(wire.encode(config)) == {
        "type": "scripted",
        "scriptedConfig": {"personality": "social", "lieFrequency": 0.5},
    }
    assert wire.read({"type": "llm", "llmConfig": {"model": "m", "apiKey": "k", "maxTokens": 9}}, wire.AgentConfig)
    assert "apiKey" not in wire.encode(wire.LlmConfig(model="m")).decode()
    assert set(PLAIN[0]) == {
        "gameId", "phase", "dayNumber", "roundNumber", "players", "alivePlayers", "deadPlayers", "mafiaCount",
        "townCount", "winner", "lastNightResult", "votingHistory",
    }  # fmt: skip
    assert set(PLAIN[1]) == {"self", "gameState", "privateKnowledge"}
    assert PLAIN[1]["privateKnowledge"] == {"investigationResults": []}
    assert set(PLAIN[0]["players"][0]) == {"id", "name", "role", "alive", "eliminatedRound"}
