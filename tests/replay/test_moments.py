"""Logs of every kind become moments: the same game, decision by decision."""

import json
import re

import numpy as np
import pytest
from beginnings import episode
from logs import played
from parlour import envs
from parlour.envs import Action, AgentResponse, MessageIntent
from parlour.envs.core.turn_state import MessageScope, TurnState
from parlour.wrappers.agents.base import sentence
from parlour.wrappers.agents.policy import PolicyAgent
from parlour.wrappers.live.common.match_session import MatchSession
from parlour.wrappers.live.poker.host import PokerHostSession, PokerRules
from parlour.wrappers.logs.match_log import MatchLog, Recorder
from parlour.wrappers.policies.mlp import MlpPolicy
from parlour.wrappers.replay.log_reader import moments, picture
from parlour.wrappers.replay.page import MatchPages, PageBuilder


def test_a_recorded_match_is_seen_again(game_id, tmp_path):
    game = envs.game(game_id)
    seen = played(tmp_path / "log", game, matches=2)
    told = list(moments(tmp_path / "log"))
    assert [list(moment.states.values()) for moment in told] == seen
    assert {moment.match for moment in told} == {0, 1}
    for moment in told:
        every = list(moment.states.values())
        assert moment.agent == next((state.agent_id for state in every if state.is_my_turn), None)
        assert list(moment.views) == ["all", *game.agents]
        assert moment.views["all"] == every
        assert bool(moment.action) == (moment.agent is not None)
        assert "payoffs" not in moment.note
    assert picture(told[0].views["all"]).startswith("<svg")


def test_an_outcome_that_is_not_that_of_the_decisions_has_a_note(tmp_path):
    played(tmp_path / "log", envs.game("kuhn"))
    *lines, end = map(json.loads, (tmp_path / "log").read_text().splitlines())
    payoffs = [row["utility"] for row in end["outcome"]["payoffs"]]
    end["outcome"]["payoffs"][0]["utility"] = 7.0
    (tmp_path / "log").write_text("".join(json.dumps(line) + "\n" for line in [*lines, end]))
    *_, last = moments(tmp_path / "log")
    assert last.note == f"the log's payoffs are [7.0, {payoffs[1]}], but its decisions lead to {payoffs}"


def test_agents_have_their_own_names(tmp_path):
    game = envs.game("auction", seats=3)
    played(tmp_path / "log", game, agent_ids=["ann", "bob", "submit_bid"])
    for moment in moments(tmp_path / "log"):
        assert list(moment.views) == ["all", "ann", "bob", "submit_bid"]
        assert moment.agent in ("ann", "bob", "submit_bid", None)
        assert "player_" not in str(moment.states)


def test_words_speak_of_players_by_their_names(tmp_path):
    game = envs.game("mafia", seats=5)
    played(tmp_path / "log", game, agent_ids=["ann", "bob", "cy", "dee", "eve"])
    told = list(moments(tmp_path / "log"))
    spoken = {message.content for moment in told for state in moment.states.values() for message in state.messages}
    assert any("accuse" in words or "sheriff" in words for words in spoken)
    shown = [*spoken, *(moment.action for moment in told), *(said.content for moment in told for said in moment.said)]
    assert not any(f"p{seat}" in words.replace(".", " ").split() for words in shown for seat in range(1, 6))
    assert any(words.endswith(("ann", "bob", "cy", "dee", "eve")) for words in shown)
    assert all(moment.said for moment in told if moment.action.startswith("say "))


def test_what_a_policy_thought_is_reported(tmp_path):
    game = envs.game("bargaining")
    weights = np.random.default_rng(1).normal(size=(game.layout.size, game.num_actions)).astype(np.float32)
    critic = [(weights[:, :1], np.zeros(1, np.float32))]
    policy = MlpPolicy([(weights, np.zeros(game.num_actions, np.float32))], "Tanh", seed=1, critic=critic)
    policy.reward_scale = 0.5
    agents = [PolicyAgent(game, policy) for _ in game.agents]
    assert agents[0].thoughts() == {}
    env = envs.GameEnv(game)
    told = []
    with MatchLog(tmp_path / "log") as log:
        recorder = Recorder(log, env, 3)
        for _ in range(4):
            state = env.turn_state(env.agent_selection)
            agent = agents[game.agents.index(state.agent_id)]
            answer = agent.respond(state)
            told.append((sentence(answer.action), agent.thoughts()))
            assert recorder.submit(state.agent_id, answer, told[-1][1] | {"think": "hm"}).ok
            observation = game.observation(game.view.load(state)[0][0], game.agents.index(state.agent_id))
            assert told[-1][1]["value"] == pytest.approx(float(observation @ weights[:, 0]) / 0.5, abs=1e-3)
    for moment, (answer, thoughts) in zip(moments(tmp_path / "log"), told, strict=False):
        assert (moment.action, moment.probabilities, moment.value) == (
            answer, thoughts["probabilities"], thoughts["value"],
        )  # fmt: skip
        assert answer in moment.probabilities
        assert sum(moment.probabilities.values()) == pytest.approx(1, abs=0.06)
        assert moment.think == "hm"


