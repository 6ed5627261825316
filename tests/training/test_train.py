"""Training: a tiny run, what it leaves behind, resuming, Ctrl-C."""

import dataclasses
import json
import os
import signal
import subprocess
import sys
import time
import tomllib

import numpy as np
import pytest
import torch
from parlour.training.algorithms.maskable_ppo import resume, train
from parlour.training.commands.train import main
from parlour.training.evaluation.theory import compare
from parlour.training.learning.config import CONFIGS, TrainConfig, load_config, to_toml
from parlour.training.learning.league import League
from parlour.wrappers.policies.loading import load_run
from parlour.wrappers.rl.single_agent import SingleAgentTables
from sb3_contrib import MaskablePPO

torch.set_num_threads(1)

TINY = {
    "options": {"seats": 2, "stacks": 20},
    "bots": {"call": 1.0},
    "steps": 2048,
    "num_envs": 16,
    "rollout": 32,
    "batch_size": 256,
    "snapshot_every": 1024,
    "progress": False,
}


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    return train(load_config("holdem", runs=tmp_path_factory.mktemp("runs"), name="tiny", **TINY), ["parlour", "train"])


def metrics(run):
    return [json.loads(line) for line in (run / "metrics.jsonl").read_text().splitlines()]


def test_a_run_folder_explains_itself(run):
    assert {file.name for file in run.iterdir()} == {
        "config.toml", "command.txt", "model.zip", "policy.npz", "metrics.jsonl", "tensorboard", "snapshots",
    }  # fmt: skip
    config = tomllib.loads((run / "config.toml").read_text())
    assert config["game"] == "holdem-v0"
    assert config["options"]["stacks"] == 20
    assert config["options"]["big_blind"] == 2  # defaults are written down, too
    assert load_config(run / "config.toml").steps == 2048
    assert (run / "command.txt").read_text() == "parlour train\n"
    assert [line["steps"] for line in metrics(run)] == [512, 1024, 1536, 2048]
    assert {"rollout/return", "train/value_loss", "time/steps_per_second"} <= metrics(run)[-1].keys()
    assert sorted(int(file.stem) for file in (run / "snapshots").iterdir()) == [0, 1024]
    assert any((run / "tensorboard").iterdir())


def test_the_saved_policy_is_the_models(run):
    game, policy = load_run(run, seed=1)
    assert dict(game.options)["stacks"] == 20
    model = MaskablePPO.load(run / "model.zip", device="cpu")  # the plain class reads it
    assert model.num_timesteps == 2048
    weights = model.policy.action_net.weight.detach().numpy().T
    np.testing.assert_array_equal(policy.layers[-1][0], weights)


def test_the_same_seed_gives_the_same_policy(run, tmp_path):
    again = train(load_config("holdem", runs=tmp_path, name="tiny", **TINY))
    other = train(load_config("holdem", runs=tmp_path, name="other", seed=1, **TINY))
    first, second, third = (load_run(folder)[1].layers[-1][0] for folder in (run, again, other))
    np.testing.assert_array_equal(first, second)
    assert (first != third).any()


def test_resume_goes_on_where_it_was(tmp_path):
    run = train(load_config("holdem", runs=tmp_path, name="tiny", **TINY))
    with pytest.raises(ValueError, match="has had 2,048 of 2,048 steps"):
        resume(run, progress=False)
    with pytest.raises(ValueError, match="seed"):
        resume(run, seed=3)
    assert resume(run, steps=3072, progress=False, command=["again"]) == run
    assert [line["steps"] for line in metrics(run)] == [512, 1024, 1536, 2048, 2560, 3072]
    assert MaskablePPO.load(run / "model.zip", device="cpu").num_timesteps == 3072
    assert load_config(run / "config.toml").steps == 3072
    assert (run / "command.txt").read_text().splitlines()[-1] == "again"
    (run / "model.zip").unlink()
    with pytest.raises(FileNotFoundError, match=r"model\.zip is missing"):
        resume(run)


@pytest.mark.slow
def test_ctrl_c_saves(tmp_path):
    code = "import torch; torch.set_num_threads(1); from parlour.training.commands.train import main; main()"
    command = [sys.executable, "-c", code, "holdem", "--name", "long", "--runs", str(tmp_path), "--num-envs", "16"]
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment)
    lines, deadline = tmp_path / "long" / "metrics.jsonl", time.monotonic() + 120
    while not (lines.exists() and lines.read_text().count("\n") >= 2):
        assert process.poll() is None, process.communicate()
        assert time.monotonic() < deadline
        time.sleep(0.1)
    process.send_signal(signal.SIGINT)
    output, errors = process.communicate(timeout=60)
    assert process.returncode == 0, errors
    assert "parlour train --resume" in output
    saved = MaskablePPO.load(tmp_path / "long" / "model.zip", device="cpu")
    assert saved.num_timesteps >= 2 * 16 * 64
    load_run(tmp_path / "long")


