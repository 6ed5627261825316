"""Imitation: before it learns by itself, the learner copies how a bot plays, and what playing so brings."""

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from sb3_contrib import MaskablePPO

from ..envs.core.game import Batch, Game
from ..envs.core.rng import streams
from ..envs.core.vector import STAY
from ..wrappers.policy import Policy

TABLES = 512
"""Matches played side by side; their decisions are shuffled together."""


class Lessons(NamedTuple):
    """Decisions of a teacher that played all seats of some matches, in the order in which they fell.

    ``observations`` float32[N, D], ``masks`` int8[N, A], ``actions`` int64[N], and ``returns`` float32[N]: what the
    match still brought the deciding seat, in the game's unit.
    """

    observations: NDArray[np.float32]
    masks: NDArray[np.int8]
    actions: NDArray[np.int64]
    returns: NDArray[np.float32]


def imitate(
    model: MaskablePPO,
    game: Game,
    teacher: Policy,
    *,
    decisions: int,
    batch_size: int = 1_024,
    reward_scale: float = 1.0,
    seed: int = 0,
) -> float:
    """Fit actor and critic to a teacher, each decision used once.

    Args:
        model: the learner; its optimiser is used with the learning rate as it is.
        game: with its options.
        teacher: what plays all seats.
        decisions: how many at least; whole matches are played.
        batch_size: decisions per gradient step.
        reward_scale: the critic learns returns multiplied by it.
        seed: of deals and shuffling; the teacher draws from its own stream.

    Returns:
        The mean probability (geometric) that the learner gave the teacher's actions in the last batch, 0 to 1.
    """
    random = np.random.default_rng(seed)
    policy = model.policy
    policy.set_training_mode(True)
    done, chance = 0, 0.0
    for lessons in taught(game, teacher, seed):
        order = random.permutation(len(lessons.actions))
        for start in range(0, len(order), batch_size):
            rows = order[start : start + batch_size]
            observations, actions = torch.as_tensor(lessons.observations[rows]), torch.as_tensor(lessons.actions[rows])
            values, log_prob, _entropy = policy.evaluate_actions(observations, actions, lessons.masks[rows] != 0)
            returns = torch.as_tensor(lessons.returns[rows] * reward_scale)
            loss = -log_prob.mean() + model.vf_coef * torch.nn.functional.mse_loss(values[:, 0], returns)
            policy.optimizer.zero_grad()
            loss.backward()  # type: ignore[no-untyped-call]
            torch.nn.utils.clip_grad_norm_(policy.parameters(), model.max_grad_norm)
            policy.optimizer.step()
            chance = float(log_prob.detach().mean().exp())
        done += len(order)
        if done >= decisions:
            return chance
    raise AssertionError("matches never end")


def taught(game: Game, teacher: Policy, seed: int) -> Iterator[Lessons]:
    """Yield the decisions of `TABLES` whole matches at a time, without end."""
    random = np.random.default_rng(seed)
    while True:
        yield _matches(game, teacher, int(random.integers(2**64, dtype=np.uint64)))


def _matches(game: Game, teacher: Policy, seed: int) -> Lessons:
    tables, batch = game.tables(TABLES), Batch.of(game, TABLES)
    records: NDArray[Any] = tables.view(np.ndarray)
    tables.stream = streams(seed, TABLES)
    game.reset_batch(records, batch)
    gained = np.zeros((TABLES, game.seats), np.float32)
    taken: list[tuple[Any, ...]] = []
    while (live := np.flatnonzero(~batch.dones)).size:
        seats = batch.turn[live]
        observations, masks = batch.observations[live], batch.masks[live]
        moves = teacher.act(observations, masks)
        taken.append((observations, masks, moves, gained[live, seats].copy(), live, seats))
        actions = np.full(TABLES, STAY)
        actions[live] = moves
        batch.rewards[:] = 0
        game.step_batch(records, actions, batch, False)
        gained += batch.rewards / game.unit
    observations, masks, moves, before, rows, seats = (np.concatenate(column) for column in zip(*taken, strict=True))
    return Lessons(observations, masks, moves, gained[rows, seats] - before)
