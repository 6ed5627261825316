"""Bilateral trade: a buyer and a seller with private values propose prices in turn until one accepts or leaves."""

from collections.abc import Mapping
from typing import Annotated, Any

import numpy as np

from ..core.compiled import compiled
from ..core.game import Game
from ..core.options import Options, from_options, within
from ..core.rollout import random_bot
from ..core.turn_state import amount
from ..phases import Bots, Computed, End, Named, Number, Open, Phase, PhaseGame, Private, Seen, bot, make
from ..phases.fields import PER_SEAT_OF_TWO, Field, Ranges, is_resolved, name_of, own, ranges, seats_of

PROPOSE, ACCEPT, LEAVE, WAIT = range(4)
"""The action types; the last one is `pass`."""
SCOPE = "A service"


class BilateralTrade(Options, frozen=True, kw_only=True):
    """The options of bilateral trade."""

    reservations: Annotated[Ranges, PER_SEAT_OF_TWO] = (0, 100)
    """the private values, what the good is worth to the buyer and what it costs the seller: uniform between a lowest
    and a highest value, one pair for both or a pair for each."""
    highest: Annotated[float, within(0.01, 1e6)] = 100.0
    """the highest price, {}."""
    prices: Annotated[int, within(2, 256)] = 101
    """number of prices that have an action index, evenly spaced from 0 to `highest`; {}."""
    max_rounds: Annotated[int, within(1, 1000)] = 10
    """turns of each seat, {}. Without an agreement in them, both get 0."""
    rounds: Annotated[int, within(1, 1000)] = 1
    """number of trades, one after the other, {}. The private values stay the same."""


@from_options(BilateralTrade)
def game(given: BilateralTrade) -> Game:
    """Return bilateral trade with these options."""
    values = ranges("reservations", given.reservations, 2)
    (least_value, most_value), (least_cost, most_cost) = values
    phase = Phase(
        "negotiate",
        ("propose", "accept_proposal", "reject_and_exit"),
        turns=given.max_rounds,
        open=Open("price", given.highest),
    )
    return make(
        PhaseGame(
            name="bilateral_trade",
            title="Bilateral trade",
            options=given,
            phases=[phase],
            actions=[
                Number("propose", "price", given.highest, given.prices, "propose this price", limit="max_budget"),
                Named("accept_proposal", 1.0, "accept the other's price", "close"),
                Named("reject_and_exit", 0.0, "leave without a trade", "close", words=("reason",)),
            ],
            private=Private("my_reservation_value", values),
            amounts=(),
            payoffs=(
                min(0.0, least_value - given.highest, -most_cost),
                max(0.0, most_value, given.highest - least_cost),
            ),
            pay=pay,
            follow=follow,
            end=end,
            roles=("buyer", "seller"),
            role_keys=("buyer", "seller"),
            fields=[
                Computed("num_agents", seats_of),
                Computed("fixed_scope", _scope),
                Proposal("proposal"),
                Computed("agreement", _agreement),
                Computed("resolved", is_resolved),
            ],
            worth=worth,
            bots=BOTS,
        )
    )


def _scope(table: Any) -> str:
    return SCOPE


def _agreement(table: Any) -> dict[str, Any] | None:
    return {"scope": SCOPE, "price": float(table.standing)} if table.closed_by == ACCEPT else None


class Proposal(Field):
    """The last price and who proposed it, or None."""

    def write(self, table: Any, seat: int) -> dict[str, Any] | None:
        """Return the proposal."""
        if table.owner < 0:
            return None
        return {"scope": SCOPE, "price": float(table.standing), "proposed_by": name_of(int(table.owner))}

    def read(self, table: Any, seat: int, value: Any, seats: Mapping[str, int]) -> None:
        """Write the proposal."""
        by = value.get("proposed_by") if isinstance(value, Mapping) else None
        if isinstance(by, str) and by in seats:
            table.standing = amount(value.get("price"), "price")
            own(table, seats[by])


@compiled
def follow(table: Any) -> None:
    """Nobody accepts its own price."""
    table.open[ACCEPT] = table.owner >= 0 and table.owner != table.turn


@compiled
def pay(table: Any) -> None:
    """With an agreement, the buyer gets value − price, and the seller price − cost."""
    if table.closed_by == ACCEPT:
        table.rewards[0] = table.private[0] - table.standing
        table.rewards[1] = table.standing - table.private[1]


def worth(table: Any, kind: int, numbers: Any) -> Any:
    """Return value − price for the buyer, and price − cost for the seller."""
    price = {PROPOSE: numbers, ACCEPT: float(table.standing)}.get(kind)
    own = float(table.private[table.turn])
    return np.inf if price is None else own - price if table.turn == 0 else price - own


def end(table: Any) -> End:
    """Return the end in the platform's words."""
    return End("trade_completed" if table.closed_by == ACCEPT else "negotiation_failed")


def last_offer(value: Any, least_cost: float, most_cost: float) -> Any:
    """Return the buyer's best last price, float64[N]; the seller's cost is uniform from `least_cost` to `most_cost`.

    The price maximises (value − price) · P(cost ≤ price): half-way between the least cost and the value.
    """
    return np.clip((np.asarray(value, np.float64) + least_cost) / 2, least_cost, most_cost)


def _equilibrium(seen: Seen) -> Any:
    costs = seen.game.options["reservations"]
    least, most = costs[1] if np.ndim(costs) == 2 else costs
    last = seen.turns_left <= 1.001 / seen.game.options["max_rounds"]
    buyer = np.where(last & (seen.private > least), PROPOSE, WAIT)
    fits = last & seen.owner[:, 1] & (seen.standing >= seen.private - 1e-4)
    return np.where(seen.seat == 0, buyer, np.where(fits, ACCEPT, WAIT)), last_offer(seen.private, least, most)


def _linear(seen: Seen) -> Any:
    value, top = seen.private, seen.game.options["highest"]
    price = 2 * value / 3 + np.where(seen.seat == 0, top / 12, top / 4)
    fits = np.where(seen.seat == 0, seen.standing <= price, seen.standing >= price) & seen.owner[:, 1]
    return np.where(fits, ACCEPT, PROPOSE), price


def _gradual(seen: Seen) -> Any:
    fits = np.where(seen.seat == 0, seen.standing <= seen.private, seen.standing >= seen.private) & seen.owner[:, 1]
    aim = np.where(seen.seat == 0, 0.0, seen.game.options["highest"])
    return np.where(fits, ACCEPT, PROPOSE), seen.private + (aim - seen.private) * seen.turns_left / 2


BOTS: Bots = {
    "random": random_bot,
    "equilibrium": bot(_equilibrium),
    "linear": bot(_linear),
    "gradual": bot(_gradual),
}
"""`random`: any legal action. `equilibrium`: a perfect Bayesian equilibrium without discounting: all wait for the last
round, in which the buyer offers the price half-way between the least cost and its value, and the seller accepts every
price that covers its cost. `linear`: proposes by the linear equilibrium of the sealed double auction of Chatterjee and
Samuelson, for values from 0 to `highest`: 2/3 · value + 1/12 (buyer) or 1/4 (seller) of `highest`, and accepts what is
as good. `gradual`: begins half-way to the best price for itself, comes down to its value, and accepts every gain."""
