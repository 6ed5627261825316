"""Lessons in tangram: what is taught, and a small learner who takes them."""

import numpy as np
import pytest
from parlour import envs
from parlour.envs.tangram.table import PLACES
from parlour.training.algorithms.maskable_ppo import train
from parlour.training.evaluation.figures import SETS, built
from parlour.training.learning.behavioural_cloning import TABLES
from parlour.training.learning.config import load_config
from parlour.training.learning.dagger import taught
from parlour.wrappers.policies.loading import load_run, make_policy
from parlour.wrappers.policies.mlp import MlpPolicy

GAME = envs.game("tangram")


def test_lessons_are_legal_advice_with_what_the_game_brought():
    lessons = next(taught(GAME, make_policy("random", GAME, seed=1), seed=1))
    assert len(lessons.actions) > 5 * TABLES
    assert lessons.masks[np.arange(len(lessons.actions)), lessons.actions].all()
    iou = lessons.observations[:, GAME.layout["game_state.iou"].start]
    solved = np.isclose(iou + lessons.returns, 2, atol=1e-5)  # who follows the plan
    assert solved.sum() > 2 * TABLES
    assert (lessons.returns[~solved] < 2 - iou[~solved]).all()
    begins = lessons.observations[:, 0] > 0
    assert (lessons.actions[~begins] == PLACES).all()
    assert (begins & (lessons.masks[:, :PLACES].sum(1) > 1)).mean() > 0.7


def test_lessons_are_the_same_from_the_same_seed():
    first, again, other = (next(taught(GAME, make_policy("random", GAME, seed=1), seed=seed)) for seed in (1, 1, 2))
    for one, two in zip(first, again, strict=True):
        np.testing.assert_array_equal(one, two)
    assert len(other.actions) != len(first.actions) or (other.observations != first.observations).any()


@pytest.mark.slow
def test_a_small_learner_builds_more_than_chance(tmp_path):
    settings = {"lessons": 30_000, "steps": 64, "num_envs": 8, "rollout": 8, "batch_size": 8, "learning_rate": 3e-3}
    run = train(load_config("tangram", runs=tmp_path, hidden=(64,), critic=(16,), progress=False, **settings))
    game, policy = load_run(run)
    assert isinstance(policy, MlpPolicy)
    unseen = game.layout["game_state.silhouette.outline"]
    assert not policy.layers[0][0][unseen.start : unseen.stop].any()
    easy = envs.game("tangram", **{**game.options, **SETS["random"]})
    learned, chance = (built(easy, one, games=400, seed=1) for one in (policy, make_policy("random", easy, seed=1)))
    assert learned.iou.low > chance.iou.high


def test_only_tangram_has_this_teacher(tmp_path):
    with pytest.raises(ValueError, match="teacher"):
        train(load_config("auction", runs=tmp_path, imitate="teacher"))
    assert not list(tmp_path.iterdir())


def test_a_part_of_the_observation_by_a_wrong_name(tmp_path):
    with pytest.raises(ValueError, match=r"did you mean 'allowed_actions\.dead'"):
        train(load_config("tangram", runs=tmp_path, inputs=("allowed_actions.deed",)))
    assert not list(tmp_path.iterdir())
