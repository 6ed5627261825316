"""What the poker agent reads out of the offers of a state."""

import pytest
from parlour.envs.holdem.view import Offer
from parlour.wrappers.live.poker.messages import GameState, Option, Player
from parlour.wrappers.live.poker.table_tracker import read_offers, safe_kind


def state(*options, to_call=None, bets=(1, 2)):
    players = [Player(seat=seat, stack=100, bet=bet, folded=False) for seat, bet in enumerate(bets)]
    told = {} if to_call is None else {"to_call": to_call}
    return GameState(
        seq=1, hand=1, phase="preflop", board=[], pot=sum(bets), players=players, actions=list(options), **told
    )


def test_a_state_without_actions_offers_nothing():
    bare = GameState(seq=1, hand=1, phase="preflop", board=[], pot=0, players=[])
    assert read_offers(bare, 0) == ([], 0)


def test_kinds_come_in_one_order_and_unknown_ones_are_left_out():
    options = [Option(kind=kind) for kind in ("call", "straddle", "check", "fold")]
    offers, _ = read_offers(state(*options), 0)
    assert offers == [Offer("fold"), Offer("check"), Offer("call")]


@pytest.mark.parametrize(
    ("bounds", "read"),
    [
        ((4, 9), (4, 9)),
        ((9, 9), (9, 9)),
        ((12, 9), (9, 9)),  # an all-in below the least raise
        ((None, 9), (9, 9)),
        ((0, 9), (9, 9)),
    ],
)
def test_the_least_raise_is_never_above_the_largest(bounds, read):
    option = Option(kind="raiseTo", min=bounds[0], max=bounds[1])
    assert read_offers(state(option), 0)[0] == [Offer("raiseTo", read[0], read[1])]


@pytest.mark.parametrize("most", [None, 0])
def test_a_raise_without_a_largest_amount_is_not_open(most):
    offers, _ = read_offers(state(Option(kind="check"), Option(kind="raiseTo", min=4, max=most)), 0)
    assert offers == [Offer("check")]


@pytest.mark.parametrize(
    ("call", "more", "seat", "price"),
    [
        (Option(kind="call", max=7), {"to_call": 5}, 0, 5),
        (Option(kind="call", max=7), {}, 0, 7),
        (Option(kind="call"), {"bets": (1, 6)}, 0, 5),
        (Option(kind="call"), {"bets": (1, 6)}, None, 6),
        (Option(kind="call"), {"bets": (6, 6)}, 0, 1),
        (Option(kind="call"), {"bets": ()}, 0, 1),
        (Option(kind="call"), {"to_call": 0, "bets": (2, 6)}, 0, 4),
        (Option(kind="check"), {"to_call": 5}, 0, 0),
    ],
)
def test_the_price_is_the_platforms_else_what_is_owed_by_the_bets(call, more, seat, price):
    assert read_offers(state(call, **more), seat)[1] == price


def test_the_safe_action_is_a_check_where_it_is_offered():
    assert [safe_kind(["fold", "check"]), safe_kind(["fold", "call"]), safe_kind([])] == ["check", "fold", "fold"]
