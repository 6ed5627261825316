"""States as strategic-agent-games writes them: no field of ours, agents of any names, phases and rows that we do not
have, numbers as text. Each is the state in which the second agent is to act, after the first one has."""

import numpy as np
import pytest
from parlour import envs
from parlour.envs import TurnState

ORDER = {"agent_ids": ["bob", "ann"], "current_round": 7, "max_rounds": 20}
NOISE = [
    {"agent_id": "ann", "action": "message_only", "phase": "negotiation"},
    {"agent_id": "bob", "action": "pass", "phase": "negotiation"},
    {"agent_id": "ann", "action": "pass", "phase": "negotiation"},
    {"agent_id": "ann", "action": "wave", "round": 0},
    None,
]
STATES = {
    "cournot": ("production", {
        "num_firms": 2, "a": 100, "b": "1", "my_marginal_cost": "20", "my_quantity": None,
        "opponents_who_committed": ["bob"], "num_quantities_submitted": 1,
    }, 0.0),
    "public_project": ("report", {
        "num_agents": 2, "reports": {"bob": "40"}, "total_reported": 40, "project_cost": 100, "built": None,
        "my_valuation": 61.25,
    }, 40.0),
    "voluntary_contribution": ("contribute", {
        "num_agents": 2, "endowment": 10, "marginal_per_capita": 0.6, "contribs": {"bob": 4.5},
        "total_contributions": 4.5, "resolved": False,
    }, 4.5),
    "war_of_attrition": ("choose_time", {
        "prize": 10, "cost_rate": 1, "max_time": 50, "equilibrium_t": 10, "submitted_agents": ["bob"],
        "waiting_on": ["ann"], "i_have_submitted": False, "my_time": None, "resolved": False,
    }, 0.0),
    "trust": ("return", {
        "num_agents": 2, "trustor": "bob", "trustee": "ann", "my_role": "trustee", "endowment": 10, "multiplier": 3,
        "sent": "4", "returned": None, "resolved": False,
    }, 4.0),
    "sequential_investment": ("follower_invest", {
        "leader_id": "bob", "follower_id": "ann", "my_role": "follower", "interaction": "complements",
        "payoff_scale": 10, "investment_cost": 1, "investments": {"bob": 2}, "leader_invested": 2, "resolved": False,
    }, 2.0),
}  # fmt: skip


def state_of(name, me="ann", phase=None, **more):
    at, seen, _ = STATES[name]
    told = {**ORDER, **seen, "action_history": NOISE, **more}
    return TurnState("m", name.replace("_", "-"), me, phase or at, True, me, told)


@pytest.mark.parametrize("name", STATES)
def test_the_second_agent_knows_what_the_first_did(name):
    game = envs.game(name)
    tables, seat = game.view.load(state_of(name))
    table = tables[0]
    assert (seat, table.turn) == (1, 1)
    assert table.cycle == max(0, table.limit[table.phase] - 7)  # the platform ends the match after 14 turns of two
    assert table.chosen[0, 0] == 1 and table.number[0, 0] == STATES[name][2]
    assert not table.chosen[:, 1].any() and game.mask(table, 1).any()
    low, high = game.layout.bounds()
    seen = game.observation(table, 1)
    assert (seen >= low).all() and (seen <= high).all()


@pytest.mark.parametrize("name", STATES)
def test_a_phase_that_we_do_not_have_is_read_as_the_first(name):
    game = envs.game(name)
    tables, _ = game.view.load(state_of(name, phase="negotiation"))
    assert tables[0].phase == 0


@pytest.mark.parametrize("name", ["cournot", "voluntary_contribution", "war_of_attrition"])
def test_own_passes_in_the_phase_are_counted(name):
    phase = STATES[name][0]
    rows = [*NOISE, {"agent_id": "ann", "action": "pass", "phase": phase}] * 2
    game = envs.game(name)
    tables, _ = game.view.load(state_of(name, action_history=rows, max_rounds=50))
    assert tables[0].cycle == 2
    tables, _ = game.view.load(state_of(name, action_history=rows * 50))
    assert tables[0].cycle == tables[0].limit[0] - 1


def test_of_more_firms_than_the_policy_knows_some_are_not_seen():
    game = envs.game("cournot", seats=3)
    ids = ["a", "b", "c", "d", "e"]
    for me in ids:
        others = [one for one in ids if one != me]
        state = state_of("cournot", me, agent_ids=ids, opponents_who_committed=others)
        tables, seat = game.view.load(state)
        assert tables[0].turn == seat and np.count_nonzero(tables[0].chosen[0]) == 2


def test_what_is_no_number_is_named():
    with pytest.raises(ValueError, match="my_marginal_cost is 'cheap'"):
        envs.game("cournot").view.load(state_of("cournot", my_marginal_cost="cheap"))


@pytest.mark.parametrize("name", STATES)
def test_a_bare_state_of_a_match_that_is_over_is_read(name):
    bare = TurnState("m", name, "ann", "waiting_for_players", False, None, {}, game_over=True)
    assert envs.game(name).view.load(bare)[0][0].done
