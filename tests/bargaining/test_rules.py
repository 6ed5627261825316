"""Bargaining's rules by named situation (`unfair-split` of the TurnState platforms)."""

import re

import pytest
from parlour import envs
from parlour.envs import Action, AgentResponse, MessageIntent


def negotiation(**options):
    """An environment in which player_0's reservation value is 20 and player_1's 30, unless `options` say otherwise."""
    env = envs.make("bargaining", **{"reservations": [(20, 20), (30, 30)], **options})
    env.reset(seed=0)
    return env


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


def test_a_counter_offer_replaces_the_offer():
    assert play(negotiation(), 60, 70, "accept") == [10, 40]


def test_a_bad_deal_costs():
    assert play(negotiation(), 90, "accept") == [70, -20]


def test_utilities_are_rounded_to_hundredths():
    assert play(negotiation(), 33.333333, "accept") == [13.33, 36.67]


def test_after_the_last_round_both_get_nothing():
    env = negotiation(rounds=2)
    assert play(env, 60, 60, "pass", 50) == [0, 0]
    state = env.turn_state("player_0")
    assert state.game_over
    assert not state.is_my_turn
    assert state.outcome["reason"] == "max_rounds_exceeded"
    assert state.outcome["split"] is None


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


def test_a_pass_leaves_the_offer_standing():
    assert play(negotiation(), 60, "pass", "pass", "accept") == [40, 10]


def test_a_rejection_removes_the_offer():
    env = negotiation()
    play(env, 60, "reject", "pass")
    state = env.turn_state("player_1")
    assert state.game_state["current_offer"] is None
    assert state.game_state["last_offer_by"] is None
    assert env.submit("player_1", Action("accept")).error == "game_rule_violation"


@pytest.mark.parametrize("moves", [(), (60, "reject"), (60, 50, "reject")])
def test_the_record_holds_0_where_no_offer_stands(moves):
    env = negotiation()
    play(env, *moves)
    assert (env.table.current_offer, env.table.last_offer_by) == (0, -1)


def test_everything_shown_is_as_documented():
    env = negotiation()
    play(env, 60, "reject", 55.5)
    assert env.turn_state("player_1").game_state == {
        "total": 100.0,
        "current_offer": 55.5,
        "last_offer_by": "player_0",
        "my_reservation_value": 30.0,
        "action_history": [
            {"agent_id": "player_0", "action": "submit_offer", "my_share": 60.0, "round": 1},
            {"agent_id": "player_1", "action": "reject", "round": 1},
            {"agent_id": "player_0", "action": "submit_offer", "my_share": 55.5, "round": 2},
        ],
    }


def test_reservation_values_are_private_unless_public():
    assert "opponent_reservation_value" not in negotiation().turn_state("player_0").game_state
    assert negotiation(public=True).turn_state("player_0").game_state["opponent_reservation_value"] == 30


def test_reservation_values_lie_in_the_lower_half_by_default():
    tables = envs.bargaining_v0.vector_env(20_000)
    tables.reset(seed=0)
    values = tables.tables.my_reservation_value
    assert values.min() < 0.1
    assert 49.9 < values.max() <= 50
    assert values.mean() == pytest.approx(25, abs=0.3)
    assert (values == values.round(2)).all()


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


@pytest.mark.parametrize("share", [-1, 100.01, float("nan"), float("inf"), True, None, "5", 10**400])
def test_a_bad_offer_is_an_invalid_payload(share):
    result = negotiation().submit("player_0", {"action_type": "submit_offer", "payload": {"my_share": share}})
    assert (result.ok, result.error) == (False, "invalid_payload")


def test_an_offer_between_two_numbers_stands_for_the_nearer_one():
    game = envs.game("bargaining", offers=11)
    table = game.tables(1)[0]
    assert game.view.nearest(table, game.view.parse(table, Action("submit_offer", {"my_share": 47.0}))) == 5


@pytest.mark.parametrize(
    "options",
    [
        {"rounds": 0}, {"rounds": 51}, {"total": 0}, {"total": float("nan")}, {"discount": 0}, {"discount": 1.1},
        {"offers": 1}, {"offers": 257}, {"reservations": (5, 4)}, {"reservations": (0, 101)}, {"reservations": 5},
        {"reservations": [(0, 1)]}, {"reservations": "ab"},
    ],
)  # fmt: skip
def test_a_bad_option_is_named(options):
    with pytest.raises(ValueError, match=next(iter(options))):
        envs.game("bargaining", **options)


@pytest.mark.parametrize("value", [2.5, "3", None, float("nan"), [3], True, -1])
@pytest.mark.parametrize("option", ["rounds", "offers"])
def test_a_value_that_is_no_whole_number_is_refused_with_the_right_ones(option, value):
    with pytest.raises(ValueError, match=re.escape(f"{option}={value!r}: need a whole number, from ")):
        envs.game("bargaining", **{option: value})


@pytest.mark.parametrize(
    ("option", "value", "words"),
    [
        ("talk", "x", "need True or False"),
        ("public", "x", "need True or False"),
        ("public", None, "need True or False"),
        ("total", "100", "need a number from 0.01 to 1,000,000"),
        ("total", None, "need a number from 0.01 to 1,000,000"),
        ("discount", 0, "need a number above 0, at most 1"),
        ("discount", float("nan"), "need a number above 0, at most 1"),
        ("reservations", ("0", "50"), "give (low, high)"),
    ],
)
def test_an_option_of_another_kind_is_reported(option, value, words):
    with pytest.raises(ValueError, match=re.escape(f"{option}={value!r}: {words}")):
        envs.game("bargaining", **{option: value})


def test_agents_of_another_platform_have_other_names():
    game, env = envs.game("bargaining"), envs.make("bargaining", observation="flat")
    env.reset(seed=4)
    play(env, 60, 55)
    for agent in env.possible_agents:
        text = env.turn_state(agent).to_json().decode().replace("player_0", "zoe").replace("player_1", "abe")
        tables, seat = game.view.load(envs.TurnState.from_json(text))
        assert (game.observation(tables[0], seat) == env.observe(agent)["observation"]).all()


def test_talk_by_number_and_by_text():
    env = negotiation(talk=True, observation="flat")
    env.step(104 + 6)
    assert env.submit("player_0", AgentResponse(Action("pass"), [MessageIntent("public", "so: i demand 62.5!")])).ok
    state = env.turn_state("player_1")
    assert [m.content for m in state.messages] == ["My reservation value is 60.", "so: i demand 62.5!"]
    layout, seen = env.game.layout, env.observe("player_1")["observation"]
    assert seen[layout["messages.act"].start :][:8].tolist() == [0, 0, 0, 0, 0, 1, 0, 0]
    assert seen[layout["messages.value"].start :][:2] == pytest.approx([0, 0.625])
    assert env.agent_selection == "player_1"
