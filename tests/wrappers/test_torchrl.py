"""Tables as a TorchRL environment: its own checks, the same games, rewards per seat."""

import numpy as np
import pytest

pytest.importorskip("torchrl", reason="it is missing: make frameworks")

import torch
from parlour.envs import VectorGame, game
from parlour.wrappers.torchrl import Tables
from torchrl.envs.utils import check_env_specs


@pytest.mark.parametrize("name", ["kuhn", "leduc", "holdem", "auction", "bargaining"])
def test_torchrl_accepts_it(name):
    for seed in range(10):
        check_env_specs(Tables(name, 4, seed=seed), break_when_any_done="both")


def test_groups_may_be_one_per_seat():
    env = Tables("holdem", 3, seats=3, groups={"dealer": ["player_0"], "others": ["player_1", "player_2"]})
    check_env_specs(env)
    assert env.rollout(2)["others", "action"].shape == (3, 2, 2)
    with pytest.raises(ValueError, match="every agent"):
        Tables("kuhn", groups={"one": ["player_0"]})


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
