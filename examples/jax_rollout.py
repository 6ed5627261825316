"""Tables in a compiled loop of JAX: the policy is JAX, the tables are stepped by a callback on the processor.

`io_callback` leaves the compiled program at every step, so the tables cost what they cost without JAX, and a copy of
their arrays both ways. This program prints both rates. It trains nothing.

    pip install parlour jax
    python examples/jax_rollout.py
"""

import argparse
import time

import jax
import jax.numpy as jnp
import numpy as np
from jax.experimental import io_callback
from parlour.envs import VectorGame, game


class JaxTables:
    """The tables as functions that JAX can compile a loop around. The state stays in the tables."""

    def __init__(self, tables: VectorGame) -> None:
        self.tables = tables
        self.shapes = jax.tree.map(lambda array: jax.ShapeDtypeStruct(array.shape, array.dtype), self._arrays())

    def _arrays(self):
        tables = self.tables
        arrays = {"observation": tables.observations, "mask": tables.action_masks, "turn": tables.turn.astype(np.int32)}
        return {
            name: array.copy() for name, array in {**arrays, "rewards": tables.rewards, "done": tables.dones}.items()
        }

    def reset(self, seed):
        """Begin an episode on every table; return the arrays of the tables."""
        self.tables.reset(seed=seed)
        return jax.tree.map(jnp.asarray, self._arrays())

    def step(self, actions):
        """Play one decision on every table, inside or outside compiled code; return the arrays after it."""
        return io_callback(self._step, self.shapes, actions, ordered=True)

    def _step(self, actions):
        self.tables.step(np.asarray(actions))
        return self._arrays()


def policy(parameters, seen):
    """Return the logits of the actions, −inf where masked."""
    hidden = jnp.tanh(seen["observation"] @ parameters["in"])
    return jnp.where(seen["mask"] != 0, hidden @ parameters["out"], -jnp.inf)


def main(argv=None):
    """Play rollouts; return the last one, arrays [T, N, …], and the two rates in decisions per second."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--game", default="leduc")
    parser.add_argument("--tables", type=int, default=1024)
    parser.add_argument("--steps", type=int, default=200)
    settings = parser.parse_args(argv)
    made = game(settings.game)
    env = JaxTables(VectorGame(made, settings.tables))
    random = np.random.default_rng(0)
    sizes = {"in": (made.layout.size, 64), "out": (64, made.num_actions)}
    parameters = {name: jnp.asarray(random.normal(size=size, scale=0.1), jnp.float32) for name, size in sizes.items()}

    @jax.jit
    def rollout(parameters, seen, key):
        def decide(seen, key):
            actions = jax.random.categorical(key, policy(parameters, seen))
            after = env.step(actions)
            return after, {**seen, "action": actions, "rewards": after["rewards"], "done": after["done"]}

        return jax.lax.scan(decide, seen, jax.random.split(key, settings.steps))

    seen, _ = jax.block_until_ready(rollout(parameters, env.reset(1), jax.random.key(0)))  # compiles
    begin = time.perf_counter()
    seen, played = jax.block_until_ready(rollout(parameters, seen, jax.random.key(1)))
    with_jax = settings.tables * settings.steps / (time.perf_counter() - begin)
    env.tables.step(env.tables.sample())  # loads its compiled code
    begin = time.perf_counter()
    for _ in range(settings.steps):
        env.tables.step(env.tables.sample())
    alone = settings.tables * settings.steps / (time.perf_counter() - begin)
    print(
        f"{with_jax:,.0f} steps/s with a policy of JAX in one compiled loop, {alone:,.0f} for random play without JAX"
    )
    return played, with_jax, alone


if __name__ == "__main__":
    main()
