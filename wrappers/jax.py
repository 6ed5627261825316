"""Games as pure functions of JAX (https://docs.jax.dev), for `jit`, `scan` and `vmap`, in the form of Pgx.

    env = JaxGame("leduc")
    state = env.init(jax.random.key(0), 4096)
    state = env.step(state, action)

XLA calls the compiled functions of `VectorGame` on its own arrays: machine code of the CPU, or kernels on an NVIDIA
GPU. Needs the extra ``jax``; on a GPU also JAX's CUDA build and the extra ``cuda``.
"""

from __future__ import annotations  # the documentation is built without JAX

from collections.abc import Iterator
from dataclasses import dataclass, fields
from functools import cache
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from numpy.typing import NDArray

from ..envs import Game
from ..envs.core import xla
from ..envs.core.plain_start import PLAIN_START
from ..envs.core.registry import as_game

LARGEST = 2**31 - 1
"""The largest number of an action's dtype, int32."""


@dataclass(frozen=True)
class State:
    """Tables after a decision; "…" is one axis of tables, none, or those of `vmap`.

    A finished table begins its next episode in the same step, as in `VectorGame`: `rewards`, `terminated` and
    `truncated` belong to the episode that ended, the other fields to the one that began.

    Attributes:
        current_player: int32[…], the seat that decides next.
        observation: float32[…, D], of this seat.
        legal_action_mask: bool[…, A], of this seat.
        rewards: float32[…, seats], of the last step.
        terminated: bool[…], whether the episode ended in the last step.
        truncated: bool[…], always False; code for Pgx reads it.
        records: uint32[…, W], the bytes of the records (`JaxGame.records` shows them).
    """

    current_player: Any
    observation: Any
    legal_action_mask: Any
    rewards: Any
    terminated: Any
    truncated: Any
    records: Any


jax.tree_util.register_dataclass(State, data_fields=[one.name for one in fields(State)], meta_fields=[])


class JaxGame:
    """One game as the pure functions `init` and `step`.

    Both can be compiled, be the body of a loop, and be mapped: each axis that `vmap` adds is one of tables. They have
    no derivative. Inside a compiled loop `step` writes the arrays of the state in place. On the CPU one thread of XLA
    steps all tables of a device.

    Args:
        game: the game with its options, or its name.
        encoder: name of the encoder of the observations; None: the game's own encoder.
        options: the game's, where it is named.

    Attributes:
        game: the game.
        encoder: the name of the encoder.

    Raises:
        UnexpectedOption: for an unknown option. It is a TypeError and a ValueError.
        ValueError: for an unknown game or encoder, or one whose functions are not compiled.
    """

    def __init__(self, game: str | Game, encoder: str | None = None, **options: Any) -> None:
        PLAIN_START.compile_first()
        self.game = as_game(game, options)
        self.encoder = encoder or self.game.encoder
        self._begins, self._plays = xla.loops_of(self.game, self.encoder)
        self._offsets = self.game.encoders[self.encoder].layout.offsets.view(np.uint32)
        self._blank = self.game.rules.blank.view(np.ndarray).view(np.uint32)

    def init(self, key: Any, num_envs: int | None = None) -> State:
        """Begin an episode at every table.

        Args:
            key: a key of `jax.random`; `seeds` are drawn from it.
            num_envs: the number of tables; None: one table, whose arrays have no axis of tables (for `vmap` over keys).
        """
        seeds = _bits(key, num_envs)
        shape = seeds.shape[:-1]
        d, a, seats = self._begins.sizes
        at = self.game.rules.blank.dtype.fields["stream"][1] // 4  # type: ignore[index]
        empty = jnp.broadcast_to(self._blank, (*shape, self._blank.size))
        records = empty.at[..., at : at + 2].set(_first_words(seeds))
        blank = State(
            current_player=jnp.zeros(shape, jnp.int32),
            observation=jnp.zeros((*shape, d), jnp.float32),
            legal_action_mask=jnp.zeros((*shape, a), jnp.bool_),
            rewards=jnp.zeros((*shape, seats), jnp.float32),
            terminated=jnp.zeros(shape, jnp.bool_),
            truncated=jnp.zeros(shape, jnp.bool_),
            records=records,
        )
        return self._call(self._begins, blank, jnp.full(shape, -1, jnp.int32))

    def seeds(self, key: Any, num_envs: int | None = None) -> NDArray[np.uint64]:
        """Return the seeds with which `VectorGame.reset` begins the same episodes as `init`: uint64[num_envs].

        They are `jax.random.bits(key, (num_envs, 2))`, the lower half first.
        """
        bits = np.asarray(_bits(key, num_envs)).astype(np.uint64)
        return np.asarray(bits[..., 0] | bits[..., 1] << np.uint64(32))

    def step(self, state: State, action: Any) -> State:
        """Play one decision on every table.

        Args:
            state: the tables.
            action: integers […], the action indices of the seats in `current_player`; −1 leaves a table as it is, with
                rewards of 0. An illegal one is an error of the whole computation on the CPU, when its results are used.
                A GPU cannot return it: there the table stays as it is.

        Raises:
            ValueError: if the dtype or the shape is wrong.
        """
        given = jnp.asarray(action)
        if not jnp.issubdtype(given.dtype, jnp.integer):
            raise ValueError(f"actions are {given.dtype}; an integer dtype is needed")
        if given.shape != state.current_player.shape:
            tables = state.current_player.shape
            raise ValueError(f"actions have shape {given.shape}; they need one index per table: {tables}")
        if jnp.iinfo(given.dtype).max > LARGEST:  # an illegal one stays illegal in fewer bits
            given = jnp.clip(given, max(-2, jnp.iinfo(given.dtype).min), LARGEST)
        return self._call(self._plays, state, given.astype(jnp.int32))

    def records(self, state: State) -> Any:
        """Return copies of the tables' records, as in `VectorGame.tables`: a recarray of shape (…)."""
        words = np.asarray(state.records)
        return words.view(self.game.rules.blank.dtype)[..., 0].view(np.recarray)

    def _call(self, loop: xla.Loop, state: State, actions: Any) -> State:
        arrays = state.records, state.observation, state.legal_action_mask, state.current_player
        outcome = state.rewards, state.terminated
        results = [jax.ShapeDtypeStruct(one.shape, one.dtype) for one in (*arrays, *outcome)]
        in_place = {number: number for number in range(len(arrays))}
        call = jax.ffi.ffi_call(_target(loop), results, vmap_method="broadcast_all", input_output_aliases=in_place)
        records, observation, mask, player, rewards, terminated = call(*arrays, actions, self._offsets)
        return State(player, observation, mask, rewards, terminated, state.truncated, records)


