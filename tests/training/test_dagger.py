"""DAgger in tangram: what the expert says, and a small learner who copies it."""

from types import SimpleNamespace

import numpy as np
from parlour import envs
from parlour.envs.tangram.bots import FigureExpert
from parlour.envs.tangram.table import PLACES
from parlour.training.learning.learner import TABLES, corrections
from parlour.wrappers.policies.loading import make_policy

GAME = envs.game("tangram")
LEARNER = SimpleNamespace(policy=lambda seed: make_policy("random", GAME, seed=seed))


def demonstrated(game, learner, seed):
    return corrections(game, FigureExpert(game, "v0", TABLES), learner, "v0", seed)


def test_demonstrations_are_legal_and_have_the_returns_of_the_game():
    demonstrations = next(demonstrated(GAME, LEARNER, seed=1))
    assert len(demonstrations.actions) > 5 * TABLES
    assert demonstrations.masks[np.arange(len(demonstrations.actions)), demonstrations.actions].all()
    iou = demonstrations.observations[:, GAME.layout["game_state.iou"].start]
    solved = np.isclose(iou + demonstrations.returns, 2, atol=1e-5)  # who follows the plan
    assert solved.sum() > 2 * TABLES
    assert (demonstrations.returns[~solved] < 2 - iou[~solved]).all()
    begins = demonstrations.observations[:, 0] > 0
    assert (demonstrations.actions[~begins] == PLACES).all()
    assert (begins & (demonstrations.masks[:, :PLACES].sum(1) > 1)).mean() > 0.7


def test_demonstrations_are_the_same_from_the_same_seed():
    first, again, other = (next(demonstrated(GAME, LEARNER, seed=seed)) for seed in (1, 1, 2))
    for one, two in zip(first, again, strict=True):
        np.testing.assert_array_equal(one, two)
    assert len(other.actions) != len(first.actions) or (other.observations != first.observations).any()
