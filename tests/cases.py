"""Every registered game with the options it is tested with. A new game is tested by being registered."""

import kuhn
import pytest
from parlour import envs

envs.register("kuhn-v0", kuhn.game)

OPTIONS = {
    "holdem-v0": {
        "headsup": {"seats": 2},
        "default": {},
        "three unequal, antes": {"seats": 3, "stacks": [11, 200, 57], "ante": 1},
        "six, many hands": {"stacks": 30, "hands": 5},
        "ten, capped": {"seats": 10, "stacks": 100, "raise_cap": 4, "ante": 2, "big_blind": 10, "small_blind": 5},
        "empty seats, short": {"seats": 6, "stacks": [0, 3, 40, 0, 5, 4], "hands": 3, "pot_fractions": [1]},
    },
}
"""Sets of options by game and name; a game without an entry is tested with its defaults."""

CASES = [
    pytest.param((game_id, options), id=f"{game_id}: {name}")
    for game_id in envs.GAMES
    for name, options in OPTIONS.get(game_id, {"default": {}}).items()
]
