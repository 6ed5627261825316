"""How many figures a policy solves."""

import pytest
from command_line import facts, printed
from parlour import envs
from parlour.training.evaluation.games.tangram import SETS, built
from parlour.wrappers.policies.loading import make_policy


def test_the_solver_solves_what_greedy_does_not():
    game = envs.game("tangram", **SETS["random"])
    solver, greedy = (built(game, make_policy(name, game), games=40, seed=1) for name in ("solver", "greedy"))
    assert solver["solved"].mean == 1
    assert solver["iou"].mean == pytest.approx(1, abs=1e-6)
    assert solver["turns"] == 7
    assert 0.1 < greedy["solved"].mean < 0.8
    assert greedy["iou"].low < greedy["iou"].mean < 1
    assert greedy["turns"] > 7
    assert greedy["iou"].games == greedy["iou"].deals == 40


def test_every_figure_of_the_library_is_played_equally_often():
    """Greedy never draws: its games with a figure are all alike, so that each share is 0 or 1 whatever the seed."""
    game = envs.game("tangram", **SETS["library"])
    count = int(game.rules.blank[0].figures)
    once, twice = (built(game, make_policy("greedy", game), games=games, seed=games) for games in (count, count + 1))
    assert (once["iou"].deals, once["iou"].games, twice["iou"].games) == (count, count, 2 * count)
    assert once["solved"].mean == twice["solved"].mean
    assert once["iou"].low == pytest.approx(twice["iou"].low)  # the interval is over figures


def test_the_sets_are_held_out():
    for settings in SETS.values():
        assert envs.game("tangram", **settings).options["split"] == "test"


def test_the_command(capsys):
    found = facts(capsys, "evaluate held-out greedy --against random --deals 4")
    assert [(one["set"], one["policy"]) for one in found] == [
        (name, policy) for name in SETS for policy in ("greedy", "random")
    ]
    assert all(0 <= one["iou"]["mean"] <= 1 for one in found)
    assert "held-out" in printed(capsys, "evaluate held-out greedy --deals 4 --against")
