"""The function `game`: makes werewolf from its options."""

from dataclasses import replace

from ..core.capabilities import Teams
from ..core.game import Game
from ..core.options import whole
from ..mafia import rules
from ..mafia.game import Skin, assemble, blank_table
from ..render.renderer import Renderer
from . import actions, bots, picture, render, view
from .load_state import load
from .mafia_terms import TEAMS
from .state import WerewolfState

WEREWOLF = Skin(
    actions,
    view,
    load,
    WerewolfState,
    Renderer(render.render, picture.picture),
    bots.BOTS,
    Teams(TEAMS, rules.teams),
)


def game(*, seats: int = 6, fewest: int | None = None) -> Game:
    """Return werewolf with these options.

    Args:
        seats: number of players, 6 to 10: two werewolves, one seer, and villagers.
        fewest: the fewest players of a match. Their number is drawn for each match, from here to `seats`, and the last
            seats stay empty: nobody acts there, and their reward is 0. None: always `seats`.

    Raises:
        ValueError: naming the option, its value and its range.
    """
    seats = whole("seats", seats, 6, 10)
    fewest = None if fewest is None else whole("fewest", fewest, 6, seats)
    blank = blank_table(
        seats=seats,
        fewest=fewest,
        mafia=2,
        doctors=0,
        sheriffs=1,
        max_days=10,
        discussion_rounds=2,
        tie="none",
        talk=True,
    )
    blank[0].werewolf = True
    options = {"seats": seats, "fewest": fewest}
    return replace(assemble("werewolf", options, blank, WEREWOLF), platform_id="werewolf")
