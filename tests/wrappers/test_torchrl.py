"""Tables as a TorchRL environment: its own checks, the same games, rewards per seat."""

import numpy as np
import pytest

pytest.importorskip("torchrl", reason="it is missing: make frameworks")

import gymnasium
import torch
from parlour.envs import VectorGame, game
from parlour.envs.testing import Trial
from parlour.envs.testing.copies import SEED, Kind, continues
from parlour.wrappers.rl.gymnasium_env import TablesVectorEnv
from parlour.wrappers.torchrl import Tables
from torchrl.envs import GymWrapper
from torchrl.envs.utils import check_env_specs


@pytest.mark.parametrize("name", ["kuhn", "leduc", "holdem", "auction", "bargaining"])
def test_torchrl_accepts_it(name):
    for seed in range(10):
        check_env_specs(Tables(name, 4, seed=seed), break_when_any_done="both")


def test_it_plays_what_the_tables_play_and_every_seat_has_its_rewards():
    made = game("holdem", seats=3)
    env, tables = Tables(made, 8, seed=5), VectorGame(made, 8)
    tables.reset(seed=5)
    played = env.rollout(40, break_when_any_done=False)
    rows, done = np.arange(8), 0
    for step in range(40):
        now = played[:, step]
        assert now["turn"].squeeze(-1).tolist() == tables.turn.tolist()
        assert np.array_equal(now["agents", "observation"].numpy()[rows, tables.turn], tables.observations)
        masks = now["agents", "action_mask"].numpy()
        assert np.array_equal(masks[rows, tables.turn], tables.action_masks.astype(bool))
        assert (masks.sum(-1) >= 1).all()
        tables.step(now["agents", "action"].numpy()[rows, tables.turn])
        assert np.array_equal(now["next", "agents", "reward"].squeeze(-1).numpy(), tables.rewards / 2)
        assert np.array_equal(now["next", "done"].squeeze(-1).numpy(), tables.dones)
        done += int(tables.dones.sum())
    assert done > 10


def test_after_the_end_a_seat_sees_the_end_and_may_do_nothing():
    env = Tables("holdem", 1, seed=1, seats=2, button=0)
    first = env.reset()
    first["agents", "action"] = torch.zeros(1, 2, dtype=torch.int64)  # the first seat folds
    end = env.step(first)["next"]
    assert end["terminated"].all()
    assert end["agents", "reward"].flatten().tolist() == [-0.5, 0.5]
    assert end["agents", "action_mask"].sum(-1).tolist() == [[1, 1]]
    assert not torch.equal(end["agents", "observation"], env.reset()["agents", "observation"])


def test_only_finished_tables_can_be_reset_alone():
    env = Tables("kuhn", 2, seed=1)
    state = env.reset()
    state["_reset"] = torch.tensor([[True], [False]])
    with pytest.raises(ValueError, match="not over"):
        env.reset(state)


@pytest.mark.parametrize(
    "make", [lambda: gymnasium.make_vec("parlour/Leduc-v0", num_envs=4), lambda: TablesVectorEnv("leduc", 4)]
)
def test_torchrl_wraps_the_vector_environments_of_gymnasium(make):
    """TorchRL returns the steps of the environment, with the final observation where an episode ended."""
    inner, steps = make(), []
    env, step = GymWrapper(inner, categorical_action_encoding=True), inner.step
    inner.step = lambda actions: steps.append(step(actions)) or steps[-1]
    played = env.rollout(40, break_when_any_done=False)["next"]
    for i, (observations, rewards, terminations, truncations, infos) in enumerate(steps):
        done = terminations | truncations
        last = [infos["final_obs"][table] if done[table] else observations[table] for table in range(4)]
        assert np.array_equal(played["observation"][:, i].numpy(), np.stack(last))
        assert np.array_equal(played["reward"][:, i].squeeze(-1).numpy(), rewards.astype(np.float32))
        assert np.array_equal(played["done"][:, i].squeeze(-1).numpy(), done)
    assert len(steps) == 40
    assert played["done"].sum() > 10


def step(env):
    tables, actions = env.tables, np.zeros((env.batch_size[0], env.tables.game.seats), np.int64)
    actions[np.arange(len(actions)), tables.turn] = tables.action_masks.argmax(axis=1)
    after = env.step(env._data(env._observed(tables.tables)).update({"agents": {"action": torch.from_numpy(actions)}}))
    return after["next"].flatten_keys(".").to_dict(), bool(tables.dones.any())


def reset(env):
    env.set_seed(SEED)
    return env.reset().flatten_keys(".").to_dict()


@pytest.mark.parametrize("name", ["kuhn", "leduc", "holdem"])
def test_a_copy_continues_as_the_original(name):
    continues(Trial("copies", game(name), 1), "Tables", Kind(lambda made: Tables(made, 3), reset, step))
