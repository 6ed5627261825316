"""A provision point: commitments fund a project if they reach a threshold, and are refunded if they do not."""

from typing import Annotated, Any

import numpy as np

from ..core.compiled import compiled
from ..core.game import Game
from ..core.options import Options, from_options, within
from ..core.rollout import random_bot
from ..phases import (
    Bots,
    Computed,
    End,
    Number,
    OwnChoice,
    Phase,
    PhaseGame,
    Private,
    Seen,
    WhoChose,
    bot,
    make,
)
from ..phases.fields import PARAMETER, PER_SEAT, Ranges, chosen_of, parameters_of, ranges, seats_of, total_of
from ..phases.rules import CLOSE, sum_of


class ProvisionPoint(Options, frozen=True, kw_only=True):
    """The options of the provision point."""

    seats: Annotated[int, within(2, 8)] = 2
    """number of contributors, {}."""
    threshold: Annotated[float, within(0.01, 1e6), PARAMETER] = 100.0
    """the sum of commitments that funds the project, {}."""
    valuations: Annotated[Ranges, PER_SEAT] = (70, 70)
    """what the funded project is worth to a contributor, uniform between a lowest and a highest value: one pair for all
    contributors, or a pair for each. A pair of equal numbers fixes it."""
    amounts: Annotated[int, within(2, 256)] = 101
    """number of commitments that have an action index, evenly spaced from 0 to `threshold`; {}."""
    max_rounds: Annotated[int, within(1, 1000)] = 6
    """turns of each contributor, {}. Who passes may commit in a later turn."""
    rounds: Annotated[int, within(1, 1000)] = 1
    """number of projects, one after the other, {}. The valuations stay the same."""


AT, PARAMETERS = parameters_of(ProvisionPoint)


@from_options(ProvisionPoint)
def game(given: ProvisionPoint) -> Game:
    """Return the provision point with these options."""
    values = ranges("valuations", given.valuations, given.seats)
    least, most = min(low for low, _ in values), max(high for _, high in values)
    return make(
        PhaseGame(
            name="provision_point",
            title="Provision point",
            options=given,
            phases=[Phase("commit", ("submit_commitment",), sealed=True, turns=given.max_rounds)],
            actions=[
                Number("submit_commitment", "amount", given.threshold, given.amounts, "commit this amount, sealed")
            ],
            amounts=(AT.threshold,),
            private=Private("my_reservation_value", values),
            payoffs=(min(0.0, least - given.threshold), most),
            pay=pay,
            late=pay,
            early=funded,
            end=end,
            fields=[
                Computed("num_agents", seats_of),
                OwnChoice("my_commitment"),
                WhoChose("committed_agents", others=False),
                Computed("num_committed", chosen_of),
                *PARAMETERS,
                Computed("funded", _is_funded),
            ],
            worth=worth,
            bots=BOTS,
        )
    )


def _is_funded(table: Any) -> bool | None:
    return total_of(table) >= float(table.parameter[AT.threshold]) - CLOSE if table.revealed else None


@compiled
def funded(table: Any) -> bool:
    """Return True if the threshold is reached; the round then ends at once."""
    return bool(sum_of(table, 0) >= table.parameter[AT.threshold] - CLOSE)


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
    details = {"total_committed": total_of(table), "threshold": float(table.parameter[AT.threshold])}
    return End(trigger, rows, {"trigger": trigger, **details})


def _equilibrium(seen: Seen) -> Any:
    gap = float(seen.game.rules.blank[0].gap[0])
    part = gap * np.ceil(seen.parameter(AT.threshold) / seen.game.seats / gap - CLOSE)
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
