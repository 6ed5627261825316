"""Decisions per second of tables in a compiled loop of JAX, beside `VectorGame`."""

from collections.abc import Callable
from typing import Any

import numpy as np
from parlour.envs import VectorGame
from parlour.envs import game as make_game
from parlour.envs.core.installed import install

from .base import Row, Seconds, rates, ratios

STEPS = 64
"""Decisions per table in a compiled loop."""


def jax_tables(seconds: Seconds) -> list[Row]:
    """Compare `JaxGame.step` in a `scan` with `VectorGame.step`: the same tables and actions, drawn before."""
    try:
        from parlour.wrappers.jax import JaxGame
    except ImportError:
        return [Row("jax", "tables in a loop of JAX", None, "decisions/s", note=f"not installed: {install('jax')}")]
    rows = []
    for name, count, options in (("holdem", 1_024, {"seats": 2}), ("leduc", 4_096, {})):
        game = make_game(name, **options)
        ours, theirs = rates(*_replays(JaxGame(game), VectorGame(game, count)), seconds=seconds)
        what = f"{name}, {count:,} tables in a loop of JAX"
        note = f"a scan of {STEPS} steps and VectorGame, in turns: the same actions, drawn before"
        rows += [
            Row.of(f"jax-{name}", what, ours, "decisions/s"),
            Row.of(f"jax-{name}-ratio", "— beside VectorGame", ratios(ours, theirs), "times", 0.9, note=note),
        ]
    return rows


def _replays(env: Any, tables: VectorGame) -> tuple[Callable[[], int], Callable[[], int]]:
    """Return functions that play `STEPS` decisions on every table, by JAX and without, each time the same ones."""
    import jax as library

    jax: Any = library  # not all of it has types
    count, key = tables.num_envs, jax.random.key(0)
    state = env.init(key, count)
    tables.reset(seed=env.seeds(key, count).tolist())
    changed: tuple[Any, ...] = tables.tables.view(np.ndarray), tables.action_masks, tables.turn
    first = [array.copy() for array in changed]
    actions = np.empty((STEPS, count), np.int64)
    for step in range(STEPS):
        actions[step] = tables.sample()
        tables.step(actions[step])
    given = jax.numpy.asarray(actions.astype(np.int32))
    replayed = jax.jit(lambda start, actions: jax.lax.scan(lambda now, a: (env.step(now, a), None), start, actions)[0])

    def by_jax() -> int:
        jax.block_until_ready(replayed(state, given))
        return STEPS * count

    def without() -> int:
        for array, start in zip(changed, first, strict=True):
            array[:] = start
        for chosen in actions:
            tables.step(chosen)
        return STEPS * count

    return by_jax, without
