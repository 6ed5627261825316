"""Flat trees, exact values and best responses, CFR+ and its kin, `parlour solve` and the policy that it writes."""

from dataclasses import replace
from functools import cache

import numpy as np
import pytest
import three_cards
from command_line import facts, printed
from parlour import envs
from parlour.envs import Encoder, Layout
from parlour.envs.core import chance
from parlour.envs.small.kuhn import equilibrium_chances
from parlour.training import cli
from parlour.training.evaluation.exact import flat_tree, nash_conv, values
from parlour.training.solving.tabular import METHODS, TabularSolver, solve
from parlour.wrappers.policies.base import TabularPolicy
from parlour.wrappers.policies.loading import load_policy, make_policy


@cache
def kuhn():
    return flat_tree(envs.game("kuhn"))


@pytest.mark.parametrize(
    ("name", "options", "nodes", "sets"),
    [
        ("kuhn", {}, 58, 12),
        ("leduc", {}, 1_939, 288),
        ("liars_dice", {"faces": 3}, 1_147, 192),
        ("three_cards", {}, 58, 12),
    ],
)
def test_a_tree_has_its_nodes_and_information_sets_and_the_value_of_random_play(name, options, nodes, sets):
    game = envs.game(name, **options)
    tree = flat_tree(game)
    assert (tree.nodes, len(tree.seat)) == (nodes, sets)
    assert values(tree, tree.uniform()) == pytest.approx(chance.expected_returns(game), abs=1e-9)


def kuhn_strategy(bluff):
    """One of Kuhn's equilibria, written into the tree by what is observed."""
    bets, layout = equilibrium_chances(bluff), envs.game("kuhn").layout
    card, moves = layout["game_state.my_card"].start, layout["game_state.action_history"].start
    strategy = kuhn().uniform()
    for i, seen in enumerate(kuhn().observations):
        told = "".join("pb"[int(two[1])] for two in seen[moves : moves + 6].reshape(3, 2) if two.any())
        bet = bets[told][int(seen[card : card + 3].argmax())]
        strategy[kuhn().first[i] : kuhn().first[i + 1]] = 1 - min(bet, 1), min(bet, 1)
    return strategy


@pytest.mark.parametrize("bluff", [0, 0.1, 1 / 3])
def test_kuhns_equilibria_are_worth_minus_one_eighteenth_and_cannot_be_exploited(bluff):
    strategy = kuhn_strategy(bluff)
    assert values(kuhn(), strategy) == pytest.approx([-1 / 18, 1 / 18], abs=1e-12)
    assert nash_conv(kuhn(), strategy) == pytest.approx(0, abs=1e-12)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize(
    ("name", "options", "value"), [("kuhn", {}, -1 / 18), ("leduc", {}, -0.0856), ("liars_dice", {"faces": 3}, 1 / 9)]
)
def test_every_method_finds_the_value(method, name, options, value):
    tree = flat_tree(envs.game(name, **options))
    found = solve(tree, method, target=1e-4)
    assert found.nash_conv < 1e-4
    assert nash_conv(tree, found.strategy) == pytest.approx(found.nash_conv)
    assert found.values == pytest.approx([value, -value], abs=1e-4)


def test_probabilities_of_illegal_actions_do_not_count():
    tree = flat_tree(envs.game("leduc"))

    class Told:
        def __init__(self, chance):
            self.chance = chance

        def probabilities(self, observations, masks):
            return np.full(masks.shape, self.chance)

    assert np.allclose(tree.strategy_of(Told(0.2)), tree.uniform())
    for each in (0.0, -1.0, np.nan, np.inf):
        with pytest.raises(ValueError, match="no probabilities of the legal actions"):
            tree.strategy_of(Told(each))


def test_what_cannot_be_a_tree_is_refused():
    with pytest.raises(ValueError, match="auction-v0 with these options does not list all that chance may deal"):
        flat_tree(envs.game("auction"))
    with pytest.raises(ValueError, match=r"the tree of leduc-v0 has more than 1,000 nodes"):
        flat_tree(envs.game("leduc"), most=1_000)
    game = three_cards.game()

    def forgets(table, seat, at, out):
        three_cards.observe(table, seat, at, out)
        out[at.moves : at.moves + 6] = 0

    blind = replace(game, encoders={"v0": Encoder(Layout(three_cards.V0), forgets)})
    with pytest.raises(ValueError, match="a seat of three_cards-v0 would forget what it knew or did"):
        flat_tree(blind)


def test_what_is_not_solved_is_refused():
    with pytest.raises(ValueError, match="no method is called 'cfr'"):
        TabularSolver(kuhn(), "cfr")
    with pytest.raises(ValueError, match="target=0"):
        solve(kuhn(), target=0)


SMALL = {"max_rounds": 1}
CENTS = {**SMALL, "valuations": (0, 0.04)}


