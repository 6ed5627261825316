"""PPO with self-play in one file, in the style of CleanRL: the starting point for an algorithm of your own.

One policy plays every seat of many tables and learns from every decision. Each seat has credit of its own: the reward
of a decision is all that its seat gains until it decides again, and the value that follows is that of its own next
decision. The tables, the masks and the credit are what differs from PPO for one agent.

    python examples/ppo.py                              # Leduc hold'em, some seconds
    python examples/ppo.py --game holdem --options seats=2 --total-steps 5000000
"""

import argparse
import json
import time

import numpy as np
import torch
from parlour.envs import Game, VectorGame
from parlour.envs import game as make_game
from parlour.training import evaluate
from parlour.wrappers import make_policy
from torch import nn
from torch.nn.functional import mse_loss


class Network(nn.Module):
    """Logits of the actions and a value estimate; `act` makes it a policy that all of Parlour can play."""

    def __init__(self, game: Game, width: int = 128) -> None:
        super().__init__()
        self.body = nn.Sequential(nn.Linear(game.layout.size, width), nn.Tanh(), nn.Linear(width, width), nn.Tanh())
        self.actor, self.critic = nn.Linear(width, game.num_actions), nn.Linear(width, 1)
        for layer, gain in ((self.body[0], 2**0.5), (self.body[2], 2**0.5), (self.actor, 0.01), (self.critic, 1.0)):
            nn.init.orthogonal_(layer.weight, gain)
            nn.init.zeros_(layer.bias)

    def forward(self, observations, masks):
        """Return the log probabilities of the actions, [N, A], −inf where masked, and the values [N]."""
        hidden = self.body(observations)
        logits = self.actor(hidden).masked_fill(masks == 0, -torch.inf)
        return logits.log_softmax(-1), self.critic(hidden).squeeze(-1)

    @torch.no_grad()
    def act(self, observations, masks):
        """Return an action for every row, drawn from the policy: int64[N]."""
        log_probs, _ = self(torch.as_tensor(observations), torch.as_tensor(masks))
        return torch.multinomial(log_probs.exp(), 1).squeeze(1).numpy()


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
    steps, tables = turn.shape
    rows = np.arange(tables)
    advantages = np.zeros((steps, tables), np.float32)
    value = last_values.copy()  # of each seat, after the step
    gained, advantage = np.zeros_like(value), np.zeros_like(value)
    for t in reversed(range(steps)):
        for array in (gained, value, advantage):
            array[dones[t]] = 0
        gained += rewards[t]
        seat = rows, turn[t]
        error = gained[seat] + gamma * value[seat] - values[t]
        advantages[t] = error + gamma * gae_lambda * advantage[seat]
        advantage[seat] = np.nan_to_num(advantages[t])
        value[seat], gained[seat] = values[t], 0
    return advantages


def collect(tables, network, steps):
    """Play `steps` decisions on every table; return the rollout as arrays [T, N, …]."""
    n, seats = tables.num_envs, tables.game.seats
    seen = np.empty((steps, n, tables.observations.shape[1]), np.float32)
    masks = np.empty((steps, n, tables.game.num_actions), np.int8)
    turn, actions = (np.empty((steps, n), np.int64) for _ in range(2))
    log_probs, values = (np.empty((steps, n), np.float32) for _ in range(2))
    rewards, dones = np.empty((steps, n, seats), np.float32), np.empty((steps, n), np.bool_)
    for t in range(steps):
        seen[t], masks[t], turn[t] = tables.observations, tables.action_masks, tables.turn
        with torch.no_grad():
            log_prob, value = network(torch.from_numpy(seen[t]), torch.from_numpy(masks[t]))
            action = torch.multinomial(log_prob.exp(), 1)
            log_probs[t], values[t] = log_prob.gather(1, action).squeeze(1).numpy(), value.numpy()
        actions[t] = action.squeeze(1).numpy()
        tables.step(actions[t])
        rewards[t], dones[t] = tables.rewards / tables.game.payoffs.unit, tables.dones
    return seen, masks, turn, actions, log_probs, values, rewards, dones


