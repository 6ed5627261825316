"""The networks of self-play: the same numbers in PyTorch and NumPy, shared weights, saved policies, recorded calls."""

import numpy as np
import pytest
import torch
from parlour.envs import Slice, game
from parlour.envs.core.encoder import Layout
from parlour.training.algorithms.selfplay import Learner
from parlour.training.evaluation.exact import flat_tree
from parlour.training.learning.league import League
from parlour.training.learning.networks import Recorded, build, capture_on, numpy_network, seat_columns
from parlour.training.learning.settings import SelfPlayConfig
from parlour.wrappers.policies.mlp import MlpPolicy

SHAPES = {"stack": (3,), "pot": (2,), "role": (3, 2), "me": (1,)}
LAYOUT = Layout([Slice(path, shape, 0, 1, "") for path, shape in SHAPES.items()])


@pytest.mark.parametrize("kind", ["mlp", "residual", "seats"])
@pytest.mark.parametrize("hidden", [(16, 16, 16), (16, 8), (8,), ()])
def test_numpy_gives_the_numbers_of_torch(tmp_path, kind, hidden):
    torch.manual_seed(1)
    net = build(kind, LAYOUT, 3, hidden, 4, 1.0)
    for parameter in net.parameters():
        torch.nn.init.normal_(parameter, 0, 0.5)  # biases too
    observations = np.random.default_rng(0).normal(size=(20, LAYOUT.size)).astype(np.float32)
    expected = net(torch.from_numpy(observations)).detach().numpy()
    policy = MlpPolicy(numpy_network(net), critic=numpy_network(net), seed=0)
    policy.save(tmp_path / "policy.npz")
    loaded = MlpPolicy.load(tmp_path / "policy.npz", seed=0)
    assert loaded.inputs == LAYOUT.size and loaded.outputs == 4
    for network in (policy.network, loaded.network, loaded.critic_network):
        np.testing.assert_allclose(network.forward(observations.copy()), expected, rtol=1e-4, atol=1e-5)
    masks = np.ones((20, 4), np.int8)
    np.testing.assert_array_equal(policy.act(observations, masks), loaded.act(observations, masks))


def test_the_first_layer_treats_all_seats_alike():
    net = build("seats", LAYOUT, 3, (24,), 4, 1.0)
    columns, _ = seat_columns(LAYOUT, 3)
    observations = torch.randn(5, LAYOUT.size)
    turned = observations.clone()
    turned[:, columns] = observations[:, np.roll(columns, 1, axis=0)]
    features, moved = (net[0](each)[:, :24].reshape(5, 3, 8) for each in (observations, turned))
    torch.testing.assert_close(features.roll(1, dims=1), moved)
    assert not torch.equal(features, moved)


@pytest.mark.parametrize("kind", ["residual", "seats"])
def test_they_learn_and_the_policy_plays_without_torch(kind):
    """The loss of the value function falls, and the NumPy policy has the probabilities of the learner's."""
    config = SelfPlayConfig(game="kuhn", network=kind, n_envs=64, n_steps=8, batch_size=256, net_arch=(32, 32))
    made = game("kuhn")
    learner = Learner(config, made, League(1, 1.0, {}, 0))
    for _ in range(30):
        learner.rollout()
    tree = flat_tree(made)
    own = torch.exp(learner._forward.log_probs(learner._actor, tree.observations, tree.masks)).detach().numpy()
    np.testing.assert_allclose(learner.policy().probabilities(tree.observations, tree.masks), own, atol=1e-5)
    assert np.ptp(own) > 0.5


CPU = torch.device("cpu")


def test_without_a_capture_a_call_is_a_call_of_the_function():
    assert capture_on(CPU) is None
    scaled = Recorded(lambda by, rows: rows * by, CPU, None)
    assert scaled(2.0, rows=torch.ones(3)).tolist() == [2, 2, 2]


def test_the_second_call_is_recorded_and_later_ones_start_the_record():
    calls, records = [], []

    def function(by, rows):
        calls.append(type(by))
        return rows * by

    def capture(work):
        records.append(work)
        return work

    scaled = Recorded(function, CPU, capture)
    made = [scaled(by, rows=torch.full((3,), 2.0)) for by in (1.0, 2.0, 3.0, 3.0)]
    assert [one.tolist() for one in made] == [[2] * 3, [4] * 3, [6] * 3, [6] * 3]
    assert calls == [float, torch.Tensor, torch.Tensor, torch.Tensor]
    assert len(records) == 1
    given = torch.ones(2)
    for expected in (5, 5):  # other shapes have a record of their own
        assert scaled(5.0, rows=given).tolist() == [expected] * 2
    assert given.tolist() == [1, 1]
    assert len(records) == 2
    assert scaled(4.0, rows=torch.ones(3)).tolist() == [4] * 3
    assert len(records) == 2
