"""Settings of version 0.2 that are gone, so that its files can be read."""

import logging
from collections.abc import Collection, Mapping
from typing import Any

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
    "threads",
    "progress",
    "evaluate_deals",
    "evaluate_hands",
    "exploitability",
    "magnet_rate",
    "track",
    "address",
)
"""Settings that are gone and never changed what is learned; `magnet_rate` did nothing without `magnet_coef`."""

INSTEAD = {"address": "set RAY_ADDRESS", "track": "send the metrics by a callback"}
"""What to do for settings that changed where a run was computed and shown; without it their values are lost."""


def without_removed(settings: Mapping[str, Any], known: Collection[str], source: str) -> dict[str, Any]:
    """Return settings without those that are gone. A warning names those that need something else now.

    Args:
        settings: the settings by name.
        known: the names of the settings that there are.
        source: the source of the settings, for error messages.

    Raises:
        ValueError: for a setting that is gone and had another value than it always has now.
    """
    kept = {}
    for name, value in settings.items():
        if name in known or name not in (*REMOVED, *WITHOUT_EFFECT):
            kept[name] = value
        elif name in REMOVED and value != REMOVED[name]:
            raise ValueError(
                f"{source} has {name} = {value!r}: this setting of version 0.2 is gone, and its value is always "
                f"{REMOVED[name]!r} now; leave it out, or use version 0.2"
            )
        elif name in INSTEAD and value:
            logger.warning("%s has %s=%r, which is gone: %s", source, name, value, INSTEAD[name])
    return kept
