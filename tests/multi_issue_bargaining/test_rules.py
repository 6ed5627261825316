"""Multi-issue bargaining's rules by named situation (stacked alternating offers)."""

import numpy as np
import pytest
from beginnings import episode
from parlour import envs
from parlour.envs import Action

ISSUES = {"price": 2, "delivery": 3}
WORTH = [[[0, 0.7], [0.3, 0.1, 0]], [[0.4, 0], [0, 0.6, 0.2]]]


def negotiation(**options):
    """A negotiation of a price with 2 values and a delivery with 3, with fixed preferences unless `options` differ."""
    fixed = {"issues": ISSUES, "preferences": WORTH, "reservations": [[0.2, 0.2], [0.1, 0.1]]}
    return episode("multi_issue_bargaining", **{**fixed, **options}, seed=0)


def play(env, *moves):
    """Play offers (pairs of values) and other actions (names); return the rewards."""
    for move in moves:
        action = Action(move) if isinstance(move, str) else Action("submit_offer", dict(zip(ISSUES, move, strict=True)))
        assert env.submit(env.agent_selection, action).ok
    return list(env.rewards.values())


def test_an_accepted_offer_gives_each_the_worth_of_its_values_less_its_reservation_value():
    env = negotiation()
    assert play(env, (1, 1), "accept") == pytest.approx([0.7 + 0.1 - 0.2, 0.6 - 0.1])
    assert env.turn_state("player_1").outcome == {
        "payoffs": [{"agent_id": "player_0", "utility": 0.6}, {"agent_id": "player_1", "utility": 0.5}],
        "reason": "agreement",
        "agreement": {"price": 1, "delivery": 1},
    }


@pytest.mark.parametrize(
    ("moves", "reason"), [(((1, 1), "walk_away"), "walked_away"), (("pass",) * 4, "max_rounds_exceeded")]
)
def test_without_an_agreement_all_get_nothing(moves, reason):
    env = negotiation(rounds=2)
    assert play(env, *moves) == [0, 0]
    outcome = env.turn_state("player_0").outcome
    assert (outcome["reason"], outcome["agreement"]) == (reason, None)


def three(**options):
    return negotiation(seats=3, preferences="random", reservations=(0, 0.4), **options)


def test_both_others_need_to_accept_and_a_new_offer_makes_acceptances_void():
    env = three()
    play(env, (1, 1), "accept")
    assert not any(env.terminations.values())
    assert env.turn_state("player_2").game_state["acceptances"] == {"player_1": True}
    play(env, (0, 0), "accept")
    assert env.turn_state("player_1").game_state["acceptances"] == {"player_0": True}
    play(env, "accept")
    assert env.turn_state("player_0").outcome["agreement"] == {"price": 0, "delivery": 0}


@pytest.mark.parametrize("moves", [(), ((1, 1), "accept", "pass", "pass")])
def test_one_cannot_accept_nothing_nor_its_own_offer_nor_twice(moves):
    env = three()
    play(env, *moves)
    assert env.submit(env.agent_selection, Action("accept")).error == "game_rule_violation"
    assert "accept" not in [one.action_type for one in env.turn_state(env.agent_selection).allowed_actions]


@pytest.mark.parametrize("kind", ["opposed", "random"])
def test_the_best_outcome_is_worth_one_and_the_worst_nothing(kind):
    tables = envs.VectorGame(envs.game("multi_issue_bargaining", seats=3, preferences=kind), 200)
    tables.reset(seed=0)
    worth = tables.tables.worth[:, :3, :3, :4]
    assert worth.max(axis=3).sum(axis=2) == pytest.approx(1, abs=3e-4)
    assert worth.max(axis=3).sum(axis=2).max() <= 1
    assert (worth.min(axis=3) == 0).all()


def test_opposed_preferences_rise_for_one_agent_and_fall_for_the_other():
    env = episode("multi_issue_bargaining", seed=0)
    worth = env.table.worth
    assert (np.diff(worth[0, :3, :4]) >= 0).all()
    assert (np.diff(worth[1, :3, :4]) <= 0).all()
