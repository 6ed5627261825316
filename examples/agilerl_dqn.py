"""Double DQN of AgileRL for one seat, against a bot: its trainer reads the mask of our Gymnasium vector environment.

pip install 'parlour[train]' agilerl peft  # AgileRL wants PettingZoo below 1.27
python examples/agilerl_dqn.py
"""

import argparse
import time

import gymnasium
import numpy as np
import parlour.envs  # registers the environments
import torch
from agilerl.algorithms import DQN
from agilerl.components.replay_buffer import ReplayBuffer
from agilerl.training.train_off_policy import train_off_policy
from parlour.training import evaluate
from parlour.wrappers import make_policy


class Player:
    """The agent as a policy of Parlour."""

    def __init__(self, agent: DQN) -> None:
        self.agent = agent

    def act(self, observations, masks):
        """Return an action for every row: int64[N]."""
        return np.asarray(self.agent.get_action(observations, 0.0, action_mask=masks)).reshape(-1)


def main(argv=None):
    """Train; return the results against the bot before and after, in chips per hand."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--game", default="leduc")
    parser.add_argument("--against", default="random")
    parser.add_argument("--steps", type=int, default=100_000)
    parser.add_argument("--seed", type=int, default=1)
    settings = parser.parse_args(argv)
    np.random.seed(settings.seed)  # noqa: NPY002  AgileRL explores with the global generators
    torch.manual_seed(settings.seed)
    name = f"parlour/{settings.game.capitalize()}-v0"
    env = gymnasium.make_vec(name, num_envs=16, opponents=settings.against)
    agent = DQN(
        env.single_observation_space,
        env.single_action_space,
        net_config={"latent_dim": 64, "encoder_config": {"hidden_size": [128]}, "head_config": {"hidden_size": [64]}},
        batch_size=256,
        lr=5e-4,
        learn_step=16,
        gamma=1.0,
        tau=5e-3,
    )
    game = parlour.envs.game(settings.game)
    against = [make_policy(settings.against, game)]
    before, begin = evaluate(Player(agent), game, against, deals=2_000), time.perf_counter()
    train_off_policy(
        env,
        name,
        "DQN",
        [agent],
        ReplayBuffer(20_000),
        max_steps=settings.steps,
        evo_steps=settings.steps,
        eval_steps=1,
        learning_delay=1_000,
        eps_decay=0.999,
        eps_end=0.1,
        verbose=False,
    )
    print(f"{settings.steps} steps, {settings.steps / (time.perf_counter() - begin):,.0f} steps/s")
    after = evaluate(Player(agent), game, against, deals=2_000)
    print(f"against {settings.against}: {before} before, {after} after")
    return before, after


if __name__ == "__main__":
    main()
