"""Learning curves: pooling by settings, intervals, `parlour compare`."""

import json
import shutil
import warnings

import numpy as np
import pytest
import tomli_w
from parlour.training import cli
from parlour.training.evaluation.curves import (
    Curve,
    Group,
    comparison,
    difference,
    grouped,
    half_width,
    interquartile,
    plot,
)
from parlour.wrappers.policies.loading import policy_file


def write(runs, name, seed, rate, values, game="kuhn-v0", **settings):
    folder = runs / name
    folder.mkdir(parents=True)
    plan = {"format": 2, "game": game, "seed": seed, "name": name, "learning_rate": rate, "options": settings}
    (folder / "config.toml").write_text(tomli_w.dumps(plan))
    lines = [{"steps": 100 * (k + 1), "rollout/return": value} for k, value in enumerate(values)]
    lines[-1]["eval/nash_conv"] = 0.5
    (folder / "metrics.jsonl").write_text("\n".join(map(json.dumps, lines)) + "\n")
    return folder


@pytest.fixture
def runs(tmp_path):
    write(tmp_path, "a0", 0, 0.1, [0, 1, 2, 3])
    write(tmp_path, "a1", 1, 0.1, [0, 3, 4, 5])
    write(tmp_path, "b0", 0, 0.2, [0, 5, 8, 9])
    write(tmp_path, "b1", 1, 0.2, [0, 5, 8, 11])
    return tmp_path


def test_runs_are_pooled_by_their_settings(runs):
    groups = grouped([runs / name for name in ("a0", "b0", "a1", "b1")], "rollout/return")
    assert [group.label for group in groups] == ["learning_rate=0.1", "learning_rate=0.2"]
    steps, means, half = groups[0].pooled()
    assert steps[0] == 100 and steps[-1] == 400 and means[0] == 0 and means[-1] == 4
    assert half[-1] == pytest.approx(12.706 * np.sqrt(2) / np.sqrt(2), rel=1e-3)  # values 3 and 5
    assert groups[0].ends(0.25).tolist() == [2.5, 4.5]


def test_one_run_under_two_names_and_one_without_a_game_are_refused(runs, capsys):
    words = ["compare", "a0", str(runs / "a0"), "--runs", str(runs)]
    assert cli.main(words) == cli.MISTAKE
    assert "a0 is given twice, or under two names" in capsys.readouterr().err
    (runs / "a1" / "config.toml").write_text("")
    assert cli.main(["compare", "a0", "a1", "--runs", str(runs)]) == cli.MISTAKE
    assert "names no game" in capsys.readouterr().err


def test_the_value_in_theory_is_that_of_its_own_metric(tmp_path):
    folders = [write(tmp_path, f"a{seed}", seed, 0.1, [0, 1]) for seed in (0, 1)]
    for folder, theory in zip(folders, (4.0, 6.0), strict=True):
        with (folder / "metrics.jsonl").open("a") as file:
            file.write(json.dumps({"steps": 300, "theory/price": 3.0, "theory/price_theory": theory}) + "\n")
    assert [group.theory for group in grouped(folders, "theory/price")] == [5.0]
    assert [group.theory for group in grouped(folders, "rollout/return")] == [None]


def test_a_legend_has_the_names_of_the_runs_and_drawing_warns_of_nothing(runs, tmp_path):
    long = write(runs, "a-run-with-a-name-" + "x" * 200, 3, 0.3, [1, 2], seats=[[1.5] * 40])
    names = ("a0", "b0", "a1", "b1")
    write(runs, "b2", 2, 0.2, [0, 1])
    groups = grouped([*(runs / name for name in names), runs / "b2", long], "rollout/return")
    assert [group.name for group in groups] == ["a0 and a1", "b0 and 2 more", long.name]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        plot({"rollout/return": groups, "eval/nash_conv": groups}, tmp_path / "curves.svg")
    drawn = (tmp_path / "curves.svg").read_text()
    assert "b0 and 2 more" in drawn and "learning_rate" not in drawn


def test_options_of_the_game_tell_runs_apart(tmp_path):
    folders = [write(tmp_path, "two", 0, 0.1, [1], seats=2), write(tmp_path, "three", 0, 0.1, [1], seats=3)]
    assert [group.label for group in grouped(folders, "rollout/return")] == ["options.seats=2", "options.seats=3"]


def test_intervals_are_students_and_welchs():
    values = np.array([1.0, 2.0, 3.0, 4.0])
    assert half_width(values) == pytest.approx(3.182 * np.std(values, ddof=1) / 2, rel=0.01)
    assert np.isnan(half_width(values[:1]))
    gap, half = difference(values, values + 1)
    assert gap == 1 and half == pytest.approx(2.447 * np.sqrt(2 * np.var(values, ddof=1) / 4), rel=0.01)
    assert np.isnan(difference(values[:1], values)[1]) and difference(np.ones(2), np.ones(2)) == (0.0, 0.0)


