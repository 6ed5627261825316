"""The engine ray on a cluster of two simulated nodes: actors, nodes and learners that end, old batches, counts."""

import os
import signal
import subprocess
import sys
import time

import pytest
import tiny
import torch
from command_line import printed
from parlour.envs import game
from parlour.training import cli
from parlour.training.algorithms.selfplay import Learner
from parlour.training.learning.league import League
from parlour.training.learning.settings import SelfPlayConfig
from parlour.training.parallel.tasks import Task, Workers
from parlour.training.runs.config import load_config
from parlour.training.runs.run import resume, train
from parlour.wrappers.policies.loading import load_run

ray = pytest.importorskip("ray", reason="ray is missing: pip install -e '.[dev]'")
pytestmark = [pytest.mark.slow, pytest.mark.timeout(900)]


TINY = tiny.TINY | {"engine": "ray", "actors": 2, "total_timesteps": 6_000, "n_envs": 32}


@pytest.fixture(scope="module")
def cluster():
    from ray.cluster_utils import Cluster

    os.environ["RAY_AUTH_MODE"] = "disabled"
    made = Cluster(initialize_head=True, head_node_args={"num_cpus": 1, "include_dashboard": False})
    made.add_node(num_cpus=1)
    made.wait_for_nodes()
    yield made
    ray.shutdown()
    made.shutdown()


@pytest.fixture
def connected(cluster):
    ray.init(address=cluster.address, log_to_driver=False, ignore_reinit_error=True)
    return cluster  # the next test finds it connected


def lines(run):
    return tiny.lines(run / "metrics.jsonl")


def trained(folder, name, callback, **settings):
    return train(load_config("kuhn", run=folder / name, **{**TINY, **settings}), callbacks=[callback])


def test_a_killed_actor_costs_its_batch_and_nothing_else(connected, tmp_path):
    killed = []

    def kill(learner, metrics):
        # A call that ends before the process does costs nothing: kill until a running one was hit.
        actor = learner.engine._actors[0]
        if not learner.engine.lost and actor.call and not ray.wait([actor.call], timeout=0)[0]:
            killed.append(learner.timesteps)
            ray.kill(actor.handle, no_restart=False)
            ray.wait([actor.call], timeout=60)
        return not learner.engine.lost or learner.timesteps < killed[-1] + 10_000

    # A rollout takes longer than an update here, so that a call runs when the callback comes.
    sizes = {"opponent_tables": 0.5, "n_steps": 64, "batch_size": 2048, "total_timesteps": 1_000_000}
    run = trained(tmp_path, "killed", kill, **sizes)
    last = lines(run)[-1]
    assert killed and 1 <= last["engine/lost_batches"] <= 1 + len(killed) and last["engine/quarantined"] == 0
    assert last["engine/bytes_per_decision"] > 0
    assert ray.is_initialized()  # the connection was not the engine's own
    load_run(run)


def test_old_batches_are_dropped_and_actors_that_always_fail_end_the_run(connected, monkeypatch):
    learner = Learner(SelfPlayConfig(game="kuhn", **{**TINY, "actors": 1}), game("kuhn"), League(1, 1.0, {}, 0))
    learner.engine.begin()
    learner.engine.rollout(0, learner._weights())  # a call with version 0 is running now
    batches = learner.engine.rollout(9, learner._weights())
    assert learner.engine.dropped == 1 and [batch.version for batch in batches] == [9]
    batches = learner.engine.rollout(13, learner._weights())
    assert learner.engine.dropped == 1 and [batch.version for batch in batches] == [9]  # four versions are not too many
    assert learner.engine.metrics()["engine/lag"] == 4
    monkeypatch.setattr("parlour.training.learning.ray_engine.FIRST_PAUSE", 0.01)
    monkeypatch.setattr("parlour.training.learning.ray_engine.FAILURES", 3)
    learner.engine.rollout(13, {})  # the last call with weights
    with pytest.raises(ConnectionError, match=r"all 1 actors have failed 3 times in a row: .*weight"):
        learner.engine.rollout(13, {})
    assert learner.engine.lost == 3 and learner.engine.metrics()["engine/quarantined"] == 1
    learner.close()


def test_a_killed_learner_resumes(cluster, tmp_path, monkeypatch):
    ray.shutdown()
    words = "train kuhn --algorithm selfplay --engine ray --n-envs 32 --checkpoint-every 500 --set actors=1 n_steps=8"
    command = [sys.executable, "-m", "parlour.training.cli", *words.split(), "net_arch=[16]", "batch_size=256"]
    command += ["--run", str(tmp_path / "one")]
    monkeypatch.setenv("RAY_ADDRESS", cluster.address)
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    process = subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    run, deadline = tmp_path / "one", time.monotonic() + 300
    while not ((run / "selfplay.pt").exists() and lines(run)[-1]["steps"] > 1000):
        assert process.poll() is None, process.communicate()
        assert time.monotonic() < deadline
        time.sleep(0.2)
    process.send_signal(signal.SIGKILL)
    process.wait()
    before = torch.load(run / "selfplay.pt", weights_only=True)["timesteps"]
    assert before >= 500
    resume(run, total_timesteps=before + 500)
    after = torch.load(run / "selfplay.pt", weights_only=True)
    assert after["timesteps"] >= before + 500 and after["version"] > 0
    assert not ray.is_initialized()  # the engine has closed its own connection


def test_a_cluster_that_is_not_there_is_one_sentence(tmp_path, capsys, monkeypatch):
    ray.shutdown()
    monkeypatch.setenv("RAY_ADDRESS", "127.0.0.1:1")
    args = ["train", "kuhn", "--algorithm", "selfplay", "--engine", "ray"]
    assert cli.main([*args, "--run", str(tmp_path / "none")]) == 2
    assert "no Ray cluster answers at 127.0.0.1:1" in capsys.readouterr().err


def test_cells_in_a_cluster_are_those_of_this_machine_and_errors_are_their_own(connected, capsys):
    kuhn = ["evaluate", "crossplay", "random", "equilibrium", "maniac", "--game", "kuhn", "--deals", "50", "--json"]
    here, there = (printed(capsys, *kuhn, *more) for more in ([], ["--ray", connected.address]))
    assert here == there

    def refuse(*, progress):  # the cluster cannot import a module of the tests
        raise ValueError("not this")

    with pytest.raises(ValueError, match="not this"):
        Workers(ray=connected.address).run([Task(refuse)])
