"""Imitation: before it learns by itself, the learner copies how a bot plays, and what playing so brings."""

import time
from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from sb3_contrib import MaskablePPO

from ...envs import Game, play_until_done
from ...envs.core.rollout import Decisions, tables_with_seed
from ...wrappers.policies.base import Policy

TEACHER = "teacher"
"""Who can be copied in tangram, beside the bots (see `lessons`)."""
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
    lessons: Iterator[Lessons],
    *,
    decisions: int,
    minutes: float | None = None,
    rate: float,
    batch_size: int = 1_024,
    reward_scale: float = 1.0,
    seed: int = 0,
    progress: Callable[[float, str], None] = lambda used, note: None,
) -> float:
    """Fit actor and critic to a teacher, each decision used once. The learning rate falls to 0 in the second half.

    Args:
        model: the learner; its optimiser is used.
        lessons: without end.
        decisions: how many at least; whole matches are played.
        minutes: the end at the latest.
        rate: the learning rate of the first half.
        batch_size: decisions per gradient step.
        reward_scale: the critic learns returns multiplied by it.
        seed: of shuffling.
        progress: called with the share of decisions or minutes that is used up, and a note on how it goes.

    Returns:
        The mean probability (geometric) that the learner gave the teacher's actions in the last batch, 0 to 1.
    """
    random = np.random.default_rng(seed)
    policy, started = model.policy, time.monotonic()
    done, used, chance = 0, 0.0, 0.0
    for taken in lessons:
        policy.set_training_mode(True)
        order = random.permutation(len(taken.actions))
        for start in range(0, len(order), batch_size):
            for group in policy.optimizer.param_groups:
                group["lr"] = rate * min(1.0, 2 - 2 * used)
            rows = order[start : start + batch_size]
            observations, actions = torch.as_tensor(taken.observations[rows]), torch.as_tensor(taken.actions[rows])
            values, log_prob, _entropy = policy.evaluate_actions(observations, actions, taken.masks[rows] != 0)
            returns = torch.as_tensor(taken.returns[rows] * reward_scale)
            loss = -log_prob.mean() + model.vf_coef * torch.nn.functional.mse_loss(values[:, 0], returns)
            policy.optimizer.zero_grad()
            loss.backward()  # type: ignore[no-untyped-call]
            torch.nn.utils.clip_grad_norm_(policy.parameters(), model.max_grad_norm)
            policy.optimizer.step()
            chance = float(log_prob.detach().mean().exp())
        done += len(order)
        spent = 0.0 if minutes is None else (time.monotonic() - started) / (60 * minutes)
        used = min(1.0, max(done / decisions, spent))
        progress(used, f"{done:,} decisions, probability {chance:.3f}")
        if used == 1.0:
            return chance
    raise AssertionError("lessons never end")


def taught(game: Game, teacher: Policy, seed: int) -> Iterator[Lessons]:
    """Yield the decisions of `TABLES` whole matches at a time, without end."""
    random = np.random.default_rng(seed)
    while True:
        yield _matches(game, teacher, int(random.integers(2**64, dtype=np.uint64)))


def _matches(game: Game, teacher: Policy, seed: int) -> Lessons:
    tables, taken = tables_with_seed(game, TABLES, seed), list[Decisions]()
    total = play_until_done(game, [teacher], tables, on_decisions=taken.append)
    rows, seats, observations, masks, actions, before = (np.concatenate(column) for column in zip(*taken, strict=True))
    returns = (total[rows, seats] - before) / game.payoffs.unit
    return Lessons(observations, masks, actions, returns.astype(np.float32))
