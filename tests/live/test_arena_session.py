"""The arena's match without sockets: order, refusals, names, limits, law 1, and both ends under broken messages."""

import json
import random

import msgspec
import numpy as np
import pytest
from live.fuzzing import MESSAGES, ODD, WORKERS, changed, fuzzed, mutated
from parlour import envs
from parlour.envs import Action, AgentResponse, TurnState
from parlour.envs.core.turn_state import ERROR_CODES
from parlour.envs.testing.trial import in_observations
from parlour.wrappers.agents.base import SeatNames
from parlour.wrappers.agents.policy import PolicyAgent
from parlour.wrappers.live.arena.agent import ArenaAgent, read_state
from parlour.wrappers.live.common.match_session import MatchLimits, MatchSession
from parlour.wrappers.live.common.player import plain
from parlour.wrappers.logs import match_log
from parlour.wrappers.policies.base import RandomPolicy
from parlour.wrappers.replay import log_reader

FREE = MatchLimits(actions=None)
TALK = {"messages": [{"scope": "public", "content": "hello"}], "action": {"action_type": "message_only"}}


def bargaining(*agents, seed=1, **limits):
    return MatchSession(envs.game("bargaining"), agents or ("ann", "bob"), seed=seed, limits=MatchLimits(**limits))


def offer(share):
    return {"action_type": "submit_offer", "payload": {"my_share": share}}


def ids(game, tricky):
    """Names for the seats: ordinary ones, or those of other seats."""
    return list(game.agents[1:] + game.agents[:1]) if tricky else [f'agent {seat} "é\\' for seat in game.agents]


@pytest.mark.parametrize("tricky", [False, True], ids=["names", "names of other seats"])
def test_law_1_through_the_wire(game, tricky):
    """Host → JSON → our agent's turn → observation: what the environment itself shows, bit for bit, the mask too."""
    generator, player = np.random.default_rng(0), ArenaAgent("me", PolicyAgent(game, RandomPolicy(seed=1)))
    for seed in (2, 3) if tricky else (0, 1):
        session = MatchSession(game, ids(game, tricky), seed=seed, limits=FREE)
        player.on_match_start(session.match_id, game.id, session.agent_ids)
        while session.turn is not None:
            acting = session.turn
            for seat, agent in enumerate(session.agent_ids):
                turn = player.turn(TurnState.from_json(session.turn_state(agent).to_json()))
                tables, me = game.view.load(turn.state)
                assert me == seat
                assert in_observations(game.versions, (tables[0], me), (session.match.table, seat)) is None
                mask = game.mask(tables[0], me)
                assert np.array_equal(mask, game.mask(session.match.table, seat))
                if agent == acting:
                    answer = turn.sent(game.view.encode(tables[0], int(generator.choice(mask.nonzero()[0]))))
            assert session.act(acting, json.loads(answer.to_json())).ok
        for agent in session.agent_ids:
            state = session.turn_state(agent)
            assert state.game_over and not state.is_my_turn and state.allowed_actions == []
            assert {row.get("agent_id", agent) for row in state.outcome["payoffs"]} <= set(session.agent_ids)
        assert sum(session.payoffs.values()) == pytest.approx(0) or not game.payoffs.zero_sum


def test_words_that_are_just_a_name_are_renamed_once_on_the_way_out_and_never_on_the_way_in():
    names = SeatNames(["p2", "p1", "p3"], ["p1", "p2", "p3"])

    def said(text):
        return AgentResponse(Action("say", {"targetId": "p1", "text": text}))

    assert names.for_agents.response(names.text_for_agents(said("p1"))).action.payload == {
        "targetId": "p2",
        "text": "p2",
    }
    assert names.for_game.response(said("p1")).action.payload == {"targetId": "p2", "text": "p1"}
    assert names.for_game.response(AgentResponse(Action("vote", {"targetId": "p1"}))).action.payload == {
        "targetId": "p2"
    }


def test_a_names_change_leaves_alone_what_people_wrote():
    session = bargaining("player_1", "player_0")
    text = 'player_0 "player_0" \\"player_1'
    assert session.act("player_1", {"action": offer(60), "messages": [{"scope": "public", "content": text}]}).ok
    state = session.turn_state("player_0")
    assert [message.content for message in state.messages] == [text]
    assert state.messages[0].sender_id == "player_1" == state.game_state["last_offer_by"]
    assert state.game_state["action_history"][0]["agent_id"] == "player_1"


