"""The auction's rules by named situation (`first-price-auction` of the TurnState platforms)."""

import numpy as np
import pytest
from beginnings import episode
from parlour import envs
from parlour.envs import Action


def auction(valuations, **options):
    """An environment in which every seat's valuation is known."""
    fixed = [(value, value) for value in valuations]
    return episode("auction", seats=len(valuations), valuations=fixed, **options, seed=0)


def bid(env, *amounts):
    """Submit bids in turn, None passes; return the rewards."""
    for amount in amounts:
        action = Action("pass") if amount is None else Action("submit_bid", {"bid": amount})
        assert env.submit(env.agent_selection, action).ok
    return list(env.rewards.values())


@pytest.mark.parametrize(
    ("rule", "terms", "bids", "rewards"),
    [
        ("first-price", {}, (40.0, 45.5, 30), [0, 14.5, 0]),
        ("second-price", {}, (40.0, 45.5, 30), [0, 20, 0]),
        ("all-pay", {}, (40.0, 45.5, 30), [-40, 14.5, -30]),
        ("first-price", {"reserve": 40}, (60, 39.99, 30), [20, 0, 0]),
        ("second-price", {"reserve": 40}, (60, 39.99, 30), [40, 0, 0]),
        ("all-pay", {"reserve": 40}, (60, 39.99, 55), [20, 0, -55]),
        ("first-price", {"entry_fee": 5}, (40, 20, 0), [35, -5, 0]),  # a bid of 0 stays out
        ("all-pay", {"entry_fee": 5}, (40, 20, 0), [35, -25, 0]),
        ("first-price", {"values": "average"}, (40, 20, 30), [36.67, 0, 0]),
        ("first-price", {"risk_aversion": 0.5}, (40, 0, 0), [60, 0, 0]),  # the root of a gain, on the scale of 90
        ("first-price", {"risk_aversion": 0.5}, (95, 0, 0), [-15, 0, 0]),
        ("first-price", {"units": 2}, (40, 20, 50), [40, 0, 40]),
        ("second-price", {"units": 2}, (40, 20, 50), [60, 0, 70]),
    ],
)
def test_what_the_bidders_get(rule, terms, bids, rewards):
    assert bid(auction([80, 60, 90], rule=rule, **terms), *bids) == rewards


@pytest.mark.parametrize(("units", "bids"), [(1, (20, 10, 20)), (2, (20, 30, 20))])
def test_ties_are_drawn_evenly_among_the_tied(units, bids):
    wins = np.zeros(3)
    env = envs.make("auction", seats=3, units=units, valuations=(50, 50))
    for seed in range(300):
        env.reset(seed=seed)
        wins += np.array(bid(env, *bids)) > 0
    assert wins[1] == 300 * (units - 1) and 100 < wins[0] < 200 and wins[0] + wins[2] == 300


def test_who_passes_has_another_turn_in_the_next_round():
    env = auction([80, 60, 90], rounds=2)
    bid(env, None, 20, None)
    assert env.agent_selection == "player_0"
    assert bid(env, 30, 40) == [0, 0, 50]
    state = env.turn_state("player_0")
    assert [(e["agent_id"][-1], e["action"], e["round"]) for e in state.game_state["action_history"]] == [
        ("0", "pass", 1), ("1", "submit_bid", 1), ("2", "pass", 1), ("0", "submit_bid", 2), ("2", "submit_bid", 2),
    ]  # fmt: skip
    assert state.outcome["reason"] == "auction_resolved"
    assert state.outcome["winner"] == "player_2"


def test_after_the_last_round_nobody_gets_or_pays_anything():
    env = auction([80, 60], rounds=2, rule="all-pay")
    assert bid(env, 50, None, None) == [0, 0]
    state = env.turn_state("player_0")
    assert state.game_over
    assert state.phase == "auction"
    assert state.outcome == {
        "payoffs": [{"agent_id": "player_0", "utility": 0.0}, {"agent_id": "player_1", "utility": 0.0}],
        "reason": "max_rounds_exceeded",
        "winner": None,
    }


def test_a_bid_between_two_numbers_stands_for_the_nearer_one():
    game = envs.game("auction")
    table = game.tables(1)[0]
    for amount, number in ((33.4, 33), (33.6, 34), (0.0, 0), (999.0, 100)):
        assert game.view.nearest(table, game.view.parse(table, Action("submit_bid", {"bid": amount}))) == number


def test_without_a_bid_at_the_reserve_there_is_no_sale():
    env = auction([80, 60], reserve=40)
    assert bid(env, 39, 0) == [0, 0]
    outcome = env.turn_state("player_0").outcome
    assert (outcome["reason"], outcome["winner"]) == ("no_sale", None)


def test_rounding_leads_no_bot_above_its_value():
    tables = envs.auction_v0.vector_env(1000, bids=11, reserve=30.5, entry_fee=5)
    tables.reset(seed=1)
    bids = tables.game.bots["truthful"](tables.game).act(tables.observations, tables.action_masks)
    assert bids.any() and (10 * bids <= tables.tables.valuation[:, 0] + 1e-9).all()


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
    env = episode("auction", values="common", valuations=(25, 225), noise=20, seed=3)
    assert bid(env, 10, 20) == [0, pytest.approx(float(env.table.centre) - 20, abs=0.005)]
    env = episode("auction", values="affiliated", valuations=(25, 225), noise=20, seed=3)
    assert bid(env, 10, 20) == [0, pytest.approx(float(env.table.valuation[1]) - 20, abs=0.005)]


# Talk.


def talk(**options):
    env = envs.make("auction", talk=True, observation="flat", **options)
    env.reset(seed=0)
    return env


def heard(env, agent):
    part = env.game.layout["messages.act"]
    return env.observe(agent)["observation"][part.start : part.stop].reshape(part.shape)


def test_talk_by_number_is_a_public_sentence_and_keeps_the_turn():
    env = talk(seats=3)
    env.step(102 + 11 + 5)
    assert env.agent_selection == "player_0"
    assert [m.content for m in env.turn_state("player_2").messages] == ["I will bid 50."]
    assert heard(env, "player_2")[1].tolist() == [0, 1, 0, 0]
    assert heard(env, "player_0")[0].tolist() == [0, 1, 0, 0]
