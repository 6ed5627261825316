"""Common agency: contracts by principal, a hidden effort, backward induction over the offers, the platform's states."""

import numpy as np
import pytest
from economics.matches import played, seen_as_our_own, utilities
from parlour import envs
from parlour.envs import TurnState
from parlour.envs.economics.common_agency import best_wage

NAME = "common_agency"


def offer(low, high):
    return "offer_contract", {"w_low": low, "w_high": high}


def effort(word):
    return "choose_effort", {"effort": word}


@pytest.mark.parametrize(
    ("high", "word", "expected"), [(1, "low", [8, 7, 5]), (1, "high", [8, 7, 4]), (0, "low", [-1, -0.5, 1.5])]
)
def test_each_principal_pays_its_wage(high, word, expected):
    chances = {"p_high_low_effort": high, "p_high_high_effort": high}
    env = played(NAME, offer(1, 2), offer(0.5, 3), "accept_bundle", effort(word), **chances)
    assert utilities(env) == expected
    outcome = env.turn_state("player_0").outcome
    assert (outcome["reason"], outcome["effort"]) == ("common_agency_resolved", word)
    assert outcome["outcome"] == ("high" if high else "low")
    assert outcome["contracts"] == {"player_0": {"w_low": 1, "w_high": 2}, "player_1": {"w_low": 0.5, "w_high": 3}}
    assert [row["role"] for row in outcome["payoffs"]] == ["principal", "principal", "agent"]


CASES = [{}, {"seats": 4}, {"effort_cost": 2}, {"effort_cost": 2, "seats": 4}, {"effort_cost": 3.5, "seats": 4},
         {"effort_cost": 5}, {"p_high_high_effort": 0.3}, {"benefit_low": 6}]  # fmt: skip


@pytest.mark.parametrize("options", CASES)
def test_the_equilibrium_is_backward_induction_over_all_offers(options):
    game = envs.game(NAME, high_wages=11, **options)
    parameter, last = game.rules.blank[0].parameter, game.seats - 2
    low_benefit, high_benefit, cost, low_chance, high_chance = map(float, parameter[:5])

    def best(seat, offered):
        """The wages of the principals from `seat` on, each its best one; the lowest of several."""
        answers = []
        for wage in np.arange(11.0):
            later = best(seat + 1, offered + wage) if seat < last else []
            total = offered + wage + sum(later)
            chance = high_chance if (high_chance - low_chance) * total >= cost - 1e-9 else low_chance
            worth = chance * (high_benefit - wage) + (1 - chance) * low_benefit
            answers.append((round(worth, 9), -wage, [wage, *later]))
        return max(answers)[2]

    offered, bots = 0.0, []
    for seat in range(last + 1):
        bots.append(float(best_wage(game, parameter, np.array([seat]), np.array([offered]))[0]))
        offered += bots[-1]
    assert bots == best(0, 0.0)


def state_of(me, phase, **more):
    """A state as strategic-agent-games writes it."""
    told = {
        "agent_ids": ["cy", "bob", "ann"], "my_role": "agent" if me == "cy" else "principal", "agent_id": "cy",
        "principal_ids": ["bob", "ann"], "current_phase": phase, "current_round": 0, "contracts": {}, "accepted": None,
        "effort": None, "outcome": None, "all_principals_offered": False, "benefit_low": 0.0, "benefit_high": 10.0,
        "effort_cost": 1.0, "p_high_low_effort": 0.4, "p_high_high_effort": 0.7, "action_history": [],
        "resolved": False, "strategy_hint": "…", **more,
    }  # fmt: skip
    return TurnState("m", "common-agency", me, phase, True, me, told)


BOTH = {"bob": {"w_low": "1", "w_high": 4}, "ann": {"w_low": 0, "w_high": 2}}
MOMENTS = {
    "first": ((), {}),
    "second": ((offer(1, 4),), {"contracts": {"bob": BOTH["bob"]}}),
    "bundle": ((offer(1, 4), offer(0, 2)), {"contracts": BOTH}),
    "effort": ((offer(1, 4), offer(0, 2), "accept_bundle"), {"contracts": BOTH, "accepted": True}),
}


@pytest.mark.parametrize("moment", MOMENTS)
def test_the_platforms_states_are_seen_as_our_own(moment):
    actions, told = MOMENTS[moment]
    seen_as_our_own(played(NAME, *actions), state_of, ("bob", "ann", "cy"), **told)