def test_an_arenas_match_with_refusals_and_messages(tmp_path):
    session = MatchSession(envs.game("auction"), ["ann", "bob"], seed=5)
    assert not session.act("ann", AgentResponse(Action("submit_bid", {"bid": -1}))).ok
    assert session.send("bob", MessageIntent(MessageScope.PRIVATE, "psst", ["ann"])).ok
    assert session.act(
        "ann", AgentResponse(Action("submit_bid", {"bid": 3}), [MessageIntent(MessageScope.PUBLIC, "hi")])
    ).ok
    session.timeout("bob")
    with MatchLog(tmp_path / "log") as log:
        for event in session.events:
            log.write(**event)
    told = list(moments(tmp_path / "log"))
    assert [(moment.agent, moment.action) for moment in told][:3] == [
        ("bob", "says"), ("ann", "submit_bid 3"), ("bob", "pass"),
    ]  # fmt: skip
    assert "ann was refused" in told[1].note
    assert "bob failed: no answer in time" in told[2].note
    assert told[1].said == [MessageIntent(MessageScope.PUBLIC, "hi", None)]
    assert [message.content for message in told[2].states["ann"].messages] == ["psst", "hi"]


def test_the_hands_of_a_poker_table_are_played_again(tmp_path):
    tokens = iter(range(10**6))
    session = PokerHostSession(
        PokerRules(seats=4, stack=40, min_players=3, raise_cap=None), seed=7, token=lambda: str(next(tokens))
    )
    with MatchLog(tmp_path / "log") as log:
        for seat in (0, 1, 3):
            session.join(f"id-{seat}", "ann" if seat else None, seat)
            session.connect(seat)
        random, hands = np.random.default_rng(3), 0
        while hands < 12 and session.status == "running":
            due = session.due
            if due.what == "act":
                kind = str(random.choice(["fold", "call", "check", "raiseTo"], p=[0.1, 0.4, 0.3, 0.2]))
                choice = {"turn_token": due.token, "kind": kind}
                if kind == "raiseTo":
                    choice["amount"] = int(
                        session.table.raise_max if random.random() < 0.3 else session.table.raise_min
                    )
                session.receive(due.seat, json.dumps({"type": "action", "action": choice}))
                if session.due == due:  # that was not open
                    session.timeout(due.seat, due.token)
                continue
            log.write("hand", table_id="t", **session.hand_log)
            hands += 1
            session.next_hand()
    assert hands > 2
    told = list(moments(tmp_path / "log"))
    logged = [json.loads(line) for line in (tmp_path / "log").read_text().splitlines()]
    assert [moment.match for moment in told if moment.agent is None] == list(range(hands))
    whole, contents = PageBuilder(), MatchPages(tmp_path / "log", "hands").contents()
    for moment in told:
        whole.add(moment)
    results, ends, units = re.search(r'"results":(.*),"ends":(.*),"units":(.*)}</script>', contents).groups()
    assert json.loads(units) == whole.units == ["chips"] * hands
    assert json.loads(results) == whole.results
    assert json.loads(ends) == [moment.note for moment in told if moment.agent is None]
    for number, hand in enumerate(logged):
        ours = [moment for moment in told if moment.match == number]
        assert len(ours) == len(hand["actions"]) + 1
        end = ours[-1].states
        stacks = {row["seat"]: row["stack"] for row in next(iter(end.values())).game_state["players"]}
        assert stacks == {row["seat"]: row["stack"] for row in hand["results"]}
        for state in end.values():
            (row,) = [row for row in hand["players"] if row["seat"] == state.game_state["seat"]]
            (mine,) = [player for player in state.game_state["players"] if player["seat"] == row["seat"]]
            assert mine["cards"] == row["cards"]
            assert state.game_state["board"] == hand["board"]
        assert picture(ours[-1].views["all"])
    assert any(moment.note == "its time was up" for moment in told)
    assert list(told[0].states) == ["id-0", "ann", "ann-2"]


