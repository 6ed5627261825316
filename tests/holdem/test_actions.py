"""Action numbers, moves and payloads."""

import numpy as np
import pytest
from dealing import deal, play
from parlour.envs.holdem import rules, view
from parlour.envs.holdem.rules import Move
from parlour.envs.holdem.table import RAISE


def legal_moves(table):
    """The legal action indices and their moves."""
    mask = np.zeros(4 + int(table.num_fractions), np.int8)
    rules.legal(table, mask)
    return {int(number): rules.decode(table, number) for number in np.flatnonzero(mask)}


def test_the_action_indices_are_fold_call_least_raise_pot_fractions_and_all_in():
    table = play(deal([200, 200]), "raise 6")  # a pot of 8, 4 to call: 12 after the call
    amounts = {number: move.amount for number, move in legal_moves(table).items() if number >= 2}
    assert amounts == {2: 10, 4: 12, 5: 14, 6: 18, 7: 24, 8: 30, 9: 200}  # a third of the pot is the least raise


def test_half_a_chip_rounds_up():
    table = deal([200, 200], pot_fractions=[0.625])  # a pot of 4 after the call
    assert legal_moves(table)[3].amount == 2 + 3


def test_amounts_are_offered_once_all_in_first_and_then_the_least():
    table = deal([10, 10], pot_fractions=[0.5, 0.51, 1, 5])
    assert [move.amount for number, move in legal_moves(table).items() if number >= 2] == [4, 6, 10]
    table = deal([4, 10])
    assert {number: move.amount for number, move in legal_moves(table).items() if number >= 2} == {9: 4}


@pytest.mark.parametrize(("amount", "number"), [(4, 2), (5, 5), (7, 6), (50, 8), (60, 9), (100, 9)])
def test_the_nearest_number(amount, number):
    table = deal([100, 100])
    assert {n: move.amount for n, move in legal_moves(table).items() if n >= 2} == {
        2: 4,
        5: 5,
        6: 6,
        7: 8,
        8: 10,
        9: 100,
    }
    assert view.nearest(table, Move(RAISE, amount)) == number


def test_the_safe_action_checks_where_it_is_free_and_folds_else():
    assert view.safe(deal([100, 100])) == 0
    assert view.safe(play(deal([100, 100]), "call")) == 1