def test_the_interval_covers_the_truth_as_often_as_it_says():
    random = np.random.default_rng(0)
    hits = 0
    for _ in range(600):
        first = [Curve(np.ones(1), np.array([value])) for value in random.normal(0, 1, 5)]
        second = [Curve(np.ones(1), np.array([value])) for value in random.normal(1, 2, 5)]
        row = comparison([Group("one", first), Group("two", second)], 1.0)[1]
        hits += abs(row["gain"] - 1) < row["gain_interval"]
    assert 0.92 < hits / 600 <= 0.985


def test_the_commands(runs, tmp_path, capsys):
    folders = [str(runs / name) for name in ("a0", "a1", "b0", "b1")]
    assert cli.main(["compare", *folders, "--json", "--last", "0.25"]) == 0
    groups = json.loads(capsys.readouterr().out)["metrics"]["rollout/return"]
    assert [group["mean"] for group in groups] == [3.5, 9.0] and groups[1]["gain"] == 5.5
    assert cli.main(["compare", folders[0], folders[2], "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["metrics"]["rollout/return"][1]["gain_interval"] is None
    assert cli.main(["compare", *folders]) == 0
    assert "learning_rate=0.2" in capsys.readouterr().out
    both = ["compare", *folders, "--metric", "rollout/return", "eval/nash_conv"]
    for name, start in (("curves.png", b"\x89PNG"), ("curves.svg", b"<?xml")):
        picture = tmp_path / name
        assert cli.main([*both, "--picture", str(picture)]) == 0
        assert picture.read_bytes().startswith(start)


def test_runs_of_different_games_are_refused(runs, capsys):
    write(runs, "other", 0, 0.1, [1, 2], game="leduc-v0")
    assert cli.main(["compare", "a0", "other", "--runs", str(runs)]) == cli.MISTAKE
    said = capsys.readouterr().err
    assert "a0 plays kuhn, other plays leduc: figures of different games cannot be compared" in said


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (["compare", "a0", "--picture", "curves.txt"], "need a file that ends in .png"),
        (["compare", "a9"], "there is no run 'a9'"),
        (["compare", "a0", "--metric", "loss"], "has no metric 'loss'; it has eval/nash_conv, rollout/return"),
        (["compare"], "at least one run"),
        (["compare", "a0", "a1", "--last", "0"], "last=0"),
    ],
)
def test_mistakes_are_explained(runs, capsys, args, message):
    assert cli.main([*args, "--runs", str(runs)]) == 2
    assert message in capsys.readouterr().err


def test_a_curve_is_the_interquartile_mean_and_its_interval_covers_the_truth(tmp_path):
    values = np.array([[5.0], [1.0], [2.0], [3.0], [100.0]])
    mean, half = interquartile(values)
    assert mean == [10 / 3]  # without 1 and 100
    assert half == pytest.approx(4.303 * np.std([5, 2, 2, 3, 5], ddof=1) / (3 / 5 * np.sqrt(5)), rel=1e-3)
    assert interquartile(values[:4])[0] == values[:4].mean() and np.isnan(interquartile(values[:1])[1])
    drawn = np.random.default_rng(0).normal(0, 1, (7, 2_000))
    mean, half = interquartile(drawn)
    assert 0.92 < np.mean(np.abs(mean) < half) <= 0.985
    runs = [write(tmp_path, f"a{seed}", seed, 0.1, [0, value]) for seed, value in enumerate([1, 2, 3, 50, -9])]
    assert grouped(runs, "rollout/return")[0].pooled()[1][-1] == 2


def test_baselines_are_what_the_runs_own_evaluations_find(runs, tmp_path, capsys):
    write(runs, "c0", 0, 0.3, [1, 2], seats=2)
    folder = runs / "c0"
    plan = 'format = 3\ngame = "kuhn-v0"\nalgorithm = "selfplay"\nevaluate_against = ["random"]\n'
    (folder / "config.toml").write_text(plan)
    words = ["compare", "c0", "--runs", str(runs), "--metric", "eval/nash_conv", "--picture", str(tmp_path / "c.svg")]
    write(runs, "d0", 0, 0.3, [1, 2], seats=2)
    (runs / "d0" / "config.toml").write_text(plan)
    shutil.copy(policy_file("zoo:kuhn"), runs / "d0" / "policy.npz")
    assert cli.main([*words, "--baselines", "random", "zoo:kuhn", "d0"]) == 0
    text = (tmp_path / "c.svg").read_text()
    assert "zoo:kuhn" in text and ">d0</text>" in text
    assert ">random</text>" not in text  # a bot tells no probabilities, so it has no NashConv
    assert cli.main([*words, "--baselines", "random"]) == cli.MISTAKE
    assert "no policy has eval/nash_conv; c0 evaluates eval/random" in capsys.readouterr().err
    assert cli.main([*words[:4], "--baselines", "random"]) == cli.MISTAKE
    assert "name it with --picture" in capsys.readouterr().err