@pytest.mark.parametrize(("net", "won"), [({}, "won 3"), ({"net": 1}, "net 1")], ids=["0.2", "now"])
def test_a_live_agents_log_shows_what_it_saw(net, won, tmp_path):
    env = episode("holdem", seats=2)
    with MatchLog(tmp_path / "log") as log:
        log.write("joined", seat=0)
        state = env.turn_state(env.agent_selection)
        log.write("turn", hand=1, turn_state=state, response=AgentResponse(Action("call")))
        log.write("turn", hand=1, turn_state=state, replaced="too late")
        shown = [{"seat": 1, "cards": ["As", "Kd"], "rank": "Pair, Aces", "won": 3}, {"seat": 0, "won": 0}]
        log.write("hand", hand=1, won=3, **net, stack=203, results=shown)
        log.write("ended", reason="the table has closed", stack=203)
    told = list(moments(tmp_path / "log"))
    assert [(moment.agent, moment.action) for moment in told] == [
        (state.agent_id, "call"),
        (state.agent_id, "no answer"),
        (None, ""),
    ]
    assert told[0].views == told[2].views == {state.agent_id: [state]}
    assert "too late" in told[1].note
    assert told[2].note == f"{won}, stack 203, seat 1 had As Kd, Pair, Aces"
    assert told[2].results == ({state.agent_id: 1} if net else {})


def test_the_hands_of_a_live_agent_have_the_number_of_their_table(tmp_path):
    env = episode("holdem", seats=2)
    state = env.turn_state(env.agent_selection)
    state.match_id = ""  # poker tables have none
    tables = [[1], [1, 2], [2, 3], [3]]  # the third is joined late; nothing says that it has ended
    with MatchLog(tmp_path / "log") as log:
        for number, hands in enumerate(tables, 1):
            log.write("joined", seat=0)
            for hand in hands:
                state.game_state["hand"] = hand
                log.write("turn", turn_state=state, response=AgentResponse(Action("call")))
                log.write("joined", seat=0)  # again, after a lost connection
                log.write("turn", hand=hand, turn_state=state, response=AgentResponse(Action("fold")))
                log.write("hand", hand=hand, won=0, net=-2, stack=198, results=[])
            if number != 3:
                log.write("ended", reason="insufficient_players", stack=198)
    named = [f"holdem-v0 · table {number} · hand {hand}" for number, hands in enumerate(tables, 1) for hand in hands]
    told = list(moments(tmp_path / "log"))
    assert [(moment.match, moment.title) for moment in told] == [
        (match, title) for match, title in enumerate(named) for _ in range(3)
    ]


@pytest.mark.parametrize("hand", [[3, 4], None, "AhKd", {"a": 1}, 7])
def test_a_field_hand_of_another_game_is_no_hand_of_poker(hand, tmp_path):
    env = episode("kuhn")
    state = env.turn_state(env.agent_selection)
    state.match_id, state.game_state["hand"] = "m", hand
    with MatchLog(tmp_path / "log") as log:
        log.write("turn", turn_state=state, response=AgentResponse(Action("pass")))
    assert [moment.title for moment in moments(tmp_path / "log")] == ["kuhn-v0 · m"]


PIE = {"kind": "match", "game": "bargaining", "options": {}, "seed": 1}
OFFER = {"kind": "turn", "agent": "player_0", "response": {"action_type": "submit_offer", "payload": {"my_share": 60}}}
HAND = {"kind": "hand", "hand": 1, "small_blind": 1, "big_blind": 2, "board": [], "players": []}


@pytest.mark.parametrize(
    ("lines", "complaint"),
    [
        ([], "has no decision to show"),
        ([{"kind": "joined"}], "has no decision to show"),
        ([{"kind": "match", "game": "holdem", "options": {}, "seed": None}], "line 1 does not replay: .* no seed"),
        ([{"kind": "match", "game": "whist", "options": {}, "seed": 1}], "no game is called 'whist'"),
        ([{"kind": "match", "game": "holdem", "seed": 1}], "line 1: a 'match' line lacks 'options'"),
        ([{"kind": "turn", "agent": "player_0", "response": {}}], "middle of a match"),
        ([{"kind": "turn", "turn_state": {"match_id": 3}}], "line 1 does not replay: .*match_id"),
        ([{"kind": "hand", "players": [{"seat": 99}]}], "line 1: a 'hand' line lacks 'small_blind'"),
        ([{"kind": "rejected", "agent_id": "a", "result": "no"}], "line 1 does not replay"),
        ([HAND | {"dealer": 10**30}], "line 1 does not replay"),
        ([PIE, OFFER | {"value": "nan"}], "line 2 does not replay: 'nan' is not a finite number"),
        ([PIE, OFFER | {"probabilities": {"offer": "inf"}}], "line 2 does not replay: 'inf' is not a finite number"),
    ],
)
def test_what_cannot_be_shown_is_named(tmp_path, lines, complaint):
    (tmp_path / "log").write_text("".join(json.dumps(line) + "\n" for line in lines))
    with pytest.raises(ValueError, match=complaint):
        list(moments(tmp_path / "log"))


