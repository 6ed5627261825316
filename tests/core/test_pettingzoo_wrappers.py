"""PettingZoo's standard wrappers around a GameEnv."""

import numpy as np
import pytest
from parlour.envs import Action, holdem_v0


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


@pytest.mark.parametrize("action", [True, 99, 1.0, None, "call", [1]])
def test_what_is_no_action_index_is_named_and_changes_nothing(action):
    env = holdem_v0.env(seats=2, stacks=3, button=0)
    env.reset(seed=1)
    before = env.unwrapped.state().tobytes()
    for each in (env, env.unwrapped):
        with pytest.raises(ValueError, match="is not legal") as error:
            each.step(action)
        assert str(error.value) == f"action {action!r} is not legal for player_0; legal are [0, 1, 9]"
    assert env.unwrapped.state().tobytes() == before


def test_after_the_last_agent_there_is_nothing_to_see_until_a_reset():
    env = holdem_v0.env(seats=2)
    env.reset(seed=1)
    env.step(0)
    assert env.last()[2]
    for _ in env.possible_agents:
        env.step(None)
    with pytest.raises(ValueError, match="call reset"):
        env.last()
