"""The rules of no-limit hold'em by named situation."""

import json

import numpy as np
import pytest
from dealing import bounds, deal, play, won
from parlour.envs.core.rng import streams
from parlour.envs.holdem import game, rules

ACES, KINGS, QUEENS, JACKS = "As Ad", "Ks Kd", "Qs Qd", "Js Jd"
DRY = "Th 8h 6c 4s 3c"


# The order of play.


def test_an_episode_has_as_many_players_as_were_drawn():
    table, seated = game(seats=5, fewest=3).tables(1)[0], np.zeros((3_000, 5), int)
    table.stream = streams(1, 1)[0]
    for row in seated:
        rules.reset(table)
        row[:] = table.seated[:5]
    assert np.bincount(seated.sum(1), minlength=6) / 1_000 == pytest.approx([0, 0, 0, 1, 1, 1], abs=0.1)
    assert seated.mean(0) == pytest.approx(np.full(5, 0.8), abs=0.05)  # whose seats are empty is drawn too


def test_empty_seats_are_skipped():
    table = deal([100, 0, 100, 0, 100], button=1)
    assert (table.dealer, table.bet[4], table.bet[0], table.turn) == (2, 1, 2, 2)
    assert table.cards[1].tolist() == [-1, -1]


# Blinds and antes.


def test_a_short_ante_plays_for_the_antes_only():
    table = deal([100, 100, 3], ante=5, cards=[KINGS, QUEENS, ACES], board=DRY)
    assert (table.committed[2], table.bet[2], table.to_call) == (3, 0, 2)
    play(table, "call call" + " check" * 6)
    assert won(table) == [1, -7, 6]


def test_a_short_big_blind_leaves_the_full_blind_to_call():
    table = deal([100, 100, 100, 1], button=1, big_blind=4, small_blind=2)
    assert (table.bet[3], table.turn, table.to_call, bounds(table)) == (1, 0, 4, (8, 100))
    play(table, "call call")
    assert (table.turn, table.to_call) == (2, 2)


def test_heads_up_against_a_big_blind_all_in_for_no_more_than_the_small_one_there_is_nothing_to_decide():
    table = deal([100, 100])
    table.stack[:2] = 100, 1
    rules.deal(table)
    assert (table.done, table.board_count, table.committed.tolist()[:2]) == (True, 5, [1, 1])


def test_a_short_small_blind_is_all_in():
    table = deal([100, 1, 100], small_blind=2, big_blind=4, cards=[KINGS, ACES, QUEENS], board=DRY)
    assert (table.stack[1], table.bet[1]) == (0, 1)
    play(table, "call check" + " check" * 6)
    assert won(table) == [2, 2, -4]


# The size of raises.


def test_a_short_all_in_does_not_reopen_the_betting():
    table = play(deal([200, 22, 200, 200]), "raise 14 call raise 22")  # by 8, less than the 12 before
    assert (table.turn, table.to_call, bounds(table)) == (2, 20, (34, 200))  # the big blind has not acted
    play(table, "call")
    assert (table.turn, table.to_call, bounds(table)) == (3, 8, (0, 0))
    play(table, "call")
    assert (table.turn, table.to_call, bounds(table)) == (0, 8, (0, 0))


@pytest.mark.parametrize(("all_in", "opened"), [(25, (0, 0)), (26, (38, 200)), (27, (39, 200))])
def test_short_all_ins_that_add_up_to_exactly_a_full_raise_reopen(all_in, opened):
    """After a raise by 12, all-ins by 8 and by 3, 4 or 5."""
    table = play(deal([200, 22, all_in, 200]), f"raise 14 call raise 22 raise {all_in}")
    assert (table.turn, table.to_call, bounds(table)) == (3, all_in - 14, opened)


def test_a_short_all_in_bet_does_not_reopen_the_betting():
    table = play(deal([100, 100, 14], small_blind=5, big_blind=10), "call call check check raise 4")
    assert (table.turn, table.to_call, bounds(table)) == (0, 4, (14, 90))
    play(table, "call")
    assert (table.turn, table.to_call, bounds(table)) == (1, 4, (0, 0))


def test_folding_is_legal_where_checking_is_free():
    assert won(play(deal([100] * 2), "call fold")) == [2, -2]


def test_nothing_is_open_once_the_game_is_over():
    table = play(deal([100, 100]), "raise 40 fold")
    assert (bool(table.done), table.turn, table.to_call, bounds(table)) == (True, -1, 0, (0, 0))


