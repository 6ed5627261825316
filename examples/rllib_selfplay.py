"""Self-play with RLlib's PPO against its own checkpoints, then games against the random bot.

pip install 'parlour[rllib]'
python examples/rllib_selfplay.py
"""

import argparse
import os

import numpy as np
import ray
import torch
from parlour.envs import game as make_game
from parlour.training import evaluate
from parlour.wrappers import make_policy
from parlour.wrappers.rllib import MAIN, rllib_config


class Player:
    """A module of RLlib as a policy of Parlour."""

    def __init__(self, module) -> None:
        self.module = module

    @torch.no_grad()
    def act(self, observations, masks):
        """Return an action for every row, drawn from the policy: int64[N]."""
        seen = {"observations": torch.as_tensor(observations), "action_mask": torch.as_tensor(masks.astype(np.float32))}
        logits = self.module.forward_inference({"obs": seen})["action_dist_inputs"]
        return torch.multinomial(logits.softmax(-1), 1).squeeze(1).numpy()


def main(argv=None):
    """Train, and play against a bot before and after; return the two scores."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--game", default="leduc")
    parser.add_argument("--iterations", type=int, default=12)
    settings = parser.parse_args(argv)
    os.environ.setdefault("RAY_AUTH_MODE", "disabled")
    ray.init(num_cpus=1, include_dashboard=False)
    torch.manual_seed(0)
    game = make_game(settings.game)
    opponents = [make_policy("random", game)]
    try:
        algorithm = rllib_config(settings.game, checkpoint_every=4).debugging(seed=0).build_algo()
        before = evaluate(Player(algorithm.get_module(MAIN)), game, opponents, deals=1_000)
        for _ in range(settings.iterations):
            result = algorithm.train()
            runners = result["env_runners"]
            rate = runners["num_env_steps_sampled"] / result["time_this_iter_s"]
            returns = {agent: round(float(gain), 2) for agent, gain in sorted(runners["seat_returns"].items())}
            print(f"{result['checkpoints']} checkpoints  {rate:,.0f} steps/s  returns {returns}", flush=True)
        after = evaluate(Player(algorithm.get_module(MAIN)), game, opponents, deals=1_000)
        algorithm.stop()
    finally:
        ray.shutdown()
    print(f"against random: {before} before, {after} after")
    return before, after


if __name__ == "__main__":
    main()
