"""Training: a tiny run, what it leaves behind, resuming, Ctrl-C."""

import errno
import os
import re
import shutil
import signal
import subprocess
import sys
import time
import tomllib
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from parlour.envs import GAMES, Slice, game
from parlour.envs.core.compiled import compiled
from parlour.training import algorithms, cli
from parlour.training.algorithms.maskable_ppo import Learner
from parlour.training.evaluation.duplicate import evaluate
from parlour.training.learning.league import League
from parlour.training.learning.run_folder import locked, new_folder, timesteps
from parlour.training.learning.settings import run_path
from parlour.training.runs.config import load_config
from parlour.training.runs.run import resume, train
from parlour.wrappers.policies.loading import load_run
from sb3_contrib import MaskablePPO
from tiny import lines

TINY = {
    "options": {"seats": 2, "stacks": 20},
    "bots": {"call": 1.0},
    "total_timesteps": 2048,
    "n_envs": 16,
    "n_steps": 32,
    "batch_size": 256,
    "checkpoint_every": 1024,
}


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    return train(load_config("holdem", run=tmp_path_factory.mktemp("runs") / "tiny", **TINY), ["parlour", "train"])


def metrics(run):
    return lines(run / "metrics.jsonl")


def test_a_run_folder_explains_itself(run):
    assert {file.name for file in run.iterdir()} == {
        "config.toml", "command.txt", "model.zip", "policy.npz", "metrics.jsonl", "tensorboard", "checkpoints",
        "league.json",
    }  # fmt: skip
    config = tomllib.loads((run / "config.toml").read_text())
    assert config["game"] == "holdem-v0"
    assert config["options"]["stacks"] == 20
    assert config["options"]["big_blind"] == 2  # defaults are written down, too
    assert load_config(run / "config.toml").total_timesteps == 2048
    assert (run / "command.txt").read_text() == "parlour train\n"
    assert [line["steps"] for line in metrics(run)] == [512, 1024, 1536, 2048]
    assert {"rollout/return", "train/value_loss", "time/steps_per_second"} <= metrics(run)[-1].keys()
    assert sorted(int(file.stem) for file in (run / "checkpoints").iterdir()) == [0, 1024]
    assert any((run / "tensorboard").iterdir())


def test_the_same_seed_gives_the_same_policy(run, tmp_path):
    again = train(load_config("holdem", run=tmp_path / "tiny", **TINY))
    other = train(load_config("holdem", run=tmp_path / "other", seed=1, **TINY))
    first, second, third = (load_run(folder)[1].layers[-1][0] for folder in (run, again, other))
    np.testing.assert_array_equal(first, second)
    assert (first != third).any()


def test_resume_goes_on_where_it_was(tmp_path):
    run = train(load_config("holdem", run=tmp_path / "tiny", **TINY))
    with pytest.raises(ValueError, match="has had 2,048 of 2,048 timesteps"):
        resume(run)
    with pytest.raises(ValueError, match="seed"):
        resume(run, seed=3)
    assert resume(run, total_timesteps=3072, command=["again"]) == run
    assert [line["steps"] for line in metrics(run)] == [512, 1024, 1536, 2048, 2560, 3072]
    assert MaskablePPO.load(run / "model.zip", device="cpu").num_timesteps == 3072
    assert load_config(run / "config.toml").total_timesteps == 3072
    assert (run / "command.txt").read_text().splitlines()[-1] == "again"
    (run / "model.zip").unlink()
    with pytest.raises(FileNotFoundError, match=r"model\.zip is missing"):
        resume(run)


@pytest.mark.slow
@pytest.mark.parametrize("sign", [signal.SIGINT, signal.SIGTERM])
def test_ctrl_c_and_sigterm_save(sign, tmp_path):
    command = [sys.executable, "-m", "parlour.training.cli", "train", "holdem", "--n-envs", "16"]
    command += ["--run", str(tmp_path / "long")]
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment)
    file, deadline = tmp_path / "long" / "metrics.jsonl", time.monotonic() + 120
    while not (file.exists() and file.read_text().count("\n") >= 2):
        assert process.poll() is None, process.communicate()
        assert time.monotonic() < deadline
        time.sleep(0.1)
    process.send_signal(sign)
    output, errors = process.communicate(timeout=60)
    assert process.returncode == 0, errors
    assert "parlour train --resume" in output
    saved = MaskablePPO.load(tmp_path / "long" / "model.zip", device="cpu")
    assert saved.num_timesteps >= 2 * 16 * 64
    assert f"stopped at {timesteps(tmp_path / 'long'):,} timesteps" in output  # as parlour list says, too
    load_run(tmp_path / "long")
    assert not (tmp_path / "long" / "lock").exists()


