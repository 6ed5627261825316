"""The function `game`: makes werewolf from its options."""

from dataclasses import replace
from typing import Annotated

from ..core.capabilities import Teams
from ..core.game import Game
from ..core.options import Options, from_options, within
from ..mafia import rules
from ..mafia.game import Skin, assemble, blank_table
from . import actions, bots, picture, view
from .load_state import load
from .view import TEAMS, WerewolfState

WEREWOLF = Skin(actions, view, load, WerewolfState, picture, bots.BOTS, Teams(TEAMS, rules.teams))


class WerewolfOptions(Options, frozen=True, kw_only=True):
    """The options of werewolf."""

    seats: Annotated[int, within(6, 10)] = 6
    """number of players, {}: two werewolves, one seer, and villagers."""
    fewest: Annotated[int | None, within(6, "seats")] = None
    """the fewest players of a match. Their number is drawn for each match, from here to `seats`, and the last seats
    stay empty: nobody acts there, and their reward is 0. None: always `seats`."""


@from_options(WerewolfOptions)
def game(given: WerewolfOptions) -> Game:
    """Return werewolf with these options."""
    blank = blank_table(
        seats=given.seats,
        fewest=given.fewest,
        mafia=2,
        doctors=0,
        sheriffs=1,
        max_days=10,
        discussion_rounds=2,
        tie="none",
        talk=True,
    )
    blank[0].werewolf = True
    return replace(assemble("werewolf", blank, WEREWOLF), platform_id="werewolf")
