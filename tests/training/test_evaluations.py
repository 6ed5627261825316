"""Evaluations during training, and callbacks."""

import re

import pytest
from parlour.envs import game
from parlour.training.evaluation.exact import flat_tree, nash_conv
from parlour.training.runs.config import load_config
from parlour.training.runs.run import Evaluations, resume, train
from parlour.wrappers.policies.loading import make_policy
from parlour.wrappers.policies.mlp import MlpPolicy
from tiny import TINY, lines


def metrics(run):
    return lines(run / "metrics.jsonl")


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    runs = tmp_path_factory.mktemp("runs")
    settings = {**TINY, "evaluate_against": ("random",)}
    return train(load_config("kuhn", run=runs / "one", **settings))


def test_evaluations_come_with_each_checkpoint_and_at_the_end(run):
    assert [line["steps"] for line in metrics(run) if "eval/random" in line] == [1024, 2048]
    last = metrics(run)[-1]
    tree = flat_tree(game("kuhn"))
    policy = MlpPolicy.load(run / "policy.npz")
    uniform = nash_conv(tree, tree.uniform())
    assert 0 < last["eval/nash_conv"] <= 4 and last["eval/nash_conv"] != uniform
    # The results of the last rollout are those of the policy before its update.
    assert nash_conv(tree, tree.strategy_of(policy)) == pytest.approx(last["eval/nash_conv"], abs=0.3)
    assert last["eval/random_interval"] > 0


def test_evaluations_change_nothing_in_what_is_learned(run, tmp_path):
    plain = train(load_config("kuhn", run=tmp_path / "two", **TINY))
    assert (plain / "policy.npz").read_bytes() == (run / "policy.npz").read_bytes()


def test_the_progress_line_says_against_whom_and_in_what_unit():
    kuhn = game("kuhn")
    shown = Evaluations(load_config("kuhn", **TINY), kuhn)
    assert shown.note == ""
    shown.glance(make_policy("honest", kuhn, seed=0))
    assert re.fullmatch(r"against equilibrium [+-]\d\.\d\d chips per game", shown.note)
    shown.latest = {"eval/runs/first": 1.0, "eval/runs/first_interval": 0.1, "eval/nash_conv": 0.5}
    assert shown.note == "against runs/first +1.00, NashConv +0.50 chips per game"


def test_choices_and_utilities_are_compared_with_theory(tmp_path):
    settings = {**TINY, "evaluate_against": ("equilibrium",)}
    last = metrics(train(load_config("cournot", run=tmp_path / "firms", **settings)))[-1]
    assert last["theory/choice_production_theory"] == pytest.approx(27)
    assert 0 <= last["theory/choice_production"] <= 100
    assert last["theory/welfare_theory"] == pytest.approx(1404, abs=1)
    assert {"theory/gain", "theory/utility_0", "theory/error_production"} <= set(last)


def test_the_other_algorithm_is_evaluated_too(tmp_path, monkeypatch):
    monkeypatch.setattr("parlour.training.runs.run.DEALS", 20)
    monkeypatch.setattr("parlour.training.runs.run.HANDS", 4)
    sizes = {"total_timesteps": 512, "n_envs": 16, "n_steps": 16, "batch_size": 64}
    options = {"seats": 2, "stacks": 20}
    evaluated = {"checkpoint_every": 256, "evaluate_against": ("call", "tight", "best_response")}
    found = train(load_config("holdem", run=tmp_path / "evaluated", options=options, **sizes, **evaluated))
    last = metrics(found)[-1]
    assert {"eval/call", "eval/tight", "eval/best_response"} <= set(last) and "eval/nash_conv" not in last


@pytest.mark.parametrize(
    ("name", "settings", "message"),
    [
        ("kuhn", {"evaluate_against": ("tihgt",)}, "tihgt"),
        ("kuhn", {"evaluate_against": ("best_response",)}, "there is no best response for kuhn-v0"),
    ],
)
def test_a_wrong_setting_is_named_before_the_run_begins(tmp_path, name, settings, message):
    with pytest.raises((ValueError, FileNotFoundError), match=message):
        train(load_config(name, run=tmp_path / "wrong", **{**TINY, **settings}))
    assert not list(tmp_path.iterdir())


def test_callbacks_see_the_metrics_and_may_end_the_run(tmp_path):
    seen = []

    def stop(learner, metrics):
        seen.append((learner.timesteps, metrics["rollout/return"]))
        return len(seen) < 2

    kept = train(load_config("kuhn", run=tmp_path / "stopped", **TINY), callbacks=[stop])
    assert [timesteps for timesteps, _ in seen] == [512, 1024]
    resume(kept, callbacks=[lambda learner, metrics: seen.append((learner.timesteps, None))])
    assert [timesteps for timesteps, _ in seen] == [512, 1024, 1536, 2048]
