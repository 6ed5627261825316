"""Studies: each method in each game with each seed, what is finished is kept, the table; bootstrap intervals."""

import json

import numpy as np
import pytest
from parlour.training import cli
from parlour.training.evaluation.curves import bootstrapped
from parlour.training.runs.study import STUDIES, plans, read_study

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


def test_the_command_trains_what_is_missing_and_shows_a_table(tmp_path, capsys):
    file, folder = tmp_path / "mine.toml", tmp_path / "runs"
    file.write_text(STUDY)
    args = ["study", str(file), "--folder", str(folder)]
    assert cli.main([*args, "--methods", "fast", "--seeds", "1", "--json"]) == 0
    first = folder / "kuhn-fast-1" / "policy.npz"
    written = first.stat().st_mtime_ns
    (folder / "kuhn-slow-1").mkdir()  # ended before it saved anything
    assert cli.main([*args, "--json"]) == 0
    cells = json.loads(capsys.readouterr().out.split("\n{")[-1].join(["{", ""]))["cells"]
    assert [(cell["method"], len(cell["values"])) for cell in cells] == [("slow", 2), ("fast", 2)]
    assert all(cell["low"] <= cell["mean"] <= cell["high"] for cell in cells)
    assert cells[0]["values"] != cells[1]["values"]
    assert first.stat().st_mtime_ns == written
    assert cli.main([*args, "--no-train"]) == 0
    shown = capsys.readouterr().out
    assert "slow" in shown and f"{cells[1]['mean']:.3f}" in shown
    assert cli.main([*args, "--total-timesteps", "1024"]) != 0
    assert "has other settings than the study" in capsys.readouterr().err


def test_the_studies_of_parlour_have_valid_settings(tmp_path):
    for file in STUDIES.glob("*.toml"):
        study = read_study(file.stem)
        assert len(plans(study, tmp_path, {})) == len(study.seeds) * len(study.games) * len(study.methods)
    assert len(study.methods) == 6 and len(study.games) == 4 and len(study.seeds) >= 5


def test_a_study_needs_a_metric_for_every_game(tmp_path):
    file = tmp_path / "mine.toml"
    file.write_text(STUDY.replace('kuhn = "eval', 'leduc = "eval'))
    with pytest.raises(ValueError, match="metrics has none for kuhn"):
        read_study(str(file))
    with pytest.raises(FileNotFoundError, match=r"nothing.toml is missing: .* one of learning"):
        read_study("nothing")


def test_bootstrap_intervals():
    values = np.random.default_rng(1).normal(size=40)
    mean, low, high = bootstrapped(values.tolist())
    assert low < mean < high and mean == pytest.approx(np.sort(values)[10:30].mean())
    assert 0.4 < high - low < 1.0  # about 4 deviations of the mean, 0.16 and more
    assert bootstrapped([2.0])[0] == 2 and np.isnan(bootstrapped([2.0])[1:]).all() and np.isnan(bootstrapped([])).all()
