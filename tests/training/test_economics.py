"""Policies of games in phases beside the equilibrium."""

import pytest
from parlour import envs
from parlour.training.evaluation.games import compare, measures
from parlour.wrappers.policies.loading import make_policy

GAMES = sorted(
    game_id.removesuffix("-v0")
    for game_id in envs.GAMES
    if envs.find(game_id).__module__.startswith("parlour.envs.economics.")
)

SOLVED = {"ultimatum": {"max_rounds": 1}}
"""Options with an equilibrium, of a game that has none by default."""


def lines(game, bot, matches=1_000, seed=0):
    comparison = compare(make_policy(bot, game, seed=seed + 1), game, matches=matches, seed=seed)
    return {line.name: line for line in comparison.lines}


@pytest.mark.slow
@pytest.mark.parametrize("name", GAMES)
def test_the_equilibrium_is_itself_and_random_play_is_not(name):
    game = envs.game(name, **SOLVED.get(name, {}))
    assert "equilibrium" in game.bots and measures(name).compare is not None
    found, wild = lines(game, "equilibrium"), lines(game, "random", 300)
    unit = max(abs(game.payoffs.low), game.payoffs.high)
    for line in found.values():
        if line.name.startswith("error_") and line.learned is not None:
            assert line.learned <= (1 if name == "war_of_attrition" else 0)
            if name != "principal_agent":  # where every offer is one of the equilibrium
                assert wild[line.name].learned > 0.3
    assert found["gain"].learned <= 0.03 * unit
    assert found["welfare"].learned == pytest.approx(found["welfare"].theory, abs=0.02 * unit)


def test_collusion_earns_more_and_can_be_gained_from():
    found = lines(envs.game("cournot", quantities=151), "collusive")
    assert found["utility_0"].learned == pytest.approx(800)
    assert found["utility_0"].theory == pytest.approx(80**2 / 9, abs=0.1)
    assert found["gain"].learned == pytest.approx(96)  # by 28; the best answer to 20 is 30, which gains 100
    assert found["efficiency"].theory == pytest.approx(89, abs=0.5)
    assert found["gini"].learned == 0


@pytest.mark.parametrize("name", ["dutch_auction", "english_auction"])
def test_revenue_and_efficiency_of_an_auction_are_those_of_the_theory(name):
    fine = {"dutch_auction": {"decrement": 1.0, "max_rounds": 100}, "english_auction": {"max_rounds": 100}}[name]
    found = lines(envs.game(name, **fine), "equilibrium", 4_000)
    assert found["revenue"].learned == found["revenue"].theory == pytest.approx(100 / 3, abs=1.5)  # of two bidders
    assert 98 < found["efficiency"].learned <= 100
    wild = lines(envs.game(name, **fine), "random", 300)
    assert wild["efficiency"].learned < 95 and wild["efficiency"].theory == pytest.approx(100, abs=2)
