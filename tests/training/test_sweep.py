"""Sweeps: what is searched, the runs and their folder, continuing, `parlour sweep`."""

import json

import pytest
from parlour.training import cli

pytest.importorskip("optuna", reason="optuna is missing: pip install -e '.[dev]'")

from optuna.distributions import CategoricalDistribution, FloatDistribution, IntDistribution
from parlour.training.runs.sweep import space

FIXED = ["n_envs=32", "n_steps=8", "batch_size=256", "net_arch=[8]", "critic_net_arch=[8]", "total_timesteps=512"]


def test_ranges_and_choices():
    found = space(["learning_rate=1e-4:1e-2:log", "n_epochs=1:4", "network=mlp,residual", "n_steps=8"])
    assert found == {
        "learning_rate": FloatDistribution(1e-4, 1e-2, log=True),
        "n_epochs": IntDistribution(1, 4),
        "network": CategoricalDistribution(["mlp", "residual"]),
        "n_steps": CategoricalDistribution([8]),
    }


@pytest.mark.parametrize("text", ["learning_rate", "n_epochs=4:1", "n_epochs=1:4:linear", "network=a:b", "n_epochs="])
def test_another_text_is_refused(text):
    with pytest.raises(ValueError, match="write name=low:high"):
        space([text])


@pytest.mark.slow
def test_the_command_trains_every_trial_and_continues(tmp_path, capsys):
    folder = tmp_path / "sweep"
    args = ["sweep", "kuhn", "--algorithm", "selfplay", "--search", "learning_rate=1e-4:1e-2:log", "n_epochs=1:2"]
    args += ["--settings", *FIXED, 'evaluate_against=["random"]', "--seeds", "0", "1", "--processes", "2"]
    args += ["--metric", "eval/nash_conv", "--minimize", "--folder", str(folder), "--json"]
    assert cli.main([*args, "--trials", "2"]) == 0
    trials = json.loads(capsys.readouterr().out)["trials"]
    assert sorted(one["number"] for one in trials) == [0, 1] and trials[0]["mean"] <= trials[1]["mean"]
    assert all(len(one["values"]) == 2 and 1e-4 <= one["settings"]["learning_rate"] <= 1e-2 for one in trials)
    assert {run.name for run in folder.iterdir() if run.is_dir()} == {"0-0", "0-1", "1-0", "1-1"}
    assert cli.main([*args, "--trials", "1"]) == 0
    assert (folder / "2-0" / "policy.npz").is_file()
    capsys.readouterr()
    assert (
        cli.main(["compare", *map(str, (folder / "0-0", folder / "0-1", folder / "1-0", folder / "1-1")), "--json"])
        == 0
    )
    assert [group["runs"] for group in json.loads(capsys.readouterr().out)["metrics"]["rollout/return"]] == [2, 2]


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (["--search", "learning_rat=1e-4:1e-2"], "learning_rate"),
        (["--search", "n_epochs=1:2", "--settings", "n_env=4"], "n_envs"),
        (["--search", "n_epochs=1:2", "--trials", "0"], "trials=0"),
    ],
)
def test_mistakes_are_explained(tmp_path, capsys, args, message):
    assert cli.main(["sweep", "kuhn", "--algorithm", "selfplay", *args, "--folder", str(tmp_path / "sweep")]) == 2
    assert message in capsys.readouterr().err
