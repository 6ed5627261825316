"""Rollouts: batches of decisions, the actors that collect them, and the engines, which say where the actors are.

The engine ``local`` plays in the learner's process, ``process`` in other processes of this machine, which gives the
same bytes; ``ray`` in a Ray cluster, ``gpu`` on the learner's GPU. The last two are modules of their own.
"""

import multiprocessing
import os
import signal
import time
from collections.abc import Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import ExitStack
from copy import deepcopy
from dataclasses import dataclass, replace
from functools import partial
from importlib import import_module
from pathlib import Path
from threading import Thread
from typing import Any, cast

import numpy as np
import torch
from numpy.typing import NDArray
from torch import nn

from ...envs import Game, compiled, streams
from ...envs import game as make_game
from ...envs.core.encoder import FULL
from ...envs.core.files import replacing
from ...wrappers.policies.base import Policy, draw
from ...wrappers.policies.mlp import MlpPolicy
from ...wrappers.rl.tables import OpponentSeats, Pool, SelfPlayTables
from .networks import Forward, build
from .settings import SelfPlayConfig

COLUMNS = ("observations", "critic_observations", "masks")
"""The arrays that `RolloutBatch.packed` stores column by column."""
BLOCK = 1024
"""Rows that are packed together, a multiple of 8: they stay in the processor's cache."""


@dataclass(frozen=True)
class Packing:
    """How the columns of a packed batch are stored: first bits, then numbers.

    Attributes:
        bits: int64[B], the columns that are 0 or 1 in every decision, in ``bits``: uint8[ceil(K / 8), B].
        numbers: int64[F], the others, in ``numbers``: float16[K, F]. Columns of the critic that equal those of the same
            place in the policy's observations are in neither.
        places: for each of `COLUMNS`, where its columns are in both together.
    """

    bits: NDArray[np.int64]
    numbers: NDArray[np.int64]
    places: tuple[NDArray[np.int64], ...]


