"""Behavioural cloning: the learner is fitted to a teacher's actions and returns before reinforcement learning."""

import time
from collections.abc import Callable, Iterator

import numpy as np

from .demonstrations import Demonstrations
from .learner import Learner


def clone(
    learner: Learner,
    demonstrations: Iterator[Demonstrations],
    *,
    decisions: int,
    minutes: float | None = None,
    seed: int = 0,
    progress: Callable[[float, str], None] = lambda used, note: None,
) -> float:
    """Fit a learner to a teacher, each decision used once. The learning rate falls to 0 in the second half.

    Args:
        learner: the learner.
        demonstrations: an endless iterator over the teacher's decisions.
        decisions: the least number of decisions; whole matches are played.
        minutes: the time limit; None: no limit.
        seed: seed of the order of the decisions.
        progress: called with the used share of decisions or minutes, 0 to 1, and a note.

    Returns:
        The geometric mean of the learner's probability of the teacher's actions in the last batch, 0 to 1.
    """
    random, started = np.random.default_rng(seed), time.monotonic()
    done, used, probability = 0, 0.0, 0.0
    while used < 1:
        taken = next(demonstrations)
        probability = learner.clone(taken, min(1.0, 2 - 2 * used), random)
        done += len(taken.actions)
        spent = 0.0 if minutes is None else (time.monotonic() - started) / (60 * minutes)
        used = min(1.0, max(done / decisions, spent))
        progress(used, f"{done:,} decisions, probability {probability:.3f}")
    return probability
