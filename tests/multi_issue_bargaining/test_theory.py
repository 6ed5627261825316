"""The Pareto frontier and the named points against their definitions, and the bots against both."""

import numpy as np
import pytest
from economics.matches import tables_after
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays
from parlour import envs
from parlour.envs.multi_issue_bargaining import theory
from parlour.training.evaluation.games import measures

GAINS = arrays.arrays(
    np.float64,
    st.tuples(st.integers(2, 4), st.integers(1, 12)),
    elements=st.integers(-4, 8).map(lambda tenths: tenths / 10),
)


@given(GAINS)
def test_an_outcome_is_on_the_frontier_if_no_other_dominates_it(gains):
    on = theory.pareto_frontier(gains)
    points = gains.T.tolist()
    for index, point in enumerate(points):
        dominated = any(all(a >= b for a, b in zip(other, point, strict=True)) and other != point for other in points)
        assert on[index] == (not dominated)


@given(GAINS)
def test_the_named_points_are_on_the_frontier_and_best_by_their_definitions(gains):
    fine = [point for point in gains.T.tolist() if min(point) >= 0]
    on = theory.pareto_frontier(gains)
    for solve in (theory.nash_point, theory.egalitarian_point, theory.kalai_smorodinsky_point):
        chosen = solve(gains)
        assert (chosen == -1) == (not fine)
        if not fine:
            continue
        assert on[chosen]
        most = [max(max(column), 1e-12) for column in zip(*fine, strict=True)]
        score = {
            theory.nash_point: np.prod,
            theory.egalitarian_point: min,
            theory.kalai_smorodinsky_point: lambda point, most=most: min(
                a / b for a, b in zip(point, most, strict=True)
            ),
        }[solve]
        assert score(gains[:, chosen].tolist()) == pytest.approx(max(map(score, fine)), abs=1e-9)


@pytest.mark.parametrize("seats", [2, 3])
@pytest.mark.parametrize("name", ["nash", "kalai-smorodinsky", "egalitarian"])
def test_bots_that_know_all_agree_on_their_point_in_the_first_round(name, seats):
    game = envs.game("multi_issue_bargaining", seats=seats, public=True, preferences="random")
    tables = tables_after(game, name, count=50, seed=0)
    solve = getattr(theory, f"{name.replace('-', '_')}_point")
    for table in tables:
        point = solve(theory.gains(table))
        assert bool(table.agreed) == (point >= 0)
        assert table.moves == seats if table.agreed else table.left_by == 0
        if table.agreed:
            assert theory.gains(table)[:, table.current_offer] == pytest.approx(theory.gains(table)[:, point])


@pytest.mark.parametrize("name", ["nash", "egalitarian"])
def test_the_comparison_finds_no_distance_from_the_point_of_a_bot(name):
    game = envs.game("multi_issue_bargaining", public=True)
    lines = measures(game.name).compare(game.bots[name](game), game, matches=100, seed=0).to_dict()
    assert lines[name.replace("-", "_")]["learned"] == pytest.approx(0, abs=1e-9)
    assert lines["frontier"]["learned"] == pytest.approx(0, abs=1e-9)
    assert lines["agreement"]["learned"] == 100
    assert 80 < lines["efficiency"]["learned"] <= 100
