"""Both ends of mafia's forwarding protocol, and the match of its host, under broken messages; see `fuzzing`."""

import json
import random

import msgspec
import pytest
from live.fuzzing import MESSAGES, ODD, WORKERS, changed, mutated
from mafia_players import context, session
from parlour.wrappers.live.mafia import messages as wire
from parlour.wrappers.live.mafia.agent_policy import night_targets
from parlour.wrappers.live.mafia.agent_session import CALLS, Begin, GivenUp, MafiaAgentSession
from parlour.wrappers.live.mafia.host_session import Fault
from parlour.wrappers.live.mafia.limits import MafiaLimits
from parlour.wrappers.live.mafia.service_client import Chunk, Done, Failed, MafiaCallerSession

STATE, PRIVATE, PUBLIC = context()
PLAIN = {
    method: {"context": msgspec.to_builtins(STATE), "info": msgspec.to_builtins(info), "agent": "p1"}
    for method, info in (("think", PRIVATE), ("nightAction", PRIVATE), ("say", PUBLIC), ("vote", PUBLIC))
}


@pytest.mark.parametrize("worker", range(WORKERS))
def test_an_agents_end_answers_every_message_and_begins_every_honest_call(worker):
    rng, end = random.Random(worker), MafiaAgentSession()
    sent = begun = 0
    while sent < MESSAGES // WORKERS:
        running = []
        for _ in range(rng.randint(1, 8)):
            method = rng.choice(list(PLAIN))
            call = {"id": rng.choice([0, "x", rng.randrange(10**6)]), "method": method, **PLAIN[method]}
            answer = end.receive(mutated(rng, rng.choices([call, {"id": call["id"], "cancel": True}], (9, 1))[0]))
            sent += 1
            if isinstance(answer, Begin):
                running.append(answer.id)
            elif isinstance(answer, bytes):
                assert msgspec.json.decode(answer, type=wire.Reply).error
            else:
                assert answer is None or isinstance(answer, GivenUp)
        method = rng.choice(list(PLAIN))
        honest = end.receive(json.dumps({"id": f"honest {sent}", "method": method, **PLAIN[method]}))
        assert isinstance(honest, Begin) and (honest.method, honest.agent_id) == (method, "p1")
        begun += 1
        for call in [honest.id, *running]:
            said = end.done(call) if rng.random() < 0.8 else end.failed(call, "no")
            assert said is None or msgspec.json.decode(said, type=wire.Reply).id == call
        assert len(running) < CALLS
    assert begun > sent / 20


@pytest.mark.parametrize("worker", range(WORKERS))
def test_a_hosts_end_takes_whatever_comes_and_ends_every_call_once(worker):
    rng, end = random.Random(worker), MafiaCallerSession()
    sent = ended = 0
    while sent < MESSAGES // WORKERS:
        number, _ = end.call("vote", STATE, PUBLIC, "p1")
        over = False
        for _ in range(rng.randint(1, 6)):
            replies = [{"id": number, "chunk": "a"}, {"id": number, "done": True, "result": {}}]
            got = end.receive(mutated(rng, rng.choices([*replies, {"id": number, "error": "no"}], (6, 1, 1))[0]))
            sent += 1
            assert got is None or isinstance(got, (Chunk, Done, Failed))
            if getattr(got, "id", None) == number:
                assert not over
                over = isinstance(got, (Done, Failed))
        got = end.receive(json.dumps({"id": number, "done": True}))
        assert over == (got is None) and isinstance(got, (Done, type(None)))
        ended += 1
    assert ended > 0 and not end.lost()


def answered(match, call, rng):
    """Answer a call, honestly or not; return the step, whether it was honest, and how many messages it took."""
    if call.characters:
        honest = rng.random() < 0.5
        steps = [match.chunk(call.number, "Well." if honest else rng.choice(ODD)) for _ in range(rng.randint(1, 3))]
        return [*steps, match.finished(call.number)], honest, len(steps)
    _, info = match.arguments(call.number)
    if call.method == "vote":
        answer = wire.VoteAction(None)
    else:
        answer = wire.NightAction(wire.NIGHT_ACTIONS[info.self.role], night_targets(info)[0])
    if rng.random() < 0.5:
        return [match.answered(call.number, answer)], True, 0
    return [match.answered(call.number, changed(rng, msgspec.to_builtins(answer)))], False, 1


@pytest.mark.parametrize("worker", range(WORKERS))
def test_a_match_takes_any_answer_and_plays_on(worker):
    rng = random.Random(worker)
    sent = honest = 0
    while sent < MESSAGES // WORKERS:
        match = session(rng.randrange(2**32), limits=MafiaLimits(tries=2))
        calls = match.begin().calls
        old = [0, -1, 10**9]
        while calls:
            call = calls.pop(rng.randrange(len(calls)))
            before = match.match.table.tobytes()
            for _ in range(rng.randint(0, 4)):  # to calls that are not running
                step = rng.choice([match.answered, match.chunk, match.failed])(rng.choice(old), changed(rng, {"a": 1}))
                sent += 1
                assert not step.happened and not step.calls and match.match.table.tobytes() == before
            steps, good, count = answered(match, call, rng)
            sent += count
            honest += good
            if good:
                faults = [one for step in steps for one in step.happened if isinstance(one, Fault)]
                assert not faults, faults
            old.append(call.number)
            calls += [one for step in steps for one in step.calls]
        assert match.result is not None
    assert honest > sent / 20
