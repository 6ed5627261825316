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
from parlour.training.algorithms import selfplay
from parlour.training.algorithms.selfplay import Learner
from parlour.training.learning.collector import seat_advantages
from parlour.training.learning.league import League
from parlour.training.learning.settings import Schedule
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


def are_aligned_rows(found, observations):
    """The rows end with zeros, so that their length is a multiple of 8."""
    size = observations.shape[1]
    assert found.shape[1] % 8 == 0 and found.shape[1] - size < 8
    np.testing.assert_array_equal(found[:, :size], observations)
    assert not found[:, size:].any()


def is_what_the_cpu_plays(learner, batch, found):
    """The same actions at tables on the CPU give the same observations, masks and episodes, and so the advantages."""
    game, tables = learner.game, VectorGame(learner.game, TABLES)
    critic = game.encoders["full"]
    tables.reset(seed=5)
    turn, dones = np.zeros((STEPS, TABLES), np.int64), np.zeros((STEPS, TABLES), np.bool_)
    rewards = np.zeros((STEPS, TABLES, game.seats), np.float32)
    rows = np.arange(TABLES)
    for step in range(STEPS):
        are_aligned_rows(found["observations"][step], tables.observations)
        np.testing.assert_array_equal(found["masks"][step], tables.action_masks)
        are_aligned_rows(found["critic_observations"][step], critic.observations(tables.tables, rows))
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
    acts = np.ones((STEPS, TABLES), np.bool_)
    advantages = seat_advantages(turn, acts, rewards, dones, values, last)
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


def learns_the_same_when_recorded(config, game):
    """In place of a CUDA graph: a record that calls the recorded function again."""
    from parlour.training.learning import gpu_engine  # it can be imported where there is a simulator

    plain, records = learner_of(config, game), []

    def capture(work):
        records.append(work)
        return work

    selfplay.capture_on = gpu_engine.capture_on = lambda *_: capture
    recorded = learner_of(config, game)
    for used in (0.1, 0.2, 0.3, 0.4):
        plain.rollout(used), recorded.rollout(used)
    assert len(records) == 2  # the rollout, and the gradient step of minibatches that have one size
    assert recorded.engine.episodes == plain.engine.episodes > 0
    assert recorded.engine.winnings == plain.engine.winnings
    ours, theirs = recorded._weights(), plain._weights()
    for name in ours:
        np.testing.assert_allclose(ours[name], theirs[name], atol=1e-5)


if __name__ == "__main__":
    np.seterr(over="ignore")
    config = settings("kuhn")
    learner = learner_of(config, envs.game("kuhn"))
    learner.engine.begin()
    batch, found = collected(learner)
    assert set(found) == set(ARRAYS), asdict(config)
    is_what_the_cpu_plays(learner, batch, found)
    goes_on_as_if_it_had_not_stopped(learner_of(config, envs.game("kuhn")), Path(sys.argv[1]))
    learns_the_same_when_recorded(replace(config, average_decay=0.9, kl_coef=Schedule(0.1)), envs.game("kuhn"))
    for setting, value in (("actors", 2), ("opponent_tables", 0.5)):
        try:
            learner_of(replace(config, **{setting: value}), envs.game("kuhn"))
        except ValueError as refused:
            print(refused)
