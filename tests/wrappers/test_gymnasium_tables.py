"""TablesVectorEnv: the tables' own arrays, as Gymnasium's vector environments return them."""

import gymnasium
import numpy as np
import pytest
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.wrappers.vector import RecordEpisodeStatistics
from parlour.envs import game as make_game
from parlour.envs import holdem_v0
from parlour.wrappers.rl.gymnasium_env import TablesVectorEnv


def test_it_is_a_vector_env_with_spaces_and_metadata():
    env = TablesVectorEnv("holdem", 5, seats=3)
    assert isinstance(env, VectorEnv)
    learner = gymnasium.make_vec("parlour/Kuhn-v0", num_envs=2).unwrapped
    for one in (env, learner):  # skrl's wrap_env looks for gymnasium in the direct bases
        assert any(base.__module__.startswith("gymnasium.") for base in type(one).__bases__)
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


OPTIONS_REFUSED = [
    ({"cards": [["As", "Ah"], None], "board": ["2c"]}, "cards, board: drawn here"),
    ({"reset_mask": np.array([True, False])}, "reset_mask: a finished table begins its next episode by itself"),
    ({"other": 1}, "options={'other': 1}: reset\\(\\) takes none here"),
    ([], r"options=\[\]: give a dict, such as {}, or None"),
    ("cards", "options='cards': give a dict"),
]


@pytest.mark.parametrize(("options", "words"), OPTIONS_REFUSED)
def test_options_are_refused_and_change_nothing(options, words):
    makers = [
        lambda: gymnasium.make("parlour/Holdem-v0", seats=2).unwrapped,
        lambda: gymnasium.make_vec("parlour/Holdem-v0", num_envs=2, seats=2),
        lambda: TablesVectorEnv("holdem", 2, seats=2),
    ]
    for make in makers:
        env, twin = make(), make()
        env.reset(seed=1)
        twin.reset(seed=1)
        with pytest.raises(ValueError, match=words):
            env.reset(seed=5, options=options)
        assert np.array_equal(env.reset(options={})[0], twin.reset()[0])


def test_an_action_that_is_not_legal_is_played_as_the_safe_one():
    env = TablesVectorEnv("holdem", 4, seats=2, stacks=3, button=0)
    env.reset(seed=1)
    _, rewards, terminations, _, infos = env.step(np.array([3, 99, -1, 1]))  # a raise that the stack does not allow
    assert infos["illegal"].tolist() == terminations.tolist() == [True, True, True, False]
    assert rewards.tolist() == [-1, -1, -1, 0]
