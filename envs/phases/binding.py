"""A game's own functions bound to the shared rules: `Rules.reset` and `Rules.step` of a game in phases.

Numba cannot cache a closure over compiled functions on disk. So the game's functions are bound to the global names
below, as `core.loops` does it.
"""

from collections.abc import Callable
from typing import Any

from ..core.compiled import compiled
from ..core.loops import compile_loop
from . import open_phase, rules
from .definition import PhaseGame

choose: Any = None
early: Any = None
pay: Any = None
late: Any = None
follow: Any = None
reset: Any = None
end_round: Any = None


def begin(table: Any) -> None:
    """Begin a match."""
    reset(table)
    follow(table)


def play(table: Any, move: Any) -> None:
    """Apply the acting seat's move; at the end of a round, pay the seats, and begin the next round or end the match."""
    if table.rounds > 1:
        for seat in range(table.seats):
            table.rewards[seat] = 0.0
    over = choose(table, move)
    if over or early(table):
        table.revealed = not table.timeout
        if table.timeout:
            late(table)
        else:
            pay(table)
        end_round(table)
    if not table.done:
        follow(table)


@compiled
def nothing(table: Any) -> None:
    """Do nothing."""


@compiled
def never(table: Any) -> bool:
    """Return False."""
    return False


def reset_of(own: PhaseGame) -> Callable[[Any], None]:
    """Return `Rules.reset` of a game."""
    return compile_loop(begin, reset=rules.reset, follow=own.follow) if own.follow else rules.reset


def step_of(own: PhaseGame) -> Callable[[Any, Any], None]:
    """Return `Rules.step` of a game."""
    return compile_loop(
        play,
        choose=open_phase.act if own.open else rules.choose,
        early=own.early or never,
        pay=own.pay,
        late=own.late or nothing,
        follow=own.follow or nothing,
        end_round=rules.end_round,
    )
