"""Engines: actors in this process and in others, the same bytes, batches, ends of processes, tables on a GPU."""

import os
import signal
from pathlib import Path

import numpy as np
import pytest
import simulated_learner
import tiny
from forking import python
from parlour.envs import game
from parlour.training.algorithms.selfplay import Learner
from parlour.training.learning.collector import Collector, RolloutBatch
from parlour.training.learning.league import League
from parlour.training.learning.settings import Schedule, SelfPlayConfig
from parlour.training.runs.config import load_config
from parlour.training.runs.run import resume, train
from parlour.wrappers.policies.mlp import MlpPolicy

CONSTANT = {"learning_rate": Schedule(1e-3), "ent_coef": Schedule(0.05)}
TINY = tiny.TINY | CONSTANT | {"total_timesteps": 3000, "n_envs": 32, "opponent_tables": 0.5}
TINY["options"] = {"seats": 2, "stacks": 20}


def trained(folder, name, **settings):
    return train(load_config("holdem", run=folder / name, **{**TINY, **settings}))


@pytest.fixture(scope="module")
def local(tmp_path_factory):
    return trained(tmp_path_factory.mktemp("runs"), "local", actors=2)


@pytest.mark.slow
def test_processes_give_the_same_bytes(local, tmp_path):
    processes = trained(tmp_path, "process", actors=2, engine="process")
    assert (processes / "policy.npz").read_bytes() == (local / "policy.npz").read_bytes()
    assert (processes / "league.json").read_bytes() == (local / "league.json").read_bytes()


@pytest.mark.slow
@pytest.mark.parametrize("engine", ["local", "process"])
def test_a_run_with_many_actors_resumes_as_if_it_had_not_stopped(local, tmp_path, engine):
    stopped = trained(tmp_path, "stopped", actors=2, engine=engine, total_timesteps=1500)
    resume(stopped, total_timesteps=3000)
    assert (stopped / "policy.npz").read_bytes() == (local / "policy.npz").read_bytes()


def test_actors_play_different_episodes():
    config = SelfPlayConfig(game="holdem", **{**TINY, "opponent_tables": 0.0})
    made = game("holdem", **TINY["options"])
    learner = Learner(config, made, League(1, 1.0, {}, 0))
    batches = [
        Collector(config, made, League(1, 1.0, {}, 0).pool(), actor).rollout(version, learner._weights(), {})
        for actor, version in ((0, 0), (1, 0), (1, 7))
    ]
    hands = [batch.arrays["observations"].tobytes() for batch in batches]
    assert len(set(hands)) == 3
    assert all(batch.decisions == 32 * 8 and 0 < batch.seconds < batch.total_seconds for batch in batches)


@pytest.mark.parametrize("extended", [True, False])
@pytest.mark.parametrize("rows", [0, 2051])
def test_columns_of_a_packed_batch_come_back_in_their_places(rows, extended):
    random = np.random.default_rng(rows)
    kinds = [random.integers(0, 2, (3000, 6)), random.random((3000, 3)), np.full((3000, 1), 2), np.zeros((3000, 1))]
    seen = np.concatenate(kinds, axis=1).astype(np.float32)[:, random.permutation(11)]
    more = seen[:, :4].copy() if extended else random.random((3000, 4)).astype(np.float32)
    critic = np.concatenate([seen if extended else seen[:, ::-1], more], axis=1)
    arrays = {
        "observations": seen,
        "critic_observations": critic,
        "masks": random.integers(0, 2, (3000, 5)).astype(np.int8),
        "actions": random.integers(0, 5, 3000),
        "returns": random.random(3000).astype(np.float32),
    }
    kept = np.sort(random.permutation(3000)[:rows])
    batch = RolloutBatch(
        version=0, actor=0, arrays=arrays, rows=kept, played=rows, episodes=1, winnings=0, seconds=0, total_seconds=0
    )
    packed = batch.packed()
    again = packed.unpacked().arrays
    assert set(again) == set(arrays) and packed.decisions == rows
    for name, array in arrays.items():
        assert again[name].dtype == array.dtype and again[name].flags.writeable
        expected = array[kept].astype(np.float16).astype(array.dtype) if "observations" in name else array[kept]
        np.testing.assert_array_equal(again[name], expected)
    if rows > 7 and extended:  # neither zeros and ones nor what the critic shares with the policy
        numbers = ~((seen == 0) | (seen == 1)).all(axis=0)
        assert packed.arrays["numbers"].shape == (rows, numbers.sum() + numbers[:4].sum())


@pytest.mark.slow
def test_a_process_that_ends_is_named_and_the_run_resumes(tmp_path):
    def kill(learner, metrics):
        if learner.timesteps > 1500:
            os.kill(next(iter(learner.engine._processes[1]._processes)), signal.SIGKILL)

    settings = {**TINY, "engine": "process", "actors": 2}
    config = load_config("holdem", run=tmp_path / "killed", **settings)
    with pytest.raises(ConnectionError, match="the process of actor 1 has ended: resume the run"):
        train(config, callbacks=[kill])
    resume(tmp_path / "killed")
    assert MlpPolicy.load(tmp_path / "killed" / "policy.npz").inputs > 0


@pytest.mark.slow
def test_a_mistake_in_a_process_reaches_the_learner():
    config = SelfPlayConfig(game="holdem", **{**TINY, "engine": "process"})
    learner = Learner(config, game("holdem", **TINY["options"]), League(1, 1.0, {}, 0))
    with pytest.raises(RuntimeError, match=r"actor|Missing key"):
        learner.engine.rollout(0, {})
    assert learner.engine.rollout(0, learner._weights())[0].decisions > 0  # it goes on
    process = next(iter(learner.engine._processes[0]._processes.values()))
    learner.close()
    assert not process.is_alive()


@pytest.mark.slow
def test_the_engine_of_a_gpu_collects_what_the_cpu_would_and_resumes(tmp_path):
    """Numba's simulator is the GPU, in a process of its own (see `simulated_learner`)."""
    script = Path(simulated_learner.__file__)
    told = python(script, tmp_path, NUMBA_ENABLE_CUDASIM="1", NUMBA_DISABLE_JIT="1")
    assert told.splitlines() == [
        "actors=2: the engine gpu has only actors=1",
        "opponent_tables=0.5: the engine gpu has only opponent_tables=0",
    ]
