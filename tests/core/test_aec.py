"""GameEnv: submit, messages, limits, modes, wrappers, error sentences."""

import re
from dataclasses import replace

import numpy as np
import pytest
from gymnasium.spaces import Dict
from parlour import envs
from parlour.envs import Action, ActionResult, AgentResponse, GameEnv, MessageIntent, holdem_v0
from parlour.envs.core.turn_state import MESSAGE_LENGTH


def table(**options):
    env = envs.make("holdem", **{"seats": 3, "button": 0, **options})
    env.reset(seed=7)
    return env


def say(content="hello", scope="public", to=None):
    return MessageIntent(scope, content, to)


# submit


def test_a_payload_may_hold_numbers_of_numpy():
    env = table()
    assert env.submit("player_0", Action("raiseTo", {"amount": np.int64(11)})).ok
    assert env.turn_state("player_0").game_state["last"]["amount"] == 11
    refused = env.submit(env.agent_selection, Action("raiseTo", {"amount": np.float32(22.5)}))
    assert refused.error == "invalid_payload"
    assert "`float`" in refused.error_detail


def test_an_exact_payload_is_played():
    env = table()
    assert env.submit("player_0", Action("raiseTo", {"amount": 137})) == ActionResult(True)
    assert env.turn_state("player_1").game_state["players"][0]["bet"] == 137
    assert env.agent_selection == "player_1"


@pytest.mark.parametrize(
    "response",
    [
        {"action_type": "call"}, {"action_type": "call", "payload": {}}, {"action": {"action_type": "call"}},
        Action("call"), AgentResponse(Action("call")), {"action": {"action_type": "call"}, "messages": [], "mood": 1},
    ],
)  # fmt: skip
def test_an_answer_may_be_a_struct_or_a_dict(response):
    assert table().submit("player_0", response).ok


@pytest.mark.parametrize(
    ("agent", "response", "code", "words"),
    [
        ("player_9", Action("fold"), "agent_not_in_match", "'player_9' is not one of player_0"),
        ("player_1", Action("fold"), "not_your_turn", "player_1 cannot act: it is player_0's turn"),
        ("player_0", Action("bet"), "invalid_action_type", "'bet'.*fold, check, call, raiseTo"),
        ("player_0", Action("check"), "game_rule_violation", "2 to call"),
        ("player_0", Action("raiseTo", {"amount": 3}), "game_rule_violation", "raise to 3: the bounds are 4 to 200"),
        ("player_0", Action("raiseTo", {"amount": 201}), "game_rule_violation", "4 to 200"),
        ("player_0", Action("raiseTo", {"amount": 4.5}), "invalid_payload", "whole chips"),
        ("player_0", Action("raiseTo", {"amount": True}), "invalid_payload", "bool"),
        ("player_0", Action("raiseTo", {"amount": "9"}), "invalid_payload", "str"),
        ("player_0", Action("raiseTo", {"amount": float("nan")}), "invalid_payload", ""),
        ("player_0", Action("raiseTo", {"amount": 9, "all": 1}), "invalid_payload", "all"),
        ("player_0", Action("raiseTo"), "invalid_payload", "amount"),
        ("player_0", Action("fold", {"amount": 1}), "invalid_payload", "takes no payload"),
        ("player_0", {"action": None}, "invalid_payload", "action"),
        ("player_0", AgentResponse(None), "invalid_payload", "action"),
        ("player_0", AgentResponse(Action("fold"), [MessageIntent("loud", "x")]), "invalid_payload", "loud"),
        ("player_0", AgentResponse(Action("fold"), [MessageIntent("public", 5)]), "invalid_payload", "content"),
        ("player_0", AgentResponse(Action("fold"), [say("\ud800")]), "invalid_payload", "surrogates"),
        ("player_0", AgentResponse(Action("fold"), [say(to=["nobody"])]), "invalid_payload", "'nobody'"),
        ("player_0", AgentResponse(Action("fold"), [say("x" * (MESSAGE_LENGTH + 1))]), "invalid_payload", "4000"),
        ("player_0", AgentResponse(Action("fold"), [say()] * 11), "game_rule_violation", "10 is the limit of messages"),
        ("player_0", AgentResponse(Action("check"), [say()]), "game_rule_violation", "to call"),
        ("player_0", Action("message_only", {"x": 1}), "invalid_payload", "message_only takes no payload"),
        ("player_0", Action("pass", {"x": 1}), "invalid_action_type", "pass"),
    ],
)
def test_a_refusal_says_why_and_changes_nothing(agent, response, code, words):
    env = table()
    before = env.state().tobytes()
    result = env.submit(agent, response)
    assert (result.ok, result.error) == (False, code)
    assert re.search(words, result.error_detail)
    assert (env.state().tobytes(), env.agent_selection, env.messages) == (before, "player_0", [])


