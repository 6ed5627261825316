"""Bargaining's rules by named situation (`unfair-split` of the TurnState platforms)."""

import pytest
from beginnings import episode
from parlour import envs
from parlour.envs import Action


def negotiation(**options):
    """An environment in which player_0's reservation value is 20 and player_1's 30, unless `options` say otherwise."""
    return episode("bargaining", **{"reservations": [(20, 20), (30, 30)], **options}, seed=0)


def play(env, *moves):
    """Play offers (numbers) and other actions (names); return the rewards."""
    for move in moves:
        action = Action(move) if isinstance(move, str) else Action("submit_offer", {"my_share": move})
        assert env.submit(env.agent_selection, action).ok
    return list(env.rewards.values())


def test_an_accepted_offer_gives_each_its_share_less_its_reservation_value():
    env = negotiation()
    assert play(env, 60, "accept") == [40, 10]
    state = env.turn_state("player_1")
    assert state.phase == "negotiation"
    assert state.outcome == {
        "payoffs": [{"agent_id": "player_0", "utility": 40.0}, {"agent_id": "player_1", "utility": 10.0}],
        "reason": "agreement",
        "split": {"player_0": 60.0, "player_1": 40.0},
    }


@pytest.mark.parametrize(
    ("moves", "rewards"),
    [((60, 70, "accept"), [10, 40]), ((90, "accept"), [70, -20]), ((60, "pass", "pass", "accept"), [40, 10])],
)
def test_a_counter_offer_replaces_the_offer_a_bad_deal_costs_and_a_pass_leaves_the_offer_standing(moves, rewards):
    assert play(negotiation(), *moves) == rewards


def test_after_the_last_round_both_get_nothing():
    env = negotiation(rounds=2)
    assert play(env, 60, 60, "pass", 50) == [0, 0]
    outcome = env.turn_state("player_0").outcome
    assert (outcome["reason"], outcome["split"]) == ("max_rounds_exceeded", None)


def test_one_cannot_accept_or_reject_what_is_not_offered():
    env = negotiation()
    for action in ("accept", "reject"):
        result = env.submit("player_0", Action(action))
        assert (result.ok, result.error) == (False, "game_rule_violation")
    play(env, 60, "pass")
    assert env.submit("player_0", Action("accept")).error == "game_rule_violation"  # its own offer
    assert [a.action_type for a in env.turn_state("player_0").allowed_actions] == [
        "submit_offer", "pass", "message_only",
    ]  # fmt: skip


def test_a_rejection_removes_the_offer():
    env = negotiation()
    play(env, 60, "reject", "pass")
    state = env.turn_state("player_1")
    assert state.game_state["current_offer"] is None
    assert state.game_state["last_offer_by"] is None
    assert env.submit("player_1", Action("accept")).error == "game_rule_violation"


@pytest.mark.parametrize(
    ("moves", "factor"),
    [
        ((60, "accept"), 1),
        ((60, 40, "accept"), 0.9**0.5),
        ((60, 70, 60, "accept"), 0.9),
        ((60, "pass", "pass", "accept"), 0.9),
    ],
)
def test_a_round_costs_the_discount_and_a_turn_its_square_root(moves, factor):
    first, second = play(negotiation(discount=0.9), *moves)
    assert (first, second) == pytest.approx((factor * 40, factor * 10), abs=0.0051)


def test_an_offer_between_two_numbers_stands_for_the_nearer_one():
    game = envs.game("bargaining", offers=11)
    table = game.tables(1)[0]
    assert game.view.nearest(table, game.view.parse(table, Action("submit_offer", {"my_share": 47.0}))) == 5
