"""Self-play in one compiled program of JAX: play, the credit of each seat, gradients and updates are one `lax.scan`.

One network plays both seats of many tables of Leduc hold'em and learns by policy gradients with a baseline, with less
and less entropy. How far it is from an equilibrium is calculated exactly, before and after. It needs the extra `jax`.

    python examples/jax_leduc.py                       # half a minute on one core
    python examples/jax_leduc.py --game kuhn --updates 300
"""

import argparse
import time

import jax
import jax.numpy as jnp
import numpy as np
from jax.example_libraries.optimizers import adam, clip_grads
from parlour.training import evaluate, flat_tree, nash_conv
from parlour.wrappers import make_policy
from parlour.wrappers.jax import JaxGame

TABLES, STEPS, WIDTH = 256, 32, 64
LEARNING_RATE, ENTROPY, LEAST_ENTROPY = 3e-3, 0.5, 0.02
"""The weight of the entropy falls to the least one."""


def network(key, inputs, actions, width):
    """Return the parameters of a network with two hidden layers: layers of weights and biases."""
    shapes = (inputs, width), (width, width), (width, actions + 1)
    keys = jax.random.split(key, len(shapes))
    return [
        (scale * jax.random.normal(part, shape) / shape[0] ** 0.5, jnp.zeros(shape[1]))
        for part, shape, scale in zip(keys, shapes, (1.5, 1.5, 0.01), strict=True)
    ]


def policy(parameters, observation, mask):
    """Return the log probabilities of the actions, float32[..., A], and the value, float32[...]."""
    *layers, (weights, bias) = parameters
    for matrix, offset in layers:
        observation = jnp.tanh(observation @ matrix + offset)
    out = observation @ weights + bias
    return jax.nn.log_softmax(jnp.where(mask, out[..., :-1], -1e9)), out[..., -1]


def rollout(env, parameters, state, key, steps):
    """Play `steps` decisions on every table; return the tables, and the decisions as arrays [T, N, …]."""

    def decide(state, key):
        log_probs, _ = policy(parameters, state.observation, state.legal_action_mask)
        action = jax.random.categorical(key, log_probs)
        after = env.step(state, action)
        seen = state.current_player, state.observation, state.legal_action_mask
        return after, (*seen, action, after.rewards, after.terminated | after.truncated)

    return jax.lax.scan(decide, state, jax.random.split(key, steps))


def gains_per_seat(player, rewards, done):
    """Return what the seat of each decision gains until the end of the episode, float32[T, N], and whether it ended."""

    def before(after, step):
        gains, ended = after
        player, rewards, done = step
        gains = jnp.where(done[:, None], 0, gains) + rewards
        ended |= done
        return (gains, ended), (jnp.take_along_axis(gains, player[:, None], 1)[:, 0], ended)

    blank = jnp.zeros(rewards.shape[1:]), jnp.zeros(done.shape[1:], jnp.bool_)
    return jax.lax.scan(before, blank, (player, rewards, done), reverse=True)[1]


def loss(parameters, decisions, entropy_weight):
    """Return the loss of a rollout, over the decisions whose episodes have ended."""
    player, observation, mask, action, rewards, done = decisions
    log_probs, value = policy(parameters, observation, mask)
    gain, ended = gains_per_seat(player, rewards, done)
    chosen = jnp.take_along_axis(log_probs, action[..., None], -1)[..., 0]
    entropy = -jnp.sum(jnp.exp(log_probs) * log_probs, -1)
    each = -chosen * jax.lax.stop_gradient(gain - value) - entropy_weight * entropy + 0.25 * (gain - value) ** 2
    return jnp.sum(each * ended) / jnp.maximum(jnp.sum(ended), 1)


def trainer(env, settings):
    """Return the whole training as a function that JAX compiles: parameters and a key to parameters."""

    def left(number):
        return 1 - number / settings.updates

    begun, take_step, parameters_of = adam(lambda number: LEARNING_RATE * (0.05 + 0.95 * left(number)))

    def update(learner, step):
        optimizer, state = learner
        number, key = step
        parameters = parameters_of(optimizer)
        state, decisions = rollout(env, parameters, state, key, STEPS)
        gradients = jax.grad(loss)(parameters, decisions, ENTROPY * left(number) + LEAST_ENTROPY)
        return (take_step(number, clip_grads(gradients, 1.0), optimizer), state), None

    def train(parameters, key):
        key, first = jax.random.split(key)
        steps = jnp.arange(settings.updates), jax.random.split(key, settings.updates)
        (optimizer, _), _ = jax.lax.scan(update, (begun(parameters), env.init(first, TABLES)), steps)
        return parameters_of(optimizer)

    return jax.jit(train)


class Player:
    """The network as a policy that all of Parlour can play."""

    def __init__(self, parameters, seed=0):
        self._policy = jax.jit(lambda observation, mask: jnp.exp(policy(parameters, observation, mask)[0]))
        self._random = np.random.default_rng(seed)

    def probabilities(self, observations, masks):
        """Return how likely each action is, 0 where masked: float64[N, A]."""
        chances = np.asarray(self._policy(observations, masks != 0), np.float64)
        return chances / chances.sum(-1, keepdims=True)

    def act(self, observations, masks):
        """Return an action for every row, drawn from the policy: int64[N]."""
        sums = self.probabilities(observations, masks).cumsum(-1)
        return (sums < self._random.random((len(sums), 1))).sum(-1)


def main(argv=None):
    """Train; return NashConv and the score against the random bot, each before and after."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--game", default="leduc", help="a game with exact answers: kuhn, leduc, liars_dice")
    parser.add_argument("--updates", type=int, default=1_000)
    parser.add_argument("--seed", type=int, default=0)
    settings = parser.parse_args(argv)
    env = JaxGame(settings.game)
    key, first = jax.random.split(jax.random.key(settings.seed))
    parameters = network(first, env.game.layout.size, env.game.num_actions, WIDTH)
    train = trainer(env, settings).lower(parameters, key).compile()
    begun = time.perf_counter()
    learned = jax.block_until_ready(train(parameters, key))
    decisions = settings.updates * TABLES * STEPS
    print(f"{decisions:,} decisions, {decisions / (time.perf_counter() - begun):,.0f} steps/s")
    players = Player(parameters), Player(learned)
    tree, opponent = flat_tree(env.game), make_policy("random", env.game)
    distances = [nash_conv(tree, tree.strategy_of(player)) for player in players]
    scores = [evaluate(player, env.game, [opponent], deals=2_000) for player in players]
    print(f"NashConv {distances[0]:.2f} before, {distances[1]:.2f} after")
    print(f"against random: {scores[0]} before, {scores[1]} after")
    return distances, scores


if __name__ == "__main__":
    main()
