import numpy as np
import pytest
from parlour.envs import game
from parlour.training.commands.measures import measure, plays
from parlour.training.evaluation.duplicate import Score, evaluate, student_quantile
from parlour.wrappers.policies.loading import make_policy
from policies import Always


def test_callers_tie_exactly_because_deals_are_duplicate(heads_up):
    call = heads_up.bots["call"](heads_up, 1)
    score = evaluate(call, heads_up, [heads_up.bots["call"](heads_up, 2)], deals=50, seed=3)
    assert (score.mean, score.low, score.high) == (0, 0, 0)
    assert (score.deals, score.games, score.unit) == (50, 100, "big blinds per hand")


def test_a_folder_pays_its_blinds(heads_up):
    score = evaluate(Always(0), heads_up, [heads_up.bots["maniac"](heads_up, 1)], deals=40, seed=1)
    # It gives up the small blind (half a big blind) or the big one; a maniac that only calls lets it see a free flop.
    assert score.mean == pytest.approx(-0.75)
    assert score.low <= score.mean <= score.high


def test_six_seats_and_mixed_opponents():
    six = game("holdem", seats=6)
    bots = {name: make(six, 1) for name, make in six.bots.items()}
    against_maniacs = evaluate(bots["tight"], six, [bots["maniac"]], deals=500, seed=2)
    assert against_maniacs.games == 3000
    assert against_maniacs.low > 0
    mixed = evaluate(
        bots["tight"], six, [bots[name] for name in ("call", "random", "maniac", "call", "call")], deals=50
    )
    assert mixed.deals == 50


def test_same_seed_same_score(heads_up):
    def score():
        bots = heads_up.bots
        return evaluate(bots["tight"](heads_up, 1), heads_up, [bots["random"](heads_up, 2)], deals=60, seed=9)

    assert score() == score()


def test_what_cannot_be_evaluated_is_named(heads_up):
    call = heads_up.bots["call"](heads_up, 1)
    with pytest.raises(ValueError, match="2 opponents at 2 seats"):
        evaluate(call, heads_up, [call, call])
    with pytest.raises(ValueError, match="deals=1"):
        evaluate(call, heads_up, [call], deals=1)


@pytest.mark.parametrize(("freedom", "quantile"), [(1, 12.706), (2, 4.303), (3, 3.182), (5, 2.571), (30, 2.042)])
def test_students_quantile(freedom, quantile):
    assert student_quantile(freedom) == pytest.approx(quantile, rel=0.01)


@pytest.mark.parametrize("deals", [2, 3, 5, 200])
def test_the_interval_holds_the_mean_it_should(deals):
    generator = np.random.default_rng(0)
    scores = [Score.of(generator.normal(1, 3, deals), "points", deals) for _ in range(400)]
    inside = sum(score.low <= 1 <= score.high for score in scores)
    assert 365 <= inside <= 395


@pytest.mark.parametrize(("name", "opponents"), [("kuhn", 1), ("trust", 1), ("auction", 1), ("auction", 2)])
def test_progress_comes_to_the_number_of_deals_that_are_played(name, opponents):
    table, played = game(name, **({"seats": 3} if opponents > 1 else {})), []
    around = [make_policy("random", table, seed=seat) for seat in range(opponents)]
    measure("random", around, make_policy("random", table, seed=9), table, deals=4, progress=played.append)
    assert sum(played) == 4 * plays(table, opponents)
