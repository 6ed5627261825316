"""Both ends of the arena's protocol under broken answers and broken states; see `fuzzing`."""

import json
import random

import msgspec
import pytest
from live.fuzzing import MESSAGES, ODD, WORKERS, changed, mutated
from parlour import envs
from parlour.envs.core.turn_state import ERROR_CODES
from parlour.wrappers.live.arena.agent import ArenaAgentSession
from parlour.wrappers.live.common.agent_turn import read_state
from parlour.wrappers.live.common.match_session import MatchLimits, MatchSession
from parlour.wrappers.live.common.seat_names import SeatNames

GAMES = [envs.game("bargaining"), envs.game("auction"), envs.game("liars_dice"), envs.game("mafia", seats=5)]
PATIENT = MatchLimits(actions=None, attempts=10**9)
TALK = {"scope": "private", "content": "hello", "recipients": ["ann"]}


def honest(session, names, rng):
    """A legal answer of the agent to act, as it travels."""
    table = session.match.table
    legal = session.game.mask(table, int(session.match.turn)).nonzero()[0]
    answer = names.response_for_agents(session.game.view.encode(table, int(rng.choice(legal.tolist()))))
    return json.loads(answer.to_json())


def begun(game, rng):
    ids = ["ann", "bob", "cat", "dan", "eve", "fay"][: game.seats]
    session = MatchSession(game, ids, seed=rng.randrange(2**32), limits=PATIENT)
    return session, SeatNames(ids, game.agents)


@pytest.mark.parametrize("worker", range(WORKERS))
def test_a_host_refuses_what_is_broken_and_plays_on(worker):
    rng, game = random.Random(worker), GAMES[worker]
    session, names = begun(game, rng)
    sent = refused = played = 0
    while sent < MESSAGES // WORKERS:
        if session.turn is None:
            session, names = begun(game, rng)
        answer = honest(session, names, rng)
        for _ in range(rng.randint(0, 6)):
            acting, before, actions = session.turn, session.match.table.tobytes(), session.actions
            agent = rng.choice([acting, *session.agent_ids, "nobody", ""])
            if rng.random() < 0.2:
                result = session.send(agent, changed(rng, TALK))
            else:
                wire = answer if rng.random() < 0.5 else {**answer, "messages": [TALK, TALK]}
                result = session.act(agent, changed(rng, wire))
            sent += 1
            if not result.ok:
                refused += 1
                assert result.error in ERROR_CODES and result.error_detail
                assert (session.match.table.tobytes(), session.turn) == (before, acting)
            if session.turn is None or session.actions != actions:
                break
        else:
            assert session.act(session.turn, answer).ok
            played += 1
        session.events.clear()
    assert refused > sent / 10 and played > sent / 100
    assert session.outcome is None or session.error is None


@pytest.mark.parametrize("worker", range(WORKERS))
def test_an_agent_reads_or_refuses_every_state_and_always_has_an_answer(worker):
    rng, game = random.Random(worker), GAMES[worker]
    agent = ArenaAgentSession(game)
    sent = read = 0
    while sent < MESSAGES // WORKERS:
        session, _ = begun(game, rng)
        if rng.random() < 0.5:
            agent.match(session.match_id).order = rng.choice([session.agent_ids, ["ann"], ["ann", "ann"], []])
        while session.turn is not None and sent < MESSAGES // WORKERS:
            clean = session.turn_state(session.turn).to_json()
            plain = json.loads(clean)
            for _ in range(rng.randint(1, 6)):
                sent += 1
                try:
                    state = read_state(msgspec.json.decode(mutated(rng, plain)))
                except (ValueError, TypeError, AttributeError, RecursionError):  # HTTP 400
                    continue
                read += 1
                check(agent.turn(state), rng)
            turn = agent.turn(read_state(msgspec.json.decode(clean)))
            assert turn.problem is None
            assert session.act(session.turn, json.loads(turn.safe().to_json())).ok
        agent.match_ended(session.match_id)
    assert read > sent / 10


def check(turn, rng):
    """Whatever the state holds, an answer can be sent, and it is one that the state offers."""
    _, refusal = turn.settle(lambda: rng.choice(ODD))
    assert refusal is None or isinstance(refusal, str)
    answer = turn.safe()
    json.loads(answer.to_json())
    offered = [offer.action_type for offer in turn.state.allowed_actions]
    assert not offered or answer.action.action_type in [*offered, "pass", "message_only"]
    assert isinstance(turn.notes({"probabilities": {"pass": 1.0}}), dict)
