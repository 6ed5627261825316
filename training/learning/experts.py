"""Experts: teachers besides the bots, for games that have some."""

from collections.abc import Callable, Mapping

from ...envs import Game
from .dagger import Expert


def experts(game: Game) -> Mapping[str, Callable[[Game, str, int], Expert]]:
    """Return the experts of a game, by name.

    ``experts(game)[name](game, encoder, count)`` makes an expert for `count` tables, for a learner with the
    observations of `encoder`.
    """
    if game.name != "tangram":
        return {}
    from .figure_expert import FigureExpert  # imported here: it loads the game

    return {"expert": FigureExpert}