def test_a_run_is_named_below_runs_or_by_its_path_or_by_the_time(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert new_folder(Path("first"), "kuhn-v0") == Path("runs/first")
    assert new_folder(Path("study/first"), "kuhn-v0") == Path("study/first")
    assert new_folder(tmp_path / "other", "kuhn-v0") == tmp_path / "other"
    own = new_folder(None, "kuhn-v0")
    assert re.fullmatch(r"runs/kuhn-\d{8}-\d{6}", own.as_posix()) and own.is_dir()
    assert new_folder(run_path("./mine"), "kuhn-v0") == tmp_path / "mine"  # a path, not the name of a run
    assert new_folder(run_path("mine"), "kuhn-v0") == Path("runs/mine")
    for again in (Path("first"), Path("runs/first")):
        with pytest.raises(FileExistsError, match="the run runs/first exists"):
            new_folder(again, "kuhn-v0")


def test_an_algorithm_is_one_more_file(tmp_path, monkeypatch):
    """It is found by the name of its module; its settings are options of the command, and the run names it."""
    (tmp_path / "patient.py").write_text(
        """
from dataclasses import dataclass
from parlour.training.algorithms import maskable_ppo

@dataclass(frozen=True, kw_only=True)
class PatientConfig(maskable_ppo.MaskablePPOConfig):
    patience: int = 3

class Learner(maskable_ppo.Learner):
    Config = PatientConfig
"""
    )
    monkeypatch.setattr(algorithms, "__path__", [*algorithms.__path__, str(tmp_path)])
    assert algorithms.names() == ["maskable_ppo", "patient", "selfplay"]
    settings = ["--options", "stacks=20", "--n-envs", "8", "--set", "n_steps=16", "batch_size=64"]
    args = ["train", "holdem", "--algorithm", "patient", "--total-timesteps", "128", *settings, "patience=5"]
    assert cli.main([*args, "--run", str(tmp_path / "runs" / "slow")]) == 0
    config = load_config(tmp_path / "runs" / "slow" / "config.toml")
    assert (config.algorithm, config.patience) == ("patient", 5)
    assert cli.main(["train", "--resume", str(tmp_path / "runs" / "slow"), "--total-timesteps", "256"]) == 0


def test_a_run_that_another_process_writes_to_is_not_resumed(run):
    before = (run / "config.toml").read_text()
    other = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    (run / "lock").write_text(str(other.pid))
    with pytest.raises(ValueError, match=f"process {other.pid} is writing to"):
        resume(run, total_timesteps=10_000)
    assert (run / "config.toml").read_text() == before
    other.communicate(b"\n")
    with pytest.raises(ValueError, match="has had"):  # the process is gone: its lock holds nobody up
        resume(run)
    assert not (run / "lock").exists()


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"past_checkpoints": 0.5, "bots": {}}, "bots for the rest"),
        ({"past_checkpoints": 0.5, "self_play": 0.6}, "need a share from 0 to what past_checkpoints=0.5 leaves"),
        ({"bots": {"maniacs": 1}}, "did you mean 'maniac'"),
        ({"options": {"seats": 11}}, "seats=11"),
    ],
)
def test_a_run_that_cannot_begin_leaves_no_folder(settings, message, tmp_path):
    with pytest.raises(ValueError, match=message):
        train(load_config("holdem", run=tmp_path / "none", **settings))
    assert not any(tmp_path.iterdir())


def test_in_self_play_the_opponent_is_the_learner_as_it_is_now(run):
    league = League(2, 0.5, {"call": 1}, seed=1, self_play=0.2)
    pool = league.pool()
    assert list(pool.policies) == ["random", "random", "call", "random"]
    assert list(pool.weights) == pytest.approx([0.25, 0.25, 0.3, 0.2])
    opponents = ["past", "past", "call", "random"]
    config = load_config(run / "config.toml")
    learner = Learner.load(run, config, game(config.game, **config.options), league)
    league.update_self_play(learner, opponents)
    weights = learner.model.policy.action_net.weight.detach().numpy().T
    np.testing.assert_array_equal(opponents[-1].layers[-1][0], weights)
    assert opponents[:3] == ["past", "past", "call"]
    league = League(2, 0.5, {"call": 1}, seed=1)
    league.update_self_play(learner, opponents)  # no self-play: nobody is replaced
    np.testing.assert_array_equal(opponents[-1].layers[-1][0], weights)


def both_versions(**options):
    """Auctions with a second version of the encoder, with which they are played."""
    auction = game("auction-v0", **options)
    wider = auction.encoders["v0"].extended([Slice("nothing", (1,), 0, 1, "always 0")], observe_nothing)
    return replace(auction, encoders={**auction.encoders, "v1": wider}, encoder="v1")


@compiled
def observe_nothing(table, seat, at, out):
    out[at.nothing] = 0


