"""Games for two: the war of attrition, the dictator, sequential investment, and trust."""

import numpy as np
import pytest
from economics.matches import played, tables_after, utilities
from parlour import envs
from parlour.envs import Action
from parlour.envs.economics.war_of_attrition import mixed_time


def wait(time):
    return "submit_time", {"t": time}


def invest(amount):
    return "invest", {"amount": amount}


def test_both_pay_until_the_first_gives_up():
    env = played("war_of_attrition", wait(3.5), wait(20), cost_rate=0.5)
    assert utilities(env) == [-1.75, 8.25]
    outcome = env.turn_state("player_0").outcome
    assert (outcome["winner"], outcome["min_t"], outcome["payoffs"][1]["won"]) == ("player_1", 3.5, True)


def test_a_tie_is_drawn():
    won = [utilities(played("war_of_attrition", wait(4), wait(4), seed=seed)) for seed in range(40)]
    assert {tuple(one) for one in won} == {(6, -4), (-4, 6)}
    assert 8 < sum(one[0] == 6 for one in won) < 32


def test_in_the_mixed_equilibrium_every_time_before_the_end_wins_as_much():
    prize, rate, longest = 10.0, 1.0, 12.0
    chance = (np.arange(200_000) + 0.5) / 200_000
    other = mixed_time(prize, rate, longest, chance)

    def gain(time):
        won = np.where(other < time, prize, np.where(other == time, prize / 2, 0.0))
        return float((won - rate * np.minimum(other, time)).mean())

    assert [gain(time) for time in (0.001, 1, 3, 6.9, longest)] == pytest.approx([0] * 5, abs=0.01)
    assert gain(9) < -0.2  # nobody gives up between T − prize / (2 rate) and T
    assert float((other == longest).mean()) == pytest.approx(np.exp(-(longest - 5) / 10), abs=1e-4)


def test_the_allocator_divides():
    split = {"allocator_share": 72.5, "recipient_share": 27.5}
    env = played("dictator", ("allocate_split", split), reservations=[(10, 10), (30, 30)])
    assert utilities(env) == [62.5, -2.5]
    outcome = env.turn_state("player_1").outcome
    assert outcome["allocation"] == {"allocator_share": 72.5, "recipient_share": 27.5}
    assert outcome["payoffs"][1] == {
        "agent_id": "player_1", "share": 27.5, "reservation_value": 30, "utility": -2.5,
    }  # fmt: skip


@pytest.mark.parametrize("interaction", ["complements", "substitutes"])
def test_the_follower_sees_the_leader_and_both_share(interaction):
    env = played("sequential_investment", invest(3), interaction=interaction)
    seen = env.turn_state("player_1").game_state
    assert (seen["my_role"], seen["investments"], seen["leader_id"]) == ("follower", {"player_0": 3}, "player_0")
    env.submit("player_1", Action(*invest(2)))
    joint = 10 * 3 * 2 if interaction == "complements" else 10 * (3 + 2)
    assert utilities(env) == [joint / 2 - 3, joint / 2 - 2]
    assert env.turn_state("player_0").outcome["joint_benefit"] == joint


@pytest.mark.parametrize("scale", [0.1, 0.3, 1.5, 4])
@pytest.mark.parametrize("interaction", ["complements", "substitutes"])
def test_subgame_perfect_investments(scale, interaction):
    options = {"payoff_scale": scale, "interaction": interaction}
    game = envs.game("sequential_investment", **options)
    tables = tables_after(game, "equilibrium")
    grid = np.linspace(0, 10, 21)
    leader, follower = np.meshgrid(grid, grid, indexing="ij")
    joint = scale * (leader * follower if interaction == "complements" else leader + follower)
    reply = (joint / 2 - follower).argmax(axis=1)  # the follower's, for each investment of the leader
    best = (joint / 2 - leader)[np.arange(21), reply].max()
    assert tables["total"][0, 0] == pytest.approx(best, abs=1e-4)


def sent(amount):
    return played("trust", ("send", {"amount": amount}))


def test_the_amount_is_multiplied_and_partly_returned():
    env = sent(4)
    assert (env.table.turn, env.turn_state("player_1").phase) == (1, "return")
    assert env.submit("player_1", Action("return_amount", {"amount": 5})).ok
    assert env.table.done and env.table.rewards[:2].tolist() == [11, 7]
    outcome = env.turn_state("player_0").outcome
    assert (outcome["reason"], outcome["sent"], outcome["returned"]) == ("trust_resolved", 4, 5)


def test_nobody_returns_more_than_what_arrived():
    env = sent(2.5)
    assert np.flatnonzero(env.observe("player_1")["action_mask"]).tolist() == [*range(11, 11 + 8), 42]
    refused = env.submit("player_1", Action("return_amount", {"amount": 7.6}))
    assert (refused.error, "0 to 7.5" in refused.error_detail) == ("invalid_payload", True)
    assert env.submit("player_1", Action("return_amount", {"amount": 7.5})).ok
