"""Double DQN of Tianshou for one seat, against a bot: the Gymnasium environment with its mask in the observation.

pip install 'parlour[train]' tianshou
python examples/tianshou_dqn.py
"""

import argparse
import time

import gymnasium
import numpy as np
import parlour.envs  # registers the environments
import torch
from parlour.training import evaluate
from parlour.wrappers import make_policy
from tianshou.algorithm import DQN
from tianshou.algorithm.modelfree.dqn import DiscreteQLearningPolicy
from tianshou.algorithm.optim import AdamOptimizerFactory
from tianshou.data import Collector, VectorReplayBuffer
from tianshou.env import DummyVectorEnv
from tianshou.trainer import OffPolicyTrainer, OffPolicyTrainerParams
from torch import nn


class MaskInObservation(gymnasium.Wrapper):
    """Tianshou looks for the mask in the observation: ``obs`` and ``mask``, where Gymnasium has it in `info`."""

    def __init__(self, env: gymnasium.Env) -> None:
        super().__init__(env)
        mask = gymnasium.spaces.MultiBinary(int(env.action_space.n))
        self.observation_space = gymnasium.spaces.Dict({"obs": env.observation_space, "mask": mask})

    def reset(self, **options):
        """Return the first observation with its mask."""
        observation, info = self.env.reset(**options)
        return {"obs": observation, "mask": info["action_mask"]}, info

    def step(self, action):
        """Return the next observation with its mask."""
        observation, reward, terminated, truncated, info = self.env.step(action)
        return {"obs": observation, "mask": info["action_mask"]}, reward, terminated, truncated, info


class Values(nn.Module):
    """The values of all actions, as Tianshou calls a network: from a batch of observations to (values, state)."""

    def __init__(self, inputs: int, actions: int) -> None:
        super().__init__()
        self.layers = nn.Sequential(
            nn.Linear(inputs, 128), nn.ReLU(), nn.Linear(128, 128), nn.ReLU(), nn.Linear(128, actions)
        )

    def forward(self, obs, state=None, info=None):
        """Return float32[N, actions] and no state."""
        return self.layers(torch.as_tensor(obs, dtype=torch.float32)), state


class Player:
    """The network as a policy of Parlour: the legal action with the highest value."""

    def __init__(self, network: Values) -> None:
        self.layers = network.layers

    @torch.no_grad()
    def act(self, observations, masks):
        """Return an action for every row: int64[N]."""
        values = self.layers(torch.as_tensor(observations)).numpy()
        return np.where(masks == 0, -np.inf, values).argmax(-1)


def main(argv=None):
    """Train; return the results against the bot before and after, in chips per hand."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--game", default="leduc")
    parser.add_argument("--against", default="random")
    parser.add_argument("--steps", type=int, default=60_000)
    parser.add_argument("--seed", type=int, default=1)
    settings = parser.parse_args(argv)
    np.random.seed(settings.seed)  # noqa: NPY002  Tianshou explores with NumPy's global generator
    torch.manual_seed(settings.seed)

    def make():
        name = f"parlour/{settings.game.capitalize()}-v0"
        return MaskInObservation(gymnasium.make(name, opponents=settings.against))

    envs = DummyVectorEnv([make] * 16)
    envs.seed(settings.seed)
    game = parlour.envs.game(settings.game)
    network = Values(game.layout.size, game.num_actions)
    space = gymnasium.spaces.Discrete(game.num_actions)
    policy = DiscreteQLearningPolicy(model=network, action_space=space, eps_training=0.1)
    algorithm = DQN(policy=policy, optim=AdamOptimizerFactory(lr=5e-4), gamma=1.0, target_update_freq=500)
    against = [make_policy(settings.against, game)]
    before, begin = evaluate(Player(network), game, against, deals=2_000), time.perf_counter()
    collector = Collector(policy, envs, VectorReplayBuffer(20_000, 16), exploration_noise=True)
    trainer = OffPolicyTrainerParams(
        training_collector=collector,
        max_epochs=1,
        epoch_num_steps=settings.steps,
        collection_step_num_env_steps=160,
        batch_size=256,
        update_step_num_gradient_steps_per_sample=0.1,
        verbose=False,
        show_progress=False,
    )
    OffPolicyTrainer(algorithm, trainer).run()
    print(f"{settings.steps} steps, {settings.steps / (time.perf_counter() - begin):,.0f} steps/s")
    after = evaluate(Player(network), game, against, deals=2_000)
    print(f"against {settings.against}: {before} before, {after} after")
    return before, after


if __name__ == "__main__":
    main()
