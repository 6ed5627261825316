"""Cournot competition: prices, private costs, passes and the equilibrium."""

import numpy as np
import pytest
from economics.matches import played
from parlour.envs.economics.cournot import equilibrium_quantity


def table_after(*quantities, **options):
    moves = (one if one == "pass" else ("submit_quantity", {"quantity": one}) for one in quantities)
    return played("cournot", *moves, **options)


def test_the_price_falls_with_the_total_quantity():
    env = table_after(30, 20.5)
    assert env.table.done and env.table.rewards[:2].tolist() == [(49.5 - 20) * 30, 604.75]
    outcome = env.turn_state("player_0").outcome
    assert (outcome["reason"], outcome["price"], outcome["total_quantity"]) == ("market_cleared", 49.5, 50.5)
    assert outcome["payoffs"][1] == {"agent_id": "player_1", "quantity": 20.5, "marginal_cost": 20, "utility": 604.75}


def test_who_passes_may_choose_later():
    env = table_after("pass", 10, 40)
    assert env.table.done and env.table.rewards[0] == (50 - 20) * 40
    rows = env.turn_state("player_0").game_state["action_history"]
    assert [(row["agent_id"], row["action"], row["round"]) for row in rows] == [
        ("player_0", "pass", 0), ("player_1", "submit_quantity", 0), ("player_0", "submit_quantity", 1),
    ]  # fmt: skip


def test_without_a_choice_in_time_all_get_nothing():
    env = table_after(30, "pass", "pass", max_rounds=2)
    assert env.table.done and not env.table.rewards.any()
    assert env.turn_state("player_0").outcome["reason"] == "max_rounds_exceeded"


@pytest.mark.parametrize("seats", [2, 3, 5])
def test_nobody_gains_by_leaving_the_equilibrium(seats):
    a, b, cost = 90.0, 0.5, 12.0
    each = float(equilibrium_quantity(a, b, [cost] * seats, 0, cost))
    assert each == pytest.approx((a - cost) / ((seats + 1) * b))
    own = np.linspace(0, a / b, 2001)
    profit = (np.maximum(0, a - b * (own + (seats - 1) * each)) - cost) * own
    assert own[profit.argmax()] == pytest.approx(each, abs=0.1)
