"""The auction's rules by named situation (`first-price-auction` of the TurnState platforms)."""

import numpy as np
import pytest
from parlour import envs
from parlour.envs import Action, AgentResponse, MessageIntent


def auction(valuations, **options):
    """An environment in which every seat's valuation is known."""
    fixed = [(value, value) for value in valuations]
    env = envs.make("auction", seats=len(valuations), valuations=fixed, **options)
    env.reset(seed=0)
    return env


def bid(env, *amounts):
    for amount in amounts:
        action = Action("pass") if amount is None else Action("submit_bid", {"bid": amount})
        assert env.submit(env.agent_selection, action).ok
    return list(env.rewards.values())


def test_first_price_the_winner_pays_its_bid():
    assert bid(auction([80, 60, 90]), 40.0, 45.5, 30) == [0, 14.5, 0]


def test_second_price_the_winner_pays_the_second_highest_bid():
    assert bid(auction([80, 60, 90], rule="second-price"), 40.0, 45.5, 30) == [0, 20, 0]


def test_all_pay_everybody_pays():
    assert bid(auction([80, 60, 90], rule="all-pay"), 40.0, 45.5, 30) == [-40, 14.5, -30]


def test_a_tie_is_drawn_evenly_among_the_tied():
    wins = np.zeros(3)
    env = envs.make("auction", seats=3, valuations=(50, 50))
    for seed in range(300):
        env.reset(seed=seed)
        wins += bid(env, 20, 10, 20)
    assert wins[1] == 0
    assert 100 < wins[0] / 30 < 200
    assert wins[0] + wins[2] == 300 * 30


def test_bids_are_sealed_until_all_are_in():
    env = auction([80, 60, 90])
    bid(env, 33)
    seen = env.turn_state("player_1").game_state
    assert "33" not in str(seen)
    assert seen["opponents_with_bid"] == ["player_0"]
    assert seen["opponent_has_bid"] is True
    assert seen["my_bid"] is None
    assert env.turn_state("player_0").game_state["my_bid"] == 33


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


@pytest.mark.parametrize("amount", [-1, float("nan"), float("inf"), True, None, "5", [5], 10**400, 1001])
def test_a_bad_bid_is_an_invalid_payload(amount):
    env = auction([80, 60])
    result = env.submit("player_0", {"action_type": "submit_bid", "payload": {"bid": amount}})
    assert (result.ok, result.error) == (False, "invalid_payload")


def test_a_bid_between_two_numbers_stands_for_the_nearer_one():
    game = envs.game("auction")
    table = game.tables(1)[0]
    for amount, number in ((33.4, 33), (33.6, 34), (0.0, 0), (999.0, 100)):
        assert game.view.nearest(table, game.view.parse(table, Action("submit_bid", {"bid": amount}))) == number


@pytest.mark.parametrize(
    "options",
    [
        {"seats": 1}, {"seats": 17}, {"rule": "dutch"}, {"bids": 1}, {"bids": 257}, {"rounds": 0}, {"highest_bid": 0},
        {"valuations": (5,)}, {"valuations": (5, 4)}, {"valuations": (-1, 4)}, {"valuations": (0, float("nan"))},
        {"valuations": (0, 0)}, {"valuations": [(0, 1)]}, {"valuations": "abc"}, {"valuations": 5},
        {"valuations": tuple(range(33))},
    ],
)  # fmt: skip
def test_a_bad_option_is_named(options):
    with pytest.raises(ValueError, match=next(iter(options))):
        envs.game("auction", **options)


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


def test_talk_by_text_is_heard_at_once_by_those_who_may_read_it():
    env = talk(seats=3)
    message = MessageIntent("private", "Psst: I will walk away, my friend!", ["player_2"])
    assert env.submit("player_0", AgentResponse(Action("message_only"), [message])).ok
    assert heard(env, "player_2")[1].tolist() == [0, 0, 1, 0]
    assert heard(env, "player_0")[0].tolist() == [0, 0, 1, 0]
    assert not heard(env, "player_1").any()
    assert env.turn_state("player_1").messages == []
    assert env.agent_selection == "player_0"
