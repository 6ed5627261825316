"""Hold'em in the browser is played at a poker host's table, hand after hand with the same stacks."""

from collections.abc import Mapping, Sequence
from typing import Any

from ....envs import Game
from ....wrappers.agents.base import Agent
from ....wrappers.live.table.poker import PokerTable
from ....wrappers.logs.match_log import MatchLog
from ....wrappers.logs.safe_match_log import SafeMatchLog

OPTIONS = {"small_blind": "small_blind", "big_blind": "big_blind", "stacks": "stack", "raise_cap": "raise_cap"}
"""Hold'em's options that a poker table has, and what they are called there."""
HAND_DELAY = 4.0
"""Seconds between two hands."""


def poker_table(
    game: Game,
    given: Mapping[str, Any],
    players: Sequence[tuple[str, Agent] | None],
    *,
    hands: int | None,
    log: MatchLog | None,
    **common: Any,
) -> PokerTable:
    """Return a poker table for people and programs.

    Args:
        game: hold'em with its options.
        given: the options that were given; the others are the poker host's own.
        players: by seat, a name and who plays; None: a person.
        hands: hands after which the table ends and another opens; None: no limit.
        log: where everything is written.
        common: what every table in the browser has.

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
        raise ValueError(f"stacks={wanted['stack']}: at a poker table everybody begins with the same")
    return PokerTable(
        game.seats,
        {seat: player for seat, player in enumerate(players) if player is not None},
        max_hands=hands,
        hand_delay=HAND_DELAY,
        on_event=SafeMatchLog(log).write,
        **{"raise_cap": None, **wanted},
        **common,
    )
