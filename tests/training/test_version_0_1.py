"""Runs, policies and settings of version 0.1 (tests/data/v0_1) load, play the same actions, and go on."""

import json
import shutil
import tomllib
from pathlib import Path

import numpy as np
import pytest
import torch
from parlour.envs import VectorGame
from parlour.training import cli
from parlour.training.learning.run_folder import checkpoint_files
from parlour.training.runs.config import load_config
from parlour.training.runs.run import resume
from parlour.wrappers.policies.loading import load_policy, load_run
from parlour.wrappers.policies.mlp import MlpPolicy
from stable_baselines3.common.save_util import load_from_zip_file

torch.set_num_threads(1)
DATA = Path(__file__).parents[1] / "data" / "v0_1"
GAMES = ("holdem", "auction", "mafia", "tangram")


def played(game, policy):
    """What a policy plays at tables of random play, and how likely its likeliest actions were: [8, 16] each."""
    tables = VectorGame(game, 16)
    tables.reset(seed=3)
    actions, chances = [], []
    for _ in range(8):
        seen = tables.observations.copy(), tables.action_masks.copy()
        actions.append(policy.act(*seen))
        chances.append(policy.probabilities(*seen).max(axis=1))
        tables.step(tables.sample())
    return np.array(actions), np.array(chances)


@pytest.fixture(params=GAMES)
def old(request, tmp_path):
    """A run of version 0.1, in a folder of its own."""
    return shutil.copytree(DATA / request.param, tmp_path / request.param)


@pytest.mark.parametrize("name", GAMES)
@pytest.mark.parametrize("file", ["the run", "policy.npz", "model.zip"])
def test_it_plays_what_0_1_played(name, file):
    expected = np.load(DATA / name / "played.npz")
    game, policy = load_run(DATA / name, seed=5)
    if file != "the run":
        policy = load_policy(DATA / name / file, seed=5)
    actions, chances = played(game, policy)
    np.testing.assert_array_equal(actions, expected["actions"])
    np.testing.assert_allclose(chances, expected["chances"], atol=1e-5)


@pytest.mark.parametrize("name", GAMES)
def test_a_policy_of_it_knows_what_it_was_trained_for(name):
    """By the settings of the run in whose folder it lies: version 0.1 wrote nothing into the file."""
    options = tomllib.loads((DATA / name / "config.toml").read_text())["options"]
    for file in ("policy.npz", "model.zip", "snapshots/64.npz"):
        policy = load_policy(DATA / name / file)
        assert policy.trained_for.game == f"{name}-v0"
        assert policy.trained_for.options == options
        assert policy.encoder is None  # the game's own
    assert MlpPolicy.load(DATA / name / "policy.npz").trained_for is None


def test_the_old_class_in_a_model_is_really_there():
    """The tangram run names a class by a module that is gone, or these tests would show nothing."""
    with pytest.raises(ModuleNotFoundError, match=r"parlour\.wrappers\.sb3"):
        load_from_zip_file(DATA / "tangram" / "model.zip", device="cpu")


def test_it_is_resumed_and_its_folder_is_then_one_of_this_version(old):
    before = load_config(old / "config.toml")
    lines = (old / "metrics.jsonl").read_text().splitlines()
    steps = json.loads(lines[-1])["steps"]
    resume(old, total_timesteps=steps + 128, command=["again"])
    after = (old / "metrics.jsonl").read_text().splitlines()
    assert after[: len(lines)] == lines
    assert json.loads(after[-1])["steps"] == steps + 128
    written = tomllib.loads((old / "config.toml").read_text())
    assert (written["format"], written["encoder"]) == (2, "v0")
    assert load_config(old / "config.toml").net_arch == before.net_arch
    assert [file.name for file in (old / "checkpoints").iterdir()] == [f"{steps + 64}.npz"]
    assert [int(file.stem) for file in checkpoint_files(old)][-1] == steps + 64  # after those of version 0.1
    _, policy = load_run(old)
    assert policy.trained_for == load_policy(old / "policy.npz").trained_for
    resume(old, total_timesteps=steps + 192)  # and once more, as a run of this version


def test_its_settings_mean_the_same():
    config = load_config(DATA / "holdem" / "config.toml")
    assert (config.past_checkpoints, config.self_play) == (0.3, 0.2)  # were self_play and mirror
    assert (config.total_timesteps, config.n_envs, config.n_steps, config.n_epochs) == (256, 8, 8, 1)
    assert (config.checkpoint_slots, config.checkpoint_every) == (2, 64)
    assert (config.net_arch, config.ent_coef, config.options["stacks"]) == ((4,), 0.03, 40)
    assert load_config(DATA / "mafia" / "config.toml").teacher == "mixed"
    tangram = load_config(DATA / "tangram" / "config.toml")
    assert (tangram.teacher, tangram.demonstrations, tangram.cloning_minutes) == ("expert", 1, 0.01)
    assert tangram.observation_slices[0] == "phase"
    assert tangram.critic_net_arch == (2,)
    auction = load_config(DATA / "auction" / "config.toml")
    assert (auction.activation_fn, auction.critic_net_arch) == ("Tanh", (3,))


def test_settings_that_somebody_wrote_for_it_are_read(tmp_path):
    file = tmp_path / "mine.toml"
    file.write_text('game = "holdem"\nself_play = 0.25\nmirror = 0.5\nhidden = [8]\n')
    config = load_config(file)
    assert (config.past_checkpoints, config.self_play, config.net_arch) == (0.25, 0.5, (8,))
    file.write_text('format = 2\ngame = "holdem"\nself_play = 0.25\n')
    config = load_config(file)
    assert (config.past_checkpoints, config.self_play) == (0.5, 0.25)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('game = "holdem"\ntotal_timesteps = 5\n', "has total_timesteps, but no `format = 2`"),
        ('game = "holdem"\nstep = 5\n', "did you mean 'steps'"),
        ('format = 3\ngame = "holdem"\n', "format = 3; this version of Parlour reads format 2"),
        ('format = 2\ngame = "holdem"\nsteps = 5\n', "no setting of .* is called 'steps'"),
    ],
)
def test_settings_of_two_versions_are_not_mixed(text, message, tmp_path):
    (tmp_path / "mine.toml").write_text(text)
    with pytest.raises(ValueError, match=message):
        load_config(tmp_path / "mine.toml")


def test_it_is_evaluated_by_its_folder_and_by_its_file(capsys):
    for spec in (DATA / "holdem", DATA / "holdem" / "model.zip"):
        assert cli.main(["evaluate", str(spec), "--against", "call", "--deals", "4", "--json"]) == 0
        report = json.loads(capsys.readouterr().out)
        assert (report["options"]["seats"], report["options"]["stacks"]) == (2, 40)
