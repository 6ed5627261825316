"""Reserve price, entry fee, units, common and affiliated values, risk aversion: the rules by named situation."""

import numpy as np
import pytest
from parlour import envs
from parlour.envs import Action


def auction(valuations, **options):
    """An environment in which every seat's valuation is known."""
    fixed = [(value, value) for value in valuations]
    env = envs.make("auction", seats=len(valuations), valuations=fixed, **options)
    env.reset(seed=0)
    return env


def bid(env, *amounts):
    for amount in amounts:
        assert env.submit(env.agent_selection, Action("submit_bid", {"bid": amount})).ok
    return list(env.rewards.values())


@pytest.mark.parametrize(
    ("rule", "rewards"),
    [("first-price", [20, 0, 0]), ("second-price", [40, 0, 0]), ("all-pay", [20, 0, -55])],
)
def test_a_bid_below_the_reserve_price_neither_wins_nor_pays(rule, rewards):
    if rule == "all-pay":
        assert bid(auction([80, 60, 90], rule=rule, reserve=40), 60, 39.99, 55) == rewards
    else:
        assert bid(auction([80, 60, 90], rule=rule, reserve=40), 60, 39.99, 30) == rewards


def test_without_a_bid_at_the_reserve_there_is_no_sale():
    env = auction([80, 60], reserve=40)
    assert bid(env, 39, 0) == [0, 0]
    outcome = env.turn_state("player_0").outcome
    assert (outcome["reason"], outcome["winner"]) == ("no_sale", None)


def test_all_that_bid_pay_the_entry_fee_and_a_bid_of_0_stays_out():
    assert bid(auction([80, 60, 90], entry_fee=5), 40, 20, 0) == [35, -5, 0]
    assert bid(auction([80, 60, 90], rule="all-pay", entry_fee=5), 40, 20, 0) == [35, -25, 0]
    assert bid(auction([80, 60], entry_fee=5), 0, 0) == [0, 0]


def test_the_terms_are_told_where_they_are_not_as_usual():
    told = auction([80, 60, 70], reserve=40, entry_fee=5, units=2, risk_aversion=0.5).turn_state("player_1").game_state
    assert {"reserve_price": 40.0, "entry_fee": 5.0, "units": 2, "risk_aversion": 0.5}.items() <= told.items()
    usual = auction([80, 60]).turn_state("player_1").game_state
    assert not {"reserve_price", "entry_fee", "units", "values", "noise", "risk_aversion"} & set(usual)


def test_two_units_discriminatory_and_uniform():
    assert bid(auction([80, 60, 90, 70], units=2), 40, 20, 50, 30) == [40, 0, 40, 0]
    env = auction([80, 60, 90, 70], units=2, rule="second-price")
    assert bid(env, 40, 20, 50, 30) == [50, 0, 60, 0]
    outcome = env.turn_state("player_0").outcome
    assert (outcome["winner"], outcome["winners"]) == ("player_2", ["player_0", "player_2"])
    part = env.game.layout["outcome.winner"]
    assert env.observe("player_2")["observation"]["outcome"]["winner"].tolist() == [1, 0, 1, 0]
    assert part.shape == (4,)


def test_ties_for_the_last_unit_are_drawn():
    wins = np.zeros(3)
    env = envs.make("auction", seats=3, units=2, valuations=(50, 50))
    for seed in range(300):
        env.reset(seed=seed)
        wins += np.array(bid(env, 20, 30, 20)) > 0
    assert wins[1] == 300
    assert 100 < wins[0] < 200
    assert wins[0] + wins[2] == 300


def test_the_mean_of_all_valuations_is_worth_the_same_to_all():
    assert bid(auction([80, 60, 90], values="average"), 40, 20, 30) == [36.67, 0, 0]


@pytest.mark.parametrize("values", ["common", "affiliated"])
def test_valuations_lie_around_a_hidden_number(values):
    tables = envs.auction_v0.vector_env(20_000, seats=3, values=values, valuations=(25, 225), noise=20)
    tables.reset(seed=1)
    off = tables.tables.valuation[:, :3] - tables.tables.centre[:, None]
    assert np.abs(off).max() <= 20.01
    assert np.quantile(off, [0.25, 0.5, 0.75]) == pytest.approx([-10, 0, 10], abs=0.5)
    assert np.quantile(tables.tables.centre, [0, 0.5, 1]) == pytest.approx([25, 125, 225], abs=3)
    assert np.abs(np.corrcoef(off.T) - np.eye(3)).max() < 0.03


def test_the_winner_of_a_common_value_gets_the_hidden_number():
    env = envs.make("auction", values="common", valuations=(25, 225), noise=20)
    env.reset(seed=3)
    assert bid(env, 10, 20) == [0, pytest.approx(float(env.table.centre) - 20, abs=0.005)]
    env = envs.make("auction", values="affiliated", valuations=(25, 225), noise=20)
    env.reset(seed=3)
    assert bid(env, 10, 20) == [0, pytest.approx(float(env.table.valuation[1]) - 20, abs=0.005)]


def test_risk_aversion_bends_gains_and_leaves_losses():
    assert bid(auction([100, 60], risk_aversion=0.5), 75, 0) == [50, 0]
    assert bid(auction([60, 100], risk_aversion=0.5), 75, 0) == [-15, 0]


@pytest.mark.parametrize(
    "options",
    [
        {"reserve": -1}, {"entry_fee": float("nan")}, {"units": 2}, {"units": 0}, {"values": "shared"},
        {"noise": 5}, {"risk_aversion": 1}, {"noise": 0, "values": "common", "valuations": (25, 225)},
        {"noise": 26, "values": "common", "valuations": (25, 225)},
        {"valuations": [(25, 50), (25, 60)], "values": "affiliated", "noise": 5},
    ],
)  # fmt: skip
def test_a_bad_option_is_named(options):
    with pytest.raises(ValueError, match=next(iter(options))):
        envs.game("auction", **options)
