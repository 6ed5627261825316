"""Every registered game, with the options it is tested with. A new game is tested by being registered."""

import os
import sys
from pathlib import Path

import pytest
from hypothesis import settings
from parlour import envs

sys.path.append(str(Path(__file__).parent))  # for kuhn

import kuhn

envs.register("kuhn-v0", kuhn.game)

settings.register_profile("here", deadline=None, max_examples=100)
settings.register_profile("ci", deadline=None, max_examples=100, derandomize=True)
settings.load_profile("ci" if os.environ.get("CI") else "here")

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


@pytest.fixture(params=CASES)
def case(request):
    """A registered game's id and options."""
    return request.param


@pytest.fixture
def game(case):
    """Every registered game with every set of its options."""
    return envs.game(case[0], **case[1])


@pytest.fixture(params=list(envs.GAMES))
def game_id(request):
    """Every registered game's id."""
    return request.param
