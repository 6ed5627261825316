"""What the observation says of situations that random play seldom reaches, and of cards by other means."""

from itertools import permutations

import numpy as np
import pytest
from dealing import deal, play
from hypothesis import given, settings
from hypothesis import strategies as st
from parlour.envs import game
from parlour.envs.holdem import encoders
from parlour.envs.holdem.hands import card_set, category, set_strength
from parlour.envs.holdem.ranges import HOLDINGS


def sees(table, seat, encoder="v0"):
    """Return a function from a slice's name to its values."""
    made = encoders.ENCODERS[encoder](table)
    out = made.observation(table, seat)
    assert made.layout.flat_space().contains(out)

    def slice_(path):
        part = made.layout[path]
        return out[part.start : part.stop].reshape(part.shape)

    return slice_


def test_of_a_long_street_the_latest_actions_are_seen():
    table = deal([2000, 2000])
    for _ in range(30):
        play(table, f"raise {int(table.raise_min)}")
    history = sees(table, 0)("game_state.history")
    slots = encoders.history_slots(2)
    assert history.shape == (4, slots, 2)
    assert history[0, -1, 1] == pytest.approx(np.sqrt(int(table.current_bet) / 200), rel=1e-6)
    assert (np.diff(history[0, :, 1]) > 0).all()


# Version 1: the suits in an order of their own, and what the cards are worth.

HEADS_UP = game("holdem", seats=2)
V1, FULL_V1 = HEADS_UP.encoders["v1"], HEADS_UP.encoders["full_v1"]
LINES = ("call check", "call check check check", "call check check check check check")
"""To the flop, to the turn, to the river."""


def at(line, dealt):
    """Return a table of two seats after `line`, with these nine cards: two for each seat, then the board."""
    table = deal([200, 200], button=0)
    table.cards[:2] = np.array(dealt[:4]).reshape(2, 2)
    table.board[:] = dealt[4:]
    return play(table, line)


nine_cards = st.lists(st.integers(0, 51), min_size=9, max_size=9, unique=True)


@given(nine_cards, st.sampled_from(LINES), st.sampled_from(list(permutations(range(4)))))
@settings(max_examples=40, deadline=None)
def test_hands_that_differ_in_the_names_of_the_suits_look_the_same(dealt, line, names):
    one, two = at(line, dealt), at(line, [card // 4 * 4 + names[card % 4] for card in dealt])
    for seat in range(2):
        assert np.array_equal(V1.observation(one, seat), V1.observation(two, seat))
        # Suits that look the same to the seat may still differ in cards that it does not see.
        share = FULL_V1.layout["hidden.players.share"]
        shares = [FULL_V1.observation(table, seat)[share.start : share.stop].tolist() for table in (one, two)]
        assert shares[0] == shares[1]


@given(nine_cards, st.sampled_from(LINES))
@settings(max_examples=40, deadline=None)
def test_the_shares_are_those_of_all_pairs_that_another_player_can_hold(dealt, line):
    table = at(line, dealt)
    mine, shown = card_set(table.cards[0], 2), int(table.board_set)
    ours = set_strength(mine | shown)
    pairs = [pair for pair in (card_set(each, 2) for each in HOLDINGS) if not pair & (mine | shown)]
    theirs = np.array([set_strength(pair | shown) for pair in pairs])
    seen = sees(table, 0, "v1")
    compared = [(theirs < ours).mean(), (theirs == ours).mean(), (theirs > ours).mean()]
    assert seen("strength.others") == pytest.approx(compared, abs=1e-6)
    categories = np.bincount([category(int(each)) for each in theirs], minlength=9) / len(theirs)
    assert seen("strength.categories") == pytest.approx(categories, abs=1e-6)