@pytest.mark.slow
def test_minutes_end_a_run(tmp_path):
    run = train(load_config("holdem", runs=tmp_path, name="short", **{**TINY, "steps": 10**9, "minutes": 0.05}))
    assert metrics(run)[-1]["steps"] < 10**6
    assert metrics(run)[-1]["train/learning_rate"] < 2e-3


def test_config_round_trip():
    config = load_config("holdem", runs='quo"te', options={"seats": 2, "stacks": [20, 40]}, minutes=1.5)
    assert tomllib.loads(to_toml(config))["runs"] == 'quo"te'
    assert tomllib.loads(to_toml(config))["options"] == {"seats": 2, "stacks": [20, 40]}


def test_every_setting_has_a_help_text_and_the_config_files_are_valid(capsys):
    with pytest.raises(SystemExit):
        main(["holdem", "--help"])
    text = capsys.readouterr().out
    for part in dataclasses.fields(TrainConfig):
        assert "--" + part.name.replace("_", "-") in text
    assert load_config("holdem").options["seats"] == 2


def test_command_line(tmp_path, capsys):
    common = ["--runs", str(tmp_path), "--no-progress", "--num-envs", "8", "--rollout", "16", "--batch-size", "64"]
    args = [
        "holdem",
        "--options",
        "stacks=30",
        "--bots",
        "call=1",
        "tight=2",
        "--steps",
        "128",
        "--name",
        "cli",
        *common,
    ]
    run = main(args)
    printed = "".join(capsys.readouterr().out.split())
    assert printed.startswith("trained128stepsin") and printed.endswith(str(run))  # and no bar
    config = load_config(run / "config.toml")
    assert config.options["stacks"] == 30
    assert config.options["seats"] == 2  # the config file's other options stay
    assert config.bots == {"call": 1, "tight": 2}
    assert (run / "command.txt").read_text().startswith("parlour train holdem --options stacks=30")
    with pytest.raises(SystemExit, match="exists"):
        main(args)
    assert main(["--resume", str(run), "--steps", "256", "--no-progress"]) == run


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"stepz": 3}, "did you mean 'steps'"),
        ({"steps": 0}, "steps=0"),
        ({"activation": "GELU"}, "ReLU and Tanh"),
        ({"minutes": 0}, "minutes=0"),
        ({"opening": -1}, "opening=-1"),
        ({"minutes": float("nan")}, "minutes=nan: need a number above 0"),
        ({"steps": "many"}, "steps='many': need a whole number"),
        ({"hidden": [64, 0]}, "hidden=0: need a whole number, at least 1"),
        ({"hidden": [64.5]}, "hidden=64.5"),
        ({"hidden": 64}, "hidden=64: need the sizes"),
        ({"critic": [0]}, "critic=0"),
        ({"inputs": "phase"}, "inputs='phase': need parts"),
        ({"lesson_minutes": 0}, "lesson_minutes=0"),
        ({"lesson_rate": -1}, "lesson_rate=-1"),
        ({"name": "../evil"}, "name='../evil': need letters"),
        ({"name": "/tmp/evil"}, "name='/tmp/evil'"),
        ({"name": ".."}, r"name='\.\.'"),
        ({"name": " "}, "name=' '"),
        ({"name": "-x"}, "name='-x'"),
    ],
)
def test_wrong_settings_are_named(settings, message):
    with pytest.raises(ValueError, match=message):
        load_config("holdem", **settings)


def test_a_config_file_that_cannot_be_read_is_explained(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(FileNotFoundError, match=r"there is no config file mine\.toml"):
        load_config("mine.toml")
    (tmp_path / "mine.toml").write_text("steps: 3")
    with pytest.raises(ValueError, match=r"mine\.toml is no TOML: "):
        load_config("mine.toml")
    with pytest.raises(SystemExit, match=r"--config mine: need a TOML file"):
        main(["holdem", "--config", "mine"])


def test_without_a_game_nothing_is_trained(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for args in ([], ["--steps", "100"]):
        with pytest.raises(SystemExit, match=r"give a game, as in `parlour train holdem`"):
            main(args)
    assert not any(tmp_path.iterdir())


def test_a_run_that_another_process_writes_to_is_not_resumed(run):
    before = (run / "config.toml").read_text()
    other = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    (run / "lock").write_text(str(other.pid))
    with pytest.raises(ValueError, match=f"process {other.pid} is writing to"):
        resume(run, steps=10_000, progress=False)
    assert (run / "config.toml").read_text() == before
    other.communicate(b"\n")
    with pytest.raises(ValueError, match="has had"):  # the process is gone: its lock holds nobody up
        resume(run, progress=False)
    assert not (run / "lock").exists()


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"self_play": 2.0}, "self_play=2"),
        ({"self_play": 0.5, "bots": {}}, "bots for the rest"),
        ({"self_play": 0.5, "mirror": 0.6}, "mirror=0.6: need a share from 0 to what self_play=0.5 leaves"),
        ({"mirror": -0.1}, "mirror=-0.1"),
        ({"self_play": 0.0, "mirror": 0.5, "bots": {}}, "bots for the rest"),
        ({"bots": {"maniacs": 1}}, "did you mean 'maniac'"),
        ({"options": {"seats": 11}}, "seats=11"),
    ],
)
def test_a_run_that_cannot_begin_leaves_no_folder(settings, message, tmp_path):
    with pytest.raises(ValueError, match=message):
        train(load_config("holdem", runs=tmp_path, **settings))
    assert not any(tmp_path.iterdir())


