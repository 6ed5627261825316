"""Hands that begin on a later street, with a given board and given ranges."""

import json
from collections import Counter

import numpy as np
import pytest
from command_line import facts
from parlour import envs
from parlour.envs.core import chance
from parlour.envs.core.rng import streams
from parlour.envs.holdem.hands import card_name
from parlour.envs.holdem.ranges import HOLDINGS, weights_of
from parlour.training.evaluation.exact import flat_tree, values
from parlour.wrappers.policies.loading import make_policy

BOARD = "2c7dKhTs3s"
RIVER = {"seats": 2, "button": 0, "start": "river", "board": BOARD, "stacks": 20, "ante": 8, "pot_fractions": []}


def dealt(game, count, seed=1):
    tables = game.tables(count)
    tables.stream = streams(seed, count)
    batch = game.batch(count)
    game.loops().reset(tables.view(np.ndarray), batch, False)
    return tables


@pytest.mark.parametrize(("street", "cards"), [("preflop", 0), ("flop", 3), ("turn", 4), ("river", 5)])
def test_the_first_decision_is_on_the_street_and_all_have_called(street, cards):
    game = envs.game("holdem", seats=3, start=street, board="2c7d", ante=1)
    table = dealt(game, 1)[0]
    state = game.turn_state(table, int(table.turn))
    assert (state.phase, len(state.game_state["board"])) == (street, cards)
    assert state.game_state["board"][:2] == ["2c", "7d"][:cards]
    assert state.game_state["history"] == []
    assert state.game_state["pot"] == (6 if street == "preflop" else 9)
    first = table.dealer if street == "preflop" else (table.dealer + 1) % 3
    assert table.turn == first


@pytest.mark.slow
def test_hands_have_the_product_of_their_weights_where_they_share_no_card():
    game = envs.game("holdem", **RIVER, ranges=["AsAh:3,AsKs", "AsQs,JJ:0.5"])
    tables = dealt(game, 40_000)
    found = Counter(
        tuple("".join(sorted(map(card_name, hand))) for hand in cards.tolist()) for cards in tables.cards[:, :2]
    )
    likely = {pair.probability: pair.table for pair in chance.starts(game)}
    assert len(found) == len(chance.starts(game)) == 12  # each hand of the first seat beside the six pairs of jacks
    assert sum(pair.probability for pair in chance.starts(game)) == pytest.approx(1)
    assert sorted(likely) == pytest.approx([1 / 24, 3 / 24])
    for (mine, _), count in found.items():
        assert count / 40_000 == pytest.approx((3 if mine == "AhAs" else 1) / 24, abs=0.01)


def test_a_game_from_the_river_is_solved_and_its_value_is_that_of_its_tree(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    ranges = ["AA,KQs", "JJ,KK:0.5"]
    words = [
        f"{name}={json.dumps(value) if name != 'board' else value}"
        for name, value in {**RIVER, "ranges": ranges}.items()
    ]
    told = facts(capsys, "solve holdem --options", *words, "--method", "cfr+", "--target", "0.001")
    assert told["nash_conv"] < 0.001
    game = envs.game("holdem", **RIVER, ranges=ranges)
    policy = make_policy(told["policy"], game, seed=1)
    tree = flat_tree(game)
    assert values(tree, tree.strategy_of(policy))[0] == pytest.approx(told["value"], abs=1e-3)


def test_weights_and_text_are_the_same_range():
    weights = np.zeros(1326)
    for row, hand in enumerate(HOLDINGS.tolist()):
        if {card // 4 for card in hand} == {12}:
            weights[row] = 1.0
    assert np.array_equal(weights_of("AA"), weights)
    assert np.array_equal(weights_of(weights.tolist()), weights)
    assert weights_of("QJs+ 22:0.25;AsKs").sum() == 4 * 1 + 6 / 4 + 1
    assert weights_of("AA,AsAh:0")[weights_of("AsAh") > 0] == 0


@pytest.mark.slow
def test_turns_and_flops_are_enumerated_where_the_deals_are_few():
    few = ["AsAh,QsQh", "KdKs"]
    turn = envs.game("holdem", **{**RIVER, "start": "turn", "board": "2c7dKhTs", "raise_cap": 1}, ranges=few)
    tree = flat_tree(turn)
    assert values(tree, tree.uniform()).sum() == pytest.approx(0, abs=1e-9)
    for options in ({"ranges": None}, {"button": None}, {"board": "2c7d"}):
        assert envs.game("holdem", **{**RIVER, "ranges": few, **options}).capabilities.chance is None
