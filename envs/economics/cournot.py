"""Cournot competition: each firm chooses a quantity, and the market has one price."""

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
from ..phases.fields import PARAMETER, PER_SEAT, Ranges, chosen_of, parameters_of, ranges, seats_of
from ..phases.rules import sum_of


class Cournot(Options, frozen=True, kw_only=True):
    """The options of Cournot's game."""

    seats: Annotated[int, within(2, 8)] = 2
    """number of firms, {}."""
    a: Annotated[float, within(0.01, 1e6), PARAMETER] = 100.0
    """the price at which nobody buys, {}."""
    b: Annotated[float, within(0.001, 1000), PARAMETER] = 1.0
    """how much the price falls with each unit, {}."""
    costs: Annotated[Ranges, PER_SEAT] = (20, 20)
    """the private cost of a unit, uniform between a lowest and a highest value: one pair for all firms, or a pair for
    each. A pair of equal numbers fixes it."""
    quantities: Annotated[int, within(2, 256)] = 101
    """number of quantities that have an action index, evenly spaced from 0 to `a` / `b`; {}."""
    max_rounds: Annotated[int, within(1, 1000)] = 10
    """turns of each firm in one market, {}. A firm that passes may choose in a later turn; if one never does, all get
    0."""
    rounds: Annotated[int, within(1, 1000)] = 1
    """number of markets, one after the other, {}. The costs stay the same."""


AT, PARAMETERS = parameters_of(Cournot)


@from_options(Cournot)
def game(given: Cournot) -> Game:
    """Return Cournot's game with these options."""
    cost = ranges("costs", given.costs, given.seats)
    highest = given.a / given.b
    cheapest, dearest = min(low for low, _ in cost), max(high for _, high in cost)
    return make(
        PhaseGame(
            name="cournot",
            title="Cournot competition",
            options=given,
            phases=[Phase("production", ("submit_quantity",), sealed=True, turns=given.max_rounds)],
            actions=[Number("submit_quantity", "quantity", highest, given.quantities, "produce this quantity, sealed")],
            amounts=(AT.a,),
            slope=AT.b,
            private=Private("my_marginal_cost", cost),
            payoffs=(-dearest * highest, max(given.a - cheapest, 0.0) ** 2 / (4 * given.b) + 0.01),
            pay=pay,
            end=end,
            fields=[
                Computed("num_firms", seats_of),
                *PARAMETERS,
                OwnChoice("my_quantity"),
                WhoChose("opponents_who_committed"),
                Computed("num_quantities_submitted", chosen_of),
            ],
            bots=BOTS,
        )
    )


@compiled
def pay(table: Any) -> None:
    """Give each firm (price − cost) · quantity."""
    price = max(0.0, table.parameter[AT.a] - table.parameter[AT.b] * sum_of(table, 0))
    for seat in range(table.seats):
        table.rewards[seat] = (price - table.private[seat]) * table.number[0, seat]


def end(table: Any) -> End:
    """Return the market in the platform's words."""
    quantities = [float(table.number[0][seat]) for seat in range(int(table.seats))]
    a, b = float(table.parameter[AT.a]), float(table.parameter[AT.b])
    rows = [
        {"quantity": quantity, "marginal_cost": float(table.private[seat])} for seat, quantity in enumerate(quantities)
    ]
    total = sum(quantities)
    details = {"price": max(0.0, a - b * total), "total_quantity": total, "demand": {"a": a, "b": b}}
    return End("market_cleared", rows, details)


def equilibrium_quantity(a: float, b: float, mean_costs: Any, seat: Any, cost: Any) -> Any:
    """Return the equilibrium quantities of firms that know their own cost and the others' mean costs.

    With M = (n·a − Σ mean costs) / (n + 1) / b the expected total, a firm of mean cost μ and cost c produces
    (a − μ) / b − M − (c − μ) / (2b). It holds if nobody wants to produce less than 0. With known, equal costs it is
    (a − c) / ((n + 1) b).

    Args:
        a: the price without supply.
        b: how much it falls per unit.
        mean_costs: float[n], the expected cost of each firm.
        seat: int[N], the firms.
        cost: float[N], their costs.

    Returns:
        float64[N], at least 0.
    """
    means = np.asarray(mean_costs, np.float64)
    expected = (len(means) * a - means.sum()) / (len(means) + 1) / b
    mean = means[seat]
    return np.maximum((a - mean) / b - expected - (np.asarray(cost) - mean) / (2 * b), 0.0)


def _mean_costs(game: Game) -> Any:
    table = game.rules.blank[0]
    return (table.private_low[: game.seats] + table.private_high[: game.seats]) / 2


def _equilibrium(seen: Seen) -> Any:
    return equilibrium_quantity(
        seen.parameter(AT.a), seen.parameter(AT.b), _mean_costs(seen.game), seen.seat, seen.private
    )


def _collusive(seen: Seen) -> Any:
    a, b, mean = seen.parameter(AT.a), seen.parameter(AT.b), float(_mean_costs(seen.game).mean())
    return np.full(len(seen.seat), max(a - mean, 0.0) / (2 * b * seen.game.seats))


def _best_response(seen: Seen) -> Any:
    """Answer the others' last quantities; in the first market, play the equilibrium."""
    best = (seen.parameter(AT.a) - seen.private) / seen.parameter(AT.b) / 2 - seen.past[:, 1:].sum(axis=1) / 2
    return np.where(seen.begun, np.maximum(best, 0.0), _equilibrium(seen))


BOTS: Bots = {
    "random": random_bot,
    "equilibrium": bot(_equilibrium),
    "collusive": bot(_collusive),
    "best_response": bot(_best_response),
}
"""`random`: any legal action. `equilibrium`: see `equilibrium_quantity`. `collusive`: an equal part of the quantity of
a monopoly. `best_response`: the best answer to the others' last quantities in a repeated game."""
