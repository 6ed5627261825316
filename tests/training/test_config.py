"""Settings of training runs: in files, on the command line, of the presets."""

import dataclasses
import sys
import tomllib

import pytest
import tomli_w
from cases import slow_but
from parlour.training import cli
from parlour.training.runs.config import load_config, presets, settings_from, to_toml
from parlour.training.runs.run import train
from parlour.training.runs.version_0_2 import WITHOUT_EFFECT
from parlour.wrappers.policies.base import of_settings
from parlour.wrappers.policies.loading import load_run


@pytest.mark.parametrize("runs", ['quo"te', "back\\slash", "emoji 🃏", "new\nline", "ümläut/日本"])
def test_config_round_trip(runs, tmp_path):
    config = load_config("holdem", run=f"{runs}/one", options={"seats": 2, "stacks": [20, 40]}, minutes=1.5)
    assert tomllib.loads(to_toml(config))["run"] == f"{runs}/one"
    assert tomllib.loads(to_toml(config))["options"] == {"seats": 2, "stacks": [20, 40]}
    (tmp_path / "config.toml").write_text(to_toml(config), "utf-8")
    assert load_config(tmp_path / "config.toml") == config


def test_an_option_that_is_none_stays_none(tmp_path):
    """TOML has no None, and the game's default is another value."""
    config = load_config("tangram", options={"split": None, "seats": 2})
    assert tomllib.loads(to_toml(config))["options_none"] == ["split"]
    (tmp_path / "config.toml").write_text(to_toml(config), "utf-8")
    assert load_config(tmp_path / "config.toml").options == {"split": None, "seats": 2}
    assert of_settings(tomllib.loads(to_toml(config))).options == {"split": None, "seats": 2}


def test_command_line(tmp_path, capsys, monkeypatch):
    words = "train holdem --options stacks=30 --bots call=1 tight=2 --total-timesteps 128 --n-envs 8"
    args = [*words.split(), "--run", str(tmp_path / "cli"), "--set", "n_steps=16", "batch_size=64"]
    monkeypatch.setattr(sys, "argv", ["parlour", *args])
    assert cli.main() == 0
    run = tmp_path / "cli"
    printed = "".join(capsys.readouterr().out.split())
    assert printed.startswith("trained128timestepsin") and f":{run}next:parlourevaluate{run}" in printed  # and no bar
    config = load_config(run / "config.toml")
    assert config.options["stacks"] == 30
    assert config.options["seats"] == 2  # the config file's other options stay
    assert config.bots == {"call": 1, "tight": 2}
    assert (run / "command.txt").read_text().startswith("parlour train holdem --options stacks=30")
    assert cli.main(args) == cli.MISTAKE
    assert "exists" in capsys.readouterr().err
    assert cli.main(["train", "--resume", str(run), "--total-timesteps", "256"]) == 0
    assert load_config(run / "config.toml").total_timesteps == 256


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"total_timestep": 3}, "did you mean 'total_timesteps'"),
        ({"activation_fn": "GELU"}, "choose from 'ReLU', 'Tanh'"),
        ({"random_start_steps": -1}, "random_start_steps=-1"),
        ({"minutes": float("nan")}, "minutes=nan: need a number above 0"),
        ({"total_timesteps": "many"}, "total_timesteps='many': need a whole number"),
        ({"net_arch": [64, 0]}, "net_arch=0: need a whole number, at least 1"),
        ({"net_arch": 64}, "net_arch=64: need a list"),
        ({"run": ""}, r"run='\.': need a name of letters"),
        ({"run": "-x"}, "run='-x'"),
        ({"run": "runs/a b"}, "run='runs/a b'"),
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
    with pytest.raises(ValueError, match=r"mine\.toml is not TOML: "):
        load_config("mine.toml")


@pytest.mark.parametrize("config", slow_but(("auction", "centipede", "holdem", "leduc", "mafia"), presets()))
def test_every_config_of_ours_trains(config, tmp_path):
    tiny = {"total_timesteps": 1, "demonstrations": 1, "n_envs": 8, "n_steps": 8, "batch_size": 32}
    run = train(load_config(config, run=tmp_path / "own", **tiny))
    trained, policy = load_run(run)
    assert settings_from(config)["game"].partition("-")[0] == trained.name
    assert policy.inputs == trained.encoders[policy.encoder].layout.size


# Files of version 0.2.

GONE = {
    "critic_encoder": "full",
    "activation_fn": "ReLU",
    "learning_rate_schedule": "power",
    "gamma": 1.0,
    "gae_lambda": 0.95,
    "clip_range": 0.1,
    "vf_coef": 0.5,
    "magnet_coef": 0.0,
    "magnet_rate": 0.01,
    "precision": "auto",
    "max_grad_norm": 0.5,
    "self_play": 0.0,
    "checkpoint_slots": 4,
    "cloning_batch_size": 1024,
    "threads": 2,
    "track": "wandb",
    "address": "auto",
    "progress": False,
    "evaluate_deals": 50,
    "evaluate_hands": 50,
    "exploitability": "exact",
}
"""Settings of self-play that version 0.2 wrote, with defaults, or with values that changed nothing in the learning."""