@pytest.mark.parametrize(
    ("name", "options", "most_off"),
    [
        ("bilateral_trade", {**SMALL, "reservations": (0, 0.04), "highest": 0.04, "prices": 5}, 1e-9),
        ("centipede", {}, 1e-9),
        ("common_agency", {"low_wages": 2, "high_wages": 6}, 1e-9),
        ("cournot", {**SMALL, "a": 1, "costs": (0.1, 0.2), "quantities": 21}, 1e-9),
        ("dictator", {"pie": 0.04, "splits": 5}, 1e-9),
        ("dutch_auction", {"valuations": (0, 0.06), "start_price": 0.06, "decrement": 0.01}, 2e-3),
        ("english_auction", {**CENTS, "highest": 0.04, "min_increment": 0.01, "bids": 5}, 2e-3),
        ("insurance_moral_hazard", {**SMALL, "premiums": 6, "transfers": 3}, 1e-9),
        ("principal_agent", {"scores": 5}, 1e-9),
        ("provision_point", {**CENTS, "threshold": 0.04, "amounts": 5}, 1e-9),
        ("public_project", {"cost": 0.04, "valuations": (0, 0.04), "reports": 5}, 1e-9),
        ("sequential_investment", {"amounts": 5}, 1e-9),
        ("trust", {}, 1e-9),
        ("ultimatum", {**SMALL, "total": 0.1, "reservations": (0, 0.05), "offers": 11}, 2e-3),
        ("voluntary_contribution", {**SMALL, "seats": 3, "amounts": 4}, 1e-9),
        ("war_of_attrition", {**SMALL, "times": 6, "max_time": 10}, np.inf),
    ],
)
def test_small_games_in_phases_are_solved_and_their_closed_forms_are_equilibria(name, options, most_off):
    """The closed forms of some games are for continuous prices, and near an equilibrium on a grid; one is mixed."""
    game = envs.game(name, **options)
    tree = flat_tree(game)
    found = solve(tree, target=1e-5)
    assert found.nash_conv < 1e-5
    bot = game.bots["equilibrium"](game)
    table = np.zeros(tree.masks.shape)
    table[np.arange(len(table)), bot.act(tree.observations, tree.masks)] = 1
    off = nash_conv(tree, tree.strategy_of(TabularPolicy(tree.observations, table)))
    assert off < most_off


@pytest.mark.parametrize(
    ("name", "options", "values_"),
    [
        ("centipede", {}, [4, 1]),  # whoever pushes leaves the larger pile to the other
        ("voluntary_contribution", {**SMALL, "amounts": 4}, [10, 10]),  # a unit that is given returns 0.6 of it
        ("common_agency", {"low_wages": 2, "high_wages": 6}, [7, 4.2, 1.8]),  # the last principal pays for the effort
        ("cournot", {**SMALL, "quantities": 13}, [750, 750]),  # 25 each; without a grid 26 ⅔
        ("dictator", {"pie": 0.04, "splits": 5}, [0.02, -0.02]),  # all, less the mean reservation values
    ],
)
def test_the_solution_has_the_value_of_the_closed_form(name, options, values_):
    assert solve(flat_tree(envs.game(name, **options))).values == pytest.approx(values_, abs=1e-4)


def test_a_tree_of_private_values_that_is_too_large_is_refused_before_it_is_made():
    with pytest.raises(ValueError, match=r"more than 5,000,000 nodes: 100,020,001 at one depth"):
        flat_tree(envs.game("bilateral_trade"))
    with pytest.raises(ValueError, match="would forget what it knew or did"):
        flat_tree(envs.game("hold_up", investments=2, splits=3, max_rounds=2))


# The policy.


def test_a_tabular_policy_plays_its_table_and_any_legal_action_where_it_has_none(tmp_path):
    observations = np.array([[1, 0], [0, 1]], np.float32)
    policy = TabularPolicy(observations, np.array([[0.25, 0.75, 0], [0, 0, 1]], np.float32), seed=1)
    seen = np.array([[1, 0], [0, 1], [1, 1], [0, 1]], np.float32)
    masks = np.array([[1, 1, 0], [1, 1, 1], [1, 0, 1], [1, 1, 0]], np.int8)
    chances = policy.probabilities(seen, masks)
    assert chances.tolist() == [[0.25, 0.75, 0], [0, 0, 1], [0.5, 0, 0.5], [0.5, 0.5, 0]]
    policy.save(tmp_path / "p.npz")
    again = load_policy(tmp_path / "p.npz")
    assert isinstance(again, TabularPolicy)
    assert np.array_equal(again.probabilities(seen, masks), chances)
    (tmp_path / "bad.npz").write_bytes(b"no")
    with pytest.raises(ValueError, match="is not a saved"):
        load_policy(tmp_path / "bad.npz")


def test_solve_writes_a_policy_that_plays(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    told = facts(capsys, "solve leduc --target 0.001")
    assert told["nash_conv"] < 0.001
    assert told["value"] == pytest.approx(-0.0856, abs=1e-3)
    assert (told["information_sets"], told["policy"]) == (288, "leduc.npz")
    game = envs.game("leduc")
    tree = flat_tree(game)
    assert nash_conv(tree, tree.strategy_of(make_policy("leduc.npz", game))) < 0.001 + 1e-5
    assert cli.main(["evaluate", "leduc.npz", "--against", "call", "--deals", "500", "--json"]) == 0
    assert cli.main(["play", "leduc", "--agents", "leduc.npz", "tight", "--delay", "0"]) == 0
    with pytest.raises(ValueError, match="plays leduc-v0, not kuhn-v0"):
        make_policy("leduc.npz", envs.game("kuhn"))

    assert "-0.0555" in printed(capsys, "solve kuhn")
