"""TablesVectorEnv: the tables' own arrays, as Gymnasium's vector environments return them."""

import gymnasium
import numpy as np
import pytest
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.wrappers.vector import RecordEpisodeStatistics
from parlour.envs import game as make_game
from parlour.envs import holdem_v0
from parlour.wrappers.rl.gymnasium_tables import TablesVectorEnv


def test_it_is_a_vector_env_with_spaces_and_metadata():
    env = TablesVectorEnv("holdem", 5, seats=3)
    assert isinstance(env, VectorEnv)
    assert env.metadata["autoreset_mode"] is AutoresetMode.SAME_STEP
    assert (env.observation_space.shape, env.action_space.shape) == ((5, env.tables.observations.shape[1]), (5,))
    assert env.single_action_space == gymnasium.spaces.Discrete(make_game("holdem", seats=3).num_actions)
    observations, infos = env.reset(seed=3)
    assert env.observation_space.contains(observations)
    for _ in range(30):
        actions = env.action_space.sample(mask=tuple(infos["action_mask"]))
        observations, rewards, terminations, truncations, infos = env.step(actions)
        assert env.observation_space.contains(observations)
        assert (rewards.shape, terminations.dtype, truncations.dtype) == ((5,), np.bool_, np.bool_)


def test_it_plays_what_the_tables_play():
    env, tables = TablesVectorEnv("holdem", 16, seats=3), holdem_v0.vector_env(16, seats=3)
    observations, infos = env.reset(seed=9)
    tables.reset(seed=9)
    returns, ended = np.zeros((16, 3)), 0
    for _ in range(60):
        assert np.array_equal(observations, tables.observations)
        assert np.array_equal(infos["turn"], tables.turn)
        assert np.array_equal(infos["action_mask"], tables.action_masks)
        actions, acted = tables.sample(), tables.turn.copy()
        tables.step(actions)
        observations, rewards, terminations, truncations, infos = env.step(actions)
        assert np.array_equal(rewards, tables.rewards[np.arange(16), acted])
        assert np.array_equal(infos["rewards"], tables.rewards)
        assert np.array_equal(terminations | truncations, tables.dones)
        returns += tables.rewards
        for table in np.flatnonzero(tables.dones):
            assert infos["_episode_return"][table]
            assert infos["episode_return"][table].tolist() == returns[table].tolist()
            returns[table] = 0
            ended += 1
    assert ended > 10


def test_the_final_observation_is_of_the_seat_that_acted_last():
    env = TablesVectorEnv("holdem", 1, seats=2, button=0)
    env.reset(seed=4)
    aec = holdem_v0.raw_env(seats=2, button=0, observation="flat")
    aec.reset(seed=4)
    aec.step(0)
    _, rewards, terminations, _, infos = env.step(np.array([0]))
    assert (terminations.tolist(), rewards.tolist(), infos["episode_length"].tolist()) == ([True], [-1.0], [1])
    assert np.array_equal(infos["final_obs"][0], aec.observe("player_0")["observation"])


def test_gymnasiums_own_wrappers_take_it():
    env = RecordEpisodeStatistics(TablesVectorEnv("kuhn", 8))
    _, infos = env.reset(seed=1)
    lengths = []
    for _ in range(20):
        *_, infos = env.step(env.env.tables.sample())
        lengths += infos["episode"]["l"][infos["_episode"]].tolist() if "episode" in infos else []
    assert {2, 3} <= set(lengths) <= {1, 2, 3}  # Gymnasium 1.1 counts wrong after an end


def test_cards_are_given_to_the_environments_of_pettingzoo_alone():
    cards = {"cards": [["As", "Ah"], None], "board": ["2c"]}
    for name, settings in (("make", {}), ("make_vec", {"num_envs": 2})):
        env = getattr(gymnasium, name)("parlour/Holdem-v0", seats=2, **settings)
        env.reset(seed=1, options={"other": 1})
        with pytest.raises(ValueError, match="cards, board: drawn here"):
            env.reset(seed=1, options=cards)
        env.close()


def test_wrong_seeds_and_actions_are_refused():
    env = TablesVectorEnv("kuhn", 2)
    with pytest.raises(ValueError, match="before reset"):
        env.step(np.array([0, 0]))
    with pytest.raises(ValueError, match="every table a seed"):
        env.reset(seed=[1, None])
    first, _ = env.reset(seed=[1, 2])
    again, _ = env.reset(seed=[1, 2])
    assert np.array_equal(first, again)
    with pytest.raises(ValueError, match="not legal"):
        env.step(np.array([0, 7]))


def test_gymnasium_makes_an_environment_without_an_import_of_parlour():
    assert gymnasium.make("parlour.envs:parlour/Kuhn-v0").spec.id == "parlour/Kuhn-v0"
    assert gymnasium.make_vec("parlour.envs:parlour/Kuhn-v0", num_envs=3).num_envs == 3