@pytest.mark.parametrize(("cap", "raises"), [(0, 0), (1, 1), (3, 3), (None, 5)])
def test_the_raise_cap(cap, raises):
    table = deal([500] * 2, raise_cap=cap)
    for _ in range(raises):
        play(table, f"raise {bounds(table)[0]}")
    assert bool(bounds(table)[1]) == (cap is None)
    play(table, "call check" if raises == 0 else "call")
    assert bool(bounds(table)[1]) == (cap != 0)


# The end of a hand.


# Many hands.


def test_the_button_moves_and_stacks_carry_over():
    table = deal([100] * 3, hands=3)
    play(table, "fold fold")
    assert (table.hand, table.dealer, table.done) == (2, 1, False)
    assert table.stack.tolist()[:3] == [98, 99, 100]
    assert table.rewards.tolist()[:3] == [0, -1, 1]
    play(table, "fold fold")
    assert table.dealer == 2
    play(table, "fold fold")
    assert won(table) == [0, 0, 0]


def test_busted_seats_are_skipped_by_the_button_and_the_deal():
    table = deal([100, 20, 100], cards=[ACES, KINGS, QUEENS], board=DRY, hands=4)
    play(table, "raise 20 call fold")
    assert table.stack[1] == 0
    assert (table.hand, table.dealer, table.seated.tolist()[:3]) == (2, 2, [True, False, True])
    assert (table.bet[2], table.bet[0], table.turn) == (1, 2, 2)  # heads-up now
    play(table, "fold")
    assert table.dealer == 0


def test_a_dead_button_leaves_button_and_small_blind_at_empty_seats():
    table = deal([100, 100, 2, 100], cards=[QUEENS, ACES, KINGS, JACKS], board=DRY, hands=9)
    table.dead_button = True
    play(table, "fold fold call")  # the big blind is all-in, and loses
    assert (table.hand, table.dealer, table.stack[2]) == (2, 1, 0)
    assert (table.small_seat, table.bet.tolist()[:4], table.turn) == (2, [0, 0, 0, 2], 0)
    play(table, "fold fold")
    assert (table.dealer, table.bet.tolist()[:4], table.turn) == (2, [2, 0, 0, 1], 1)
    play(table, "fold fold")
    assert (table.dealer, table.bet.tolist()[:4], table.turn) == (3, [1, 2, 0, 0], 3)


@pytest.mark.parametrize("seed", range(3))
def test_with_a_dead_button_the_big_blind_goes_round(seed):
    generator = np.random.default_rng(seed)
    seats = int(generator.integers(3, 8))
    table = deal(generator.integers(4, 60, seats).tolist(), seed=seed, hands=40)
    table.dead_button = True
    hand, big, small = 1, int(rules._big_blind_seat(table)), int(table.small_seat)
    while not table.done:
        rules.step(table, rules.decode(table, int(generator.choice([0, 1, 1, 2, 8]) if table.raise_max else 1)))
        if table.hand == hand + 1:
            due = next(seat % seats for seat in range(big + 1, big + seats + 1) if table.seated[seat % seats])
            players = int(table.seated.sum())
            assert rules._big_blind_seat(table) == due
            assert table.dealer == (table.small_seat if players == 2 else small)
            assert players == 2 or table.small_seat == big
        if table.hand > hand:
            hand, big, small = int(table.hand), int(rules._big_blind_seat(table)), int(table.small_seat)


def test_the_rule_of_the_button_is_an_option():
    rule = {button: bool(game(button=button).tables(1)[0].dead_button) for button in (None, 0, "moving", "dead")}
    assert rule == {None: False, 0: False, "moving": False, "dead": True}


def test_the_episode_ends_when_one_player_has_all_chips():
    table = play(deal([50, 50], cards=[ACES, KINGS], board=DRY, hands=10), "raise 50 call")
    assert (table.done, table.hand) == (True, 1)
    assert won(table) == [50, -50]


def test_a_step_that_ends_two_hands_brings_the_rewards_of_both():
    """Seat 0 has one chip left and is all-in as the big blind of hand 2: nobody has anything to decide."""
    table = deal([3, 100], cards=[KINGS, ACES], board=DRY, hands=2)
    play(table, "call check" + " check" * 6)
    assert (table.hand, table.done) == (2, True)
    second = table.won[0] - table.committed[0]
    assert won(table) == table.rewards.tolist()[:2] == [second - 2, 2 - second]


def test_options_are_plain_numbers():
    """They are written to logs and configs."""
    made = game(seats=np.int64(3), stacks=np.array([50, 60, 70]), ante=np.int32(1), pot_fractions=0.5)
    assert json.loads(json.dumps(made.options))["stacks"] == [50, 60, 70]
    assert game(stacks=np.int64(50)).options["stacks"] == 50
