"""Learner steps per second, end to end."""

from typing import Any

from parlour.envs.core.installed import install
from parlour.training.runs.config import load_config
from parlour.wrappers.policies.mlp import MlpPolicy
from parlour.wrappers.rl.tables import Pool

from .base import Row, Seconds, rate


def learner(seconds: Seconds) -> list[Row]:
    """MaskablePPO heads-up, MLP 64×64, 256 tables, one thread, against four frozen checkpoints and two bots."""
    what = "MaskablePPO heads-up self-play, end to end"
    try:
        import torch
        from sb3_contrib import MaskablePPO
    except ImportError:
        return [Row("learner", what, None, "learner steps/s", note=f"not installed: {install('train')}")]
    from parlour.wrappers.rl.sb3 import sb3_env

    torch.set_num_threads(1)
    settings: Any = load_config("holdem")
    training: dict[str, Any] = {
        "n_steps": settings.n_steps,
        "batch_size": settings.batch_size,
        "n_epochs": settings.n_epochs,
        "policy_kwargs": {"net_arch": [64, 64], "activation_fn": getattr(torch.nn, settings.activation_fn)},
        "seed": 0,
        "device": "cpu",
    }
    frozen = MaskablePPO("MlpPolicy", sb3_env("holdem", n_envs=256, seats=2), **training)
    pool = Pool([*(MlpPolicy.from_model(frozen, seed=number) for number in range(4)), "call", "tight"])
    model = MaskablePPO("MlpPolicy", sb3_env("holdem", n_envs=256, opponents=pool, seats=2), **training)
    rollout = 256 * int(settings.n_steps)

    def run() -> int:
        model.learn(rollout, reset_num_timesteps=False)
        return rollout

    note = (
        f"rollouts of {settings.n_steps} steps, {settings.n_epochs} epochs of batches of {settings.batch_size:,}, as "
        "`parlour train holdem` does; the bots are call and tight"
    )
    return [Row("learner", what, rate(run, 3 * seconds, rounds=2), "learner steps/s", 35_000, note=note)]
