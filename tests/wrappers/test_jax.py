"""Games as pure functions of JAX: the bytes of `VectorGame`, compiled, in loops, and mapped."""

import subprocess
import sys

import numpy as np
import pytest

pytest.importorskip("jax", reason="it is missing: make frameworks")

import jax
import jax.numpy as jnp
from parlour.envs import VectorGame, game
from parlour.wrappers.jax import JaxGame

TABLES = 3


def recorded(tables, steps):
    """Return the actions of random play, int32[T, N], and what they bring: rewards and ends of every step."""
    actions, outcomes = [], []
    for step in range(steps):
        chosen = tables.sample()
        if step % 7 == 3:
            chosen[step % tables.num_envs] = -1
        tables.step(chosen)
        actions.append(chosen.astype(np.int32))
        outcomes.append((tables.rewards.copy(), tables.dones.copy(), np.zeros_like(tables.dones)))
    return np.array(actions), [np.array(part) for part in zip(*outcomes, strict=True)]


def same_tables(env, state, tables):
    assert env.records(state).tobytes() == tables.tables.tobytes()
    assert np.asarray(state.observation).tobytes() == tables.observations.tobytes()
    assert np.asarray(state.legal_action_mask).tobytes() == tables.action_masks.tobytes()
    assert np.array_equal(state.current_player, tables.turn)


def test_it_gives_the_bytes_of_the_tables(case):
    if case[0] == "nim-v0":
        pytest.skip("its functions are not compiled")
    made = game(case[0], **case[1])
    env, tables, key = JaxGame(made), VectorGame(made, TABLES), jax.random.key(7)
    tables.reset(seed=env.seeds(key, TABLES).tolist())
    state = jax.jit(env.init, static_argnums=1)(key, TABLES)
    same_tables(env, state, tables)
    assert not np.asarray(state.rewards).any()
    actions, outcomes = recorded(tables, 300)

    @jax.jit
    def play(state, actions):
        def step(state, action):
            state = env.step(state, action)
            return state, (state.rewards, state.terminated, state.truncated)

        return jax.lax.scan(step, state, actions)

    after, played = play(state, actions)
    same_tables(env, after, tables)
    for ours, theirs in zip(played, outcomes, strict=True):
        assert np.asarray(ours).tobytes() == theirs.tobytes()


def test_seeds_differ_by_key_and_table():
    env = JaxGame("kuhn")
    drawn = np.stack([env.seeds(jax.random.key(seed), 500) for seed in range(3)])
    assert len(np.unique(drawn)) == drawn.size
    assert drawn.max() > 2**60
    with pytest.raises(ValueError, match="num_envs is 0"):
        env.init(jax.random.key(0), 0)


def test_an_axis_of_vmap_is_one_of_tables():
    env, keys = JaxGame("leduc"), jax.random.split(jax.random.key(2), 4)

    def play(key, num_envs, steps):
        state = env.init(key, num_envs)

        def step(state, _):
            state = env.step(state, jnp.argmax(state.legal_action_mask, -1))
            return state, state.rewards

        return jax.lax.scan(step, state, length=steps)

    one, gains = play(keys[1], None, 20)
    assert one.current_player.shape == ()
    assert one.legal_action_mask.shape == (env.game.num_actions,)
    all_, all_gains = jax.jit(jax.vmap(lambda key: play(key, None, 20)))(keys)
    assert all_gains.shape == (4, 20, 2)
    assert np.array_equal(all_gains[1], gains)
    assert all(map(np.array_equal, jax.tree.leaves(one), [array[1] for array in jax.tree.leaves(all_)]))
    several, _ = jax.vmap(lambda key: play(key, 3, 5))(keys)
    alone, _ = play(keys[2], 3, 5)
    assert all(map(np.array_equal, jax.tree.leaves(alone), [array[2] for array in jax.tree.leaves(several)]))
    same = env.init(keys[0])
    tried = jax.vmap(env.step, in_axes=(None, 0))(same, jnp.flatnonzero(same.legal_action_mask))
    for action, records in zip(jnp.flatnonzero(same.legal_action_mask), tried.records, strict=True):
        assert np.array_equal(env.step(same, action).records, records)


@pytest.mark.parametrize(("action", "table"), [(2**31 - 1, 299), (-7, 0), (3, 20), (2, 256)])
def test_an_illegal_action_is_an_error_that_names_it(action, table):
    env = JaxGame("leduc")
    state = env.init(jax.random.key(4), 300)
    legal = np.asarray(state.legal_action_mask)
    actions = np.argmax(legal, -1)
    actions[table] = action if action != 2 else np.flatnonzero(~legal[table])[0]
    with pytest.raises(Exception, match=f"action {actions[table]} is not legal at table {table}"):
        jax.block_until_ready(env.step(state, actions))


def test_a_game_that_is_not_compiled_is_refused():
    with pytest.raises(ValueError, match="nim are not compiled"):
        JaxGame("nim")


def test_an_action_of_64_bits_does_not_become_a_legal_one():
    code = (
        "import jax, jax.numpy as jnp; from parlour.wrappers.jax import JaxGame\n"
        "jax.config.update('jax_enable_x64', True)\n"
        "env = JaxGame('kuhn'); jax.block_until_ready(env.step(env.init(jax.random.key(0), 2), jnp.full(2, 2**32)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode and "is not legal at table" in done.stderr
