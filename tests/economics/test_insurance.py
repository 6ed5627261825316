"""Insurance with moral hazard: contracts with several numbers, offers again and again, a hidden effort, and chance."""

import numpy as np
import pytest
from economics.matches import played, utilities
from parlour import envs
from parlour.envs import TurnState
from parlour.envs.economics.insurance_moral_hazard import best_contract, contracts_of, values_of

NAME = "insurance_moral_hazard"


def offer(premium, in_good=0, in_bad=0):
    return "offer", {"premium": premium, "transfer_good": in_good, "transfer_bad": in_bad}


def effort(word):
    return "choose_effort", {"effort": word}


@pytest.mark.parametrize(
    ("good", "word", "expected"), [(1, "low", [2.5, 7.5]), (1, "high", [2.5, 6.5]), (0, "low", [-0.5, 0.5])]
)
def test_the_contract_pays_by_state(good, word, expected):
    chances = {"p_good_low_effort": good, "p_good_high_effort": good}
    env = played(NAME, offer(3.5, 1, 4), "accept", effort(word), **chances)
    assert utilities(env) == expected
    outcome = env.turn_state("player_0").outcome
    assert {key: outcome[key] for key in ("reason", "effort", "state_realized", "transfer", "premium")} == {
        "reason": "insurance_resolved",
        "effort": word,
        "state_realized": "good" if good else "bad",
        "transfer": 1 if good else 4,
        "premium": 3.5,
    }


def test_the_effort_is_hidden_until_the_outcome():
    env = played(NAME, offer(5), "accept")
    schema = env.turn_state("player_1").allowed_actions[0].payload_schema
    assert schema["properties"]["effort"]["enum"] == ["low", "high"]
    env = played(NAME, offer(5), "accept", effort("high"))
    assert env.turn_state("player_1").game_state["effort"] == "high"
    assert "effort" not in env.turn_state("player_0").game_state
    seen = [env.match.game.observation(env.table, 0) for env in (env, played(NAME, offer(5), "accept", effort("low")))]
    layout = env.match.game.layout
    for path in ("game_state.chosen", "game_state.choices"):
        part = slice(layout[path].start, layout[path].stop)
        assert (seen[0][part] == seen[1][part]).all()


def test_theory_is_backward_induction_over_all_contracts():
    game = envs.game(NAME, premiums=21)
    best = -np.inf
    for premium, good, bad in contracts_of(game.rules.blank[0]):
        worth = []
        for p, cost in ((0.6, 0), (0.8, 1)):
            insured = p * (10 + good) + (1 - p) * bad - premium - cost
            worth.append((round(insured, 9), round(premium - p * good - (1 - p) * bad, 9)))
        insured, insurer = max(worth)
        best = max(best, insurer) if insured >= 0 else best
    assert best == 7 and best_contract(game).tolist() == [7, 0, 0]
    contracts = np.array([[8, 0, 4], [8, 0, 6], [10, 0, 10]])
    worth = values_of(game.rules.blank[0].parameter, contracts)
    assert worth.high.tolist() == [True, False, False]
    assert worth.insurer == pytest.approx([7.2, 5.6, 6])
    assert worth.insured == pytest.approx([-0.2, 0.4, 0])


def state_of(me, phase, rows=(), **more):
    told = {
        "num_agents": 2, "agent_ids": ["bob", "ann"], "insurer": "bob", "insured": "ann", "base_income": "10",
        "my_role": "insurer" if me == "bob" else "insured", "loss": 10, "effort_cost": 1, "p_good_low_effort": 0.5,
        "p_good_high_effort": 0.8, "contract": None, "accepted": None, "state_realized": None, "offer_count": 0,
        "action_history": list(rows), "resolved": False, **more,
    }  # fmt: skip
    return TurnState("m", "insurance-moral-hazard", me, phase, True, me, told)


def test_states_of_the_platform_are_read():
    game = envs.game(NAME)
    contract = {"premium": "-1", "transfer_good": 2, "transfer_bad": -3}
    tables, seat = game.view.load(state_of("ann", "accept_contract", contract=contract, offer_count=2))
    table = tables[0]
    assert (seat, table.turn, table.phase) == (1, 1, 1)
    assert (table.number[0, 0], *table.fact[:3]) == (2, 5, 0, 2)  # 3 more each: the same payments
    assert table.parameter[3] == 0.5 and game.mask(table, 1).nonzero()[0].tolist() == [396, 397]
