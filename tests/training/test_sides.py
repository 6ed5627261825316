"""One whole side against the other: an auction whose bidders win and lose in pairs stands for the game."""

import dataclasses

import numpy as np
import pytest
from parlour.envs import game
from parlour.training.sides import Share, SideScore, evaluate_sides, play
from parlour.wrappers.policy import make_policy


def pairs():
    """Four bidders, the first two against the others; what everybody bids is lost, so who bids loses."""
    auction = game("auction", seats=4, rule="all-pay", valuations=[0, 0.01], highest_bid=10, rounds=1)
    return dataclasses.replace(
        auction, sides=lambda tables: np.tile(np.int8([0, 0, 1, 1]), (len(tables), 1)), side_names=("left", "right")
    )


class Bids:
    """Bids one amount; counts how often."""

    def __init__(self, number):
        self.number, self.asked = number, 0

    def act(self, observations, masks):
        self.asked += len(masks)
        return np.full(len(masks), self.number)


def test_each_side_is_played_by_its_own_policy():
    nothing, all_in = Bids(0), Bids(100)
    results = play(pairs(), (nothing, all_in), [1, 2, 3])
    assert (results[:, 1] == -1).all()
    assert (results[:, 0] >= 0).all()
    assert nothing.asked == all_in.asked == 6


def test_a_policy_that_loses_nothing_in_the_place_of_one_that_does():
    report = evaluate_sides(Bids(0), pairs(), Bids(100), against="spender", matches=50)
    for score in report.scores:
        assert score.losses.share == 0
        assert score.reference.share == 1
        assert score.ratio is None
    assert report.others["left"].share == 0
    assert [table.row_count for table in report.tables("saver")] == [2, 2]


def test_the_policy_in_its_own_place_loses_as_often_as_it_does():
    auction = dataclasses.replace(pairs(), unit=1.0)
    score = evaluate_sides(make_policy("random", auction, seed=1), auction, make_policy("random", auction, seed=2),
                           matches=4_000).scores[0]  # fmt: skip
    assert score.low < 1 < score.high


def test_intervals():
    """Wilson's and Katz's intervals by hand: 20 of 100 and 40 of 100."""
    few, many = Share.of(np.arange(100) < 20), Share.of(np.arange(100) < 40)
    assert (few.low, few.high) == pytest.approx((0.1334, 0.2888), abs=1e-4)
    score = SideScore.of("left", few, many)
    assert (score.ratio, score.low, score.high) == pytest.approx((0.5, 0.3158, 0.7917), abs=1e-3)


def test_every_seat_for_itself():
    with pytest.raises(ValueError, match="in holdem every seat plays for itself"):
        evaluate_sides(Bids(0), game("holdem"), Bids(0))
