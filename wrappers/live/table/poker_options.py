"""Hold'em in the browser: a table of the poker host, where stacks carry over from hand to hand."""

from collections.abc import Mapping, Sequence
from typing import Any

from ....envs import Game
from ...agents.base import Agent
from ...logs.match_log import MatchLog
from ...logs.safe_match_log import SafeMatchLog
from .poker import PokerTable

OPTIONS = {"small_blind": "small_blind", "big_blind": "big_blind", "stacks": "stack", "raise_cap": "raise_cap"}
"""The options of hold'em that a poker table has, and their names there."""
HAND_DELAY = 4.0
"""Seconds between two hands."""


def poker_table(
    game: Game,
    given: Mapping[str, Any],
    players: Sequence[tuple[str, Agent] | None],
    *,
    hands: int | None,
    rebuy: bool,
    log: MatchLog | None,
    **common: Any,
) -> PokerTable:
    """Return a poker table for people and programs.

    Args:
        game: hold'em with its options.
        given: the options that the user gave; the others have the poker host's defaults.
        players: by seat, a name and an agent; None: a person.
        hands: number of hands after which the table ends and a new one opens; None: no limit.
        rebuy: whether a player without chips gets a new stack before the next hand.
        log: the match log; None: no log.
        common: arguments of every table in the browser.

    Raises:
        ValueError: for an option that poker tables do not have.
    """
    wanted = {}
    for name, value in given.items():
        if name != "seats" and name not in OPTIONS:
            raise ValueError(f"{name}={value}: poker tables take {', '.join(OPTIONS)}")
        if name != "seats":
            wanted[OPTIONS[name]] = game.options[name]
    if not isinstance(wanted.setdefault("stack", 200), int):
        raise ValueError(f"stacks={wanted['stack']}: at a poker table all players begin with the same stack")
    return PokerTable(
        game.seats,
        {seat: player for seat, player in enumerate(players) if player is not None},
        max_hands=hands,
        rebuy=rebuy,
        hand_delay=HAND_DELAY,
        on_event=SafeMatchLog(log).write,
        **{"raise_cap": None, **wanted},
        **common,
    )
