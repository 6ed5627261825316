"""Simple policies for tests."""

import numpy as np
from parlour.wrappers.policies.base import TrainedFor
from parlour.wrappers.policies.mlp import MlpPolicy


class Always:
    """Plays one action index where it is legal, else the first that is, and says so; counts its decisions."""

    def __init__(self, action):
        self.action, self.asked = action, 0

    def act(self, observations, masks):
        self.asked += len(masks)
        return np.where(masks[:, self.action] == 1, self.action, masks.argmax(axis=1))

    def probabilities(self, observations, masks):
        return np.eye(masks.shape[1])[self.act(observations, masks)]


class Acting:
    """Plays what a function of observations and masks returns."""

    def __init__(self, act):
        self.act = act


class Counted:
    """Plays as a policy does, and counts the decisions."""

    def __init__(self, policy):
        self.policy, self.asked = policy, 0

    def act(self, observations, masks):
        self.asked += len(masks)
        return self.policy.act(observations, masks)


def blank(game, encoder="", **about):
    """A network that finds every legal action equally good."""
    sizes = game.encoders[encoder or game.encoder].layout.size, game.num_actions
    policy = MlpPolicy([(np.zeros(sizes, np.float32), np.zeros(sizes[1], np.float32))], "Tanh", seed=1)
    policy.set_trained_for(TrainedFor.of(game, encoder, **about))
    return policy