def test_before_reset_and_after_the_end_no_match_is_running():
    env = envs.make("holdem", seats=2, button=0)
    assert env.submit("player_0", Action("fold")).error == "match_not_running"
    env.reset(seed=1)
    assert env.submit("player_0", Action("fold")).ok
    assert env.submit("player_1", Action("check")).error == "match_not_running"
    assert env.send("player_1", say()).error == "match_not_running"


# TurnState


def test_when_the_match_is_over_the_last_state_stays_visible():
    env = table()
    env.step(0)
    env.step(0)
    state = env.turn_state("player_1")
    assert (state.game_over, state.is_my_turn, state.current_turn_agent_id, state.allowed_actions) == (
        True,
        False,
        None,
        [],
    )
    assert state.game_state["players"]
    assert [payoff["utility"] for payoff in state.outcome["payoffs"]] == [0, -1, 1]


def test_unknown_agents_and_empty_tables_are_named():
    env = envs.make("holdem", seats=2)
    with pytest.raises(ValueError, match="reset"):
        env.turn_state("player_0")
    env.reset(seed=1)
    for ask in (env.turn_state, env.observe, env.action_space, env.observation_space):
        with pytest.raises(ValueError, match=r"'nobody'.*player_0, player_1"):
            ask("nobody")


# PettingZoo


@pytest.mark.parametrize("action", [99, -1, 1.0, None, "call", [1], True])
def test_an_illegal_number_raises_with_the_legal_ones_and_changes_nothing(action):
    env = table()
    before = env.state().tobytes()
    with pytest.raises(ValueError, match=r"not legal for player_0; legal are \[0, 1"):
        env.step(action)
    assert env.state().tobytes() == before


def test_before_a_reset_and_after_the_last_agent_no_episode_runs():
    env = envs.make("holdem", seats=2, button=0)
    with pytest.raises(ValueError, match="call reset"):
        env.last()
    env.reset(seed=7)
    env.step(0)
    assert env.last()[2]
    for _ in env.possible_agents:
        env.step(None)
    assert env.agents == []
    with pytest.raises(ValueError, match="call reset"):
        env.last()
    with pytest.raises(ValueError, match="reset"):
        env.step(1)


@pytest.mark.parametrize("seed", [-1, True, 1.0])
def test_a_bad_seed_leaves_the_episode_as_it_was(seed):
    env = table()
    before = env.state().tobytes()
    with pytest.raises(ValueError, match=f"{seed} is not a whole number"):
        env.reset(seed=seed)
    assert env.state().tobytes() == before


def test_the_dict_observation_is_the_flat_one_by_name():
    nested, flat = table(), table(observation="flat")
    one, other = nested.observe("player_0"), flat.observe("player_0")
    layout = nested.game.layout
    for part in layout:
        leaf = one["observation"]
        for name in part.path.split("."):
            leaf = leaf[name]
        assert np.array_equal(leaf.ravel(), other["observation"][part.start : part.stop])
    assert nested.observation_space("player_0").contains(one)
    assert flat.observation_space("player_0").contains(other)


