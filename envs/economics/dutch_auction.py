"""The Dutch auction: the price falls until a bidder accepts it."""

from math import ceil
from typing import Any

import numpy as np

from ..core.compiled import compiled
from ..core.game import Game
from ..core.options import number, whole
from ..core.rollout import random_bot
from ..phases import Bots, Computed, End, Named, Open, Parameter, Phase, PhaseGame, Private, Seen, Standing, bot, make
from ..phases.fields import is_resolved, name_of
from ..phases.options import Ranges, ranges, shown

START, DECREMENT, LEAST = range(3)
ACCEPT, WAIT = range(2)
"""The action types; the last one is `pass`."""


def game(
    *,
    seats: int = 2,
    valuations: Ranges = (0, 100),
    start_price: float = 100.0,
    decrement: float = 5.0,
    min_price: float = 0.0,
    max_rounds: int = 20,
    rounds: int = 1,
) -> Game:
    """Return the Dutch auction with these options.

    Args:
        seats: number of bidders, 2 to 8.
        valuations: the private valuations: uniform between a lowest and a highest value, one pair for all bidders or a
            pair for each.
        start_price: the first price, 0.01 to 1,000,000.
        decrement: how much the price falls when all bidders have passed, 0.0001 to 1,000,000.
        min_price: the auction ends without a sale when the price has fallen to this, 0 to `start_price`.
        max_rounds: turns of each bidder at most, 1 to 1,000.
        rounds: number of auctions, one after the other, 1 to 1,000. The valuations stay the same.

    Raises:
        ValueError: naming the option, its value and its range.
    """
    seats = whole("seats", seats, 2, 8)
    values = ranges("valuations", valuations, seats)
    start = number("start_price", start_price, 0.01, 1e6)
    least = number("min_price", min_price, 0, start)
    options: dict[str, Any] = {
        "seats": seats,
        "valuations": shown(values),
        "start_price": start,
        "decrement": number("decrement", decrement, 0.0001, 1e6),
        "min_price": least,
        "max_rounds": whole("max_rounds", max_rounds, 1, 1000),
        "rounds": whole("rounds", rounds, 1, 1000),
    }
    prices = max(1, ceil((start - least) / options["decrement"] - 1e-9))
    turns = min(options["max_rounds"], prices)
    lowest = max(least, start - options["decrement"] * (turns - 1))
    return make(
        PhaseGame(
            name="dutch_auction",
            title="Dutch auction",
            seats=seats,
            options=options,
            phases=[Phase("auction", ("accept",), turns=turns, open=Open("price", start, start))],
            actions=[Named("accept", 1.0, "accept the current price and win", "close")],
            parameters=[start, options["decrement"], least],
            amounts=(START, DECREMENT, LEAST),
            private=Private("my_valuation", values),
            payoffs=(
                min(0.0, min(low for low, _ in values) - start),
                max(0.0, max(high for _, high in values) - lowest),
            ),
            pay=pay,
            late=late,
            follow=follow,
            end=end,
            fields=[
                Standing("current_price"),
                Parameter("start_price", START),
                Parameter("decrement", DECREMENT),
                Parameter("min_price", LEAST),
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
    table.standing = max(table.parameter[LEAST], table.parameter[START] - table.parameter[DECREMENT] * table.cycle)


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
        fallen = table.standing <= table.parameter[LEAST]
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
