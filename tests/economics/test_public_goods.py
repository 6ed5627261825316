"""Public goods: a project by reports, voluntary contributions, and a provision point."""

import pytest
from economics.matches import played, tables_after, utilities
from parlour import envs
from parlour.envs.core.rollout import tables_with_seed


def report(value):
    return "report_value", {"report": value}


def give(amount):
    return "contribute", {"amount": amount}


def commit(amount):
    return "submit_commitment", {"amount": amount}


VALUES = {"valuations": [(70, 70), (40, 40)]}


def test_a_project_is_built_if_the_reports_cover_its_cost():
    env = played("public_project", report(70), report(30), **VALUES)
    assert utilities(env) == [20, -10]
    outcome = env.turn_state("player_1").outcome
    assert (outcome["reason"], outcome["total_reported"], outcome["built"]) == ("public_project_built", 100, True)
    env = played("public_project", report(70), report(29.5), **VALUES)
    assert utilities(env) == [0, 0] and env.turn_state("player_0").game_state["built"] is False


def test_reports_are_seen_and_a_pass_is_a_report_of_nothing():
    env = played("public_project", report(70), **VALUES)
    assert env.turn_state("player_1").game_state["reports"] == {"player_0": 70}
    env = played("public_project", "pass", **VALUES)
    assert (env.table.turn, env.turn_state("player_1").game_state["reports"]) == (1, {})
    assert utilities(played("public_project", "pass", report(100), **VALUES)) == [20, -10]


@pytest.mark.parametrize("other", [0, 30, 60, 100])
@pytest.mark.parametrize("value", [20, 49, 51, 90])
def test_no_report_beats_the_dominant_one(value, other):
    game = envs.game("public_project", valuations=[(value, value), (0, 0)])
    bot = game.bots["equilibrium"](game)
    tables = tables_with_seed(game, 1, 1)
    game.rules.reset(tables[0])
    best = int(bot.act(game.observation(tables[0], 0)[None], game.mask(tables[0], 0)[None])[0])

    def gain(index):
        return utilities(played("public_project", report(index), report(other), valuations=[(value, value), (0, 0)]))[0]

    assert gain(best) == max(map(gain, range(0, 101, 10)))


def test_contributions_return_to_all():
    env = played("voluntary_contribution", give(10), give(2.5), give(0), seats=3)
    assert utilities(env) == [7.5, 15, 17.5]
    assert env.turn_state("player_0").outcome["total_contributions"] == 12.5
    assert utilities(played("voluntary_contribution", give(10), "pass", max_rounds=1)) == [0, 0]


@pytest.mark.parametrize(("mpc", "each"), [(0.6, 10), (1.5, 30)])
def test_giving_nothing_is_dominant_below_a_return_of_one(mpc, each):
    game = envs.game("voluntary_contribution", marginal_per_capita=mpc)
    tables = tables_after(game, "equilibrium")
    assert tables["total"][0, :2].tolist() == [each, each]


def test_a_threshold_funds_the_project_at_once():
    assert utilities(played("provision_point", commit(60), commit(45))) == [10, 25]
    env = played("provision_point", commit(100))  # the other one need not even choose
    assert utilities(env) == [-30, 70]
    assert env.turn_state("player_1").outcome["trigger"] == "threshold_met"


def test_below_the_threshold_commitments_are_refunded():
    env = played("provision_point", commit(60), commit(39))
    assert utilities(env) == [0, 0]
    assert env.turn_state("player_0").outcome["reason"] == "all_committed_below_threshold"
    env = played("provision_point", commit(60), "pass", "pass", max_rounds=2)
    assert utilities(env) == [0, 0] and env.turn_state("player_0").outcome["reason"] == "rounds_exhausted"
