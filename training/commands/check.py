"""`parlour check`: tests the laws of all games on your own game."""

from typing import Annotated

from cyclopts import Parameter
from cyclopts.types import PositiveInt

from ...envs import find
from ...envs.core.options import with_options
from ...envs.core.registry import load_own
from ...envs.testing import EPISODES, LAWS, LawBroken, LawResult
from ...envs.testing import check as check_game
from ..learning.settings import pair

WIDTH = max(map(len, LAWS)) + 2
"""The width of the column of the laws' names."""


def command(
    game: Annotated[str, Parameter(name="GAME")],
    *,
    options: tuple[str, ...] = (),
    episodes: PositiveInt = EPISODES,
    laws: tuple[str, ...] = (),
) -> None:
    """Test the laws on a game, and print for each whether it holds.

    Exit code 0: every tested law holds. Exit code 2: a law is broken; the message names the law, the seed, the seat and
    what differs.

    Args:
        game: module:function that makes the game from its options, such as my_package.my_game:game; or the name of a
            registered game.
        options: The game's options as name=value, such as seats=3.
        episodes: Random episodes per law.
        laws: The names of the laws to test. Default: all.
    """
    function = load_own(game) if ":" in game else find(game)
    checked = with_options(function, dict(map(pair, options)))
    source = f"{function.__module__}:{function.__qualname__}"
    try:
        report = check_game(checked, episodes=episodes, laws=laws or None, source=source, on_result=_show)
    except LawBroken as broken:
        raise ValueError(f"{checked.id} breaks a law: {broken}") from broken
    held = sum(result.skipped is None for result in report.results)
    print(f"{report.game_id}: {held} of {len(report.results)} laws hold, {len(report.results) - held} not tried")


def _show(result: LawResult) -> None:
    print(f"{result.law:{WIDTH}}{result.verdict}  ({result.seconds:.1f} s)", flush=True)
    for warning in result.warnings:
        print(f"{'':{WIDTH}}warning: {warning}", flush=True)
