"""Decisions per second of self-play PPO, also if the tables took no time."""

from typing import Any

from parlour.envs.core.installed import install
from parlour.training.learning.league import League
from parlour.training.runs.config import load_config

from .base import Row, Seconds, rate


def selfplay(seconds: Seconds) -> list[Row]:
    """Self-play PPO heads-up, two nets of 128×128, the critic sees both hands: 2,048 tables, two epochs, one thread."""
    what = "self-play PPO heads-up, all seats, end to end"
    try:
        import torch
        from parlour.training.algorithms.selfplay import Learner
    except ImportError:
        return [Row("selfplay", what, None, "decisions/s", note=f"not installed: {install('train')}")]
    from parlour.envs import game as make_game

    torch.set_num_threads(1)
    config: Any = load_config("holdem", algorithm="selfplay")
    game = make_game("holdem", **config.options)
    learner: Any = Learner(config, game, League(1, 1.0, {}, 0))
    whole = rate(learner.rollout, 3 * seconds, rounds=2)
    tables = learner.engine.collectors[0].tables
    tables.step = lambda actions: None
    free = rate(learner.rollout, 3 * seconds, rounds=2)
    note = f"{free:,.0f} decisions/s where the tables take no time, in the same run"
    return [
        Row("selfplay", what, whole, "decisions/s", 60_000, note="float32"),
        Row("selfplay-share", "the same, beside tables that take no time", whole / free, "times", 0.8, note=note),
    ]
