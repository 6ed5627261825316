"""Training and evaluation, and the `parlour` command.

The names below are the public ones; each is loaded at its first use, and PyTorch with those that train.
"""

from typing import TYPE_CHECKING

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
elif "." in __name__:  # else it is imported as a folder of its own, which has no public names
    from ..wrappers.lazy import lazy

    __getattr__, __dir__, __all__ = lazy(__name__, __file__)
