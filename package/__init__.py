"""Parlour: multi-agent reinforcement learning environments for parlour games, with training and live play.

- `parlour.envs`: the games. ``envs.holdem_v0.env(seats=6)``, ``envs.game("holdem")``, `VectorGame`, `register`.
- `parlour.wrappers`: what plays them. `make_policy`, `sb3_env`, `PolicyAgent`, `TextGame`, `PokerHost`, `play_poker`.
- `parlour.training`: `train`, `load_config`, `evaluate`, `compare`, `nash_conv`, and the command `parlour`.
- `parlour.zoo`: trained policies. ``make_policy("zoo:holdem", game)``.

Each is imported at its first use, so that nobody waits for what they do not need.
"""

from importlib import import_module
from importlib.metadata import version
from typing import Any

__version__ = version("parlour")


def __getattr__(name: str) -> Any:
    """Import a package."""
    if name not in ("envs", "training", "wrappers", "zoo"):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return import_module(f".{name}", __name__)