def test_league_seats_the_newest_first_and_leaves_the_bots():
    class Table:
        policies = ["random", "random", "call"]  # noqa: RUF012

    league = League(2, 0.5, {"call": 1}, seed=1)
    assert list(league.pool().weights) == [0.25, 0.25, 0.5]
    league.past = ["old", "older", "new"]
    for _ in range(20):
        league.seat(Table)
        assert Table.policies[0] == "new"
        assert Table.policies[1] in league.past
        assert Table.policies[2] == "call"


def test_a_mirror_plays_what_the_learner_plays_now(run):
    league = League(2, 0.5, {"call": 1}, seed=1, mirror=0.2)
    pool = league.pool()
    assert list(pool.policies) == ["random", "random", "call", "random"]
    assert list(pool.weights) == pytest.approx([0.25, 0.25, 0.3, 0.2])
    assert League(2, 0.9, {}, seed=1, mirror=0.1).pool().weights == [0.45, 0.45, 0.1]
    assert League(0, 0, {}, seed=1, mirror=1).pool().weights == [1]

    class Table:
        policies = ["past", "past", "call", "random"]  # noqa: RUF012

    model = MaskablePPO.load(run / "model.zip", device="cpu")
    league.reflect(model, Table)
    weights = model.policy.action_net.weight.detach().numpy().T
    np.testing.assert_array_equal(Table.policies[-1].layers[-1][0], weights)
    assert Table.policies[:3] == ["past", "past", "call"]
    league = League(2, 0.5, {"call": 1}, seed=1)
    league.reflect(model, Table)  # no mirror: nobody is replaced
    np.testing.assert_array_equal(Table.policies[-1].layers[-1][0], weights)


def test_a_mirror_is_renewed_with_every_rollout_and_openings_begin_ever_earlier(tmp_path, monkeypatch):
    reflected, openings = [], []
    monkeypatch.setattr(League, "reflect", lambda self, model, seats: reflected.append(model.num_timesteps))
    begin = SingleAgentTables._begin
    monkeypatch.setattr(
        SingleAgentTables, "_begin", lambda self, rows: (openings.append(self.random_start_steps), begin(self, rows))
    )
    settings = {**TINY, "options": {"rounds": 5}, "bots": {}, "self_play": 0.0, "mirror": 1.0, "opening": 8}
    train(load_config("bargaining", runs=tmp_path, name="mirror", **settings))
    assert reflected == [0, 512, 1024, 1536]
    assert list(dict.fromkeys(openings)) == [(8, 8), (4, 8), (0, 8)]


def test_settings_are_found_by_name():
    assert load_config("holdem-v0").steps == load_config("holdem").steps
    assert load_config("holdem-v0").game == "holdem-v0"
    assert load_config("bargaining-public").game == "bargaining"
    assert load_config("bargaining-public").options["public"]
    assert load_config("kuhn").steps == TrainConfig().steps


@pytest.mark.parametrize("config", sorted(file.stem for file in CONFIGS.glob("*.toml")))
def test_every_config_of_ours_trains(config, tmp_path):
    tiny = {"steps": 1, "lessons": 1, "num_envs": 8, "rollout": 8, "batch_size": 32, "progress": False}
    run = train(load_config(config, runs=tmp_path, name="own", **tiny))
    trained, policy = load_run(run)
    assert config.startswith(trained.name)
    assert policy.inputs == trained.layout.size


@pytest.mark.slow
def test_first_price_self_play_comes_near_the_equilibrium(tmp_path):
    run = train(
        load_config("auction", runs=tmp_path, name="short", steps=500_000, rollout=16, batch_size=512, progress=False)
    )
    trained, policy = load_run(run, seed=1)
    found = {line.name: line.learned for line in compare(policy, trained).lines}
    assert found["bid_error"] < 4
    assert 28 < found["revenue"] < 38
