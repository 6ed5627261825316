"""Every policy with every policy: matrices, gaps, mixed teams; the ladder and its page."""

import html
import re

import numpy as np
import pytest
from command_line import facts, printed
from parlour.envs import game
from parlour.envs.core.rng import streams
from parlour.training.evaluation.cross_play import Matrix, Mixed, count_of_matches, cross_play, finished, ladder
from parlour.wrappers.policies.loading import make_policy
from policies import Counted


def players(made, *names):
    return {name: make_policy(name, made, seed=number) for number, name in enumerate(names)}


def test_a_zero_sum_game_of_two_is_mirrored():
    made, ticks = game("kuhn"), []
    matrix, first, second = cross_play(made, players(made, "random", "equilibrium"), deals=50, progress=ticks.append)
    assert np.allclose(matrix.results[0, 1], -matrix.results[1, 0])
    assert np.allclose(first.results[0, 1], -second.results[1, 0])
    assert np.allclose((first.results + second.results) / 2, matrix.results)
    assert sum(ticks) == 50 * count_of_matches(made, 2) == 150
    assert matrix.score(0, 1).games == 100


def test_self_play_cross_play_and_the_gap_by_hand():
    results = np.array([[[1, 3], [0, 1]], [[0, 0], [5, 7]]], float)
    matrix = Matrix("with", ("a", "b"), results, "points")
    assert (matrix.self_play.mean, matrix.cross_play.mean, matrix.gap.mean) == (4, 0.25, 3.75)
    assert matrix.worst == (1, 0)
    assert matrix.to_dict()["worst"] == {"row": "b", "column": "a"}
    results[0, 0] = -9
    assert Matrix("with", ("a", "b"), results, "points").worst == (0, 0)
    assert Matrix("with", ("a", "b"), results, "points", mirrored=True).worst == (1, 0)  # with itself only luck counts


def test_teams_have_a_matrix_each_and_two_for_mixed_teams():
    made, ticks = game("mafia", seats=5), []
    matrices = cross_play(made, players(made, "loyal", "random"), deals=20, progress=ticks.append)
    town, half, one, mafia = matrices  # the mafia has one seat, which two policies cannot share
    assert np.allclose(town.results[0, 1] + mafia.results[1, 0], 1)
    for mixed in (half, one):
        assert np.array_equal(mixed.results[0, 0], town.results[0, 0])  # the diagonal is the pure team
    assert sum(ticks) == 20 * count_of_matches(made, 2)


@pytest.mark.parametrize(("count", "share"), [(None, 0.5), (1, 0.25), (0, 0.0), (9, 1.0)])
def test_newcomers_have_their_seats_in_every_match(count, share):
    """Four of the town, one of the mafia; the votes of the first day are all cast."""
    made = game("mafia", seats=5, talk=False, doctors=0, sheriffs=0, max_days=1)
    old, new, other = (Counted(make_policy("random", made, seed=seed)) for seed in range(3))
    finished(made, {"town": Mixed(old, new, count), "mafia": other}, streams(1, 400))
    assert new.asked / (new.asked + old.asked) == pytest.approx(share, abs=0.02)


def test_the_command_prints_a_matrix_and_json(capsys):
    words = "evaluate crossplay random call --game holdem --seats 2 --deals 30"
    assert "worst:" in printed(capsys, words)
    found = facts(capsys, words)
    assert found["matrices"][0]["title"] == "return of the row in one seat, column in the other seat"
    assert len(found["matrices"][0]["cells"]) == 4


def test_teams_and_evaluate_take_mixed_teams_and_ablations(capsys):
    more = "town=loyal+random town=loyal+random:1 --seats 5 --deals 20 --mute mafia --scramble town"
    found = facts(capsys, f"evaluate teams mafia {more}")
    assert [row["policies"]["town"] for row in found] == ["loyal+random", "loyal+random:1"]
    ablated = "evaluate mixed --game mafia --seats 5 --against loyal --deals 2 --mute"
    assert "mixed, mute at mafia" in printed(capsys, ablated)
    assert facts(capsys, ablated)["mute"] is True
    four = "evaluate tight --game holdem --seats 4 --deals 10 --raw --against call+maniac"
    assert [row["against"] for row in facts(capsys, four)["results"]] == ["call+maniac"]


@pytest.mark.parametrize(
    ("name", "seats", "names"), [("kuhn", None, ("honest", "maniac", "random")), ("mafia", 5, ("loyal", "random"))]
)
def test_a_ladder_is_sorted_by_the_means_of_what_each_wins_from_the_others(name, seats, names):
    made = game(name, **({"seats": seats} if seats else {}))
    scores, payoffs = ladder(made, cross_play(made, players(made, *names), deals=30, mixed=False))
    means = [score.mean for score in scores.values()]
    assert np.allclose(payoffs, -payoffs.T)
    assert means == sorted(means, reverse=True) == pytest.approx(payoffs.sum(axis=1) / (len(names) - 1))
    assert all(score.low < score.mean < score.high and score.deals == 30 for score in scores.values())


def test_the_command_writes_a_page_with_ratings_and_games(capsys, tmp_path):
    out = tmp_path / "pages" / "ladder.html"
    args = ["evaluate", "crossplay", "honest", "maniac", "random", "--game", "kuhn", "--deals", "40", "--samples", "2"]
    found = facts(capsys, *args, "--ladder", str(out))["ladder"]
    assert {row["name"] for row in found["standings"]} == {"honest", "maniac", "random"}
    assert found["page"] == str(out)
    page = out.read_text("utf-8")
    (replay,) = re.findall(r'srcdoc="([^"]*)"', page)
    assert "sample games" in html.unescape(replay)
    assert html.unescape(replay).count("\n") > 100  # a script on one line would end at its first comment
    assert "ladder of kuhn-v0" in printed(capsys, *args[:-1], "0", "--ladder", str(out))
    assert "srcdoc" not in out.read_text("utf-8")
