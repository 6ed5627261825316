"""Games with an open phase: centipede, the Dutch and the English auction, bilateral trade and hold-up."""

import numpy as np
import pytest
from economics.matches import played, tables_after, utilities
from parlour import envs
from parlour.envs import Action, TurnState
from parlour.envs.economics.centipede import is_taken


def bid(amount):
    return "raise_bid", {"amount": amount}


def propose(price):
    return "propose", {"price": price}


def offered(env):
    return {one.action_type for one in env.turn_state(env.agent_selection).allowed_actions}


def matches(name, bot, **options):
    """Return the tables after matches of a bot with itself."""
    return tables_after(envs.game(name, **options), bot, count=20_000, seed=4)


def test_a_push_doubles_both_piles_and_a_take_ends_it():
    env = played("centipede", "push", "push", "push")
    seen = env.turn_state("player_1").game_state
    assert (seen["small_pile"], seen["large_pile"], seen["push_count"], seen["can_push"]) == (8, 32, 3, True)
    assert env.submit("player_1", Action("take")).ok
    assert utilities(env) == [8, 32]
    outcome = env.turn_state("player_0").outcome
    assert (outcome["reason"], outcome["taker"], outcome["push_count"]) == ("take", "player_1", 3)
    assert [row["action"] for row in env.turn_state("player_0").game_state["action_history"]] == ["push"] * 3 + ["take"]


def test_after_the_last_push_only_take_is_legal():
    env = played("centipede", "push", max_pushes=1)
    assert offered(env) == {"take", "message_only"}
    assert env.submit("player_1", Action("push")).error == "game_rule_violation"
    assert env.submit("player_1", Action("pass")).error == "game_rule_violation"


@pytest.mark.parametrize(("small", "large", "most"), [(1, 4, 10), (1, 2, 4), (2, 3, 5), (0, 1, 0)])
def test_backward_induction_of_centipede(small, large, most):
    taken = is_taken(small, large, most)
    assert taken[:-1].all() if large >= 2 * small else not taken[:-1].any()
    for seat in range(2):  # no deviation at a single decision gains
        for k in range(seat, most, 2):
            end = k + 1 + int(np.argmax(taken[k + 1 :]))  # who pushes at k
            pushed = (large if (end - k) % 2 == 0 else small) * 2**end
            assert (large * 2**k >= pushed) == taken[k]


def test_the_dutch_price_falls_when_all_have_passed():
    env = played("dutch_auction", "pass", "pass", "pass", valuations=[(80, 80), (70, 70)])
    assert env.turn_state("player_1").game_state["current_price"] == 95
    env.submit("player_1", Action("accept"))
    assert utilities(env) == [0, -25]
    outcome = env.turn_state("player_0").outcome
    assert (outcome["reason"], outcome["winner"], outcome["price_paid"]) == ("dutch_auction_accepted", "player_1", 95)


@pytest.mark.parametrize(
    ("rounds", "reason", "price"), [(3, "max_rounds_exceeded", 70), (9, "price_reached_minimum", 60)]
)
def test_a_dutch_auction_without_a_sale(rounds, reason, price):
    env = played("dutch_auction", *["pass"] * (2 * min(rounds, 4)), decrement=10, min_price=60, max_rounds=rounds)
    assert utilities(env) == [0, 0]
    outcome = env.turn_state("player_0").outcome
    assert (outcome["reason"], outcome["final_price"]) == (reason, price)


@pytest.mark.nightly
@pytest.mark.parametrize("seats", [2, 3])
def test_revenue_equivalence(seats):
    expected = 100 * (seats - 1) / (seats + 1)
    dutch = matches("dutch_auction", "equilibrium", seats=seats, decrement=0.5, max_rounds=200)
    assert dutch["standing"][dutch["closer"] >= 0].mean() == pytest.approx(expected, abs=0.6)
    english = matches("english_auction", "equilibrium", seats=seats, min_increment=0.5, bids=201, max_rounds=300)
    assert np.mean(english["standing"]) == pytest.approx(expected, abs=0.8)
    for tables in (dutch, english):
        surplus = np.sort(tables["private"][:, :seats])[:, -1].mean() - expected
        assert tables["total"][:, :seats].sum(axis=1).mean() == pytest.approx(surplus, abs=0.8)


def test_the_last_bidder_pays_its_own_last_bid():
    env = played("english_auction", bid(10), bid(15), valuations=[(80, 80), (65, 65)])
    assert env.turn_state("player_0").game_state["min_next_bid"] == 20
    refused = env.submit("player_0", Action(*bid(19)))
    assert refused.error == "invalid_payload" and "20 to 100" in refused.error_detail
    env.submit("player_0", Action(*bid(20.5)))
    env.submit("player_1", Action("fold"))
    assert utilities(env) == [59.5, 0]
    outcome = env.turn_state("player_1").outcome
    assert (outcome["reason"], outcome["winner"], outcome["bid_paid"]) == ("last_standing", "player_0", 20.5)