def test_no_action_is_open_out_of_turn():
    assert not table().observe("player_1")["action_mask"].any()


@pytest.mark.parametrize("raw", [True, False], ids=["raw_env", "env"])
def test_the_payload_space(raw):
    env = (holdem_v0.raw_env if raw else holdem_v0.env)(seats=3, button=0, action="payload", observation="flat")
    env.reset(seed=7)
    space = env.action_space("player_0")
    assert env.observe("player_0")["action_mask"].tolist() == [1, 0, 1, 1]  # fold, check, call, raiseTo
    sample = space.sample()
    sample["action_type"], sample["raiseTo"]["amount"] = 3, np.int64(11)
    env.step(sample)
    assert env.turn_state("player_1").game_state["last"]["amount"] == 11
    sample["action_type"] = 2
    env.step(sample)
    assert env.agent_selection == "player_2"
    for bad, words in (
        (
            {**sample, "action_type": 7},
            "action_type 7 is none; give 0 for fold, 1 for check, 2 for call, 3 for raiseTo",
        ),
        ({**sample, "action_type": "raiseTo"}, "action_type 'raiseTo' is none; give 0 for fold"),
        ({**sample, "action_type": 2.5}, "action_type 2.5 is none"),
        ({"action_type": 3, "raiseTo": 11}, "raiseTo is 11; give its payload as a dict"),
        (3, "action 3 is not a payload"),
    ):
        with pytest.raises(ValueError, match=words):
            env.step(bad)


# Other action modes under PettingZoo's wrappers, and the parallel environment


def test_the_payload_space_samples_by_the_mask_of_the_observation_or_by_gymnasiums_own():
    env = envs.make("holdem", seats=2, action="payload")
    space = env.action_space("player_0")
    drawn = {int(space.sample(np.array([0, 1, 0, 1], np.int8))["action_type"]) for _ in range(50)}
    assert drawn == {1, 3}
    own = {**dict.fromkeys(space.spaces), "action_type": np.array([0, 0, 1, 0], np.int8)}
    sample = space.sample(own)
    assert sample["action_type"] == 2
    assert space.contains(sample)


def test_a_payload_that_keeps_the_turn_gives_no_reward_again():
    game = envs.game("holdem", seats=2, hands=2, button=0)  # pays after every hand
    types = {**game.view.action_spaces, "message_only": Dict({})}
    env = GameEnv(replace(game, view=replace(game.view, action_spaces=types)), action="payload")
    env.reset(seed=1)
    env.step({"action_type": 0})  # the fold ends the first hand
    agent = env.agent_selection
    assert env.last()[1] == env.rewards[agent] != 0
    env.step({"action_type": 4})
    assert (env.agent_selection, any(env.rewards.values()), env.last()[1]) == (agent, False, 0)


def test_the_parallel_environment_plays_what_the_aec_environment_plays():
    parallel, aec = holdem_v0.parallel_env(seats=3), holdem_v0.env(seats=3)
    observations, _ = parallel.reset(seed=5)
    aec.reset(seed=5)
    steps = 0
    while parallel.agents:
        acting = [agent for agent in parallel.agents if observations[agent]["action_mask"].any()]
        assert acting == [aec.agent_selection]
        action = int(np.flatnonzero(observations[acting[0]]["action_mask"])[1])
        observations, rewards, *_ = parallel.step(dict.fromkeys(parallel.agents, action))
        aec.step(action)
        assert rewards == aec.rewards
        steps += 1
    assert steps > 3
    assert any(rewards.values())


def test_a_parallel_step_without_the_action_that_is_due_names_its_agent():
    env = holdem_v0.parallel_env(seats=2, button=0)
    env.reset(seed=5)
    with pytest.raises(ValueError, match="actions has no entry for player_0, whose turn it is"):
        env.step({"player_1": 1})