def test_an_agent_may_do_with_its_state_as_it_likes():
    session = bargaining()
    session.act("ann", {**TALK})
    state = session.turn_state("ann")
    before = session.turn_state("ann").to_json()
    state.messages[0].content = "forged"
    state.game_state["action_history"].append("forged")
    for allowed in state.allowed_actions:
        allowed.payload_schema["properties"]["forged"] = 1
    state.match_id = ""
    assert session.turn_state("ann").to_json() == before


# Every error code.


def test_every_error_code_is_reachable():
    session = bargaining()
    found = [
        session.act("eve", offer(1)),
        session.act("bob", offer(1)),
        session.act("ann", {"action_type": "raiseTo"}),
        session.act("ann", offer("much")),
    ]
    assert session.act("ann", offer(60)).ok
    found.append(session.act("bob", {"action_type": "accept", "payload": {"now": 1}}))
    found.append(session.act("bob", {"action": offer(1), "messages": [TALK["messages"][0]] * 11}))
    assert session.act("bob", {"action_type": "accept"}).ok
    found.append(session.act("ann", offer(1)))
    found.append(session.send("ann", TALK["messages"][0]))
    codes = [result.error for result in found]
    assert codes == [
        "agent_not_in_match",
        "not_your_turn",
        "invalid_action_type",
        "invalid_payload",
        "invalid_payload",
        "game_rule_violation",
        "match_not_running",
        "match_not_running",
    ]
    assert {*codes, "match_not_found"} == set(ERROR_CODES)  # which the HTTP calls answer
    assert all(result.error_detail and not result.ok for result in found)


def test_after_ten_turns_without_an_action_nobody_may_go_on_talking():
    """A pass stays, because it is a move of some games; an action of the game ends it."""
    session = bargaining(actions=None)
    kinds = [offer.action_type for offer in session.turn_state("ann").allowed_actions]
    assert kinds == ["submit_offer", "pass", "message_only"]
    for number in range(10):
        answer = TALK if number % 3 == 0 else {"action": {"action_type": "pass"}}
        assert session.act(session.turn, answer).ok
    acting = session.turn
    for state in (session.turn_state(acting), session.seat_state(acting)):
        assert [offer.action_type for offer in state.allowed_actions] == ["submit_offer", "pass"]
    assert session.act(acting, TALK).ok and session.turn != acting and session.forced[acting] == 1
    assert session.act(session.turn, {"action": offer(60)}).ok
    assert session.turn_state(session.turn).allowed_actions[-1].action_type == "message_only"


def test_recipients_that_are_not_in_the_match_are_left_out():
    session = bargaining()
    for reader in ("eve", "player_1"):
        whisper = {"scope": "private", "content": f"for {reader}", "to_agent_ids": [reader, "bob"]}
        assert session.act("ann", {"action": {"action_type": "message_only"}, "messages": [whisper]}).ok
        assert session.send("bob", {**whisper, "to_agent_ids": [reader]}).ok
    assert [(m.sender_id, m.to_agent_ids) for m in session.turn_state("bob").messages] == [
        ("ann", ["bob"]), ("bob", []), ("ann", ["bob"]), ("bob", []),
    ]  # fmt: skip
    assert [m.sender_id for m in session.turn_state("ann").messages] == ["ann", "ann"]
    assert session.rejections == {"ann": 0, "bob": 0}


def test_the_log_of_a_match_replays(tmp_path):
    session = MatchSession(envs.game("bargaining", talk=True), ("ann", "bob"), seed=5)
    session.send("bob", {"scope": "private", "content": "My reservation value is 10", "to_agent_ids": ["ann"]})
    session.act("ann", TALK)
    session.act("ann", {"action_type": "nonsense"})
    session.timeout("ann")
    session.act("bob", offer(55.5))
    session.act("ann", {"action_type": "accept"})
    with match_log.MatchLog(tmp_path / "log.jsonl") as log:
        for event in session.events:
            log.write(**event)
    assert log_reader.replay(tmp_path / "log.jsonl").state().tobytes() == session.match.table.tobytes()
    kinds = [entry["kind"] for entry in match_log.read(tmp_path / "log.jsonl")]
    assert kinds == ["match", "message", "turn", "rejected", "failed", "turn", "turn", "turn", "end"]


# Foreign types and dialects.


def test_words_are_what_a_game_says(game_id):
    game = envs.game(game_id)
    found = game.words
    assert found.isdisjoint(game.agents)
    assert game.words is found  # no episode is played again
    if game_id == "holdem-v0":
        assert {"call", "preflop", "As", "stack"} <= found


