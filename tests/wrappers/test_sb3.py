"""The learner's seat as Stable-Baselines3 wants it."""

import numpy as np
import pytest
import torch
from parlour.envs import game
from parlour.wrappers.rl.gymnasium_env import make_single_agent_env
from parlour.wrappers.rl.sb3 import sb3_env
from parlour.wrappers.rl.single_agent import SingleAgentTables
from sb3_contrib import MaskablePPO
from sb3_contrib.common.maskable.utils import get_action_masks, is_masking_supported
from stable_baselines3 import DQN, PPO
from stable_baselines3.common.env_checker import check_env

torch.set_num_threads(1)


@pytest.mark.filterwarnings("error::UserWarning")
def test_stable_baselines_checker_passes_for_the_single_seat():
    check_env(make_single_agent_env(game="holdem", seats=2))


def test_masks_are_found_by_maskable_ppo():
    env = sb3_env("holdem", n_envs=7, seats=2)
    env.seed(1)
    env.reset()
    assert is_masking_supported(env)
    np.testing.assert_array_equal(get_action_masks(env), env.seats.masks.astype(bool))
    assert env.env_method("action_masks", indices=[2, 5]).shape == (2, 10)
    assert env.get_attr("num_envs", indices=3) == [7]
    for index in (1, np.int64(1), [np.int32(1)]):
        np.testing.assert_array_equal(env.env_method("action_masks", indices=index), env.action_masks()[[1]])
    with pytest.raises(IndexError):
        env.get_attr("num_envs", indices=7)
    assert not env.has_attr("no_such_thing")
    assert env.env_is_wrapped(object) == [False] * 7


def test_steps_are_those_of_the_seats():
    env = sb3_env("holdem", n_envs=6, seats=2, opponents="call", reward_scale=0.5)
    seats = SingleAgentTables(game("holdem", seats=2), 6, "call")
    env.seed(4)
    seats.reset([4, 5, 6, 7, 8, 9])
    np.testing.assert_array_equal(env.reset(), seats.observations)
    ended = 0
    for _ in range(40):
        actions = seats.tables.sample()
        observations, rewards, dones, infos = env.step(actions)
        seats.step(actions)
        np.testing.assert_array_equal(observations, seats.observations)
        np.testing.assert_allclose(rewards, seats.rewards / 2)
        np.testing.assert_array_equal(dones, seats.dones)
        for table in np.flatnonzero(dones):
            assert infos[table]["episode"]["r"] == seats.returns[table]
            assert infos[table]["episode"]["l"] == seats.lengths[table]
            assert infos[table]["TimeLimit.truncated"] is False
            final = seats.final_observations(np.array([table]))[0]
            np.testing.assert_array_equal(infos[table]["terminal_observation"], final)
            assert final[seats.layout["game_over"].start] == 1
        assert all(infos[table] == {} for table in np.flatnonzero(~dones))
        ended += int(dones.sum())
    assert ended > 10


def test_options_and_attributes_of_single_tables_are_refused():
    env = sb3_env("holdem", n_envs=2, seats=2)
    env.set_options({})
    env.set_options([{}, None])
    for wrong, words in [
        ({"cards": [["As", "Ah"]]}, "cards: drawn here"),
        ([{}, {"board": ["2c"]}], "board: drawn here"),
        ([], r"options=\[\]: give a dict"),
        ([{}], r"options=\[\{\}\]: give a dict"),
    ]:
        with pytest.raises(ValueError, match=words):
            env.set_options(wrong)
    with pytest.raises(ValueError, match="reward_scale is one for all tables"):
        env.set_attr("reward_scale", 2.0, indices=[0])
    env.set_attr("reward_scale", 2.0, indices=[0, 1])
    assert env.get_attr("reward_scale") == [2.0, 2.0]


@pytest.mark.parametrize(
    ("algorithm", "settings"),
    [
        (MaskablePPO, {"n_steps": 16, "batch_size": 64}),
        (PPO, {"n_steps": 16, "batch_size": 64}),
        (DQN, {"learning_starts": 32, "buffer_size": 500}),
    ],
)
def test_algorithms_learn_with_masks_and_without(algorithm, settings):
    env = sb3_env("holdem", n_envs=8, seats=2, opponents="call", reward_scale=0.01)
    model = algorithm("MlpPolicy", env, seed=1, device="cpu", **settings)
    model.learn(256)
    assert model.num_timesteps == 256
    assert len(model.ep_info_buffer) > 0
    assert bool(env.seats.illegal.any()) <= (algorithm is not MaskablePPO)
