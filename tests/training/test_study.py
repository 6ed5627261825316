"""Studies: each method in each game with each seed, what is finished is kept, the table; bootstrap intervals."""

import json
import signal
import subprocess
import sys
import time

import numpy as np
import pytest
from parlour.training import cli
from parlour.training.evaluation.curves import bootstrapped
from parlour.training.runs.metrics import Metrics
from parlour.training.runs.study import STUDIES, plans, read_study, run_study

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
    counted = []
    run_study(plans(read_study(str(file)), folder, {}), progress=counted.append)
    assert sum(counted) == 4  # finished runs count too: the bar comes to its end
    assert cli.main([*args, "--no-train"]) == 0
    shown = capsys.readouterr().out
    assert "slow" in shown and f"{cells[1]['mean']:.3f}" in shown
    assert cli.main([*args, "--total-timesteps", "1024"]) != 0
    assert "has other settings than the study: total_timesteps;" in capsys.readouterr().err


@pytest.fixture
def study(tmp_path):
    """A study of two runs with one seed, and the arguments of its command."""
    file = tmp_path / "mine.toml"
    file.write_text(STUDY.replace("[1, 2]", "[1]"))
    return ["study", str(file), "--folder", str(tmp_path / "runs")]


def test_a_run_that_another_process_trains_is_left_alone(study, tmp_path, capsys):
    run = tmp_path / "runs" / "kuhn-slow-1"
    run.mkdir(parents=True)
    (run / "lock").write_text("1")  # the first process of the machine
    assert cli.main(study) == 2
    assert f"process 1 is writing to {run}" in capsys.readouterr().err
    assert [one.name for one in run.parent.iterdir()] == ["kuhn-slow-1"]


def test_what_another_study_has_trained_meanwhile_is_kept(study, tmp_path, monkeypatch):
    write = Metrics.write

    def beside(metrics, values, timesteps):
        monkeypatch.setattr(Metrics, "write", write)
        assert cli.main([*study, "--methods", "fast"]) == 0
        metrics.write(values, timesteps)

    monkeypatch.setattr(Metrics, "write", beside)
    assert cli.main(study) == 0
    assert sorted(one.name for one in (tmp_path / "runs").iterdir()) == ["kuhn-fast-1", "kuhn-slow-1"]


@pytest.mark.parametrize("sign", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_the_study_and_the_same_command_goes_on(study, tmp_path, capsys, monkeypatch, sign):
    write = Metrics.write

    def stop(metrics, values, timesteps):
        monkeypatch.setattr(Metrics, "write", write)
        write(metrics, values, timesteps)
        signal.raise_signal(sign)

    monkeypatch.setattr(Metrics, "write", stop)
    assert cli.main(study) == 130
    assert capsys.readouterr().err.strip().endswith("parlour study: stopped; the same command goes on")
    assert [one.name for one in (tmp_path / "runs").iterdir()] == ["kuhn-slow-1"]
    assert cli.main(study) == 0
    assert sorted(one.name for one in (tmp_path / "runs").iterdir()) == ["kuhn-fast-1", "kuhn-slow-1"]


@pytest.mark.slow
def test_sigterm_saves_the_runs_of_other_processes(study, tmp_path):
    runs = [tmp_path / "runs" / f"kuhn-{method}-1" for method in ("slow", "fast")]
    args = [*study, "--processes", "2", "--total-timesteps", "1000000000", "--seeds", "1", "2"]
    command = [sys.executable, "-m", "parlour.training.cli", *args]
    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
    try:
        deadline = time.monotonic() + 240
        while not all((run / "metrics.jsonl").is_file() for run in runs) and time.monotonic() < deadline:
            time.sleep(0.1)
        process.terminate()
        assert process.communicate(timeout=120)[1].strip().endswith("stopped; the same command goes on")
    finally:
        process.kill()
    assert process.returncode == 130
    assert all((run / "policy.npz").is_file() and not (run / "lock").exists() for run in runs)
    assert len(list((tmp_path / "runs").iterdir())) == 2  # the others have not begun


def test_a_line_cut_off_by_a_crash_is_dropped(study, tmp_path, capsys):
    args = [*study, "--methods", "fast"]
    assert cli.main([*args, "--json"]) == 0
    file = tmp_path / "runs" / "kuhn-fast-1" / "metrics.jsonl"
    whole = file.read_text()
    file.write_text(whole + '{"steps": 10')
    assert cli.main([*args, "--no-train"]) == 0
    first, *rest = whole.splitlines(keepends=True)
    file.write_text(first + rest[0][:20])
    with Metrics(file.parent) as metrics:
        metrics.write({}, 512)
    assert file.read_text() == first + '{"steps": 512}\n'
    file.write_text("{\n" + whole)
    assert cli.main(args) == 2
    assert f"{file} has a line that is not JSON" in capsys.readouterr().err


def test_a_metric_that_runs_do_not_have_leaves_its_cell_empty(tmp_path, capsys):
    file = tmp_path / "mine.toml"
    text = STUDY.replace("[1, 2]", "[1]").replace("[games.kuhn]", "[games.kuhn]\n[games.rps]")
    text = text.replace("[games.rps]", "[games.leduc]").replace("[metrics]", '[metrics]\nleduc = "eval/nsh_conv"')
    file.write_text(text)
    args = ["study", str(file), "--folder", str(tmp_path / "runs"), "--methods", "fast"]
    assert cli.main([*args, "--json"]) == 0
    out, err = capsys.readouterr()
    assert [len(cell["values"]) for cell in json.loads(out)["cells"]] == [1, 0]
    assert "leduc-fast-1 has no metric 'eval/nsh_conv'; it has eval/" in err
    assert cli.main([*args, "--no-train"]) == 0
    assert "—" in capsys.readouterr().out


def test_the_folder_of_a_study_may_be_moved(study, tmp_path, capsys):
    args = [*study, "--methods", "fast"]
    assert cli.main(args) == 0
    moved = tmp_path / "moved"
    (tmp_path / "runs").rename(moved)
    args[args.index("--folder") + 1] = str(moved)
    before = (moved / "kuhn-fast-1" / "policy.npz").stat().st_mtime_ns
    assert cli.main(args) == 0
    assert (moved / "kuhn-fast-1" / "policy.npz").stat().st_mtime_ns == before


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("methods.slow", 'methods."../../esc"', "'../../esc' is a part of a folder's name: write it without /"),
        ("seeds = [1]", "seeds = [-1]", "seed=-1"),
    ],
)
def test_what_a_study_may_not_hold(study, tmp_path, capsys, old, new, words):
    file = tmp_path / "mine.toml"
    file.write_text(file.read_text().replace(old, new))
    assert cli.main(study) == 2
    assert words in capsys.readouterr().err
    assert not list(tmp_path.glob("*esc*"))


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
    with pytest.raises(FileNotFoundError, match=r"no study 'nothing': .* one of learning"):
        read_study("nothing")
    with pytest.raises(FileNotFoundError, match=r"no study '\.'"):
        read_study(".")


def test_bootstrap_intervals():
    values = np.random.default_rng(1).normal(size=40)
    mean, low, high = bootstrapped(values.tolist())
    assert low < mean < high and mean == pytest.approx(np.sort(values)[10:30].mean())
    assert 0.4 < high - low < 1.0  # about 4 deviations of the mean, 0.16 and more
    assert bootstrapped([2.0])[0] == 2 and np.isnan(bootstrapped([2.0])[1:]).all() and np.isnan(bootstrapped([])).all()
