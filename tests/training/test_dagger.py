"""DAgger in tangram: what the expert says, and a small learner who copies it."""

import numpy as np
import pytest
from parlour import envs
from parlour.envs.tangram.bots import FigureExpert
from parlour.envs.tangram.table import PLACES
from parlour.training.evaluation.games.tangram import SETS, built
from parlour.training.learning.learner import TABLES, corrections
from parlour.training.runs.config import load_config
from parlour.training.runs.run import train
from parlour.wrappers.policies.loading import load_run, make_policy
from parlour.wrappers.policies.mlp import MlpPolicy

GAME = envs.game("tangram")


def demonstrated(game, learner, seed):
    return corrections(game, FigureExpert(game, "v0", TABLES), learner, "v0", seed)


def test_demonstrations_are_legal_and_have_the_returns_of_the_game():
    demonstrations = next(demonstrated(GAME, make_policy("random", GAME, seed=1), seed=1))
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
    first, again, other = (
        next(demonstrated(GAME, make_policy("random", GAME, seed=1), seed=seed)) for seed in (1, 1, 2)
    )
    for one, two in zip(first, again, strict=True):
        np.testing.assert_array_equal(one, two)
    assert len(other.actions) != len(first.actions) or (other.observations != first.observations).any()


@pytest.mark.slow
def test_a_small_learner_builds_more_than_chance(tmp_path):
    settings = {"demonstrations": 30_000, "total_timesteps": 64, "n_envs": 8, "n_steps": 8, "batch_size": 8}
    settings |= {"net_arch": (64,), "critic_net_arch": (16,), "learning_rate": 3e-3}
    run = train(load_config("tangram", run=tmp_path / "corrected", **settings))
    game, policy = load_run(run)
    assert isinstance(policy, MlpPolicy)
    unseen = game.layout["game_state.silhouette.outline"]
    assert not policy.layers[0][0][unseen.start : unseen.stop].any()
    easy = envs.game("tangram", **{**game.options, **SETS["random"]})
    learned, chance = (built(easy, one, games=400, seed=1) for one in (policy, make_policy("random", easy, seed=1)))
    assert learned["iou"].low > chance["iou"].high


def test_only_tangram_has_this_expert(tmp_path):
    with pytest.raises(ValueError, match="no bot or expert is called 'expert'"):
        train(load_config("auction", run=tmp_path / "none", teacher="expert"))
    assert not list(tmp_path.iterdir())


def test_a_slice_of_the_observation_by_a_wrong_name(tmp_path):
    with pytest.raises(ValueError, match=r"did you mean 'allowed_actions\.dead'"):
        train(load_config("tangram", run=tmp_path / "none", observation_slices=("allowed_actions.deed",)))
    assert not list(tmp_path.iterdir())