def test_a_learner_of_an_older_encoder_plays_its_checkpoints_in_a_newer_game(tmp_path, monkeypatch):
    """Its run names the encoder; resumed, evaluated and loaded, it keeps it."""
    monkeypatch.setitem(GAMES, "auction-v1", both_versions)
    settings = {**TINY, "options": {}, "bots": {"shade": 1.0}, "self_play": 0.3, "past_checkpoints": 0.3}
    run = train(load_config("auction", run=tmp_path / "older", encoder="v0", **settings))
    written = tomllib.loads((run / "config.toml").read_text())
    assert (written["game"], written["encoder"]) == ("auction-v1", "v0")
    resume(run, total_timesteps=3072)
    newer, policy = load_run(run)
    assert (newer.id, newer.layout.size, policy.inputs, policy.encoder) == (
        "auction-v1", newer.encoders["v0"].layout.size + 1, newer.encoders["v0"].layout.size, "v0"
    )  # fmt: skip
    rival = train(load_config("auction", run=tmp_path / "newer", **settings))
    assert load_run(rival)[1].encoder == "v1"
    evaluate(policy, newer, [load_run(rival)[1]], deals=10)


@pytest.mark.parametrize(("encoder", "message"), [("v7", "no encoder 'v7'"), ("full", "hidden information")])
def test_an_encoder_that_no_player_may_have_is_refused(encoder, message, tmp_path):
    with pytest.raises(ValueError, match=message):
        train(load_config("holdem", run=tmp_path / "none", encoder=encoder))
    assert not any(tmp_path.iterdir())


@pytest.mark.parametrize(("saver", "name"), [(MaskablePPO, "save"), (np, "savez")])
def test_a_full_disk_leaves_no_unfinished_file(saver, name, tmp_path, monkeypatch):
    def full(self, *args, **kwargs):
        if isinstance(self, MaskablePPO):
            args[0].write_text("half")
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(saver, name, full)
    config = load_config("kuhn", run=tmp_path / "full", **TINY | {"options": {}, "bots": {"random": 1.0}})
    with pytest.raises(OSError, match="No space"):
        train(config, [])
    assert not [
        file
        for file in tmp_path.rglob("*")
        if ".tmp" in file.name or (file.suffix == ".npz" and not file.stat().st_size)
    ]


TRUNCATED = {
    "league.json": ("league.json is not JSON", '{"league": '),
    "league.json of another kind": ("its league.json and checkpoints: KeyError", '{"league": 5}'),
    "model.zip": ("its learner", None),
}


@pytest.mark.parametrize("name", TRUNCATED)
def test_a_damaged_file_of_a_run_is_named_with_the_newest_whole_checkpoint(name, run, tmp_path):
    words, text = TRUNCATED[name]
    copy = tmp_path / "copy"
    shutil.copytree(run, copy)
    file = copy / name.partition(" ")[0]
    file.write_bytes(file.read_bytes()[:500] if text is None else text.encode())
    with pytest.raises(ValueError, match=words) as raised:
        resume(copy, total_timesteps=10_000)
    newest, *_ = sorted((copy / "checkpoints").glob("*.npz"), key=lambda one: -int(one.stem))
    assert "is not JSON" in words or str(raised.value).endswith(f"the newest whole checkpoint is {newest}")
    (copy / "policy.npz").write_bytes(b"PK")
    with pytest.raises(ValueError, match=f"policy.npz is not .*; the newest whole checkpoint is {newest}"):
        load_run(copy)


def test_of_processes_that_lock_at_the_same_time_one_writes(tmp_path):
    program = (
        "import os, sys, time\nfrom pathlib import Path\nfrom parlour.training.learning import run_folder\n"
        "check = run_folder._running\n"
        "run_folder._running = lambda pid: (check(pid), time.sleep(0.02))[0]\n"  # between the check and the writing
        "folder = Path(sys.argv[1])\nsys.stdin.readline()\nwrote = 0\n"
        "for _ in range(40):\n    try:\n        with run_folder.locked(folder):\n"
        "            os.close(os.open(folder / 'inside', os.O_CREAT | os.O_EXCL))\n"
        "            time.sleep(0.005)\n            (folder / 'inside').unlink()\n            wrote += 1\n"
        "    except ValueError:\n        time.sleep(0.003)\nprint(wrote)"
    )
    (tmp_path / "lock").write_text("999999999")  # of a process that has died
    started = [
        subprocess.Popen([sys.executable, "-c", program, tmp_path], stdin=-1, stdout=-1, stderr=-1, text=True)
        for _ in range(3)
    ]
    for one in started:
        one.stdin.write("\n")
        one.stdin.flush()
    answers = [one.communicate(timeout=120) for one in started]
    assert [one.returncode for one in started] == [0, 0, 0], answers
    with locked(tmp_path):
        pass


def test_more_timesteps_than_asked_for_are_told(tmp_path, capsys):
    train(
        load_config(
            "kuhn", run=tmp_path / "one", **TINY | {"options": {}, "bots": {"random": 1.0}, "total_timesteps": 100}
        ),
        [],
    )
    assert "(100 were asked for, and the last rollout is played to its end)" in capsys.readouterr().out
