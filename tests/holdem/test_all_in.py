"""All-in pots at equity: exact on flop and turn, unbiased before the flop, and nothing else is changed."""

from itertools import combinations

import numpy as np
import pytest
from parlour.envs import game
from parlour.envs.core.rollout import play_until_done, tables_with_seed
from parlour.envs.holdem.luck import AllInEquity, board_luck, expected_chips, pot_after, without_luck
from parlour.envs.holdem.start import set_cards
from parlour.wrappers.rl.tables import SelfPlayTables


def played(holdem, actions, cards, board, seed=5):
    """A table after `actions`, with these cards dealt."""
    tables = tables_with_seed(holdem, 1, seed)
    holdem.rules.reset(tables[0])
    set_cards(tables[0], {"cards": [pair.split() for pair in cards], "board": board.split()})
    for action in actions:
        holdem.rules.play(tables[0], action % holdem.num_actions)
    return tables


def enumerated(holdem, tables, action):
    """The mean result over all boards, by the rules, in Python."""
    count, seats = int(tables[0].board_count), holdem.seats
    left, results = [int(card) for card in tables[0].deck[2 * seats + count :]], []
    for cards in combinations(left, 5 - count):
        copy = tables.copy()
        copy[0].board[count:] = cards
        holdem.rules.play(copy[0], action)
        assert copy[0].done
        results.append(np.array(copy[0].rewards[:seats]))
    return np.mean(results, axis=0)


@pytest.fixture(scope="module")
def heads_up():
    return game("holdem", seats=2, stacks=40, button=0)


CARDS, BOARD = ["As Kd", "Qh Qc"], "Qs Ts 2d 3c 9h"
ALL_IN, CALL, FOLD = -1, 1, 0


def at(holdem, streets, cards=CARDS, board=BOARD):
    """A table where a seat has gone all-in after `streets` streets without a bet; the next action calls."""
    return played(holdem, [*[1] * (2 * streets), ALL_IN], cards, board)


@pytest.mark.parametrize("streets", [1, 2])
def test_flop_and_turn_are_paid_exactly(heads_up, streets):
    tables = at(heads_up, streets)
    before = tables.copy()
    rewards = np.zeros((1, 2), np.float32)
    AllInEquity(heads_up.seats, 990, 0)(tables, np.array([CALL]), rewards)
    np.testing.assert_allclose(rewards[0], enumerated(heads_up, tables, CALL), atol=1e-4)
    assert tables.tobytes() == before.tobytes() and abs(rewards[0, 0]) < 40


def test_side_pots_and_folded_cards_count():
    three = game("holdem", seats=3, stacks=[10, 40, 40], button=0)
    cards = ["7s 7d", "Ah Ac", "Kh Kc"]
    tables = played(three, [1, 1, 1, 1, ALL_IN, 1], cards, "2s 9d Jc 4h 5h")  # the button may still call
    for action in (CALL, FOLD):
        rewards = np.zeros((1, 3), np.float32)
        AllInEquity(three.seats, 2_000, 0)(tables, np.array([action]), rewards)
        np.testing.assert_allclose(rewards[0], enumerated(three, tables, action), atol=1e-4)


def test_sampled_boards_are_unbiased(heads_up):
    """Before the flop, by 40 boards at a time: their mean is that of many boards, within five standard errors."""
    tables = at(heads_up, 0)
    precise = np.zeros((1, 2), np.float32)
    AllInEquity(heads_up.seats, 400_000, 8)(tables, np.array([CALL]), precise)
    exact = precise[0, 0]
    many = np.repeat(tables, 4_000).view(np.recarray)
    rewards = np.zeros((4_000, 2), np.float32)
    AllInEquity(heads_up.seats, 40, 3)(many, np.full(4_000, CALL), rewards)
    error = rewards[:, 0].std() / np.sqrt(4_000)
    assert 0 < error < 0.3 and abs(rewards[:, 0].mean() - exact) < 5 * error
    np.testing.assert_allclose(rewards.sum(axis=1), 0, atol=1e-4)


def test_tables_pay_equity_and_the_game_goes_on_the_same(heads_up):
    plain = SelfPlayTables(heads_up, 32)
    paid = SelfPlayTables(heads_up, 32, expected_rewards=AllInEquity(heads_up.seats, 50, 0))
    for tables in (plain, paid):
        tables.reset(seed=3)
    changed = 0
    for _ in range(100):
        actions = plain.tables.sample()
        for tables in (plain, paid):
            tables.step(actions)
        np.testing.assert_array_equal(plain.tables.observations, paid.tables.observations)
        changed += int((plain.tables.rewards != paid.tables.rewards).any(axis=1).sum())
    assert changed > 50


def test_side_pots_are_paid_in_every_run_out():
    """The short stack's aces can win the main pot alone; the side pot is between the others."""
    made = game("holdem", seats=3, stacks=[20, 100, 100], button=0)
    tables = played(made, [ALL_IN, ALL_IN, 1], ["As Ah", "Kd Kc", "2c 7d"], "9h Js 3s 4d 8c")
    mean = expected_chips(tables)[0, :3]
    assert mean.sum() == pytest.approx(0)
    assert 0 < mean[0] < 40 and mean[1] > 30 and mean[2] < -60
    assert without_luck(made.options, tables, tables.rewards).shape == (1, 3)


def test_with_two_seats_the_luck_of_an_all_in_is_what_its_equity_leaves():
    made, rest = game("holdem", seats=2, button=0), (["As Ah", "Kd Kc"], "2c 7d 9h Js 3s")
    for actions in ([1, 1, ALL_IN, 1], [1, 1, 1, 1, ALL_IN, 1]):
        tables, checked = played(made, actions, *rest), played(made, actions[:-2] + [1] * 8, *rest)
        assert [pot_after(checked[0], street) for street in range(3)] == [4, 4, 4]  # the blinds, on every street
        equity = expected_chips(tables)[0, 0]
        assert tables.rewards[0, 0] - board_luck(tables)[0] == pytest.approx(equity, abs=4)


def test_the_luck_of_the_board_has_mean_0_and_without_it_intervals_shrink_more():
    made = game("holdem", seats=2)
    bots, tables = [made.bots[name](made, 1) for name in ("tight", "maniac")], tables_with_seed(made, 4_000, 3)
    seats = np.tile([[0, 1], [1, 0]], (2_000, 1))
    raw, luck = play_until_done(made, bots, tables, who=lambda _: seats)[:, 0], board_luck(tables)
    assert abs(luck.mean()) < 4 * luck.std() / len(luck) ** 0.5 and luck.std() > 10
    assert np.std(raw - luck) < np.std(expected_chips(tables)[:, 0]) < np.std(raw)


def test_a_given_board_is_no_luck():
    made = game("holdem", seats=2, start="river", board="2c7d9hJs3s")
    tables = tables_with_seed(made, 50, 1)
    returns = play_until_done(made, [made.bots["maniac"](made, 1)], tables)
    assert np.array_equal(without_luck(made.options, tables, returns), returns)
