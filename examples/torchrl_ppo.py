"""PPO with self-play in TorchRL: its modules, its estimator and its loss on `parlour.wrappers.torchrl.Tables`.

pip install 'parlour[train,torchrl]'
python examples/torchrl_ppo.py
"""

import argparse
import time

import torch
from parlour.envs import game as make_game
from parlour.training import evaluate
from parlour.wrappers import make_policy
from parlour.wrappers.torchrl import Tables
from tensordict.nn import TensorDictModule
from torch import nn
from torchrl.modules import MaskedCategorical, ProbabilisticActor, ValueOperator
from torchrl.objectives import ClipPPOLoss
from torchrl.objectives.value import GAE

ACTION, LOG_PROB, VALUE = ("agents", "action"), ("agents", "log_prob"), ("agents", "value")
SEEN, MASK, LOGITS = ("agents", "observation"), ("agents", "action_mask"), ("agents", "logits")
TABLES, STEPS = 128, 64
KEYS = {name: ("agents", name) for name in ("reward", "done", "terminated")} | {"value": VALUE}


class Player:
    """The network as a policy of Parlour."""

    def __init__(self, network: nn.Module) -> None:
        self.network = network

    @torch.no_grad()
    def act(self, observations, masks):
        """Return an action for every row, drawn from the policy: int64[N]."""
        logits = self.network(torch.as_tensor(observations)).masked_fill(torch.as_tensor(masks) == 0, -torch.inf)
        return torch.multinomial(logits.softmax(-1), 1).squeeze(1).numpy()


def mlp(inputs, outputs):
    """Return a network with two hidden layers."""
    return nn.Sequential(nn.Linear(inputs, 128), nn.Tanh(), nn.Linear(128, 128), nn.Tanh(), nn.Linear(128, outputs))


def collect(env, actor, state, steps):
    """Play `steps` decisions on every table; return them [N, T], and the state after them."""
    played = []
    for _ in range(steps):
        with torch.no_grad():
            data, state = env.step_and_maybe_reset(actor(state))
        for end in ("done", "terminated"):  # of every seat: the episode ends for all at once
            data["next", "agents", end] = data["next", end].unsqueeze(1).expand_as(data["next", "agents", "reward"])
        played.append(data)
    return torch.stack(played, 1), state


def train(network, game, settings):
    """Train the network by self-play on all seats."""
    env = Tables(game, TABLES, seed=settings.seed)
    actor = ProbabilisticActor(
        TensorDictModule(network, in_keys=[SEEN], out_keys=[LOGITS]),
        in_keys={"logits": LOGITS, "mask": MASK},
        out_keys=[ACTION],
        distribution_class=MaskedCategorical,
        return_log_prob=True,
        log_prob_key=LOG_PROB,
    )
    critic = ValueOperator(mlp(game.layout.size, 1), in_keys=[SEEN], out_keys=[VALUE])
    loss = ClipPPOLoss(actor, critic, entropy_coeff=0.01, critic_coeff=0.5)
    loss.set_keys(**KEYS, action=ACTION, sample_log_prob=LOG_PROB)
    advantage = GAE(gamma=1.0, lmbda=0.95, value_network=critic)
    advantage.set_keys(**KEYS)
    optimizer = torch.optim.Adam(loss.parameters(), 1e-3)
    state, begin, size = env.reset(), time.perf_counter(), TABLES * STEPS
    for done in range(size, settings.total_steps + 1, size):
        batch, state = collect(env, actor, state, STEPS)
        with torch.no_grad():
            advantage(batch)
        rows = batch.reshape(-1)
        for _ in range(2):
            for chosen in torch.randperm(len(rows)).split(1024):
                parts = loss(rows[chosen])
                optimizer.zero_grad()
                sum(parts[key] for key in ("loss_objective", "loss_critic", "loss_entropy")).backward()
                nn.utils.clip_grad_norm_(loss.parameters(), 0.5)
                optimizer.step()
        print(f"{done:>9,} steps  {done / (time.perf_counter() - begin):>7,.0f} steps/s", flush=True)


def main(argv=None):
    """Train, and play against a bot before and after; return the two scores."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--game", default="leduc")
    parser.add_argument("--total-steps", type=int, default=150_000)
    parser.add_argument("--seed", type=int, default=0)
    settings = parser.parse_args(argv)
    torch.manual_seed(settings.seed)
    torch.set_num_threads(1)  # faster for small networks
    game = make_game(settings.game)
    network = mlp(game.layout.size, game.num_actions)
    before = evaluate(Player(network), game, [make_policy("random", game)], deals=2_000)
    train(network, game, settings)
    after = evaluate(Player(network), game, [make_policy("random", game)], deals=2_000)
    print(f"against random: {before} before, {after} after")
    return before, after


if __name__ == "__main__":
    main()
