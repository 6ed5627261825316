"""RLlib: the environment plays the tables, every seat's returns are told, checkpoints become opponents."""

import numpy as np
import pytest

pytest.importorskip("ray.rllib.algorithms.ppo", reason="it is missing: make frameworks")

import ray
from parlour.envs import VectorGame, game
from parlour.wrappers.rllib import MAIN, TableEnv, module_of, rllib_config


def play(env, seed):
    """Play one random episode; return the rewards of each agent and who acted."""
    observed, _ = env.reset(seed=seed)
    gains, acted, random = dict.fromkeys(env.possible_agents, 0.0), set(), np.random.default_rng(seed)
    ends = {"__all__": False}, {"__all__": False}
    while not (ends[0]["__all__"] or ends[1]["__all__"]):
        ((agent, seen),) = observed.items()
        assert env.observation_spaces[agent].contains(seen)
        acted.add(agent)
        observed, rewards, *ends, _ = env.step({agent: int(random.choice(np.flatnonzero(seen["action_mask"])))})
        gains = {agent: gains[agent] + rewards[agent] for agent in gains}
    return gains, acted


def test_the_rewards_of_each_hand_sum_to_zero_also_where_a_seat_never_acts():
    env = TableEnv({"game": "holdem", "options": {"seats": 2}})
    idle = 0
    for seed in range(400):
        gains, acted = play(env, seed)
        assert sum(gains.values()) == 0
        assert env.returns == gains
        idle += len(acted) < 2
    assert idle > 20


def test_the_environment_plays_what_a_table_plays():
    env, tables = TableEnv({"game": "leduc"}), VectorGame(game("leduc"), 1)
    observed, _ = env.reset(seed=3)
    tables.reset(seed=3)
    for _ in range(3):
        ((agent, seen),) = observed.items()
        assert agent == env.possible_agents[int(tables.turn[0])]
        assert np.array_equal(seen["observations"], tables.observations[0])
        action = int(np.flatnonzero(tables.action_masks[0])[-1])
        tables.step([action])
        observed, *_ = env.step({agent: action})


def test_the_main_module_plays_in_every_episode_and_checkpoints_only_beside_it():
    class Episode:
        def __init__(self, number):
            self.id_ = f"{number:032x}"

    agents, made = ["player_0", "player_1", "player_2"], ("main_v1", "main_v2")
    seated = [
        [module_of(one, Episode(number), agents=agents, checkpoints=made) for one in agents] for number in range(300)
    ]
    assert {row.count(MAIN) for row in seated} == {1, 3}
    assert {row.index(MAIN) for row in seated} == {0, 1, 2}
    assert {name for row in seated for name in row} == {MAIN, *made}
    assert module_of("player_1", Episode(1), agents=agents, checkpoints=()) == MAIN


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_it_trains_and_a_checkpoint_stays_as_it_is(monkeypatch):
    monkeypatch.setenv("RAY_AUTH_MODE", "disabled")
    ray.init(num_cpus=1, include_dashboard=False)
    try:
        config = rllib_config("holdem", seats=3, checkpoint_every=1, most_checkpoints=1)
        config.training(train_batch_size_per_learner=500, minibatch_size=250, num_epochs=2)
        algorithm = config.build_algo()
        algorithm.train()
        kept = {name: weights.copy() for name, weights in algorithm.get_module("main_v1").get_state().items()}
        result = algorithm.train()["env_runners"]
        assert set(result["seat_returns"]) == {"player_0", "player_1", "player_2"}
        assert result["seat_returns_sum"] == pytest.approx(0, abs=1e-6)
        after, main = algorithm.get_module("main_v1").get_state(), algorithm.get_module(MAIN).get_state()
        assert all(np.array_equal(kept[name], after[name]) for name in kept)
        assert any(not np.array_equal(kept[name], main[name]) for name in kept)
        algorithm.stop()
    finally:
        ray.shutdown()
