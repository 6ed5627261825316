"""Collects decisions of self-play at tables on Numba's CUDA simulator, and compares them with tables on the CPU.

Run with ``NUMBA_ENABLE_CUDASIM=1`` and ``NUMBA_DISABLE_JIT=1``, in a process of its own, with a folder that it may use.
"""

import sys
from dataclasses import asdict, replace
from pathlib import Path

import numpy as np
import torch
from parlour import envs
from parlour.envs import VectorGame
from parlour.training.algorithms.selfplay import Learner
from parlour.training.learning.advantages import seat_advantages
from parlour.training.learning.league import League
from parlour.training.runs.config import load_config

TABLES, STEPS = 3, 10
ARRAYS = ("observations", "critic_observations", "masks", "log_probs", "actions", "advantages", "returns")


def settings(game):
    return load_config(
        game, algorithm="selfplay", engine="gpu", n_envs=TABLES, n_steps=STEPS, net_arch=(8,), critic_net_arch=(8,),
        batch_size=16, seed=5, opponent_tables=0.0, random_start_steps=0, chance_samples=0,
    )  # fmt: skip


def learner_of(config, game):
    return Learner(config, game, League(1, 1.0, {}, 0))


def collected(learner):
    batch = learner.engine.rollout(learner._version, learner._weights())[0]
    arrays = {
        name: array.numpy().reshape(STEPS, TABLES, *array.shape[1:]).copy() for name, array in batch.arrays.items()
    }
    return batch, arrays


def is_what_the_cpu_plays(learner, batch, found):
    """The same actions at tables on the CPU give the same observations, masks and episodes, and so the advantages."""
    game, tables = learner.game, VectorGame(learner.game, TABLES)
    critic = game.encoders["full"]
    tables.reset(seed=5)
    turn, dones = np.zeros((STEPS, TABLES), np.int64), np.zeros((STEPS, TABLES), np.bool_)
    rewards = np.zeros((STEPS, TABLES, game.seats), np.float32)
    rows = np.arange(TABLES)
    for step in range(STEPS):
        np.testing.assert_array_equal(found["observations"][step], tables.observations)
        np.testing.assert_array_equal(found["masks"][step], tables.action_masks)
        np.testing.assert_array_equal(found["critic_observations"][step], critic.observations(tables.tables, rows))
        turn[step] = tables.turn
        tables.step(found["actions"][step])
        rewards[step] = tables.rewards * (learner.config.reward_scale / game.payoffs.unit)
        dones[step] = tables.dones
    assert batch.episodes == dones.sum() > 0
    values = found["returns"] - found["advantages"]
    last = np.empty((TABLES, game.seats), np.float32)
    seen = critic.observations(tables.tables, rows)
    last[rows, tables.turn] = learner._critic(torch.from_numpy(seen))[:, 0].detach().numpy()
    last[rows, 1 - tables.turn] = -last[rows, tables.turn]  # of two seats one wins what the other loses
    advantages = np.zeros_like(values)
    acts = np.ones((STEPS, TABLES), np.bool_)
    seat_advantages(turn, acts, rewards, dones, values, last, 1.0, 0.95, advantages)
    np.testing.assert_allclose(found["advantages"], advantages, atol=1e-5)


def goes_on_as_if_it_had_not_stopped(learner, folder):
    for _ in range(2):
        learner.rollout(0.1)
    learner.save(folder)
    again = Learner.load(folder, learner.config, learner.game, League(1, 1.0, {}, 0))
    learner.rollout(0.2), again.rollout(0.2)
    assert again.timesteps == learner.timesteps == 3 * TABLES * STEPS
    ours, theirs = learner._weights(), again._weights()
    assert all(np.array_equal(ours[name], theirs[name]) for name in ours)
    before = learner_of(learner.config, learner.game)._weights()
    assert not np.array_equal(before["actor.0.weight"], ours["actor.0.weight"])


if __name__ == "__main__":
    np.seterr(over="ignore")
    config = settings("kuhn")
    learner = learner_of(config, envs.game("kuhn"))
    learner.engine.begin()
    batch, found = collected(learner)
    assert set(found) == set(ARRAYS), asdict(config)
    is_what_the_cpu_plays(learner, batch, found)
    goes_on_as_if_it_had_not_stopped(learner_of(config, envs.game("kuhn")), Path(sys.argv[1]))
    for setting, value in (("actors", 2), ("opponent_tables", 0.5)):
        try:
            learner_of(replace(config, **{setting: value}), envs.game("kuhn"))
        except ValueError as refused:
            print(refused)
