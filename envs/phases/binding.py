"""A game's own functions bound to the shared rules: `Rules.reset` and `Rules.step` of a game in phases, and `Chance`.

Numba cannot cache a closure over compiled functions on disk. So the game's functions are bound to the global names
below, as `core.loops` does it.
"""

from typing import Any

from ..core.capabilities import Chance
from ..core.compiled import compiled
from ..core.loops import compile_loop
from ..core.rng import uniform
from . import open_phase, rules
from .definition import PhaseGame
from .rules import begin_match, begin_phase, cents, end_round, not_dealt, values_of

act: Any = None
choose: Any = None
early: Any = None
follow: Any = None
late: Any = None
odds: Any = None
pay: Any = None
reset: Any = None
settle: Any = None


def begin(table: Any) -> None:
    """Begin a match: `Rules.reset`."""
    reset(table)
    follow(table)


def play(table: Any, move: Any) -> None:
    """Apply the acting seat's move: `Rules.step`."""
    act(table, move)
    if table.turn < 0 and not table.done:
        settle(table, uniform(table) < odds(table))


def act_up_to_event(table: Any, move: Any) -> None:
    """Apply the acting seat's move, up to the event that decides the payoffs, if there is one: `Chance.step`."""
    if table.rounds > 1:
        for seat in range(table.seats):
            table.rewards[seat] = 0.0
    if choose(table, move) or early(table):
        table.turn = -1
        if table.timeout or odds(table) < 0.0:
            settle(table, False)
    else:
        follow(table)


def settle_round(table: Any, event: bool) -> None:
    """Pay the seats for a round, and begin the next round or end the match. `event`: see `PhaseGame.odds`."""
    table.event = event
    table.revealed = not table.timeout
    if table.timeout:
        late(table)
    else:
        pay(table)
    end_round(table)
    if not table.done:
        follow(table)


def deal(table: Any) -> None:
    """Begin a match whose private values are not dealt yet, where they vary: `Chance.begin`."""
    begin_match(table)
    for seat in range(table.seats):
        low = table.private_low[seat]
        table.private[seat] = -1.0 if low < table.private_high[seat] else cents(low)
    if not_dealt(table) >= 0:
        table.turn = -1
    else:
        follow(table)


def outcomes(table: Any) -> int:
    """Return how many private values the next seat may have, or whether the event has to be decided."""
    if table.turn >= 0 or table.done:
        return 0
    seat = not_dealt(table)
    if seat >= 0:
        first, last = values_of(table, seat)
        return last - first + 1
    return 2 if 0.0 < odds(table) < 1.0 else 1


def probability(table: Any, outcome: int) -> float:
    """Return the probability of a private value, or of the event (outcome 0) or of its absence."""
    seat = not_dealt(table)
    if seat >= 0:
        low, high = table.private_low[seat], table.private_high[seat]
        value = values_of(table, seat)[0] + outcome
        return (min(high, (value + 0.5) / 100.0) - max(low, (value - 0.5) / 100.0)) / (high - low)
    chance = odds(table)
    if chance <= 0.0 or chance >= 1.0:
        return 1.0
    return chance if outcome == 0 else 1.0 - chance


def decide(table: Any, outcome: int) -> None:
    """Deal a private value, or decide the event: `Chance.play`."""
    seat = not_dealt(table)
    if seat < 0:
        chance = odds(table)
        settle(table, chance >= 1.0 or (chance > 0.0 and outcome == 0))
        return
    table.private[seat] = (values_of(table, seat)[0] + outcome) / 100.0
    if not_dealt(table) < 0:
        begin_phase(table, 0)
        follow(table)


@compiled
def nothing(table: Any) -> None:
    """Do nothing."""


@compiled
def never(table: Any) -> bool:
    """Return False."""
    return False


@compiled
def no_event(table: Any) -> float:
    """Return that there is no event."""
    return -1.0


def functions(own: PhaseGame) -> tuple[dict[str, Any], Chance]:
    """Return `reset` and `step` of a game's `Rules`, and its `Chance`."""
    odds, follow = own.odds or no_event, own.follow or nothing
    ending = {"follow": follow, "end_round": end_round}
    settle = compile_loop(settle_round, pay=own.pay, late=own.late or nothing, **ending)
    choose = open_phase.act if own.open else rules.choose
    act = compile_loop(
        act_up_to_event, choose=choose, early=own.early or never, odds=odds, settle=settle, follow=follow
    )
    dealing = {"not_dealt": not_dealt, "values_of": values_of}
    return {
        "reset": compile_loop(begin, reset=rules.reset, follow=follow) if own.follow else rules.reset,
        "step": compile_loop(play, act=act, settle=settle, odds=odds, uniform=uniform),
    }, Chance(
        begin=compile_loop(deal, begin_match=begin_match, cents=cents, not_dealt=not_dealt, follow=follow),
        step=act,
        outcomes=compile_loop(outcomes, odds=odds, **dealing),
        play=compile_loop(decide, odds=odds, settle=settle, begin_phase=begin_phase, follow=follow, **dealing),
        probability=compile_loop(probability, odds=odds, **dealing),
    )
