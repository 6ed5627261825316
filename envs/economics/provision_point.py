"""A provision point: commitments fund a project if they reach a threshold, and are refunded if they do not."""

from typing import Any

import numpy as np

from ..core.compiled import compiled
from ..core.game import Game
from ..core.options import number, whole
from ..core.rollout import random_bot
from ..phases import (
    Bots,
    Computed,
    End,
    Number,
    OwnChoice,
    Parameter,
    Phase,
    PhaseGame,
    Private,
    Seen,
    WhoChose,
    bot,
    make,
)
from ..phases.fields import chosen_of, seats_of, total_of
from ..phases.options import Ranges, ranges, shown
from ..phases.rules import CLOSE, sum_of

THRESHOLD = 0


def game(
    *,
    seats: int = 2,
    threshold: float = 100.0,
    valuations: Ranges = (70, 70),
    amounts: int = 101,
    max_rounds: int = 6,
    rounds: int = 1,
) -> Game:
    """Return the provision point with these options.

    Args:
        seats: number of contributors, 2 to 8.
        threshold: the sum of commitments that funds the project, 0.01 to 1,000,000.
        valuations: what the funded project is worth to a contributor, uniform between a lowest and a highest value: one
            pair for all contributors, or a pair for each. A pair of equal numbers fixes it.
        amounts: number of commitments that have an action index, evenly spaced from 0 to `threshold`; 2 to 256.
        max_rounds: turns of each contributor, 1 to 1,000. Who passes may commit in a later turn.
        rounds: number of projects, one after the other, 1 to 1,000. The valuations stay the same.

    Raises:
        ValueError: naming the option, its value and its range.
    """
    seats = whole("seats", seats, 2, 8)
    threshold = number("threshold", threshold, 0.01, 1e6)
    values = ranges("valuations", valuations, seats)
    options: dict[str, Any] = {
        "seats": seats,
        "threshold": threshold,
        "valuations": shown(values),
        "amounts": whole("amounts", amounts, 2, 256),
        "max_rounds": whole("max_rounds", max_rounds, 1, 1000),
        "rounds": whole("rounds", rounds, 1, 1000),
    }
    least, most = min(low for low, _ in values), max(high for _, high in values)
    return make(
        PhaseGame(
            name="provision_point",
            title="Provision point",
            seats=seats,
            options=options,
            phases=[Phase("commit", ("submit_commitment",), sealed=True, turns=options["max_rounds"])],
            actions=[
                Number("submit_commitment", "amount", threshold, options["amounts"], "commit this amount, sealed")
            ],
            parameters=[threshold],
            amounts=(THRESHOLD,),
            private=Private("my_reservation_value", values),
            payoffs=(min(0.0, least - threshold), most),
            pay=pay,
            late=pay,
            early=funded,
            end=end,
            fields=[
                Computed("num_agents", seats_of),
                OwnChoice("my_commitment"),
                WhoChose("committed_agents", others=False),
                Computed("num_committed", chosen_of),
                Parameter("threshold", THRESHOLD),
                Computed("funded", _is_funded),
            ],
            worth=worth,
            bots=BOTS,
        )
    )


def _is_funded(table: Any) -> bool | None:
    return total_of(table) >= float(table.parameter[THRESHOLD]) - CLOSE if table.revealed else None


@compiled
def funded(table: Any) -> bool:
    """Return whether the threshold is reached; the round then ends at once."""
    return bool(sum_of(table, 0) >= table.parameter[THRESHOLD] - CLOSE)


@compiled
def pay(table: Any) -> None:
    """If it is funded, give each its valuation less its commitment, which is 0 for those that have made none."""
    table.timeout = False  # the platform resolves it after the last turn, too
    table.revealed = True
    if funded(table):
        for seat in range(table.seats):
            table.rewards[seat] = table.private[seat] - table.number[0, seat]


def worth(table: Any, kind: int, numbers: Any) -> Any:
    """Return valuation − commitment, which is paid if the threshold is reached."""
    return float(table.private[table.turn]) - numbers if kind == 0 else np.inf


def end(table: Any) -> End:
    """Return the end in the platform's words."""
    seats = range(int(table.seats))
    all_in = chosen_of(table) == table.seats
    short = "all_committed_below_threshold" if all_in else "rounds_exhausted"
    trigger = "threshold_met" if _is_funded(table) else short
    rows = [{"commitment": float(table.number[0][seat])} for seat in seats]
    more = {"total_committed": total_of(table), "threshold": float(table.parameter[THRESHOLD])}
    return End(trigger, rows, {"trigger": trigger, **more})


def _equilibrium(seen: Seen) -> Any:
    gap = float(seen.game.rules.blank[0].gap[0])
    part = gap * np.ceil(seen.parameter(THRESHOLD) / seen.game.seats / gap - CLOSE)
    return np.where(seen.private >= part, part, 0.0)


def _free_rider(seen: Seen) -> Any:
    return np.zeros(len(seen.seat))


def _generous(seen: Seen) -> Any:
    return seen.private


BOTS: Bots = {
    "random": random_bot,
    "equilibrium": bot(_equilibrium),
    "free_rider": bot(_free_rider),
    "generous": bot(_generous),
}
"""`random`: any legal action. `equilibrium`: commits an equal part of the threshold, rounded up to an action index, if
its valuation is as high; with fixed valuations this is the symmetric efficient equilibrium. `free_rider`: commits 0.
`generous`: commits its valuation."""