@dataclass(frozen=True, kw_only=True)
class RolloutBatch:
    """The decisions of a rollout by one version of the policy.

    Attributes:
        version: the version of the weights that made the decisions.
        actor: the number of the actor that played.
        arrays: by name, one row per decision: observations float32[K, D], critic_observations float32[K, C],
            masks int8[K, A], log_probs float32[K, A] of all actions, actions int64[K], advantages float32[K],
            returns float32[K], and with mirror descent weights float32[K], how much likelier the other seats' play
            before it is without exploration. NumPy arrays; where the tables are on the GPU, tensors there, with the
            observations in the type in which the networks compute and with columns of zeros at their end (see
            `networks.ALIGNED`).
        rows: int64[R], the rows of the learner's decisions whose returns are known; the others are the opponents', and
            the last ones of seats that wait at the end of the rollout.
        played: the number of the learner's decisions, also of those that are not learned from.
        episodes: the number of episodes that ended.
        winnings: the sum of the learner's returns in them, in `Payoffs.unit`.
        seconds: duration of the tables' steps.
        total_seconds: duration of the rollout.
        packing: not None: `arrays` has ``bits`` and ``numbers`` in place of observations and masks, and the actions in
            the smallest type.
    """

    version: int
    actor: int
    arrays: dict[str, Any]
    rows: NDArray[np.int64]
    played: int
    episodes: int
    winnings: float
    seconds: float
    total_seconds: float
    packing: Packing | None = None

    @property
    def decisions(self) -> int:
        """The number of decisions to learn from."""
        return len(self.rows)

    @property
    def nbytes(self) -> int:
        """The size of the arrays in bytes."""
        return sum(array.nbytes for array in self.arrays.values())

    def packed(self) -> "RolloutBatch":
        """Return the learner's decisions alone, in less memory. Numbers in observations are rounded to float16."""
        seen, critic, masks = (self.arrays[name].shape[1] for name in COLUMNS)
        count, common = self.decisions, min(seen, critic)
        bits, copies = np.ones(seen + critic + masks, np.bool_), np.zeros(seen + critic + masks, np.bool_)
        copies[seen : seen + common] = True
        for start in range(0, count, BLOCK):
            columns = self._columns(slice(start, start + BLOCK))
            bits &= ((columns == 0) | (columns == 1)).all(axis=0)
            copies[seen : seen + common] &= (columns[:, seen : seen + common] == columns[:, :common]).all(axis=0)
        stored = np.flatnonzero(bits & ~copies), np.flatnonzero(~bits & ~copies)
        places = np.zeros(len(bits), np.int64)
        places[np.concatenate(stored)] = np.arange(len(bits) - copies.sum())
        places[copies] = places[np.flatnonzero(copies) - seen]
        packing = Packing(*stored, tuple(np.split(places, [seen, seen + critic])))
        arrays = {name: array[self.rows] for name, array in self.arrays.items() if name not in COLUMNS}
        arrays["actions"] = arrays["actions"].astype(np.min_scalar_type(len(packing.places[2])))
        arrays["bits"] = np.empty((-(-count // 8), len(packing.bits)), np.uint8)
        arrays["numbers"] = np.empty((count, len(packing.numbers)), np.float16)
        for start in range(0, count, BLOCK):
            columns = self._columns(slice(start, start + BLOCK))
            of_block = np.packbits(columns[:, packing.bits].astype(np.bool_), axis=0)
            arrays["bits"][start // 8 : start // 8 + len(of_block)] = of_block
            _convert(columns[:, packing.numbers], arrays["numbers"][start : start + BLOCK])
        return replace(self, arrays=arrays, rows=np.arange(count), packing=packing)

    def _columns(self, part: slice) -> NDArray[np.float32]:
        rows = self.rows[part]
        return np.concatenate([self.arrays[name][rows] for name in COLUMNS], axis=1)

    def unpacked(self) -> "RolloutBatch":
        """Return the batch with the arrays as `arrays` describes them."""
        if self.packing is None:
            return self
        packing, count = self.packing, self.decisions
        arrays = {name: np.array(array) for name, array in self.arrays.items()}  # those of Ray cannot be written
        bits, numbers = arrays.pop("bits"), arrays.pop("numbers")
        arrays["actions"] = arrays["actions"].astype(np.int64)
        for name, places, dtype in zip(COLUMNS, packing.places, (np.float32, np.float32, np.int8), strict=True):
            arrays[name] = np.empty((count, len(places)), dtype)
        stored = np.empty((BLOCK, len(packing.bits) + len(packing.numbers)), np.float32)
        for start in range(0, count, BLOCK):
            block, part = stored[: count - start], slice(start, start + BLOCK)
            of_block = bits[start // 8 : (start + BLOCK) // 8]
            block[:, : len(packing.bits)] = np.unpackbits(of_block, axis=0, count=len(block))
            _convert(numbers[part], block[:, len(packing.bits) :])
            for name, places in zip(COLUMNS, packing.places, strict=True):
                arrays[name][part] = block.take(places, axis=1)
        return replace(self, arrays=arrays, packing=None)


def _convert(source: NDArray[Any], out: NDArray[Any]) -> None:
    """Write numbers in another type. PyTorch converts float16 thirty times as fast as NumPy."""
    torch.from_numpy(out).copy_(torch.from_numpy(source))


def shuffled(batches: Sequence[RolloutBatch], random: np.random.Generator) -> dict[str, torch.Tensor]:
    """Return the learner's decisions of all batches in random order, one per row, by the names of their arrays."""
    whole = [batch.unpacked() for batch in batches]
    if len(whole) == 1:
        arrays, rows = whole[0].arrays, whole[0].rows
    else:
        names = whole[0].arrays
        arrays = {name: np.concatenate([batch.arrays[name][batch.rows] for batch in whole]) for name in names}
        rows = np.arange(len(arrays["actions"]))
    tensors = {name: torch.as_tensor(array) for name, array in arrays.items()}
    device = tensors["actions"].device
    if device.type == "cpu":
        order = torch.from_numpy(random.permutation(rows))
    else:
        generator = torch.Generator(device).manual_seed(int(random.integers(2**63)))
        order = torch.randperm(len(rows), device=device, generator=generator)
        order = torch.from_numpy(rows).to(device)[order]
    return {name: tensor.index_select(0, order) for name, tensor in tensors.items()}


BANK = 512
"""The number of different relabellings; each agent gets one of them in each episode."""


class Relabelling:
    """The relabellings of N tables: one for each seat, drawn again with every episode.

    Args:
        game: the game, with the capability `symmetry`.
        encoder: the encoder of the observations.
        num_envs: the number of tables N.
        seed: seed of the draws.

    Raises:
        ValueError: if the game has no such capability.
    """

    def __init__(self, game: Game, encoder: str, num_envs: int, seed: int) -> None:
        symmetry = game.capabilities.symmetry
        if symmetry is None:
            raise ValueError(f"relabel=True: {game.id} does not say which seats and names may be exchanged")
        layout = game.encoders[encoder].layout
        pairs = [symmetry.relabelling(layout, np.random.default_rng([seed, number])) for number in range(BANK)]
        self._columns, self._actions = (np.array(each, np.int64) for each in zip(*pairs, strict=True))
        self._shown = np.argsort(self._actions, axis=1)
        self._random = np.random.default_rng(seed)
        self._labels = self._random.integers(BANK, size=(num_envs, game.seats))
        self._rows = np.arange(num_envs)

    def labels(self, turn: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the relabellings of the agents of the seats `turn` int64[N]: int64[N]."""
        return self._labels[self._rows, turn]

    def seen(
        self, labels: NDArray[np.int64], observations: NDArray[np.float32], masks: NDArray[np.int8]
    ) -> tuple[NDArray[np.float32], NDArray[np.int8]]:
        """Return observations and masks under the relabellings: float32[N, D] and int8[N, A]."""
        seen = np.empty_like(observations), np.empty_like(masks)
        _gather(observations, self._columns, labels, seen[0])
        _gather(masks, self._actions, labels, seen[1])
        return seen

    def meant(self, labels: NDArray[np.int64], actions: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the actions of the game for the agents' actions int64[N], int64[N]."""
        return self._actions[labels, actions]

    def of_decisions(
        self,
        observations: NDArray[np.float32],
        masks: NDArray[np.int8],
        actions: NDArray[np.int64],
        random: np.random.Generator,
    ) -> tuple[NDArray[np.float32], NDArray[np.int8], NDArray[np.int64]]:
        """Return decisions that were recorded without names of their own, each under names drawn from `random`.

        Args:
            observations: float32[M, D].
            masks: int8[M, A].
            actions: int64[M].
            random: the generator of the draws.
        """
        labels = random.integers(BANK, size=len(actions))
        return *self.seen(labels, observations, masks), self._shown[labels, actions]

    def draw(self, dones: NDArray[np.bool_]) -> None:
        """Draw new names where an episode has ended; `dones` is bool[N]."""
        rows = np.flatnonzero(dones)
        self._labels[rows] = self._random.integers(BANK, size=(len(rows), self._labels.shape[1]))

    def state(self) -> dict[str, Any]:
        """Return the state, in plain numbers; `load` takes it."""
        return {"random": self._random.bit_generator.state, "labels": self._labels.tolist()}

    def load(self, state: Mapping[str, Any]) -> None:
        """Continue from a state."""
        self._random.bit_generator.state = state["random"]
        self._labels[:] = state["labels"]


@partial(compiled, compile_first=True)
def _gather(values: Any, places: Any, labels: Any, out: Any) -> None:
    for row in range(len(values)):
        label = labels[row]
        for k in range(values.shape[1]):
            out[row, k] = values[row, places[label, k]]


GAMMA = 1.0
"""Discount factor, per decision of the seat."""
GAE_LAMBDA = 0.95
"""Lambda of generalised advantage estimation."""


@torch.no_grad()
def seat_advantages(
    turn: Any,
    learner_acts: Any,
    rewards: Any,
    dones: Any,
    values: Any,
    last_values: Any,
    gamma: float = GAMMA,
    gae_lambda: float = GAE_LAMBDA,
) -> torch.Tensor:
    """Return the advantages of the learner's decisions, float32[T, N]; in the other places the numbers mean nothing.

    A step of a seat is from its decision to its next one, or to the end of the episode.
    Rewards before a seat's first decision of an episode are not used. Where a seat's value after the last step is not
    known, its last decision has no advantage (nan), and the earlier ones are estimated from that decision's value.

    Args:
        turn: int64[T, N], the seat that decided. All arrays are NumPy's, or tensors of any device.
        learner_acts: bool[T, N], whether the decision was the learner's.
        rewards: float32[T, N, seats], of the step.
        dones: bool[T, N], whether the episode ended with the step.
        values: float32[T, N], value estimates of the acting seat at the decision.
        last_values: float32[N, seats], value estimates of every seat after the last step; nan: not known.
        gamma: discount factor, per decision of the seat.
        gae_lambda: lambda of generalised advantage estimation.
    """
    turn, learner_acts, rewards, dones, values = map(torch.as_tensor, (turn, learner_acts, rewards, dones, values))
    expected = torch.as_tensor(last_values).double()
    advantage, gained = torch.zeros_like(expected), torch.zeros_like(expected)
    advantages = torch.empty_like(values)
    for step in reversed(range(len(turn))):
        ended = dones[step][:, None]
        expected, advantage, gained = (one.masked_fill(ended, 0.0) for one in (expected, advantage, gained))
        gained += rewards[step]
        seat, acts, value = turn[step][:, None], learner_acts[step][:, None], values[step][:, None]
        error = gained.gather(1, seat) + gamma * expected.gather(1, seat) - value
        new = (error + gamma * gae_lambda * advantage.gather(1, seat)).to(advantages.dtype)
        advantages[step] = new[:, 0]
        for kept, put in ((advantage, new.nan_to_num()), (expected, value), (gained, torch.zeros_like(value))):
            kept.scatter_(1, seat, torch.where(acts, put.double(), kept.gather(1, seat)))
    return advantages


@partial(compiled, allocates=True, compile_first=True)
def action_returns(
    turn: Any,
    learner_acts: Any,
    rewards: Any,
    dones: Any,
    values: Any,
    action_values: Any,
    traces: Any,
    last_values: Any,
    rivals: bool,
    returns: Any,
) -> None:
    """Write the returns of the learner's actions: Expected SARSA(lambda), a policy's own value at every later decision.

    See `seat_advantages` for the other arguments.

    Args:
        turn: int64[T, N].
        learner_acts: bool[T, N].
        rewards: float32[T, N, seats].
        dones: bool[T, N].
        values: float32[T, N], the policy's expected value of the acting seat.
        action_values: float32[T, N], the value estimates of the actions that were taken.
        traces: float32[T, N], lambda times the share of the decision that counts for the policy, 0 to 1.
        last_values: float32[N, seats].
        rivals: one of two seats wins what the other loses, so that a decision of one tells the value of both.
        returns: float32[T, N], written where `learner_acts`.
    """
    steps, tables = turn.shape
    seats = rewards.shape[2]
    ahead = np.zeros(seats)
    for table in range(tables):
        for seat in range(seats):
            ahead[seat] = last_values[table, seat]
        for step in range(steps - 1, -1, -1):
            if dones[step, table]:
                ahead[:] = 0.0
            for seat in range(seats):
                ahead[seat] += rewards[step, table, seat]
            if learner_acts[step, table]:
                seat = turn[step, table]
                returns[step, table] = ahead[seat]
                further = ahead[seat] - action_values[step, table]
                ahead[seat] = values[step, table] + (0.0 if np.isnan(further) else traces[step, table] * further)
                if rivals:
                    ahead[1 - seat] = -ahead[seat]


Weights = Mapping[str, NDArray[np.float32]]
"""The weights of the policy (``actor.…``) and of the value function (``critic.…``), by their names in PyTorch."""
Opponents = Mapping[int, tuple[int, MlpPolicy]]
"""Opponents by their slot, each with a serial number that changes when the slot gets another policy."""


def make_networks(config: SelfPlayConfig, game: Game) -> tuple[nn.Sequential, nn.Sequential]:
    """Return new networks of the policy and of the value function, on the CPU.

    The first output of the value function is the value; with `action_values` those of the actions follow.
    """
    seen, critic = game.encoders[config.encoder or game.encoder], game.encoders[critic_encoder(config, game)]
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(config.seed)
        kind, seats = config.network, game.seats
        actor = build(kind, seen.layout, seats, config.net_arch, game.num_actions, 0.01)
        values = 1 + game.num_actions * config.action_values
        return actor, build(kind, critic.layout, seats, config.critic_net_arch, values, 1.0)


def critic_encoder(config: SelfPlayConfig, game: Game) -> str:
    """Return the name of the encoder of the value function's observations: with hidden information, if the game has it.

    It is ``full_v1`` if the policy's encoder is ``v1`` and the game has this one, and so for every version; else
    ``full``; else the policy's.
    """
    policy = config.encoder or game.encoder
    return next((name for name in (f"{FULL}_{policy}", FULL) if name in game.encoders), policy)


def only_two_compete(game: Game) -> bool:
    """Tell whether one of two seats wins what the other loses, so that one value tells both.

    The value function learns from decisions alone, so it is not trained for seats that wait.
    Here its value is that of the decision with the other sign; elsewhere it is not known.
    """
    return game.seats == 2 and game.payoffs.zero_sum


class Actor:
    """What actors have on any device: copies of the networks, and the arrays of a rollout.

    Args:
        config: the settings.
        game: the game with its options.
        number: the number of the actor, from 0.
        device: the device of the networks.
    """

    _values: Any
    _advantages: Any
    _weights: Any

    def __init__(self, config: SelfPlayConfig, game: Game, number: int, device: str) -> None:
        self._config, self._game, self._number = config, game, number
        self._forward = Forward(device)
        self._actor, self._critic = (net.to(device) for net in make_networks(config, game))
        self._began = False

    def begin(self, version: int = 0) -> None:
        """Begin episodes at all tables, unless they have begun. The random numbers depend on seed, actor and version.

        The first actor of a new run has the seed of the config itself.
        """
        if self._began:
            return
        seed = self._config.seed
        if self._number or version:
            seed = int(np.random.SeedSequence([seed, self._number, version]).generate_state(1, np.uint64)[0])
        self._reset(seed)
        self._began = True

    def _reset(self, seed: int) -> None:
        raise NotImplementedError

    @torch.no_grad()
    def rollout(self, version: int, weights: Weights, *more: Any) -> RolloutBatch:
        """Play ``n_steps`` decisions on every table.

        Args:
            version: the version of the weights, from 0.
            weights: the weights of both networks.
            more: of tables on the CPU: the opponents that are not those of the pool; and the least and the most random
                decisions at the beginning of an episode.

        Returns:
            The decisions, one row each. The next rollout overwrites the arrays.
        """
        began = time.perf_counter()
        self.begin(version)
        for prefix, net in (("actor.", self._actor), ("critic.", self._critic)):
            own = {name.removeprefix(prefix): each for name, each in weights.items() if name.startswith(prefix)}
            net.load_state_dict({name: torch.from_numpy(np.array(each)) for name, each in own.items()})
        facts = self._rollout(*more)
        names = "observations", "critic_observations", "masks", "log_probs", "actions", "advantages"
        arrays = {name: getattr(self, f"_{name}") for name in names} | {"returns": self._values + self._advantages}
        if self._config.update == "mirror_descent":
            arrays["weights"] = self._weights
        arrays = {name: array.reshape(-1, *array.shape[2:]) for name, array in arrays.items()}
        spent = time.perf_counter() - began
        return RolloutBatch(version=version, actor=self._number, arrays=arrays, total_seconds=spent, **facts)

    def _rollout(self, *more: Any, **named: Any) -> dict[str, Any]:
        """Play the decisions, and return the other fields of the batch."""
        raise NotImplementedError


class Collector(Actor):
    """One actor: its tables, and copies of the networks.

    Args:
        config: the settings.
        game: the game with its options.
        pool: the pool of opponents.
        actor: the number of the actor, from 0. Actors with different numbers have different random streams.
        device: the device of the networks.

    Attributes:
        tables: the tables.
    """

    def __init__(self, config: SelfPlayConfig, game: Game, pool: Pool, actor: int = 0, device: str = "cpu") -> None:
        super().__init__(config, game, actor, device)
        expected, reduction = None, game.capabilities.variance_reduction
        if config.chance_samples:
            if reduction is None:
                setting = f"chance_samples={config.chance_samples}"
                raise ValueError(f"{setting}: {game.id} cannot tell its expected rewards; need 0")
            expected = reduction.expected_rewards(config.chance_samples, config.seed + actor)
        self.tables = SelfPlayTables(
            game,
            config.n_envs,
            pool,
            round(config.opponent_tables * config.n_envs),
            (config.random_start_steps, config.random_start_steps),
            config.encoder or None,
            expected,
            round(config.mixed_tables * config.n_envs),
        )
        self._relabelling = None
        if config.relabel:
            words = np.random.SeedSequence([config.seed, actor]).generate_state(1)
            self._relabelling = Relabelling(game, self.tables.tables.encoder, config.n_envs, int(words[0]))
        self._critic_encoder = game.encoders[critic_encoder(config, game)]
        self._words = streams(config.seed, 1)
        self._serials: dict[int, int] = {}
        shape = config.n_steps, config.n_envs
        sizes = game.encoders[self.tables.tables.encoder].layout.size, self._critic_encoder.layout.size
        self._observations, self._critic_observations = (np.zeros((*shape, size), np.float32) for size in sizes)
        self._masks = np.zeros((*shape, game.num_actions), np.int8)
        self._log_probs = np.zeros((*shape, game.num_actions), np.float32)
        self._turn, self._actions = (np.zeros(shape, np.int64) for _ in range(2))
        self._learner_acts, self._dones = (np.zeros(shape, np.bool_) for _ in range(2))
        self._rewards = np.zeros((*shape, game.seats), np.float32)
        self._values, self._advantages = (np.zeros(shape, np.float32) for _ in range(2))
        self._ratios, self._weights = (np.ones(shape, np.float32) for _ in range(2))
        self._reach = np.ones((config.n_envs, game.seats))  # of each seat's play, beside what it would be unexplored

    def _reset(self, seed: int) -> None:
        self._words = streams(seed, 1)
        self.tables.reset(seed)

    def _rollout(self, opponents: Opponents, random_start_steps: tuple[int, int] = (0, 0)) -> dict[str, Any]:
        for slot, (serial, policy) in opponents.items():
            if self._serials.get(slot) != serial:  # a copy of one that has changed, with a random stream of its own
                copy = deepcopy(policy)
                key = np.random.SeedSequence([copy.stream, serial, slot, self._number])
                copy.stream = int(key.generate_state(1, np.uint64)[0])
                self.tables.policies[slot] = copy
                self._serials[slot] = serial
        self.tables.random_start_steps = random_start_steps
        episodes, winnings = self.tables.episodes, self.tables.winnings
        seconds = self._play()
        self._estimate()
        return {
            "rows": np.flatnonzero(self._learner_acts & ~np.isnan(self._advantages)),
            "played": int(self._learner_acts.sum()),
            "episodes": self.tables.episodes - episodes,
            "winnings": self.tables.winnings - winnings,
            "seconds": seconds,
        }

    def _play(self) -> float:
        """Play the decisions. Return the duration of the tables' steps in seconds."""
        tables, names, spent = self.tables.tables, self._relabelling, 0.0
        rows, actions = np.arange(self._config.n_envs), np.zeros(self._config.n_envs, np.int64)
        unit, share = np.float32(self._config.reward_scale / self._game.payoffs.unit), self._config.exploration
        for step in range(self._config.n_steps):
            self._turn[step] = tables.turn
            seen = tables.observations, tables.action_masks
            if names is not None:
                labels = names.labels(self._turn[step])
                seen = names.seen(labels, *seen)
            self._observations[step], self._masks[step] = seen
            self._learner_acts[step] = self.tables.learner_acts
            self._critic_encoder.observations(tables.tables, rows, self._critic_observations[step], tables.turn)
            self._log_probs[step] = self._forward.log_probs(
                self._actor, self._observations[step], self._masks[step]
            ).cpu()
            behaviour = np.exp(self._log_probs[step])  # what is played
            if share:
                legal = self._masks[step].astype(np.float32)
                behaviour = (1 - share) * behaviour + share * legal / legal.sum(1, keepdims=True)
            draw(behaviour, self._words, actions)
            self._actions[step] = actions
            if share:
                self._weigh(step, behaviour)
            began = time.perf_counter()
            self.tables.step(actions if names is None else names.meant(labels, actions))
            spent += time.perf_counter() - began
            self._rewards[step] = tables.rewards * unit
            self._dones[step] = tables.dones
            if share:
                self._reach[tables.dones] = 1.0
            if names is not None:
                names.draw(tables.dones)
        return spent

    def _weigh(self, step: int, behaviour: NDArray[np.float32]) -> None:
        """Write how much likelier the action is without exploration, and what the other seats played before it."""
        rows, turn, acts = np.arange(self._config.n_envs), self._turn[step], self._learner_acts[step]
        taken = rows, self._actions[step]
        ratios = np.where(acts, np.exp(self._log_probs[step][taken]) / behaviour[taken], 1.0)
        others = np.where(np.arange(self._game.seats) == turn[:, None], 1.0, self._reach)
        self._weights[step], self._ratios[step] = others.prod(axis=1), ratios
        self._reach[rows, turn] *= ratios

    def _value(self, observations: NDArray[np.float32]) -> NDArray[np.float32]:
        return np.asarray(self._forward(self._critic, observations)[:, 0].cpu().numpy())

    def _estimate(self) -> None:
        """Write the values and the advantages of the rollout."""
        config, seats = self._config, self._game.seats
        of_taken = np.zeros_like(self._values)
        for step in range(config.n_steps):
            if config.update == "mirror_descent":
                valued = self._forward(self._critic, self._critic_observations[step]).cpu().numpy()
                self._values[step] = (np.exp(self._log_probs[step]) * valued[:, 1:]).sum(1)
                of_taken[step] = valued[np.arange(config.n_envs), 1 + self._actions[step]]
            else:
                self._values[step] = self._value(self._critic_observations[step])
        rows, turn = np.arange(config.n_envs), self.tables.tables.turn
        last = np.full((len(rows), seats), np.nan, np.float32)
        seen = np.empty_like(self._critic_observations[0])
        self._critic_encoder.observations(self.tables.tables.tables, rows, seen, turn)
        last[rows, turn] = self._value(seen)
        if only_two_compete(self._game):
            last[rows, 1 - turn] = -last[rows, turn]
        played = self._turn, self._learner_acts, self._rewards, self._dones, self._values
        if config.update == "mirror_descent":
            traces = np.float32(GAE_LAMBDA) * np.minimum(self._ratios, 1)
            action_returns(*played, of_taken, traces, last, only_two_compete(self._game), self._advantages)
            self._advantages -= self._values
        else:
            self._advantages[:] = seat_advantages(*played, last)

    def save(self, path: Path) -> dict[str, Any]:
        """Write the tables with the opponents, and return the rest of the state."""
        self.tables.save(path)
        names = None if self._relabelling is None else self._relabelling.state()
        state = {"words": int(self._words[0]), "serials": self._serials, "began": self._began, "names": names}
        return state | {"reach": self._reach.tolist()}

    def load(self, path: Path, state: Mapping[str, Any]) -> None:
        """Load what `save` wrote and returned: the next rollout is as if there had been no break.

        Tables with the records of an earlier version begin new episodes.
        """
        if not self.tables.load(path):
            return
        self._words = np.array([state["words"]], np.uint64)
        self._serials = dict(state["serials"])
        self._began = state["began"]
        self._reach = np.array(state.get("reach", self._reach))
        if self._relabelling is not None:
            self._relabelling.load(state["names"])


class Engine:
    """Collects decisions with one or more actors. It is also the `LearnerTables` of the run.

    Args:
        config: the settings.
        game: the game with its options.
        pool: the pool of opponents.

    Attributes:
        game: the game with its options.
        policies: the current opponents. One may be replaced between rollouts; every actor then takes a copy.
        random_start_steps: the least and the most random decisions at the beginning of an episode. May be changed.
        episodes: number of finished episodes in the batches so far.
        winnings: the sum of their returns for the learner, in `Payoffs.unit`.
    """

    def __init__(self, config: SelfPlayConfig, game: Game, pool: Pool) -> None:
        self.config = config
        self.game = game
        self.pool = pool
        self.policies: list[Policy] = list(OpponentSeats(game, 1, pool).policies)
        self.random_start_steps = (config.random_start_steps, config.random_start_steps)
        self.episodes, self.winnings = 0, 0.0
        self._known = list(self.policies)
        self._serials = [0] * len(self.policies)

    def begin(self) -> None:
        """Start the actors. Called once; before it, `load` may have set their state."""
        self._ask("begin", [()] * self.config.actors)

    def rollout(self, version: int, weights: Weights) -> list[RolloutBatch]:
        """Return batches to learn from, at least one.

        Args:
            version: the version of the weights, one more than that of the call before.
            weights: the weights of the networks.
        """
        batches = self._collect(version, weights)
        self.episodes += sum(batch.episodes for batch in batches)
        self.winnings += sum(batch.winnings for batch in batches)
        return batches

    def _collect(self, version: int, weights: Weights) -> list[RolloutBatch]:
        order = version, weights, self._opponents(), self.random_start_steps
        return self._ask("rollout", [order] * self.config.actors)

    def metrics(self) -> dict[str, float]:
        """Return counts of the engine, by the names of the metrics."""
        return {}

    def save(self, folder: Path) -> dict[str, Any]:
        """Write the state of the actors into a run folder, and return the rest of it."""
        self._opponents()
        with ExitStack() as stack:
            files = [stack.enter_context(replacing(tables_file(folder, one))) for one in range(self.config.actors)]
            return {"serials": self._serials, "actors": self._ask("save", [(file,) for file in files])}

    def load(self, folder: Path, state: dict[str, Any]) -> None:
        """Load what `save` wrote and returned.

        Raises:
            FileNotFoundError: if a file is missing.
        """
        self._serials = list(state["serials"])
        files = [tables_file(folder, actor) for actor in range(len(state["actors"]))]
        for file in files:
            if not file.is_file():
                raise FileNotFoundError(f"{file} is missing")
        self._ask("load", list(zip(files, state["actors"], strict=True)))

    def keep_opponents(self) -> None:
        """Declare that `policies` are those that the actors had when the state was saved."""
        self._known = list(self.policies)

    def close(self) -> None:
        """End the actors."""

    def _ask(self, method: str, args: list[tuple[Any, ...]]) -> list[Any]:
        """Call a method of every actor, each with its arguments, and return the answers."""
        raise NotImplementedError

    def _opponents(self) -> Opponents:
        """Return the opponents that were set from outside, with their serial numbers."""
        for slot, policy in enumerate(self.policies):
            if policy is not self._known[slot]:
                self._serials[slot] += 1
                self._known[slot] = policy
        return {
            slot: (serial, policy)
            for slot, (serial, policy) in enumerate(zip(self._serials, self.policies, strict=True))
            if serial and isinstance(policy, MlpPolicy)
        }


def tables_file(folder: Path, actor: int) -> Path:
    """Return the file of an actor's tables in a run folder."""
    return folder / ("tables.pkl" if actor == 0 else f"tables-{actor}.pkl")


class LocalEngine(Engine):
    """Plays in this process. See `Engine`.

    Attributes:
        collectors: the actors.
    """

    def __init__(self, config: SelfPlayConfig, game: Game, pool: Pool) -> None:
        super().__init__(config, game, pool)
        self.collectors = [self._collector(actor) for actor in range(config.actors)]

    def _collector(self, actor: int) -> Any:
        return Collector(self.config, self.game, self.pool, actor, self.config.device)

    def _ask(self, method: str, args: list[tuple[Any, ...]]) -> list[Any]:
        return [getattr(each, method)(*given) for each, given in zip(self.collectors, args, strict=True)]


class ProcessEngine(Engine):
    """Plays in ``config.actors`` other processes at the same time. See `Engine`."""

    def __init__(self, config: SelfPlayConfig, game: Game, pool: Pool) -> None:
        super().__init__(config, game, pool)
        context = multiprocessing.get_context("spawn")  # a fork would copy the locks of PyTorch's threads
        each = [(config, pool, actor) for actor in range(config.actors)]
        self._processes = [ProcessPoolExecutor(1, context, _start_actor, arguments) for arguments in each]

    def close(self) -> None:
        """End the processes."""
        for process in self._processes:
            process.shutdown(cancel_futures=True)

    def _ask(self, method: str, args: list[tuple[Any, ...]]) -> list[Any]:
        """Call all processes at the same time.

        Raises:
            ConnectionError: if a process has ended.
            Exception: what an actor has raised.
        """
        actor, calls, answers = 0, list[Any](), list[Any]()
        try:
            for actor in range(len(args)):
                calls.append(self._processes[actor].submit(_call_actor, method, args[actor]))
            for actor in range(len(args)):
                answers.append(calls[actor].result())
        except BrokenProcessPool:
            raise ConnectionError(f"the process of actor {actor} has ended: resume the run") from None
        return answers


_ACTORS: list[Collector] = []
"""The actor of a process of its own."""


def _start_actor(config: SelfPlayConfig, pool: Pool, actor: int) -> None:
    """Make the actor of this process, which ends when the learner's process does."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C reaches every process of the terminal; the learner ends them

    def end_with_learner() -> None:
        if (learner := multiprocessing.parent_process()) is not None:
            learner.join()
            os._exit(1)

    Thread(target=end_with_learner, daemon=True).start()
    torch.set_num_threads(1)
    _ACTORS.append(Collector(config, make_game(config.game, **config.options), pool, actor))


def _call_actor(method: str, args: tuple[Any, ...]) -> Any:
    return getattr(_ACTORS[0], method)(*args)


def find_engine(name: str) -> type[Engine]:
    """Return the class of the engine of this name.

    Raises:
        ImportError: if a package that it needs is not installed.
    """
    here = {"local": LocalEngine, "process": ProcessEngine}.get(name)
    return here or cast(type[Engine], import_module(f"..{name}_engine", __name__).ENGINE)
