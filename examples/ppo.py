"""PPO with self-play in one file, in the style of CleanRL: the starting point for an algorithm of your own.

One policy plays every seat of many tables and learns from every decision. Each seat has credit of its own: the reward
of a decision is all that its seat gains until it decides again, and the value that follows is that of its own next
decision. The tables, the masks and the credit are what differs from PPO for one agent.

    python examples/ppo.py                              # Leduc hold'em, some seconds
    python examples/ppo.py --game holdem --options '{"seats": 2}' --total-steps 5000000
"""

import argparse
import json
import time

import numpy as np
import torch
from parlour import envs
from parlour.training import evaluate
from parlour.wrappers import make_policy
from torch import nn
from torch.distributions import Categorical

TABLES, STEPS, EPOCHS, MINIBATCH = 256, 32, 2, 2048
LEARNING_RATE, GAMMA, GAE_LAMBDA, CLIP, ENTROPY = 1e-3, 1.0, 0.95, 0.2, 0.01


class Network(nn.Module):
    """A distribution of the actions and a value estimate; `act` makes it a policy that all of Parlour can play."""

    def __init__(self, game: envs.Game, width: int = 128) -> None:
        super().__init__()
        self.body = nn.Sequential(nn.Linear(game.layout.size, width), nn.Tanh(), nn.Linear(width, width), nn.Tanh())
        self.actor, self.critic = nn.Linear(width, game.num_actions), nn.Linear(width, 1)
        for layer, gain in ((self.body[0], 2**0.5), (self.body[2], 2**0.5), (self.actor, 0.01), (self.critic, 1.0)):
            nn.init.orthogonal_(layer.weight, gain)

    def forward(self, observations, masks):
        """Return the distribution of the legal actions of N rows, and their values [N]."""
        hidden = self.body(torch.as_tensor(observations))
        logits = self.actor(hidden).masked_fill(torch.as_tensor(masks) == 0, -torch.inf)
        return Categorical(logits=logits), self.critic(hidden).squeeze(-1)

    @torch.no_grad()
    def act(self, observations, masks):
        """Return an action for every row, drawn from the policy: int64[N]."""
        return self(observations, masks)[0].sample().numpy()


def advantages_per_seat(turn, rewards, dones, values, last_values, gamma, gae_lambda):
    """Return generalised advantages [T, N]: a seat's step is from its decision to its next one, or to the end.

    Args:
        turn: int64[T, N], the seat that decided.
        rewards: float32[T, N, seats].
        dones: bool[T, N].
        values: float32[T, N], of the seat that decided.
        last_values: float32[N, seats], after the last step; nan: not known, so a seat's last decision has no advantage.
        gamma: discount factor.
        gae_lambda: lambda of generalised advantage estimation.
    """
    advantages = np.zeros(turn.shape, np.float32)
    value = last_values.copy()  # of each seat, after the step
    gained, advantage = np.zeros_like(value), np.zeros_like(value)
    for t in reversed(range(len(turn))):
        for array in (gained, value, advantage):
            array[dones[t]] = 0
        gained += rewards[t]
        seat = np.arange(len(gained)), turn[t]
        error = gained[seat] + gamma * value[seat] - values[t]
        advantages[t] = error + gamma * gae_lambda * advantage[seat]
        advantage[seat] = np.nan_to_num(advantages[t])
        value[seat], gained[seat] = values[t], 0
    return advantages


@torch.no_grad()
def collect(tables, network):
    """Play `STEPS` decisions on every table; return those with known advantages, as tensors with rows of decisions."""
    rows = []
    for _ in range(STEPS):
        seen, masks, turn = (part.copy() for part in (tables.observations, tables.action_masks, tables.turn))
        choice, values = network(seen, masks)
        actions = choice.sample()
        tables.step(actions.numpy())
        rewards = (tables.rewards / tables.game.payoffs.unit).astype(np.float32)
        rows.append((seen, masks, turn, actions, choice.log_prob(actions), values, rewards, tables.dones.copy()))
    seen, masks, turn, actions, log_probs, values, rewards, dones = map(np.stack, zip(*rows, strict=True))
    last_values = np.full(rewards.shape[1:], np.nan, np.float32)  # the critic never saw a seat that waits
    _, last_values[np.arange(TABLES), tables.turn] = network(tables.observations, tables.action_masks)
    advantages = advantages_per_seat(turn, rewards, dones, values, last_values, GAMMA, GAE_LAMBDA)
    known = ~np.isnan(advantages)
    columns = seen, masks, actions, log_probs, advantages, advantages + values
    return [torch.from_numpy(column[known]) for column in columns]


def update(network, optimizer, seen, masks, actions, old_log_probs, advantages, returns):
    """Take `EPOCHS` passes of clipped PPO over the decisions."""
    for _ in range(EPOCHS):
        for rows in torch.randperm(len(actions)).split(MINIBATCH):
            choice, values = network(seen[rows], masks[rows])
            ratio = (choice.log_prob(actions[rows]) - old_log_probs[rows]).exp()
            scaled = (advantages[rows] - advantages[rows].mean()) / (advantages[rows].std() + 1e-8)
            policy_loss = -torch.min(ratio * scaled, ratio.clamp(1 - CLIP, 1 + CLIP) * scaled).mean()
            loss = policy_loss + 0.5 * (values - returns[rows]).square().mean() - ENTROPY * choice.entropy().mean()
            optimizer.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(network.parameters(), 0.5)
            optimizer.step()


def train(network, game, settings):
    """Train a network by self-play; print the rate after every tenth of the steps."""
    tables = envs.VectorGame(game, TABLES)
    tables.reset(seed=settings.seed)
    optimizer = torch.optim.Adam(network.parameters(), LEARNING_RATE, eps=1e-5)
    size = TABLES * STEPS
    updates = max(1, settings.total_steps // size)
    begin = time.perf_counter()
    for number in range(1, updates + 1):
        update(network, optimizer, *collect(tables, network))
        if number % max(1, updates // 10) == 0 or number == updates:
            rate = number * size / (time.perf_counter() - begin)
            print(f"{number * size:>10,} steps  {rate:>8,.0f} steps/s", flush=True)


def main(argv=None):
    """Train, and play against a bot before and after; return the two scores."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--game", default="leduc")
    parser.add_argument("--options", type=json.loads, default={}, help="options of the game, as JSON")
    parser.add_argument("--total-steps", type=int, default=200_000)
    parser.add_argument("--seed", type=int, default=0)
    settings = parser.parse_args(argv)
    torch.manual_seed(settings.seed)
    torch.set_num_threads(1)  # faster for small networks
    game = envs.game(settings.game, **settings.options)
    network = Network(game)
    opponents = [make_policy("random", game)]
    before = evaluate(network, game, opponents, deals=2_000)
    train(network, game, settings)
    after = evaluate(network, game, opponents, deals=2_000)
    print(f"against random: {before} before, {after} after")
    return before, after


if __name__ == "__main__":
    main()