def test_plain_reads_cycles_and_strangers_without_harm():
    cycle = []
    cycle.append(cycle)
    with pytest.raises(RecursionError):
        plain(cycle)
    session = bargaining(attempts=9)
    for answer in (object(), cycle, {1: 2}, b"x", [], "accept", float("nan"), {"action_type": 3}, "x" * 10**7):
        assert session.act("ann", answer).error == "invalid_payload"
    huge = {"action_type": "x" * 10**7}
    assert len(session.act("ann", huge).error_detail) <= 500


def test_words_are_heard_by_the_arenas_names_and_told_by_them():
    """Mafia, where free text is read for an act, and acts are told in words."""
    ids = ["ann", "token-bot", "p1", "dan", "eve"]  # p1 sits in the third seat
    session = MatchSession(envs.game("mafia", seats=5), ids, seed=1, limits=FREE)
    while session.match.table.phase == 0:
        assert session.act(session.turn, {"action": {"action_type": "pass"}}).ok
    living = [one for one in ids if session.match.table.alive[ids.index(one)]]
    speaker = session.turn
    target = next(one for one in living if one not in (speaker, "p1"))
    text = f"I accuse {target}."
    assert session.act(speaker, {"action": {"action_type": "say", "payload": {"text": text}}}).ok
    second = session.turn
    seat = f"p{ids.index(speaker) + 1}"
    answer = AgentResponse(Action("say", {"type": "accusation", "targetId": seat, "text": f"I accuse {seat}."}))
    assert session.act_as_seat(second, answer).ok
    state = session.turn_state(living[-1])
    acts = [(one["playerId"], one["type"], one["targetId"]) for one in state.game_state["statements"]]
    assert acts == [(speaker, "accusation", target), (second, "accusation", speaker)]
    assert [message.content for message in state.messages] == [text, f"I accuse {speaker}."]


@pytest.mark.parametrize("kind", ["rejected", "failed"])
def test_what_a_mistake_costs(kind):
    def err(session):
        return session.act("ann", None) if kind == "rejected" else session.failed("ann", "RuntimeError: boom")

    session = bargaining(**{kind: "keep"}, attempts=2)
    err(session)
    assert session.turn == "ann" and session.forced["ann"] == 0
    err(session)
    assert session.turn == "bob" and session.forced["ann"] == 1
    assert session.turn_state("bob").game_state["action_history"] == [{"agent_id": "ann", "action": "pass", "round": 1}]

    session = bargaining(**{kind: "pass"})
    err(session)
    assert session.turn == "bob" and session.actions == 1

    session = bargaining(**{kind: "end"})
    err(session)
    assert session.turn is None
    assert session.error.startswith("ann: ")
    assert session.outcome["reason"] == "error"
    assert session.outcome["payoffs"] == [{"agent_id": "ann", "utility": 0}, {"agent_id": "bob", "utility": 0}]
    state = session.turn_state("bob")
    assert state.game_over and state.outcome == session.outcome and state.current_turn_agent_id is None
    assert session.failed("ann", "late").error == "match_not_running"


def test_seats_that_send_refused_actions_for_ever_hold_no_match_open(game):
    session = MatchSession(game, ids(game, False), seed=1, limits=FREE)
    while session.turn is not None:
        session.act(session.turn, {"action_type": "dance"})
    assert sum(session.forced.values()) == session.actions == sum(session.rejections.values()) / 3


def test_a_late_agent_loses_its_turn_and_no_more():
    session = bargaining(failed="keep")
    assert session.timeout("bob").error == "not_your_turn"
    assert session.timeout("ann").ok
    assert session.turn == "bob"
    assert session.failures == {"ann": 1, "bob": 0}


def test_endless_talk_ends_in_a_pass():
    session = bargaining(messages=10, waits=3)
    for _ in range(3):
        assert session.act("ann", TALK).ok
        assert session.turn == "ann"
    assert session.act("ann", TALK).ok
    assert session.turn == "bob" and session.forced["ann"] == 1
    assert len(session.turn_state("bob").messages) == 4
    assert session.act("bob", Action("pass")).ok
    notes = [event.get("replaced") for event in session.events if event["kind"] == "turn"]
    assert notes[-2:] == ["it only talked", None]


