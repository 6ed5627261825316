"""The programs in examples/: they run, and what they train gets better."""

from pathlib import Path

import numpy as np
import pytest
from forking import loaded
from needs import framework, library

EXAMPLES = Path(__file__).parents[1] / "examples"
pytestmark = pytest.mark.skipif(not EXAMPLES.is_dir(), reason="the examples lie in the checkout")


def example(name):
    return loaded(EXAMPLES / f"{name}.py")


def test_the_credit_of_the_ppo_example_is_that_of_the_trainer():
    library("torch", "train")
    from parlour.training.learning.collector import seat_advantages

    random = np.random.default_rng(1)
    turn, dones = random.integers(0, 3, (12, 5)), random.random((12, 5)) < 0.2
    rewards, values = random.normal(size=(12, 5, 3)).astype("f4"), random.normal(size=(12, 5)).astype("f4")
    last_values = random.normal(size=(5, 3)).astype("f4")
    last_values[random.random((5, 3)) < 0.5] = np.nan
    expected = seat_advantages(turn, np.ones((12, 5), bool), rewards, dones, values, last_values, 0.9, 0.8)
    found = example("ppo").advantages_per_seat(turn, rewards, dones, values, last_values, 0.9, 0.8)
    np.testing.assert_allclose(found, expected, atol=1e-5)


@pytest.mark.slow
@pytest.mark.timeout(900)
@pytest.mark.parametrize(
    ("library", "name"),
    [
        ("torch", "ppo"),
        ("torchrl", "torchrl_ppo"),
        ("ray.rllib.algorithms.ppo", "rllib_selfplay"),
        ("openenv.core.env_server.http_server", "openenv_kuhn"),
        ("verifiers.v1", "verifiers_kuhn"),
    ],
)
def test_the_examples_learn(library, name):
    framework(library)
    before, after = example(name).main([])
    if isinstance(before, float):  # chips per hand
        assert after > before + 0.1
    else:
        assert after.low > before.high


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_the_trl_example_learns(monkeypatch):
    framework("trl")
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")  # nothing is downloaded
    before, alone, taught = example("trl_grpo").main([])
    assert taught[0] > max(before[0], alone[0]) + 0.1  # chips per hand from the equilibrium
    assert taught[1] < min(before[1], alone[1]) - 0.1  # NashConv


@pytest.mark.slow
def test_the_jax_example_learns(capsys):
    framework("jax")
    distances, scores = example("jax_leduc").main(["--updates", "300"])
    assert distances[0] > 4
    assert distances[1] < 2  # NashConv
    assert scores[1].low > scores[0].high
    assert "steps/s" in capsys.readouterr().out


STUDY = """
seeds = [1, 2]
[metrics]
kuhn = "eval/nash_conv"
[settings]
total_timesteps = 512
evaluate_against = ["random"]
n_envs = 32
n_steps = 8
batch_size = 256
net_arch = [8]
critic_net_arch = [8]
[games.kuhn]
[methods.slow]
learning_rate = 1e-5
[methods.fast]
learning_rate = 1e-2
"""


@pytest.mark.slow
def test_the_rliable_examples_pool_runs_over_seeds(tmp_path, capsys):
    framework("rliable")
    file, folder = tmp_path / "study.toml", tmp_path / "runs"
    file.write_text(STUDY)
    ends = example("study").main([str(file), "--folder", str(folder)])
    assert [(method, len(ends[method]["kuhn"])) for method in ends] == [("slow", 2), ("fast", 2)]
    written = (folder / "kuhn-fast-1" / "policy.npz").stat().st_mtime_ns
    assert example("study").main([str(file), "--folder", str(folder)]) == ends
    assert (folder / "kuhn-fast-1" / "policy.npz").stat().st_mtime_ns == written


@pytest.mark.slow
def test_the_optuna_example_searches(tmp_path, monkeypatch):
    framework("optuna")
    monkeypatch.chdir(tmp_path)
    study = example("sweep").main(["--trials", "2", "--total-timesteps", "2000"])
    assert study.best_value == min(trial.value for trial in study.trials) > 0
