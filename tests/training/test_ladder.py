"""The ladder of several policies, and its page."""

import html
import re

import numpy as np
import pytest
from command_line import facts, printed
from parlour.envs import game
from parlour.training.evaluation.cross_play import cross_play, ladder
from parlour.wrappers.policies.loading import make_policy


@pytest.mark.parametrize(
    ("name", "seats", "names"), [("kuhn", None, ("honest", "maniac", "random")), ("mafia", 5, ("loyal", "random"))]
)
def test_a_ladder_is_sorted_by_the_means_of_what_each_wins_from_the_others(name, seats, names):
    made = game(name, **({"seats": seats} if seats else {}))
    players = {one: make_policy(one, made, seed=1) for one in names}
    scores, payoffs = ladder(made, cross_play(made, players, deals=30, mixed=False))
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