def test_nobody_is_called_as_the_view_of_everything(tmp_path):
    played(tmp_path / "log", envs.game("bargaining"), agent_ids=["all", "ann"])
    for moment in moments(tmp_path / "log"):
        assert {name: len(states) for name, states in moment.views.items()} == {"all": 2, "all-2": 1, "ann": 1}


def test_an_incomplete_log_has_a_note(tmp_path):
    played(tmp_path / "log", envs.game("bargaining"))
    whole = (tmp_path / "log").read_bytes().splitlines(keepends=True)
    (tmp_path / "part").write_bytes(b"".join(whole[:2]))
    *_, last = moments(tmp_path / "part")
    assert (last.agent, last.note) == (None, "the log ends here, before the match does")


def test_the_thoughts_of_a_mafia_agent_belong_to_its_decision(tmp_path):
    game = envs.game("mafia", seats=5)
    env = episode(game)
    agent = env.agent_selection
    names = ["Ann", "Bob", "Cay", "Dan", "Ann"]
    agents = [{"id": one, "name": name} for one, name in zip(game.agents, names, strict=True)]
    with MatchLog(tmp_path / "log") as log:
        log.write("match", game=game.id, options=game.options, seed=1, match_id="m", agents=agents)
        for chunk in ("I shall ", "wait.", ""):
            event = {"eventType": "AGENT_THINK_STREAM", "payload": {"agentId": agent, "chunk": chunk}}
            log.write("event", event=event)
        log.write("turn", agent=agent, response=game.view.encode(env.table, game.view.safe(env.table)))
        log.write("fault", agent_id="p3", problem="late")
    first, end = moments(tmp_path / "log")
    assert list(first.states) == ["Ann", "Bob", "Cay", "Dan", "Ann-2"]
    assert (first.agent, first.think) == (list(first.states)[game.agents.index(agent)], "I shall wait.")
    assert end.note == "p3 failed: late"


def test_an_arena_notes_what_its_policies_thought(tmp_path):
    session = MatchSession(envs.game("auction"), ["ann", "bob"], seed=5)
    thoughts = {"probabilities": {"submit_bid 3": 1.0}, "value": 2.5}
    assert session.act_as_seat("ann", AgentResponse(Action("submit_bid", {"bid": 3})), thoughts).ok
    with MatchLog(tmp_path / "log") as log:
        for event in session.events:
            log.write(**event)
    first = next(moments(tmp_path / "log"))
    assert (first.agent, first.probabilities, first.value) == ("ann", {"submit_bid 3": 1.0}, 2.5)


def test_games_that_a_live_agent_played_side_by_side_are_shown_one_after_the_other(tmp_path):
    with MatchLog(tmp_path / "log") as log:
        for turn in range(3):
            for seed in range(2):
                env = episode("bargaining", seed=seed)
                for _ in range(turn):
                    env.submit(env.agent_selection, Action("submit_offer", {"my_share": 100.0}))
                state = env.turn_state(env.agent_selection)
                state.match_id = f"m{seed}"
                log.write("turn", turn_state=state, response=Action("reject"))
        log.write("ended", match_id="m1", turns=3)
    told = list(moments(tmp_path / "log"))
    assert [moment.match for moment in told] == [0, 0, 0, 1, 1, 1, 1]
    moves = [len(next(iter(moment.states.values())).game_state["action_history"]) for moment in told]
    assert moves == [0, 1, 2, 0, 1, 2, 2]
    assert told[-1].note == "turns 3"


def test_a_state_that_cannot_be_drawn_is_named():
    with pytest.raises(ValueError, match="a state of holdem-v0 that cannot be drawn: KeyError"):
        picture([TurnState("m", "holdem-v0", "a", "flop", True)])
