"""What differs between a policy's training and a live table of hold'em."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from ..core.turn_state import TurnState


def differences(options: Mapping[str, Any], state: TurnState, first: bool) -> dict[str, Any]:
    """Return the options that differ at a live table.

    Seats differ only if the table has more players: a policy for nine seats knows smaller tables. Stacks differ if the
    player's own one is more than a tenth away, in big blinds; only its first turn shows what the table gave.
    """
    shown = state.game_state
    blind, players = shown["bigBlind"], shown["players"]
    different: dict[str, Any] = {}
    if len(players) > options["seats"]:
        different["seats"] = len(players)
    if shown["smallBlind"] * options["big_blind"] != options["small_blind"] * blind:
        different |= {"small_blind": shown["smallBlind"], "big_blind": blind}
    own = next((player for player in players if player["seat"] == shown["seat"]), None)
    if first and own is not None:
        stack, trained = own["stack"] + own["committed"], float(np.mean(options["stacks"])) / options["big_blind"]
        if abs(stack / blind - trained) > 0.1 * trained:
            different |= {"small_blind": shown["smallBlind"], "big_blind": blind, "stacks": stack}
    return different
