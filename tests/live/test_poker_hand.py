"""The hand of a hosted table: how `seq` grows."""

from itertools import count

import pytest
from parlour import envs
from parlour.wrappers.live.poker.hand import LiveHand
from parlour.wrappers.live.poker.table_data import PokerSeat


def dealt(stacks):
    tokens = count()
    hand = LiveHand(envs.game("holdem", seats=len(stacks)), 1, lambda: f"token {next(tokens)}")
    hand.deal(
        {
            number: PokerSeat(f"agent {number}", None, chips, connected=True, missed=0)
            for number, chips in enumerate(stacks)
        }
    )
    return hand


def steps(hand, *moves):
    """Play moves; return by how much `seq` grew at each."""
    grown = []
    for kind, *amount in moves:
        before = hand.seq
        hand.play(hand.move(kind, {"amount": amount[0]} if amount else {}))
        grown.append(hand.seq - before)
    return grown


def test_seq_is_0_before_the_first_hand_and_grows_by_1_with_its_start():
    assert LiveHand(envs.game("holdem", seats=2), 1, str).seq == 0
    assert dealt([100, 100]).seq == 1


def test_seq_grows_by_1_with_an_action_and_by_1_more_where_a_street_opens():
    hand = dealt([100, 100])
    assert steps(hand, ("raiseTo", 6), ("raiseTo", 20), ("call",)) == [1, 1, 2]
    assert steps(hand, ("check",), ("check",)) == [1, 2]


def test_seq_grows_by_1_more_where_the_hand_ends():
    assert steps(dealt([100, 100]), ("fold",)) == [2]
    assert steps(dealt([100, 100]), ("raiseTo", 100), ("call",)) == [1, 2]


@pytest.mark.parametrize(("stacks", "seq"), [([1, 100], 2), ([1, 1], 2), ([2, 100], 1)])
def test_seq_begins_with_2_where_the_blinds_put_everybody_all_in(stacks, seq):
    assert dealt(stacks).seq == seq
