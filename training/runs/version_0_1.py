"""The settings of version 0.1, whose files had no `format`, and their current names."""

from collections.abc import Mapping
from typing import Any

from ...envs.core.options import named

RENAMED = {
    "steps": "total_timesteps",
    "num_envs": "n_envs",
    "rollout": "n_steps",
    "epochs": "n_epochs",
    "entropy": "ent_coef",
    "value": "vf_coef",
    "clip": "clip_range",
    "hidden": "net_arch",
    "critic": "critic_net_arch",
    "activation": "activation_fn",
    "inputs": "observation_slices",
    "mirror": "self_play",
    "self_play": "past_checkpoints",
    "snapshots": "checkpoint_slots",
    "snapshot_every": "checkpoint_every",
    "opening": "random_start_steps",
    "imitate": "teacher",
    "lessons": "demonstrations",
    "lesson_minutes": "cloning_minutes",
    "lesson_rate": "cloning_learning_rate",
    "lesson_batch": "cloning_batch_size",
}
"""Renamed settings: the name in version 0.1 and the current one. `self_play` was the share of past checkpoints."""

UNCHANGED = (
    "game",
    "options",
    "minutes",
    "seed",
    "threads",
    "bots",
    "batch_size",
    "learning_rate",
    "gamma",
    "gae_lambda",
    "max_grad_norm",
    "reward_scale",
    "name",
    "runs",
    "progress",
)
"""Settings with the same name."""


def renamed(settings: Mapping[str, Any], source: str) -> dict[str, Any]:
    """Return the settings of a file of version 0.1 by their current names.

    Raises:
        ValueError: for a setting that version 0.1 did not have.
    """
    for name in settings:
        if name not in RENAMED and name in RENAMED.values():
            raise ValueError(f"{source} has {name}, but no `format = 2`: write that line, or the names of version 0.1")
        named(f"setting of version 0.1 ({source})", name, [*RENAMED, *UNCHANGED])
    new = {RENAMED.get(name, name): value for name, value in settings.items()}
    if new.get("teacher") == "teacher":
        new["teacher"] = "expert"
    return new
