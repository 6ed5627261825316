"""GameEnv: submit, messages, limits, modes, PettingZoo's wrappers, error sentences."""

import re
from dataclasses import replace

import numpy as np
import pytest
import three_cards
from beginnings import episode
from gymnasium.spaces import Dict
from parlour import envs
from parlour.envs import Action, AgentResponse, Capabilities, GameEnv, MessageIntent, Talk, holdem_v0
from parlour.envs.core.match import WAITS_PER_TURN
from parlour.envs.core.turn_state import MESSAGE_LENGTH, MESSAGES_PER_TURN


def table(**options):
    return episode("holdem", **{"seats": 3, "button": 0, **options}, seed=7)


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
        ("player_0", Action("raiseTo", {"amount": True}), "invalid_payload", "bool"),
        ("player_0", Action("raiseTo", {"amount": float("nan")}), "invalid_payload", ""),
        ("player_0", Action("raiseTo", {"amount": 9, "all": 1}), "invalid_payload", "all"),
        ("player_0", Action("fold", {"amount": 1}), "invalid_payload", "takes no payload"),
        ("player_0", {"action": None}, "invalid_payload", "action"),
        ("player_0", AgentResponse(Action("fold"), [MessageIntent("loud", "x")]), "invalid_payload", "loud"),
        ("player_0", AgentResponse(Action("fold"), [say("\ud800")]), "invalid_payload", "surrogates"),
        ("player_0", AgentResponse(Action("fold"), [say(to=["nobody"])]), "invalid_payload", "'nobody'"),
        ("player_0", AgentResponse(Action("fold"), [say("x" * (MESSAGE_LENGTH + 1))]), "invalid_payload", "4000"),
        ("player_0", AgentResponse(Action("fold"), [say()] * 11), "game_rule_violation", "10 is the limit of messages"),
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


# Messages

WAIT = Action("message_only")


def heard(env, agent):
    return [message.content for message in env.turn_state(agent).messages]


def test_messages_reach_their_readers_before_the_action():
    env = table()
    assert env.submit("player_0", AgentResponse(Action("call"), [say("all"), say("you", "private", ["player_2"])])).ok
    assert [heard(env, agent) for agent in env.agents] == [["all", "you"], ["all"], ["all", "you"]]
    message = env.turn_state("player_2").messages[1]
    assert (message.sender_id, message.scope, message.to_agent_ids) == ("player_0", "private", ["player_2"])


def test_messages_are_limited_per_turn():
    env = table()
    results = [env.send("player_2", say()) for _ in range(MESSAGES_PER_TURN + 1)]
    assert [result.ok for result in results] == [True] * MESSAGES_PER_TURN + [False]
    assert env.send("player_1", say()).ok
    env.step(1)
    assert env.send("player_2", say()).ok


def test_message_only_keeps_the_turn_until_the_limit_and_then_the_safe_action_is_played():
    env = table()
    for _ in range(WAITS_PER_TURN):
        assert env.submit("player_0", WAIT).ok
        assert env.agent_selection == "player_0"
    assert env.submit("player_0", WAIT).ok
    assert (env.agent_selection, bool(env.table.folded[0])) == ("player_1", True)
    assert env.submit("player_1", WAIT).ok
    assert env.agent_selection == "player_1"


def test_what_a_game_hears_is_observed_at_once():
    def hear(table, seat, intent):
        table.moves[0], table.count = 1, 1

    heard = Capabilities(talk=Talk(record_message=hear))
    env = GameEnv(replace(three_cards.game(), capabilities=heard), "flat")
    env.reset(seed=1)
    env.submit("player_0", AgentResponse(WAIT, [say()]))
    shown = env.observe("player_0")["observation"]
    assert np.array_equal(shown, env.game.observation(env.table, 0))


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
def test_what_is_no_legal_action_is_named_by_the_raw_and_the_wrapped_environment_and_changes_nothing(action):
    env = holdem_v0.env(seats=2, stacks=3, button=0)
    env.reset(seed=1)
    before = env.unwrapped.state().tobytes()
    for each in (env, env.unwrapped):
        with pytest.raises(ValueError, match="is not legal") as error:
            each.step(action)
        assert str(error.value) == f"action {action!r} is not legal for player_0; legal are [0, 1, 9]"
    assert env.unwrapped.state().tobytes() == before


@pytest.mark.parametrize("make", [holdem_v0.raw_env, holdem_v0.env])
def test_before_a_reset_and_after_the_last_agent_no_episode_runs(make):
    env = make(seats=2, button=0)
    with pytest.raises((ValueError, AttributeError), match="reset"):
        env.last()
    env.reset(seed=7)
    env.step(0)
    assert env.last()[2]
    for _ in env.possible_agents:
        env.step(None)
    assert env.agents == []
    with pytest.raises(ValueError, match="call reset"):
        env.last()


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
        ({**sample, "action_type": 7}, "action_type 7 is none; give 0 for fold, 1 for check, 2 for call, 3 for rai"),
        ({"action_type": 3, "raiseTo": 11}, "raiseTo is 11; give its payload as a dict"),
        (3, "action 3 is not a payload"),
    ):
        with pytest.raises(ValueError, match=words):
            env.step(bad)


def test_standard_wrappers_know_that_submit_ends_a_turn():
    env = holdem_v0.env(seats=3, hands=2)
    env.reset(seed=2)
    turns = 0
    for agent in env.agent_iter():
        observation, _, terminated, truncated, _ = env.last()
        if terminated or truncated:
            env.step(None)
        elif turns % 2:
            env.step(1)
        else:
            legal = env.turn_state(agent).allowed_actions[1]
            assert observation["action_mask"][1] == 1
            assert env.submit(agent, Action(legal.action_type)).ok
        turns += 1
    assert turns > 20


def test_an_illegal_action_ends_the_wrapped_episode_and_costs_a_unit():
    env = holdem_v0.env(seats=2, stacks=3, button=0)
    env.reset(seed=1)
    masked = int(np.flatnonzero(env.observe("player_0")["action_mask"] == 0)[0])
    env.step(masked)
    assert env.rewards["player_0"] == -2
    assert all(env.terminations.values())
    assert env.submit(env.agent_selection, Action("call")).error == "match_not_running"


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
    env = episode(replace(game, view=replace(game.view, action_spaces=types)), action="payload")
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
