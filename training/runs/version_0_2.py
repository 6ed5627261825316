"""The settings of version 0.2."""

import logging
from collections.abc import Mapping
from dataclasses import fields
from pathlib import Path
from typing import Any

from ...envs.core.options import named, whole
from ..algorithms import find
from ..learning.settings import LINEAR

logger = logging.getLogger(__name__)

REMOVED = {
    "critic_encoder": "full",
    "activation_fn": "ReLU",
    "learning_rate_schedule": "power",
    "gamma": 1.0,
    "gae_lambda": 0.95,
    "clip_range": 0.1,
    "vf_coef": 0.5,
    "magnet_coef": 0.0,
    "precision": "auto",
    "max_grad_norm": 0.5,
    "self_play": 0.0,
    "checkpoint_slots": 4,
    "cloning_batch_size": 1_024,
    "cloning_learning_rate": None,
}
"""Settings that an algorithm no longer has, and the value that each always has now. Some algorithms still have some."""

WITHOUT_EFFECT = (
    *("threads", "progress", "evaluate_deals", "evaluate_hands", "evaluate_every", "exploitability", "magnet_rate"),
    *("track", "address", "name", "runs"),
)
"""Settings that are gone and never changed what is learned; `magnet_rate` did nothing without `magnet_coef`."""

INSTEAD = {
    "address": "set RAY_ADDRESS",
    "track": "send the metrics by a callback",
    "runs": "set run, the run's folder",
    "evaluate_every": "evaluations are at each checkpoint; set checkpoint_every",
}
"""What to do for settings that changed where a run was computed and shown; without it their values are lost."""

ENDS = {"learning_rate": (1e-3, 1e-4), "ent_coef": (0.05, 0.003), "kl_coef": (0.0, None)}
"""Settings of self-play whose end was a setting of its own, with the defaults of both; None: the start."""


def current(settings: Mapping[str, Any], algorithm: str, source: str) -> dict[str, Any]:
    """Return settings of version 0.2 by their names of today, without those that are gone.

    A warning names those that need something else now.

    Args:
        settings: the settings by name.
        algorithm: the learning algorithm, by name.
        source: the source of the settings, for messages.

    Raises:
        ValueError: for a setting that is gone and had another value than it always has now.
    """
    now = dict(settings)
    if algorithm == "selfplay":
        schedule = named("ent_schedule", now.pop("ent_schedule", "power"), ("constant", "linear", "power"))
        for name, (start, end) in ENDS.items():
            start, end = now.pop(name, start), now.pop(f"final_{name}", end)
            way = "power" if name == "learning_rate" else schedule
            constant = end is None or way == "constant"
            now[name] = [start] if constant else [start, end, *([LINEAR] if way == LINEAR else [])]
    if now.get("name"):
        run = Path(str(now.pop("runs", "runs")), str(now["name"]))
        now["run"] = str(run if len(run.parts) > 1 else run.absolute())  # a name alone lies below runs/
    if whole("evaluate_every", now.get("evaluate_every", 0), 0):
        now.setdefault("evaluate_against", ["random"])
    else:
        now.pop("evaluate_against", None)
    field_names = [field.name for field in fields(find(algorithm).Config)]
    kept = {}
    for name, value in now.items():
        if name in field_names or name not in (*REMOVED, *WITHOUT_EFFECT):
            kept[name] = value
        elif name in REMOVED and value != REMOVED[name]:
            raise ValueError(
                f"{source} has {name} = {value!r}: this setting of version 0.2 is gone, and its value is always "
                f"{REMOVED[name]!r} now; leave it out, or use version 0.2"
            )
        elif name in INSTEAD and value:
            logger.warning("%s has %s=%r, which is gone: %s", source, name, value, INSTEAD[name])
    return kept
