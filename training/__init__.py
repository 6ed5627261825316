"""Training and evaluation, and the `parlour` command.

The names below are the public ones; each is loaded at its first use, and PyTorch with those that train.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .evaluation.cross_play import cross_play as cross_play
    from .evaluation.cross_play import finished as finished
    from .evaluation.cross_play import play_teams as play_teams
    from .evaluation.duplicate import evaluate as evaluate
    from .evaluation.exact import flat_tree as flat_tree
    from .evaluation.exact import nash_conv as nash_conv
    from .evaluation.exact import values as values
    from .evaluation.games import best_response as best_response
    from .evaluation.games import compare as compare
    from .evaluation.games import play as play
    from .runs.config import load_config as load_config
    from .runs.config import preset_for as preset_for
    from .runs.run import resume as resume
    from .runs.run import train as train

_NAMES = {
    "evaluation.cross_play": ("cross_play", "finished", "play_teams"),
    "evaluation.duplicate": ("evaluate",),
    "evaluation.exact": ("flat_tree", "nash_conv", "values"),
    "evaluation.games": ("best_response", "compare", "play"),
    "runs.config": ("load_config", "preset_for"),
    "runs.run": ("resume", "train"),
}
_SOURCES = {name: module for module, names in _NAMES.items() for name in names}

__all__ = [*_SOURCES]

if not TYPE_CHECKING:  # a type checker knows the names above, and reports others

    def __getattr__(name: str) -> Any:
        """Load a public name."""
        if name not in _SOURCES:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        return getattr(import_module(f".{_SOURCES[name]}", __name__), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