@torch.no_grad()
def values_of_seats(tables, network):
    """Return the values of the seats at the tables as they are, float32[N, seats]; nan: not known.

    The critic learns from decisions alone, so it says nothing about a seat that waits, unless that one loses what the
    other wins.
    """
    seats, rows = tables.game.seats, np.arange(tables.num_envs)
    own = network.critic(network.body(torch.from_numpy(tables.observations))).squeeze(-1).numpy()
    values = np.full((len(rows), seats), np.nan, np.float32)
    if seats == 2 and tables.game.payoffs.zero_sum:
        values[rows, 1 - tables.turn] = -own
    values[rows, tables.turn] = own
    return values


def update(network, optimizer, batch, settings):
    """Take `epochs` passes of clipped PPO over a batch of tensors with rows of decisions."""
    seen, masks, actions, old_log_probs, advantages, returns = batch
    for _ in range(settings.epochs):
        for rows in torch.randperm(len(actions)).split(settings.minibatch):
            log_probs, values = network(seen[rows], masks[rows])
            chosen = log_probs.gather(1, actions[rows, None]).squeeze(1)
            ratio = (chosen - old_log_probs[rows]).exp()
            scaled = (advantages[rows] - advantages[rows].mean()) / (advantages[rows].std() + 1e-8)
            clipped = ratio.clamp(1 - settings.clip, 1 + settings.clip)
            policy_loss = -torch.min(ratio * scaled, clipped * scaled).mean()
            entropy = -(log_probs.exp() * log_probs.clamp(min=-50)).sum(-1).mean()
            loss = policy_loss + 0.5 * mse_loss(values, returns[rows]) - settings.entropy * entropy
            optimizer.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(network.parameters(), 0.5)
            optimizer.step()


def train(network, game, settings):
    """Train a network by self-play; print the rate after every tenth of the steps."""
    tables = VectorGame(game, settings.tables)
    tables.reset(seed=settings.seed)
    optimizer = torch.optim.Adam(network.parameters(), settings.learning_rate, eps=1e-5)
    size = settings.tables * settings.steps
    updates = max(1, settings.total_steps // size)
    begin = time.perf_counter()
    for number in range(1, updates + 1):
        seen, masks, turn, actions, log_probs, values, rewards, dones = collect(tables, network, settings.steps)
        last_values = values_of_seats(tables, network)
        gains = advantages_per_seat(turn, rewards, dones, values, last_values, settings.gamma, settings.gae_lambda)
        known = ~np.isnan(gains)
        rows = [part[known] for part in (seen, masks, actions, log_probs, gains, gains + values)]
        update(network, optimizer, [torch.from_numpy(part) for part in rows], settings)
        if number % max(1, updates // 10) == 0 or number == updates:
            rate = number * size / (time.perf_counter() - begin)
            print(f"{number * size:>10,} steps  {rate:>8,.0f} steps/s", flush=True)


def parse(argv=None):
    """Return the settings of the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--game", default="leduc")
    parser.add_argument("--options", nargs="*", default=[], help="options of the game, such as seats=2")
    parser.add_argument("--against", default="random", help="the bot to play against at the end")
    parser.add_argument("--total-steps", type=int, default=200_000)
    parser.add_argument("--tables", type=int, default=256)
    parser.add_argument("--steps", type=int, default=32, help="decisions per table and update")
    parser.add_argument("--epochs", type=int, default=2)
    parser.add_argument("--minibatch", type=int, default=2048)
    parser.add_argument("--learning-rate", type=float, default=1e-3)
    parser.add_argument("--gamma", type=float, default=1.0)
    parser.add_argument("--gae-lambda", type=float, default=0.95)
    parser.add_argument("--clip", type=float, default=0.2)
    parser.add_argument("--entropy", type=float, default=0.01)
    parser.add_argument("--seed", type=int, default=0)
    return parser.parse_args(argv)


def main(argv=None):
    """Train, and play against a bot before and after; return the two scores."""
    settings = parse(argv)
    torch.manual_seed(settings.seed)
    torch.set_num_threads(1)  # faster for small networks
    options = {key: json.loads(value) for key, value in (option.split("=") for option in settings.options)}
    game = make_game(settings.game, **options)
    network = Network(game)
    opponent = make_policy(settings.against, game)
    before = evaluate(network, game, [opponent], deals=2_000)
    train(network, game, settings)
    after = evaluate(network, game, [opponent], deals=2_000)
    print(f"against {settings.against}: {before} before, {after} after")
    return before, after


if __name__ == "__main__":
    main()
