"""The Dutch auction: the price falls until a bidder accepts it."""

from math import ceil
from typing import Annotated, Any

import numpy as np

from ..core.compiled import compiled
from ..core.game import Game
from ..core.options import Options, from_options, within
from ..core.rollout import random_bot
from ..phases import Bots, Computed, End, Named, Open, Phase, PhaseGame, Private, Seen, Standing, bot, make
from ..phases.fields import PARAMETER, PER_SEAT, Ranges, is_resolved, name_of, parameters_of, ranges

ACCEPT, WAIT = range(2)
"""The action types; the last one is `pass`."""


class DutchAuction(Options, frozen=True, kw_only=True):
    """The options of the Dutch auction."""

    seats: Annotated[int, within(2, 8)] = 2
    """number of bidders, {}."""
    valuations: Annotated[Ranges, PER_SEAT] = (0, 100)
    """the private valuations: uniform between a lowest and a highest value, one pair for all bidders or a pair for
    each."""
    start_price: Annotated[float, within(0.01, 1e6), PARAMETER] = 100.0
    """the first price, {}."""
    decrement: Annotated[float, within(0.0001, 1e6), PARAMETER] = 5.0
    """how much the price falls when all bidders have passed, {}."""
    min_price: Annotated[float, within(0, "start_price"), PARAMETER] = 0.0
    """the auction ends without a sale when the price has fallen to this, {}."""
    max_rounds: Annotated[int, within(1, 1000)] = 20
    """turns of each bidder at most, {}."""
    rounds: Annotated[int, within(1, 1000)] = 1
    """number of auctions, one after the other, {}. The valuations stay the same."""


AT, PARAMETERS = parameters_of(DutchAuction)


@from_options(DutchAuction)
def game(given: DutchAuction) -> Game:
    """Return the Dutch auction with these options."""
    values = ranges("valuations", given.valuations, given.seats)
    prices = max(1, ceil((given.start_price - given.min_price) / given.decrement - 1e-9))
    turns = min(given.max_rounds, prices)
    lowest = max(given.min_price, given.start_price - given.decrement * (turns - 1))
    return make(
        PhaseGame(
            name="dutch_auction",
            title="Dutch auction",
            options=given,
            phases=[
                Phase("auction", ("accept",), turns=turns, open=Open("price", given.start_price, given.start_price))
            ],
            actions=[Named("accept", 1.0, "accept the current price and win", "close")],
            amounts=(AT.start_price, AT.decrement, AT.min_price),
            private=Private("my_valuation", values),
            payoffs=(
                min(0.0, min(low for low, _ in values) - given.start_price),
                max(0.0, max(high for _, high in values) - lowest),
            ),
            pay=pay,
            late=late,
            follow=follow,
            end=end,
            fields=[
                Standing("current_price"),
                *PARAMETERS,
                Computed("winner", _winner),
                Computed("price_paid", _paid),
                Computed("resolved", is_resolved),
            ],
            worth=worth,
            bots=BOTS,
            decimals=4,
        )
    )


def _winner(table: Any) -> str | None:
    return name_of(int(table.closer)) if table.closer >= 0 else None


def _paid(table: Any) -> float | None:
    return float(table.standing) if table.closer >= 0 else None


@compiled
def follow(table: Any) -> None:
    """Lower the price: it falls when all have passed."""
    table.standing = max(
        table.parameter[AT.min_price], table.parameter[AT.start_price] - table.parameter[AT.decrement] * table.cycle
    )


@compiled
def pay(table: Any) -> None:
    """The bidder that accepts gets its valuation less the price."""
    table.rewards[table.closer] = table.private[table.closer] - table.standing


@compiled
def late(table: Any) -> None:
    """Write the price at which the auction ends; nobody pays it."""
    follow(table)


def worth(table: Any, kind: int, numbers: Any) -> Any:
    """Return valuation − price for a bidder that accepts."""
    return float(table.private[table.turn] - table.standing) if kind == ACCEPT else np.inf


def end(table: Any) -> End:
    """Return the end in the platform's words."""
    if table.timeout:
        fallen = table.standing <= table.parameter[AT.min_price]
        reason = "price_reached_minimum" if fallen else "max_rounds_exceeded"
        return End(reason, more={"final_price": float(table.standing)})
    rows = [{"won": seat == table.closer} for seat in range(int(table.seats))]
    return End("dutch_auction_accepted", rows, {"winner": _winner(table), "price_paid": float(table.standing)})


def _equilibrium(seen: Seen) -> Any:
    seats = seen.game.seats
    low = np.array(seen.game.rules.blank[0].private_low[:seats])[seen.seat]
    return _accept(seen, seen.private - np.maximum(seen.private - low, 0.0) / seats)


def _truthful(seen: Seen) -> Any:
    return _accept(seen, seen.private)


def _accept(seen: Seen, bid: Any) -> Any:
    """Accept as soon as the price is at most `bid`, float64[N]."""
    return np.where(seen.standing <= bid + 1e-4, ACCEPT, WAIT), np.zeros(len(bid))


BOTS: Bots = {"random": random_bot, "equilibrium": bot(_equilibrium), "truthful": bot(_truthful)}
"""`random`: any legal action. `equilibrium`: accepts at the bid of a first-price auction with valuations that are
uniform from a to b: v − (v − a) / n. This is an equilibrium if the price falls in small steps. `truthful`: accepts as
soon as the price is at most its valuation."""
