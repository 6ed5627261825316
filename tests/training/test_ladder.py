"""The meta-game of several policies: Nash averages, ratings, and the page."""

import html
import json
import re

import numpy as np
import pytest
from parlour.envs import game
from parlour.training import cli
from parlour.training.evaluation.cross_play import advantages, cross_play, nash_average
from parlour.wrappers.policies.loading import make_policy

ROCK = np.array([[0, -1, 1], [1, 0, -1], [-1, 1, 0]], float)


@pytest.mark.parametrize(
    ("payoffs", "equilibrium"),
    [
        (ROCK, [1 / 3, 1 / 3, 1 / 3]),
        ([[0, -2, 1], [2, 0, -1], [-1, 1, 0]], [1 / 4, 1 / 4, 1 / 2]),
        ([[0, 1, 3], [-1, 0, 1], [-3, -1, 0]], [1, 0, 0]),
        (np.zeros((3, 3)), [1 / 3, 1 / 3, 1 / 3]),
        ([[0, -1, 1, -1], [1, 0, -1, 0], [-1, 1, 0, 1], [1, 0, -1, 0]], [1 / 3, 1 / 6, 1 / 3, 1 / 6]),
    ],
)
def test_the_equilibrium_is_the_known_one_of_greatest_entropy(payoffs, equilibrium):
    average, share = nash_average(np.array(payoffs, float))
    assert share == pytest.approx(equilibrium, abs=1e-3)
    assert average.max() == pytest.approx(0, abs=1e-3)


@pytest.mark.parametrize(
    ("name", "seats", "names"), [("kuhn", None, ("honest", "maniac")), ("mafia", 5, ("loyal", "random"))]
)
def test_advantages_are_antisymmetric(name, seats, names):
    made = game(name, **({"seats": seats} if seats else {}))
    players = {one: make_policy(one, made, seed=1) for one in names}
    payoffs, results = advantages(made, cross_play(made, players, deals=30, mixed=False))
    assert np.allclose(payoffs, -payoffs.T)
    assert np.allclose(results.mean(axis=2), payoffs)


def test_the_command_writes_a_page_with_ratings_and_games(capsys, tmp_path):
    out = tmp_path / "pages" / "ladder.html"
    args = ["evaluate", "crossplay", "honest", "maniac", "random", "--game", "kuhn", "--deals", "40", "--samples", "2"]
    assert cli.main([*args, "--ladder", str(out), "--json"]) == 0
    found = json.loads(capsys.readouterr().out)["ladder"]
    assert {row["name"] for row in found["standings"]} == {"honest", "maniac", "random"}
    assert found["page"] == str(out)
    page = out.read_text("utf-8")
    (replay,) = re.findall(r'srcdoc="([^"]*)"', page)
    assert "sample games" in html.unescape(replay)
    assert html.unescape(replay).count("\n") > 100  # a script on one line would end at its first comment
    assert cli.main([*args[:-1], "0", "--ladder", str(out)]) == 0
    assert "ladder of kuhn-v0" in capsys.readouterr().out
    assert "srcdoc" not in out.read_text("utf-8")


def test_the_command_explains_what_is_wrong(capsys):
    for more, message in (([], "at least two"), (["maniac", "--ladder", "x.pdf"], "ends in .html")):
        assert cli.main(["evaluate", "crossplay", "honest", *more, "--game", "kuhn"]) == cli.MISTAKE
        assert message in capsys.readouterr().err
    assert (
        cli.main(["evaluate", "crossplay", "greedy", "random", "--game", "tangram", "--ladder", "x.html"])
        == cli.MISTAKE
    )
    assert "nobody wins from another" in capsys.readouterr().err