def of_version_0_2(folder, algorithm="selfplay", **settings):
    """Write a file of version 0.2 with these settings; return its path."""
    file = folder / "config.toml"
    file.write_text(tomli_w.dumps({"format": 2, "game": "kuhn", "algorithm": algorithm, **settings}))
    return file


def test_a_file_of_version_0_2_is_read(tmp_path, caplog):
    now = dataclasses.replace(load_config("kuhn", algorithm="selfplay"), preset="")
    assert not set(GONE) & {part.name for part in dataclasses.fields(now)}
    file = of_version_0_2(tmp_path, **GONE)
    assert load_config(file) == now
    assert [record.message for record in caplog.records] == [
        f"{file} has track='wandb', which is gone: send the metrics by a callback",
        f"{file} has address='auto', which is gone: set RAY_ADDRESS",
    ]
    caplog.clear()
    assert load_config(of_version_0_2(tmp_path, **GONE | {"track": "", "address": ""})) == now and not caplog.records


@pytest.mark.parametrize(
    ("before", "now"),
    [
        ({}, {}),
        ({"final_ent_coef": 0.02}, {"ent_coef": [0.05, 0.02]}),
        ({"ent_schedule": "constant"}, {"ent_coef": 0.05}),
        ({"ent_coef": 0.2, "final_ent_coef": 0.02, "ent_schedule": "linear"}, {"ent_coef": [0.2, 0.02, "linear"]}),
        ({"final_learning_rate": 1e-5}, {"learning_rate": [1e-3, 1e-5]}),
        ({"kl_coef": 2.0, "final_kl_coef": 8.0}, {"kl_coef": [2.0, 8.0]}),
        ({"kl_coef": 2.0, "final_kl_coef": 8.0, "ent_schedule": "constant"}, {"kl_coef": 2.0, "ent_coef": 0.05}),
        ({"name": "first", "runs": "/study"}, {"run": "/study/first"}),
        ({"evaluate_every": 0, "evaluate_against": ["call"]}, {}),
        ({"evaluate_every": 9, "evaluate_against": ["call"]}, {"evaluate_against": ["call"]}),
    ],
)  # fmt: skip
def test_settings_of_version_0_2_have_their_values_under_the_names_of_today(tmp_path, before, now):
    expected = dataclasses.replace(load_config("kuhn", algorithm="selfplay", **now), preset="")
    assert load_config(of_version_0_2(tmp_path, **before)) == expected
    mine = {"game": "kuhn", "by_algorithm": {"selfplay": before}}  # a preset of a user
    file = of_version_0_2(tmp_path, "maskable_ppo", learning_rate=0.1, **mine)
    assert load_config(file).learning_rate == 0.1
    assert load_config(file, algorithm="selfplay") == expected


def test_the_other_algorithm_keeps_its_single_values(tmp_path, caplog):
    file = of_version_0_2(tmp_path, "maskable_ppo", learning_rate=0.1, ent_coef=0.2, runs="study", evaluate_every=5)
    config = load_config(file)
    assert (config.learning_rate, config.ent_coef, config.run, config.evaluate_against) == (0.1, 0.2, None, ("random",))
    assert [record.message.partition(", ")[0] for record in caplog.records] == [
        f"{file} has runs='study'",
        f"{file} has evaluate_every=5",
    ]


def test_a_schedule_is_given_in_every_way(tmp_path, capsys):
    file = tmp_path / "mine.toml"
    mine = {"format": 3, "game": "kuhn", "algorithm": "selfplay", "ent_coef": [0.2, 0.02, "linear"], "kl_coef": 1}
    file.write_text(tomli_w.dumps(mine))
    config = load_config(file)
    assert config.ent_coef.at(0.5) == pytest.approx(0.11) and config.kl_coef == (1.0, 1.0)
    (tmp_path / "config.toml").write_text(to_toml(config), "utf-8")
    assert load_config(tmp_path / "config.toml") == config
    sizes = "--total-timesteps 64 --n-envs 8 --set n_steps=8 batch_size=32 net_arch=[8] critic_net_arch=[8]"
    words = f"train --config {file} --run {tmp_path / 'one'} {sizes} kl_coef=[0.1,2] learning_rate=3e-4"
    assert cli.main(words.split()) == 0, capsys.readouterr().err
    config = load_config(tmp_path / "one" / "config.toml")
    assert [config.kl_coef, config.learning_rate, config.ent_coef] == [(0.1, 2), (3e-4, 3e-4), (0.2, 0.02, "linear")]
    assert cli.main([*words.split(), "ent_coef=high"]) == cli.MISTAKE
    assert "ent_coef" in capsys.readouterr().err


@pytest.mark.parametrize("name", sorted(set(GONE) - set(WITHOUT_EFFECT)))
def test_a_setting_that_is_gone_and_mattered_is_refused_with_its_value(tmp_path, name):
    file = of_version_0_2(tmp_path, **{name: {float: 0.25, int: 7, str: "other"}[type(GONE[name])]})
    with pytest.raises(ValueError, match=rf"config.toml has {name} = .*: this setting of version 0.2 is gone.* always"):
        load_config(file)
