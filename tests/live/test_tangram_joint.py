"""A careless person and the agent build figures together, on a board that is reported as the Godot game does."""

import numpy as np
import pytest
from live.tangram_joint import build, overlap
from parlour import envs
from parlour.wrappers.agents.policy import PolicyAgent
from parlour.wrappers.policies.loading import make_policy

GAME = envs.game("tangram", aspect="godot")
OBJECTIVES = ("A house", "A fish", "A human", "A rocket", "A cat", "A robot")


def reached(seeds, **conditions):
    """Return the intersection over union of figures that `solver` and a careless person built."""
    solver = PolicyAgent(GAME, make_policy("solver", GAME, seed=1))
    built = [build(name, seed, solver.respond, GAME, **conditions) for name in OBJECTIVES for seed in range(seeds)]
    return np.array([overlap(one) for one in built])


def test_figures_are_built_well_with_a_careless_person():
    values = reached(3)
    assert values.mean() >= 0.95
    assert values.min() >= 0.89


@pytest.mark.parametrize("rounds", [1, 2, 3])
def test_a_lost_connection_costs_nothing(rounds):
    values = reached(3, dropped_after=rounds)
    assert values.mean() >= 0.95
    assert values.min() >= 0.89


@pytest.mark.slow
def test_figures_are_built_well_with_a_careless_person_over_many_games(capsys):
    values = reached(20)
    with capsys.disabled():
        print(f"\njointly built: mean IoU {values.mean():.3f}, least {values.min():.3f}, {len(values)} games")
    assert values.mean() >= 0.95
    assert values.min() >= 0.89