def test_twenty_actions_are_the_limit_of_two():
    game = envs.game("bargaining", rounds=50)
    session = MatchSession(game, ("ann", "bob"), seed=1)
    while session.turn:
        session.act(session.turn, offer(90))
    assert session.actions == 20
    assert session.outcome["reason"] == "max_actions_exceeded"
    session = MatchSession(game, ("ann", "bob"), seed=1, limits=FREE)
    while session.turn:
        session.act(session.turn, offer(90))
    assert session.actions == 100
    assert session.outcome["reason"] == "max_rounds_exceeded"


def test_a_match_that_is_cut_short_pays_the_rounds_that_have_ended():
    game = envs.game("cournot", rounds=30)  # price 100 less what both produce; a unit costs 20
    session = MatchSession(game, ("ann", "bob"), seed=1, limits=MatchLimits(actions=7))
    while session.turn:
        assert session.act(session.turn, Action("submit_quantity", {"quantity": 30})).ok
    assert session.outcome["reason"] == "max_actions_exceeded"
    # (100 - 60 - 20) for each of 30 units, three times; the fourth round has not ended.
    assert session.outcome["payoffs"] == [{"agent_id": name, "utility": 1800} for name in ("ann", "bob")]


@pytest.mark.parametrize(
    "wrong", [{"actions": 0}, {"messages": 11}, {"waits": -1}, {"attempts": 0}, {"rejected": "shout"}]
)
def test_wrong_limits_are_told(wrong):
    with pytest.raises(ValueError, match=next(iter(wrong))):
        MatchLimits(**wrong)


def test_messages_are_counted_before_they_are_read():
    class Unread(dict):
        def items(self):
            raise AssertionError("it was read")

    session = bargaining()
    for answer in (
        {"action": offer(1), "messages": [Unread()] * 12_000},
        AgentResponse(Action("pass"), [Unread()] * 12_000),
    ):
        result = session.act("ann", answer)
        assert (result.error, session.turn) == ("game_rule_violation", "ann")
    assert session.rejections["ann"] == 2


def test_messages_of_answers_count_towards_the_limit_of_a_turn():
    session = bargaining(messages=2, waits=9, rejected="keep", attempts=9)
    assert session.act("ann", TALK).ok
    assert session.send("ann", TALK["messages"][0]).ok
    result = session.act("ann", TALK)
    assert (result.error, session.turn) == ("game_rule_violation", "ann")
    assert session.act("ann", offer(60)).ok  # without messages there is nothing to count


def test_only_the_acting_agent_can_give_up_and_that_ends_the_match():
    session = bargaining()
    for other in ("bob", "eve"):
        session.failed(other, "it is gone", "end")
        assert session.turn == "ann" and session.failures == {"ann": 0, "bob": 0}
    session.failed("ann", "it is gone", "end")
    assert session.turn is None and session.outcome["reason"] == "error"
    session.failed("ann", "again", "end")
    assert session.failures == {"ann": 1, "bob": 0}


GAMES = [envs.game("bargaining"), envs.game("auction"), envs.game("liars_dice"), envs.game("mafia", seats=5)]
SAID = {"scope": "private", "content": "hello", "recipients": ["ann"]}


def begun(game, rng):
    ids = ["ann", "bob", "cat", "dan", "eve", "fay"][: game.seats]
    session = MatchSession(game, ids, seed=rng.randrange(2**32), limits=MatchLimits(actions=None, attempts=10**9))
    return session, SeatNames(ids, game.agents)


@fuzzed
def test_a_host_refuses_what_is_broken_and_plays_on(worker):
    rng, game = random.Random(worker), GAMES[worker]
    session, names = begun(game, rng)
    sent = refused = played = 0
    while sent < MESSAGES // WORKERS:
        if session.turn is None:
            session, names = begun(game, rng)
        legal = game.mask(session.match.table, int(session.match.turn)).nonzero()[0].tolist()
        honest = names.for_agents.response(game.view.encode(session.match.table, int(rng.choice(legal))))
        answer = json.loads(honest.to_json())
        for _ in range(rng.randint(0, 6)):
            acting, before, actions = session.turn, session.match.table.tobytes(), session.actions
            agent = rng.choice([acting, *session.agent_ids, "nobody", ""])
            if rng.random() < 0.2:
                result = session.send(agent, changed(rng, SAID))
            else:
                wire = answer if rng.random() < 0.5 else {**answer, "messages": [SAID, SAID]}
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


@fuzzed
def test_an_agent_reads_or_refuses_every_state_and_always_has_an_answer(worker):
    rng, game = random.Random(worker), GAMES[worker]
    agent = ArenaAgent("me", PolicyAgent(game, RandomPolicy(seed=1)))
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
        agent.on_match_end(session.match_id, None)
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
