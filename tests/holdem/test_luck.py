"""All-in equity in place of the cards that came."""

import numpy as np
import pytest
from parlour.envs import game
from parlour.envs.core.rollout import play_until_done, tables_with_seed
from parlour.envs.holdem.hands import strength
from parlour.envs.holdem.luck import board_luck, expected_chips, pot_after, without_luck
from parlour.envs.holdem.start import set_cards
from parlour.training.evaluation.duplicate import evaluate

ALL_IN = -1


def played(cards, board, actions, **options):
    """A hand with these cards and action indices, to its end."""
    made = game("holdem", seats=len(cards), button=0, **options)
    tables = made.tables(1)
    made.rules.reset(tables[0])
    set_cards(tables[0], {"cards": cards, "board": board})
    for action in actions:
        made.rules.play(tables[0], action % made.num_actions)
    assert tables[0].done
    return made, tables


def test_an_all_in_on_the_turn_counts_every_river():
    hands, board = [["As", "Ah"], ["Kd", "Kc"]], ["2c", "7d", "9h", "Js", "3s"]
    _, tables = played(hands, board, [1, 1, 1, 1, ALL_IN, 1])
    free = [card for card in range(52) if card not in tables[0].cards[:2] and card not in tables[0].board[:4]]
    won = 0.0
    for river in free:
        ranks = [strength(np.array([*cards, *tables[0].board[:4], river], np.int8), 7) for cards in tables[0].cards[:2]]
        won += 200 * (np.sign(ranks[0] - ranks[1])) / len(free)
    assert len(free) == 44
    assert expected_chips(tables)[0, :2] == pytest.approx([won, -won])
    assert tables[0].rewards[0] == 200


def test_side_pots_are_paid_in_every_run_out():
    """The short stack's aces can win the main pot alone; the side pot is between the others."""
    hands = [["As", "Ah"], ["Kd", "Kc"], ["2c", "7d"]]
    made, tables = played(hands, ["9h", "Js", "3s", "4d", "8c"], [ALL_IN, ALL_IN, 1], stacks=[20, 100, 100])
    mean = expected_chips(tables)[0, :3]
    assert mean.sum() == pytest.approx(0)
    assert 0 < mean[0] < 40
    assert mean[1] > 30 and mean[2] < -60
    assert without_luck(made.options, tables, tables.rewards).shape == (1, 3)


def test_the_mean_stays_and_the_interval_shrinks():
    heads_up = game("holdem", seats=2)

    def score(adjusted):
        bots = {name: make(heads_up, 1) for name, make in heads_up.bots.items()}
        return evaluate(bots["maniac"], heads_up, [bots["call"]], deals=1_500, seed=4, adjusted=adjusted)

    raw, adjusted = score(False), score(True)
    assert adjusted.low < raw.high and raw.low < adjusted.high
    assert adjusted.high - adjusted.low < 0.9 * (raw.high - raw.low)


def test_with_two_seats_the_luck_of_an_all_in_is_what_its_equity_leaves():
    for actions in ([1, 1, ALL_IN, 1], [1, 1, 1, 1, ALL_IN, 1]):
        _, tables = played([["As", "Ah"], ["Kd", "Kc"]], ["2c", "7d", "9h", "Js", "3s"], actions)
        later = board_luck(tables)[0]
        checked = played([["As", "Ah"], ["Kd", "Kc"]], ["2c", "7d", "9h", "Js", "3s"], actions[:-2] + [1] * 8)[1]
        before = sum(pot_after(checked[0], street) for street in range(3)) / 3  # the blinds, on every street
        assert before == 4
        assert tables.rewards[0, 0] - later == pytest.approx(expected_chips(tables)[0, 0], abs=4)


def test_the_luck_of_the_board_has_mean_0_and_without_it_intervals_shrink_more():
    heads_up = game("holdem", seats=2)
    bots = [heads_up.bots[name](heads_up, 1) for name in ("tight", "maniac")]
    tables = tables_with_seed(heads_up, 4_000, 3)
    seats = np.tile([[0, 1], [1, 0]], (2_000, 1))
    raw = play_until_done(heads_up, bots, tables, who=lambda _: seats)[:, 0]
    luck = board_luck(tables)
    assert abs(luck.mean()) < 4 * luck.std() / len(luck) ** 0.5
    assert luck.std() > 10
    assert np.std(raw - luck) < np.std(expected_chips(tables)[:, 0]) < np.std(raw)


@pytest.mark.slow
def test_a_given_board_is_no_luck():
    made = game("holdem", seats=2, start="river", board="2c7d9hJs3s")
    tables = tables_with_seed(made, 50, 1)
    returns = play_until_done(made, [made.bots["maniac"](made, 1)], tables)
    assert np.array_equal(without_luck(made.options, tables, returns), returns)