def test_who_has_folded_has_no_turn():
    env = played("english_auction", bid(5), "fold", bid(10), "pass", bid(15), seats=3)
    assert env.agent_selection == "player_0"
    assert env.turn_state("player_2").game_state["folded"] == ["player_1"]


def test_when_time_is_up_the_highest_bid_wins():
    env = played("english_auction", bid(5), "pass", "pass", "pass", valuations=(80, 80), max_rounds=2)
    assert utilities(env) == [75, 0] and env.turn_state("player_0").outcome["reason"] == "timeout_highest_bidder"
    env = played("english_auction", "pass", "pass", max_rounds=1)
    assert utilities(env) == [0, 0] and env.turn_state("player_0").outcome["reason"] == "timeout_no_bids"


def test_nobody_accepts_its_own_price():
    env = played("bilateral_trade", propose(30), "pass", reservations=[(80, 80), (40, 40)])
    assert "accept_proposal" not in offered(env)
    env.submit("player_0", Action(*propose(55.5)))
    assert env.turn_state("player_1").game_state["proposal"] == {
        "scope": "A service", "price": 55.5, "proposed_by": "player_0",
    }  # fmt: skip
    env.submit("player_1", Action("accept_proposal"))
    assert utilities(env) == [24.5, 15.5] and env.turn_state("player_0").outcome["reason"] == "trade_completed"


def invest(amount):
    return "invest", {"amount": amount}


def split(first, second):
    return "make_offer", {"split": {"player_0": first, "player_1": second}}


def test_investments_make_the_surplus_that_is_split():
    env = played("hold_up", invest(4), invest(2.5), split(10, 9.5))
    seen = env.turn_state("player_1").game_state
    assert (seen["surplus"], seen["last_offer_by"]) == (19.5, "player_0")
    assert seen["current_offer"] == {"player_0": 10, "player_1": 9.5}
    assert seen["action_history"][-1]["split"] == seen["current_offer"]
    env.submit("player_1", Action("accept"))
    assert utilities(env) == [6, 7]
    outcome = env.turn_state("player_0").outcome
    assert (outcome["reason"], outcome["payoffs"][1]["share"]) == ("hold_up_agreement", 9.5)


def test_in_the_last_round_nobody_passes_or_rejects():
    env = played("hold_up", invest(1), invest(1), "pass", "pass", max_rounds=2)
    assert offered(env) == {"make_offer", "message_only"}
    env.submit("player_0", Action(*split(4, 2)))
    assert offered(env) == {"make_offer", "accept", "message_only"}
    env.submit("player_1", Action(*split(0, 6)))
    assert utilities(env) == [0, 0] and env.turn_state("player_0").outcome["reason"] == "max_rounds_exceeded"


PLATFORM = {"agent_ids": ["bob", "ann"], "max_rounds": 20}
NOISE = [{"agent_id": "ann", "action": "message_only", "round": 0}, {"agent_id": "bob", "action": "push", "round": 0}]
OFFER, PROPOSAL = {"current_offer": {"bob": 5, "ann": 4}}, {"proposal": {"price": 42, "proposed_by": "bob"}}
PASSES = [{"agent_id": agent, "action": "pass"} for agent in ("bob", "ann", "bob", "ann", "bob")]


STATES = [
    ("centipede", {"small_pile": 2, "large_pile": 8, "push_count": 1, "max_pushes": 10}, (1, 1, -1, 0)),
    # In round 7 of the platform's 20 each of the two has 7 turns left of our 20.
    ("dutch_auction", {"current_price": "90", "current_round": 7, "my_valuation": 80}, (1, 90, -1, 13)),
    ("english_auction", {"current_bid": 35, "highest_bidder": "bob", "bids": {"bob": 35, "ann": "30"}}, (1, 35, 0, 2)),
    ("bilateral_trade", {"buyer": "bob", "seller": "ann", **PROPOSAL}, (1, 42, 0, 2)),
    ("hold_up", {"investments": {"bob": 2, "ann": 1}, "last_offer_by": "bob", **OFFER}, (1, 5, 0, 2)),
]


@pytest.mark.parametrize(("name", "state", "expected"), STATES)
def test_states_of_the_platform_are_read(name, state, expected):
    game = envs.game(name)
    told = {**PLATFORM, **state, "action_history": NOISE if name == "centipede" else [*NOISE, *PASSES]}
    phase = "bargain" if name == "hold_up" else game.view.phase(game.tables(1)[0])
    (table,), seat = game.view.load(TurnState("m", name, "ann", phase, True, "ann", told))
    assert (seat, table.standing, table.owner, table.cycle) == expected
    assert table.turn == 1 and game.mask(table, 1).any()
