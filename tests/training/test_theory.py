"""Policies beside the closed forms: who plays the theory has no error, who does not has the error that follows."""

import warnings

import numpy as np
import pytest
from command_line import facts, printed
from parlour import envs
from parlour.training.evaluation.games import compare, measures
from parlour.training.evaluation.games.bargaining import demands_by_turn
from parlour.wrappers.policies.loading import make_policy
from policies import Acting


def lines(game, bot, matches, seed=0):
    comparison = compare(make_policy(bot, game, seed=1), game, matches=matches, seed=seed)
    return {line.name: line for line in comparison.lines}


@pytest.mark.parametrize("rule", ["first-price", "second-price", "all-pay"])
@pytest.mark.parametrize("seats", [2, 4])
def test_the_equilibrium_has_no_error_but_the_grids(rule, seats):
    game = envs.game("auction", rule=rule, seats=seats, bids=201)
    found = lines(game, "equilibrium", matches=5_000)
    down = 0.16 if rule == "second-price" else 0  # a bid of the value is rounded down, by half a step of 0.5
    assert found["bid_error"].learned < 0.1 + down
    assert found["bid_error_upper"].learned < 0.1 + down
    assert found["bid_error_largest"].learned < 0.3 + down
    assert found["each_bid_error"].learned < 0.14 + down  # a quarter of a step on the average
    assert found["revenue"].learned == pytest.approx(found["revenue"].theory, rel=0.01 if down else 0.005)


def test_the_mean_bid_hides_no_bias_and_the_single_bid_no_spread():
    """Bids half at 0 and half at the valuation have the equilibrium's mean, and each is half a valuation off."""
    game = envs.game("auction")
    truthful = make_policy("truthful", game)

    random = np.random.default_rng(0)
    coin = Acting(lambda seen, masks: np.where(random.random(len(masks)) < 0.5, 0, truthful.act(seen, masks)))
    found = {line.name: line.learned for line in compare(coin, game, matches=40_000).lines}
    assert found["bid_error"] < 1.5
    assert found["each_bid_error"] == pytest.approx(25, abs=0.5)


def test_perfect_negotiators_split_as_the_solver_says():
    game = envs.game("bargaining", public=True, discount=0.9, offers=256)
    found = lines(game, "perfect", matches=2_000)
    assert found["agreement"].learned == 100
    assert found["surplus"].learned == pytest.approx(100, abs=0.1)
    assert found["turns"].learned == 2
    assert found["first_share_error"].learned < 100 / 255
    assert found["first_share"].learned == pytest.approx(found["first_share"].theory, abs=100 / 255)
    assert found["turns_error"].learned <= found["turns_error_largest"].learned < 100 / 255
    asked, wanted = demands_by_turn(make_policy("perfect", game), game, matches=50)
    assert len(asked) == 19
    np.testing.assert_allclose(asked, wanted, atol=100 / 255)


def test_private_values_count_deals_and_surplus():
    game = envs.game("bargaining")
    fair = lines(game, "fair", matches=500)
    assert (fair["agreement"].learned, fair["turns"].learned) == (100, 2)
    assert fair["surplus"].learned == pytest.approx(100, abs=0.01)
    assert set(fair) == {"agreement", "surplus", "turns"}
    hard = lines(game, "hardliner", matches=500)
    assert (hard["agreement"].learned, hard["surplus"].learned) == (0, 0)
    assert hard["turns"].learned is None


@pytest.mark.parametrize(
    ("name", "options"),
    [("holdem", {"seats": 2}), ("auction", {"valuations": [(0, 50), (0, 100)]}), ("auction", {"valuations": (50, 50)})],
)
def test_without_a_closed_form_there_is_no_comparison(name, options):
    game = envs.game(name, **options)
    assert compare(make_policy("random", game), game) is None


@pytest.mark.parametrize("public", [False, True])
def test_where_no_deal_exists_there_is_nothing_to_tell(public):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = lines(envs.game("bargaining", reservations=(60, 60), public=public), "fair", matches=10)
    assert all(line.learned is None for line in found.values())


def test_evaluate_prints_the_comparison(capsys):
    out = printed(capsys, "evaluate fair --game bargaining --deals 4 --against random")
    assert "beside theory" in out and "surplus realised" in out


def test_json_holds_the_comparison(capsys):
    found = facts(capsys, "evaluate equilibrium --game auction --deals 50")
    assert found["theory"]["revenue"]["theory"] > 0
    assert found["theory"]["bid_error"]["learned"] < 1
    assert facts(capsys, "evaluate call --deals 4 --against call")["theory"] is None


GAMES = sorted(
    game_id.removesuffix("-v0")
    for game_id in envs.GAMES
    if envs.find(game_id).__module__.startswith("parlour.envs.economics.")
)

SOLVED = {"ultimatum": {"max_rounds": 1}}
"""Options with an equilibrium, of a game that has none by default."""


@pytest.mark.slow
@pytest.mark.parametrize("name", GAMES)
def test_the_equilibrium_is_itself_and_random_play_is_not(name):
    game = envs.game(name, **SOLVED.get(name, {}))
    assert "equilibrium" in game.bots and measures(name).compare is not None
    found, wild = lines(game, "equilibrium", 1_000), lines(game, "random", 300)
    unit = max(abs(game.payoffs.low), game.payoffs.high)
    for line in found.values():
        if line.name.startswith("error_") and line.learned is not None:
            assert line.learned <= (1 if name == "war_of_attrition" else 0)
            if name != "principal_agent":  # where every offer is one of the equilibrium
                assert wild[line.name].learned > 0.3
    assert found["gain"].learned <= 0.03 * unit
    assert found["welfare"].learned == pytest.approx(found["welfare"].theory, abs=0.02 * unit)


def test_collusion_earns_more_and_can_be_gained_from():
    found = lines(envs.game("cournot", quantities=151), "collusive", 1_000)
    assert found["utility_0"].learned == pytest.approx(800)
    assert found["utility_0"].theory == pytest.approx(80**2 / 9, abs=0.1)
    assert found["gain"].learned == pytest.approx(96)  # by 28; the best answer to 20 is 30, which gains 100
    assert found["efficiency"].theory == pytest.approx(89, abs=0.5)
    assert found["gini"].learned == 0


@pytest.mark.parametrize("name", ["dutch_auction", "english_auction"])
def test_revenue_and_efficiency_of_an_auction_are_those_of_the_theory(name):
    fine = {"dutch_auction": {"decrement": 1.0, "max_rounds": 100}, "english_auction": {"max_rounds": 100}}[name]
    found = lines(envs.game(name, **fine), "equilibrium", 4_000)
    assert found["revenue"].learned == found["revenue"].theory == pytest.approx(100 / 3, abs=1.5)  # of two bidders
    assert 98 < found["efficiency"].learned <= 100
    wild = lines(envs.game(name, **fine), "random", 300)
    assert wild["efficiency"].learned < 95 and wild["efficiency"].theory == pytest.approx(100, abs=2)
