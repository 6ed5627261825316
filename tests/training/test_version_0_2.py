"""Runs, policies and match logs that version 0.2 wrote (tests/data/v0_2) load, play the same actions, and go on."""

import json
import shutil
from pathlib import Path

import numpy as np
import pytest
from parlour.envs import VectorGame, game
from parlour.training.runs.config import load_config
from parlour.training.runs.run import resume
from parlour.wrappers.policies.loading import load_policy, load_run
from parlour.wrappers.replay.log_reader import moments
from tiny import lines

DATA = Path(__file__).parents[1] / "data" / "v0_2"
RUNS = sorted(folder.name for folder in (DATA / "runs").iterdir())


def played(its_game, policy):
    """The actions of a policy at tables of random play, and how likely its likeliest actions were: [8, 16] each."""
    tables = VectorGame(its_game, 16, encoder=policy.encoder or its_game.encoder)
    tables.reset(seed=3)
    actions, chances = [], []
    for _ in range(8):
        seen = tables.observations.copy(), tables.action_masks.copy()
        actions.append(policy.act(*seen))
        chances.append(policy.probabilities(*seen).max(axis=1))
        tables.step(tables.sample())
    return np.array(actions), np.array(chances)


def utilities(outcome):
    """The utilities of an outcome in seat order."""
    return [payoff["utility"] for payoff in outcome["payoffs"]]


@pytest.mark.parametrize(("name", "value"), [("ent_schedule", "sqrt"), ("evaluate_every", -3), ("evaluate_every", "x")])
def test_a_value_that_version_0_2_refused_is_refused(name, value, tmp_path):
    text = (DATA / "runs" / "kuhn" / "config.toml").read_text()
    lines = [line for line in text.splitlines() if not line.startswith(name)]
    (tmp_path / "config.toml").write_text("\n".join([f"{name} = {json.dumps(value)}", *lines]))
    with pytest.raises(ValueError, match=name):
        load_config(tmp_path / "config.toml")


@pytest.mark.parametrize("name", RUNS)
def test_a_policy_plays_what_it_played_in_0_2(name):
    expected = np.load(DATA / "runs" / name / "played.npz")
    actions, chances = played(*load_run(DATA / "runs" / name, seed=5))
    np.testing.assert_array_equal(actions, expected["actions"])
    np.testing.assert_allclose(chances, expected["chances"], atol=1e-5)


@pytest.mark.parametrize("name", RUNS)
def test_a_run_is_resumed(name, tmp_path):
    folder = shutil.copytree(DATA / "runs" / name, tmp_path / name)
    before = (folder / "metrics.jsonl").read_text().splitlines()
    steps = json.loads(before[-1])["steps"]
    resume(folder, total_timesteps=steps + 128, command=["again"])
    after = (folder / "metrics.jsonl").read_text().splitlines()
    assert after[: len(before)] == before
    assert json.loads(after[-1])["steps"] >= steps + 128
    assert load_config(folder / "config.toml").total_timesteps == steps + 128


@pytest.mark.parametrize("name", sorted(file.stem for file in (DATA / "logs").iterdir()))
def test_a_match_log_is_replayed_to_the_same_payoffs(name):
    file = DATA / "logs" / f"{name}.jsonl"
    records = lines(file)
    logged = [utilities(record["outcome"]) for record in records if record["kind"] == "end"]
    ends = [next(iter(moment.states.values())) for moment in moments(file) if moment.agent is None]
    assert len(logged) > 0
    assert [utilities(state.outcome) for state in ends] == logged


def test_a_solved_policy_plays():
    policy = load_policy(DATA / "solved.npz", seed=1)
    tables = VectorGame(game("kuhn"), 8)
    tables.reset(seed=1)
    probabilities = policy.probabilities(tables.observations, tables.action_masks)
    np.testing.assert_allclose(probabilities.sum(axis=1), 1, atol=1e-6)