_KNOWN: set[str] = set()
"""The names that XLA knows."""


@cache
def _target(loop: xla.Loop) -> str:
    """Let XLA know what plays with a loop, on the CPU, and on a GPU if JAX calculates there; return its name.

    Raises:
        ImportError: if it is on a GPU and the extra `cuda` is not installed.
        RuntimeError: if this GPU is not NVIDIA's.
    """
    here = xla.on_the_cpu(loop)
    if here.name in _KNOWN:  # the same function of a module that was loaded again
        return here.name
    _KNOWN.add(here.name)
    jax.ffi.register_ffi_target(here.name, jax.ffi.pycapsule(here.address), platform="cpu")
    if jax.default_backend() == "gpu":
        from ..envs.core.cuda.xla import on_the_gpu

        there = on_the_gpu(loop)
        jax.ffi.register_ffi_target(there.name, jax.ffi.pycapsule(there.address), platform="CUDA")
    return here.name


def _bits(key: Any, num_envs: int | None) -> Any:
    """Return the two halves of every table's seed, the lower one first: uint32[…, 2]."""
    if num_envs is not None and num_envs < 1:
        raise ValueError(f"num_envs is {num_envs}; it must be at least 1")
    return jax.random.bits(key, (2,) if num_envs is None else (num_envs, 2), jnp.uint32)


def _first_words(seeds: Any) -> Any:
    """Return the first words of the tables' streams, as `rng.streams` does: those of NumPy's SeedSequence(seed).

    Args:
        seeds: uint32[…, 2].

    Returns:
        uint32[…, 2], the lower half first.
    """
    steps = _powers(0x43B0D7E5, 0x931E8875)
    pool = [_hashed(seeds[..., 0], *next(steps)), _hashed(seeds[..., 1], *next(steps))]
    pool += [_hashed(jnp.zeros_like(pool[0]), *next(steps)) for _ in range(2)]
    for source in range(4):
        for target in range(4):
            if source != target:
                other = _hashed(pool[source], *next(steps)) * np.uint32(0x4973F715)
                mixed = pool[target] * np.uint32(0xCA01F9DD) - other
                pool[target] = mixed ^ mixed >> 16
    steps = _powers(0x8B51F9DD, 0x58F38DED)
    return jnp.stack([_hashed(pool[0], *next(steps)), _hashed(pool[1], *next(steps))], axis=-1)


def _powers(constant: int, factor: int) -> Iterator[tuple[np.uint32, np.uint32]]:
    """Yield a constant and its next value, each time further."""
    while True:
        following = constant * factor % 2**32
        yield np.uint32(constant), np.uint32(following)
        constant = following


def _hashed(value: Any, constant: np.uint32, following: np.uint32) -> Any:
    value = (value ^ constant) * following
    return value ^ value >> 16
