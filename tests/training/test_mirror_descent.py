"""Mirror descent: returns under exploration, the exact step, the mean policy, and what it learns in Kuhn poker."""

import numpy as np
import pytest
import torch
from parlour.envs import game
from parlour.training.algorithms.selfplay import Learner
from parlour.training.evaluation.exact import flat_tree, nash_conv
from parlour.training.learning import mirror_descent
from parlour.training.learning.collector import action_returns
from parlour.training.learning.mirror_descent import MeanPolicies, distinct
from parlour.training.learning.settings import Schedule, SelfPlayConfig

SETTINGS = {
    "update": "mirror_descent",
    "action_values": True,
    "kl_coef": Schedule(3.0),
    "ent_coef": Schedule(0.0),
    "reference_every": 20,
    "exploration": 0.2,
    "reward_scale": 0.5,
    "n_envs": 256,
    "n_steps": 8,
    "batch_size": 1024,
    "n_epochs": 8,
    "net_arch": (64,),
    "critic_net_arch": (64,),
    "learning_rate": Schedule(5e-3),
}


def make(name="kuhn", **settings):
    made = game(name)
    config = SelfPlayConfig(game=made.id, **{**SETTINGS, **settings})
    return Learner(config, made, config.league())


def returns_of(turn, rewards, dones, values, of_taken, traces, last, rivals):
    out = np.zeros((len(turn), 1), np.float32)
    columns = [np.array(one, np.float32)[:, None] for one in (values, of_taken, traces)]
    action_returns(
        np.array(turn)[:, None],
        np.ones((len(turn), 1), np.bool_),
        np.array(rewards, np.float32)[:, None],
        np.array(dones)[:, None],
        *columns,
        np.array([last], np.float32),
        rivals,
        out,
    )
    return out[:, 0]


def test_returns_go_on_with_the_policys_own_value_where_an_action_was_explored():
    turn, rewards, dones = [0, 1, 0], [[0, 0], [0, 0], [3, -3]], [False, False, True]
    values, of_taken = [0.5, -0.25, 1.0], [0.0, 0.75, 2.0]
    sampled = returns_of(turn, rewards, dones, values, values, [1, 1, 1], [0, 0], True)
    np.testing.assert_allclose(sampled, [3, -3, 3])  # the result itself
    cut = returns_of(turn, rewards, dones, values, of_taken, [0, 0, 0], [0, 0], True)
    np.testing.assert_allclose(cut, [0.25, -1, 3])  # minus the opponent's value at its next decision
    half = returns_of(turn, rewards, dones, values, of_taken, [1, 0.5, 1], [0, 0], True)
    # At step 2: 1 + (3 - 2) = 2. Step 1 gets -2, and is worth -0.25 + 0.5 * (-2 - 0.75) = -1.625.
    np.testing.assert_allclose(half, [1.625, -2, 3])


def test_without_rivals_a_seat_waits_for_its_own_next_decision():
    turn, rewards, dones = [0, 1, 0], [[0, 1], [2, 0], [3, 0]], [False, False, False]
    found = returns_of(turn, rewards, dones, [5, 6, 7], [0, 0, 0], [0, 0, 0], [10, 20], False)
    np.testing.assert_allclose(found, [2 + 7, 20, 3 + 10])


def test_exploration_is_weighed_out_of_the_other_seats_play():
    """Weights are means of 1: what the others played counts as often as without exploration."""
    learner = make(n_envs=4096, n_steps=1, exploration=0.5)
    with torch.no_grad():
        learner._actor[-1].bias[:] = torch.tensor([2.0, 0.0])  # it checks and folds 88 %
    learner.engine.begin()
    learner.engine.rollout(0, learner._weights())
    second = learner.engine.rollout(1, learner._weights())[0].arrays
    collector = learner.engine.collectors[0]
    assert (collector._turn == 1).all()
    weights = second["weights"]
    assert weights.min() == pytest.approx(0.12 / 0.31, abs=0.02)
    assert weights.max() == pytest.approx(0.88 / 0.69, abs=0.02)
    assert weights.mean() == pytest.approx(1, abs=0.03)
    _, which = distinct(second["observations"])
    shares = np.bincount(which, weights) / len(which)
    assert len(shares) == 6  # three cards after a check and after a bet
    assert sorted(shares)[3:] == pytest.approx([0.88 / 3] * 3, abs=0.03)


def test_the_step_is_the_maximum_of_value_minus_both_divergences():
    learner = make()
    mirror, random = learner._mirror, np.random.default_rng(1)
    seen = random.random((4, learner.game.encoders[learner.game.encoder].layout.size), np.float32)
    masks = np.ones((4, 2), np.int8)
    masks[3, 1] = 0
    before, values = torch.log_softmax(torch.randn(4, 2), 1), torch.randn(4, 2)
    found = mirror._target(seen, masks, before, values, 2.0, 0.5).exp()
    reference = mirror._forward.log_probs(mirror._reference, seen, masks).exp()[:3].detach()
    grid = torch.linspace(0.001, 0.999, 9_981, dtype=torch.float64)
    tried = torch.stack([grid, 1 - grid], 1)[:, None]
    objective = (tried * (values[:3] - 0.5 * tried.log())).sum(2)
    objective -= (tried * (2.0 * (tried.log() - before[:3]) + 0.1 * (tried.log() - reference.log()))).sum(2)
    np.testing.assert_allclose(found[:3, 0], grid[objective.argmax(0)], atol=2e-4)
    np.testing.assert_allclose(found[3], [1, 0])


def test_means_are_kept_of_observations_drawn_equally_when_they_are_full(monkeypatch):
    monkeypatch.setattr(mirror_descent, "MOST", 50)
    memory = MeanPolicies(1, 2, np.random.default_rng(0))
    rows = np.arange(1_000, dtype=np.float32)[:, None]
    memory.add(rows[:10], np.full((10, 2), 0.5))
    memory.add(rows[:10], np.tile([3.0, 1.0], (10, 1)))
    np.testing.assert_array_equal(memory.sums[:10], np.tile([3.5, 1.5], (10, 1)))
    kept = []
    for seed in range(200):
        memory = MeanPolicies(1, 2, np.random.default_rng(seed))
        memory.add(rows, np.ones((1_000, 2)))
        assert len(memory) == 50
        kept.append(memory.observations[:50, 0])
    counts = np.histogram(np.concatenate(kept), bins=4, range=(0, 1_000))[0]
    assert np.abs(counts - 2_500).max() < 250


def test_it_learns_kuhn_poker_in_seconds():
    """By the exact best response; uniform play has a NashConv of 0.92."""
    tree = flat_tree(game("kuhn"))
    learner = make(seed=2)
    for _ in range(150):
        learner.rollout(0.5)
    average = nash_conv(tree, tree.strategy_of(learner.policy()))
    assert average < 0.1  # 0.02 to 0.06 as a rule
