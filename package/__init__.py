"""Parlour: multi-agent reinforcement learning environments for parlour games, with training and live play.

- `parlour.envs`: the games. ``envs.holdem_v0.env(seats=6)``, ``envs.game("holdem")``, `VectorGame`, `register`.
- `parlour.wrappers`: what plays them. `make_policy`, `sb3_env`, `PolicyAgent`, `TextGame`, `PokerHost`, `play_poker`.
- `parlour.training`: `train`, `load_config`, `evaluate`, `compare`, `nash_conv`, and the command `parlour`.
- `parlour.zoo`: trained policies. ``make_policy("zoo:holdem", game)``.

Each is imported at its first use, so that nobody waits for what they do not need.
"""

from importlib import import_module
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from . import envs as envs
    from . import training as training
    from . import wrappers as wrappers
    from . import zoo as zoo

__all__ = ["envs", "training", "wrappers", "zoo"]
__version__ = version("parlour")

if not TYPE_CHECKING:  # a type checker knows the names above, and reports others

    def __getattr__(name: str) -> Any:
        """Import a package."""
        if name not in __all__:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        return import_module(f".{name}", __name__)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
