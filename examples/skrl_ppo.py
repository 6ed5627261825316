"""PPO of skrl for one seat, against a bot: the Gymnasium vector environment with the mask beside the observation.

pip install 'parlour[train]' skrl
python examples/skrl_ppo.py
"""

import argparse
import time

import gymnasium
import numpy as np
import parlour.envs  # registers the environments
import torch
from parlour.training import evaluate
from parlour.wrappers import make_policy
from skrl.agents.torch.ppo import PPO, PPO_CFG
from skrl.envs.wrappers.torch import wrap_env
from skrl.memories.torch import RandomMemory
from skrl.models.torch import CategoricalMixin, DeterministicMixin, Model
from skrl.trainers.torch import SequentialTrainer, SequentialTrainerCfg
from skrl.utils import set_seed
from torch import nn


class MaskBesideObservation(gymnasium.vector.VectorWrapper):
    """skrl gives a model the observation alone, so the mask follows it in one array: [observation, mask]."""

    def __init__(self, env: gymnasium.vector.VectorEnv) -> None:
        super().__init__(env)
        size = env.single_observation_space.shape[0] + int(env.single_action_space.n)
        self.single_observation_space = gymnasium.spaces.Box(-np.inf, np.inf, (size,))
        self.observation_space = gymnasium.spaces.Box(-np.inf, np.inf, (env.num_envs, size))

    def reset(self, **options):
        """Return the first observations with their masks."""
        observations, infos = self.env.reset(**options)
        return np.hstack([observations, infos["action_mask"]], dtype="f4"), infos

    def step(self, actions):
        """Return the next observations with their masks."""
        observations, rewards, terminated, truncated, infos = self.env.step(actions)
        return np.hstack([observations, infos["action_mask"]], dtype="f4"), rewards, terminated, truncated, infos


class Actor(CategoricalMixin, Model):
    """The policy: an action that is not legal has the probability 0."""

    def __init__(self, env) -> None:
        Model.__init__(self, observation_space=env.observation_space, action_space=env.action_space, device="cpu")
        CategoricalMixin.__init__(self)
        self.actions = int(env.action_space.n)
        self.layers = mlp(self.num_observations - self.actions, self.actions)

    def compute(self, inputs, role=""):
        """Return the logits, float32[N, actions], and nothing beside them."""
        observations, masks = inputs["observations"].split([self.num_observations - self.actions, self.actions], -1)
        return self.layers(observations).masked_fill(masks == 0, -1e9), {}

    @torch.no_grad()
    def act_on(self, observations, masks):
        """Return an action for every row, drawn from the policy: int64[N]."""
        logits = self.layers(torch.as_tensor(observations)).masked_fill(torch.as_tensor(masks) == 0, -torch.inf)
        return torch.multinomial(logits.softmax(-1), 1).squeeze(1).numpy()


class Critic(DeterministicMixin, Model):
    """The value of an observation."""

    def __init__(self, env) -> None:
        Model.__init__(self, observation_space=env.observation_space, action_space=env.action_space, device="cpu")
        DeterministicMixin.__init__(self)
        self.layers = mlp(self.num_observations, 1)

    def compute(self, inputs, role=""):
        """Return the values, float32[N, 1], and nothing beside them."""
        return self.layers(inputs["observations"]), {}


class Player:
    """The actor as a policy of Parlour."""

    def __init__(self, actor: Actor) -> None:
        self.act = actor.act_on


def mlp(inputs, outputs):
    """Return a network with two hidden layers."""
    return nn.Sequential(nn.Linear(inputs, 128), nn.Tanh(), nn.Linear(128, 128), nn.Tanh(), nn.Linear(128, outputs))


def main(argv=None):
    """Train; return the results against the bot before and after, in chips per hand."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--game", default="leduc")
    parser.add_argument("--against", default="random")
    parser.add_argument("--steps", type=int, default=128_000)
    parser.add_argument("--seed", type=int, default=1)
    settings = parser.parse_args(argv)
    set_seed(settings.seed)
    tables, rollouts = 128, 32
    envs = gymnasium.make_vec(f"parlour/{settings.game.capitalize()}-v0", num_envs=tables, opponents=settings.against)
    env = wrap_env(MaskBesideObservation(envs), wrapper="gymnasium", verbose=False)
    models = {"policy": Actor(env), "value": Critic(env)}
    configuration = PPO_CFG(
        rollouts=rollouts,
        learning_epochs=4,
        mini_batches=4,
        discount_factor=1.0,
        learning_rate=1e-3,
        entropy_loss_scale=0.01,
    )
    configuration.experiment.write_interval = configuration.experiment.checkpoint_interval = 0
    agent = PPO(
        models=models,
        memory=RandomMemory(memory_size=rollouts, num_envs=tables, device="cpu"),
        cfg=configuration,
        observation_space=env.observation_space,
        action_space=env.action_space,
        device="cpu",
    )
    game = parlour.envs.game(settings.game)
    against = [make_policy(settings.against, game)]
    before, begin = evaluate(Player(models["policy"]), game, against, deals=2_000), time.perf_counter()
    steps = SequentialTrainerCfg(timesteps=settings.steps // tables, headless=True, disable_progressbar=True)
    SequentialTrainer(env=env, agents=agent, cfg=steps).train()
    print(f"{settings.steps} steps, {settings.steps / (time.perf_counter() - begin):,.0f} steps/s")
    after = evaluate(Player(models["policy"]), game, against, deals=2_000)
    print(f"against {settings.against}: {before} before, {after} after")
    return before, after


if __name__ == "__main__":
    main()
