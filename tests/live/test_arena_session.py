"""The arena's match without sockets: order, refusals, names, and law 1 through the wire."""

import json

import numpy as np
import pytest
from cases import CASES
from hypothesis import given, settings
from hypothesis import strategies as st
from live.arena_matches import FREE, TALK, bargaining, offer
from parlour import envs
from parlour.envs import Action, AgentResponse, TurnState
from parlour.envs.core.turn_state import ERROR_CODES
from parlour.envs.testing.trial import in_observations
from parlour.wrappers.live.arena.agent import ArenaAgent, ArenaAgentSession
from parlour.wrappers.live.common.agent_turn import plain, read_state
from parlour.wrappers.live.common.match_session import MatchLimits, MatchSession
from parlour.wrappers.live.common.seat_names import SeatNames
from parlour.wrappers.logs import match_log


def ids(game, tricky):
    """Names for the seats: ordinary ones, or those of other seats."""
    return list(game.agents[1:] + game.agents[:1]) if tricky else [f'agent {seat} "é\\' for seat in game.agents]


@pytest.mark.parametrize("tricky", [False, True], ids=["names", "names of other seats"])
def test_law_1_through_the_wire(game, tricky):
    """Host → JSON → TurnState → observation: what the environment itself shows, bit for bit, and the mask too."""
    generator = np.random.default_rng(0)
    for seed in (2, 3) if tricky else (0, 1):
        session = MatchSession(game, ids(game, tricky), seed=seed, limits=FREE)
        names = SeatNames(session.agent_ids, game.agents)
        while session.turn is not None:
            acting = session.turn
            for seat, agent in enumerate(session.agent_ids):
                state = names.state_for_game(TurnState.from_json(session.turn_state(agent).to_json()))
                tables, me = game.view.load(state)
                assert me == seat
                assert in_observations(game.versions, (tables[0], me), (session.match.table, seat)) is None
                mask = game.mask(tables[0], me)
                assert np.array_equal(mask, game.mask(session.match.table, seat))
                if agent == acting:
                    number, table = int(generator.choice(mask.nonzero()[0])), tables[0]
            answer = names.response_for_agents(game.view.encode(table, number))
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

    assert names.response_for_agents(said("p1")).action.payload == {"targetId": "p2", "text": "p2"}
    assert names.response_for_game(said("p1")).action.payload == {"targetId": "p2", "text": "p1"}
    assert names.response_for_game(AgentResponse(Action("vote", {"targetId": "p1"}))).action.payload == {
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


def test_a_rejected_answer_changes_nothing():
    session = bargaining()
    before = session.match.table.tobytes()
    assert session.act("ann", offer(101)).error == "invalid_payload"
    assert session.match.table.tobytes() == before
    assert session.turn == "ann"
    assert session.rejections == {"ann": 1, "bob": 0}


def test_an_answer_that_is_not_offered_is_not_sent():
    state = bargaining().turn_state("ann")
    turn = ArenaAgentSession(envs.game("bargaining")).turn(state)
    assert turn.settle(lambda: offer(50))[1] is None
    assert "'accept' is not offered, but submit_offer" in turn.settle(lambda: Action("accept"))[1]
    state.allowed_actions.clear()  # an arena that offers nothing says nothing
    assert ArenaAgentSession(envs.game("bargaining")).turn(state).settle(lambda: Action("accept"))[1] is None


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


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=12), inner, max_size=4),
    max_leaves=12,
)
answers = json_values | st.fixed_dictionaries(
    {
        "action": st.fixed_dictionaries(
            {"action_type": st.sampled_from(["submit_offer", "accept", "raiseTo", "submit_bid", "bet", "pass"]),
             "payload": st.dictionaries(st.sampled_from(["my_share", "amount", "bid"]), json_values, max_size=2)}
        ),
        "messages": json_values | st.lists(st.just(TALK["messages"][0]), max_size=12),
    }
)  # fmt: skip


@pytest.mark.parametrize("case", [CASES[0], *(case for case in CASES if "default" in case.id)])
@given(answer=answers)
@settings(max_examples=60)
def test_any_payload_is_answered(case, answer):
    game = envs.game(case[0], **case[1])
    session = MatchSession(game, ids(game, False), seed=3, limits=MatchLimits(actions=None, attempts=2))
    before, acting = session.match.table.tobytes(), session.turn
    result = session.act(acting, answer)
    if not result.ok:
        assert result.error in ERROR_CODES
        assert result.error_detail
        assert session.match.table.tobytes() == before
        session.act(acting, answer)
        assert session.forced[acting] == 1
    json.dumps([event["kind"] for event in session.events])


def test_agents_must_fit_the_seats():
    for agents in (("ann",), ("ann", "ann"), ("ann", "bob", "eve")):
        with pytest.raises(ValueError, match="2 different ones"):
            bargaining(*agents)


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
    assert match_log.replay(tmp_path / "log.jsonl").state().tobytes() == session.match.table.tobytes()
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


def test_the_two_bidder_dialect_is_read():
    state = read_state(
        {
            "match_id": "m", "game_id": "first-price-auction", "agent_id": "ann", "phase": "auction",
            "is_my_turn": True, "current_turn_agent_id": "ann", "messages": None, "outcome": None, "novelty": 1,
            "allowed_actions": [{"action_type": "submit_bid", "payload_schema": {"bid": {"type": "number"}}}],
            "game_state": {"my_valuation": 80, "my_bid": None, "opponent_has_bid": True},
        }
    )  # fmt: skip
    game = envs.game("auction", seats=2)
    tables, seat = game.view.load(state)
    assert game.mask(tables[0], seat).any()
    answer = ArenaAgent("ann", Echo(AgentResponse(Action("submit_bid", {"bid": 40})))).act(state)
    assert answer.action.payload == {"bid": 40}


class Echo:
    def __init__(self, answer):
        self.answer = answer

    def respond(self, state):
        if isinstance(self.answer, Exception):
            raise self.answer
        return self.answer


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
