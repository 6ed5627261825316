"""The auction's rules by named situation (`first-price-auction` of the TurnState platforms)."""

import re

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


def test_second_price_ascending_and_descending_bids():
    assert bid(auction([80, 60, 90], rule="second-price"), 10, 20, 30) == [0, 0, 70]
    assert bid(auction([80, 60, 90], rule="second-price"), 30, 20, 10) == [60, 0, 0]


def test_second_price_of_a_tie_is_the_bid_itself():
    assert sorted(bid(auction([80, 80], rule="second-price"), 50, 50)) == [0, 30]


def test_all_pay_everybody_pays():
    assert bid(auction([80, 60, 90], rule="all-pay"), 40.0, 45.5, 30) == [-40, 14.5, -30]


def test_a_bid_may_exceed_the_valuation():
    assert bid(auction([10, 60]), 70, 0) == [-60, 0]


def test_utilities_are_rounded_to_hundredths():
    assert bid(auction([80, 60]), 40.006, 1) == [39.99, 0]


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


def test_valuations_follow_the_table_of_quantiles():
    tables = envs.auction_v0.vector_env(20_000, valuations=[[0, 20, 100], [70, 70]])
    tables.reset(seed=1)
    values = tables.tables.valuation
    assert (values[:, 1] == 70).all()
    assert np.quantile(values[:, 0], [0, 0.25, 0.5, 0.75, 1]) == pytest.approx([0, 10, 20, 60, 100], abs=1.5)
    assert (values == values.round(2)).all()


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


@pytest.mark.parametrize("value", [2.5, "3", None, float("nan"), [3], True, -1])
@pytest.mark.parametrize("option", ["seats", "bids", "rounds"])
def test_a_value_that_is_no_whole_number_is_refused_with_the_right_ones(option, value):
    with pytest.raises(ValueError, match=re.escape(f"{option}={value!r}: need a whole number, from ")):
        envs.game("auction", **{option: value})


@pytest.mark.parametrize(
    ("option", "value", "words"),
    [
        ("talk", "x", "need True or False"),
        ("talk", None, "need True or False"),
        ("highest_bid", "50", "need a number from 0.01 to 1,000,000"),
        ("highest_bid", float("nan"), "need a number from 0.01 to 1,000,000"),
        ("valuations", ("0", "100"), "give at least 2 quantiles"),
        ("valuations", None, "give at least 2 quantiles"),
        ("rule", None, "choose from"),
    ],
)
def test_an_option_of_another_kind_is_reported(option, value, words):
    with pytest.raises(ValueError, match=re.escape(f"{option}={value!r}: {words}")):
        envs.game("auction", **{option: value})


def test_agents_of_another_platform_have_other_names():
    game = envs.game("auction", seats=3)
    env = envs.make("auction", seats=3)
    env.reset(seed=4)
    bid(env, 12)
    text = env.turn_state("player_1").to_json().decode()
    renamed = text.replace("player_0", "zoe").replace("player_1", "me").replace("player_2", "yann")
    tables, seat = game.view.load(envs.TurnState.from_json(renamed))
    shown = game.observation(tables[0], seat)
    assert shown[game.layout["game_state.opponents_with_bid"].start :][:2].sum() == 1
    assert shown[game.layout["is_my_turn"].start] == 1
    assert game.mask(tables[0], seat).sum() == game.num_actions


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


def test_after_ten_messages_of_a_turn_no_more_talk_is_open():
    env = talk()
    for left in range(10, 0, -1):
        assert env.turn_state("player_0").game_state["messages_left"] == left
        env.step(102)
    assert np.flatnonzero(env.observe("player_0")["action_mask"]).tolist() == list(range(102))
    env.step(3)
    assert env.observe("player_1")["action_mask"].all()


def test_waiting_for_ever_is_a_forced_pass():
    env = talk()
    for _ in range(11):
        assert env.agent_selection == "player_0"
        assert env.submit("player_0", Action("message_only")).ok
    assert env.agent_selection == "player_1"
    assert env.turn_state("player_1").game_state["action_history"][0]["action"] == "pass"


def test_without_talk_messages_still_travel():
    env = auction([80, 60])
    message = MessageIntent("public", "I will bid 50")
    assert env.submit("player_0", AgentResponse(Action("submit_bid", {"bid": 1.0}), [message])).ok
    assert [m.content for m in env.turn_state("player_1").messages] == ["I will bid 50"]


def test_the_full_encoder_shows_every_valuation_by_relative_seat():
    env = auction([10, 20, 40])
    encoder = env.game.encoders["full"]
    part = next(one for one in encoder.layout if one.path == "hidden.valuations")
    assert (part.low, part.high) == (0, 1)
    seen = [encoder.observation(env.table, seat)[part.start : part.stop].tolist() for seat in range(3)]
    assert seen == [[0.25, 0.5, 1], [0.5, 1, 0.25], [1, 0.25, 0.5]]
