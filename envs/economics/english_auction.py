"""The English auction: bidders raise an open price until one is left."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from ..core.compiled import compiled
from ..core.game import Game
from ..core.game_state import amount
from ..core.options import number, whole
from ..core.rollout import random_bot
from ..phases import (
    Bots,
    Choices,
    Computed,
    End,
    Named,
    Number,
    Open,
    Parameter,
    Phase,
    PhaseGame,
    Private,
    Seen,
    Standing,
    StandingBy,
    WhoLeft,
    bot,
    make,
)
from ..phases.fields import Field, is_resolved, name_of
from ..phases.options import Ranges, ranges, shown

START, INCREMENT = range(2)
RAISE, FOLD, WAIT = range(3)
"""The action types; the last one is `pass`."""


def game(
    *,
    seats: int = 2,
    valuations: Ranges = (0, 100),
    start_price: float = 0.0,
    min_increment: float = 5.0,
    highest: float = 100.0,
    bids: int = 101,
    max_rounds: int = 20,
    rounds: int = 1,
) -> Game:
    """Return the English auction with these options.

    Args:
        seats: number of bidders, 2 to 8.
        valuations: the private valuations: uniform between a lowest and a highest value, one pair for all bidders or a
            pair for each.
        start_price: the price before the first bid, 0 to `highest`.
        min_increment: a bid is at least the current one and this, 0.0001 to 1,000,000.
        highest: the highest bid, 0.01 to 1,000,000.
        bids: number of bids that have an action index, evenly spaced from 0 to `highest`; 2 to 256.
        max_rounds: turns of each bidder, 1 to 1,000. After them the highest bid wins.
        rounds: number of auctions, one after the other, 1 to 1,000. The valuations stay the same.

    Raises:
        ValueError: naming the option, its value and its range.
    """
    seats = whole("seats", seats, 2, 8)
    values = ranges("valuations", valuations, seats)
    highest = number("highest", highest, 0.01, 1e6)
    start = number("start_price", start_price, 0, highest)
    options: dict[str, Any] = {
        "seats": seats,
        "valuations": shown(values),
        "start_price": start,
        "min_increment": number("min_increment", min_increment, 0.0001, 1e6),
        "highest": highest,
        "bids": whole("bids", bids, 2, 256),
        "max_rounds": whole("max_rounds", max_rounds, 1, 1000),
        "rounds": whole("rounds", rounds, 1, 1000),
    }
    opened = Open("bid", highest, start, keeps=True)
    return make(
        PhaseGame(
            name="english_auction",
            title="English auction",
            seats=seats,
            options=options,
            phases=[Phase("auction", ("raise_bid", "fold"), turns=options["max_rounds"], open=opened)],
            actions=[
                Number("raise_bid", "amount", highest, options["bids"], "bid this amount"),
                Named("fold", 0.0, "leave the auction", "leave"),
            ],
            parameters=[start, options["min_increment"]],
            amounts=(START, INCREMENT),
            private=Private("my_valuation", values),
            payoffs=(
                min(0.0, min(low for low, _ in values) - highest),
                max(0.0, max(high for _, high in values) - start),
            ),
            pay=pay,
            late=late,
            follow=follow,
            end=end,
            fields=[
                Standing("current_bid"),
                StandingBy("highest_bidder"),
                Choices("bids"),
                WhoLeft("folded"),
                Parameter("start_price", START),
                Parameter("min_increment", INCREMENT),
                LeastRaise("min_next_bid"),
                Computed("resolved", is_resolved),
            ],
            worth=worth,
            bots=BOTS,
            decimals=4,
        )
    )


class LeastRaise(Field):
    """The least bid of the turn. It comes after the field of the standing one: a host may not tell the increment."""

    def write(self, table: Any, seat: int) -> float:
        """Return the bid."""
        return float(table.standing + table.parameter[INCREMENT])

    def read(self, table: Any, seat: int, value: Any, seats: Mapping[str, int]) -> None:
        """Take the increment that follows."""
        if value is not None:
            table.parameter[INCREMENT] = amount(value, self.name) - table.standing


@compiled
def follow(table: Any) -> None:
    """A bid is above the current one by the least increment."""
    table.least[RAISE] = table.standing + table.parameter[INCREMENT]
    table.open[RAISE] = table.least[RAISE] <= table.most[RAISE]


@compiled
def pay(table: Any) -> None:
    """The last bidder gets its valuation less its own last bid; without one, less the current bid."""
    won = table.closer
    paid = table.number[0, won] if table.chosen[0, won] > 0 else table.standing
    table.rewards[won] = table.private[won] - paid


@compiled
def late(table: Any) -> None:
    """When time is up, the highest bid wins."""
    table.closer = table.owner
    if table.closer >= 0:
        pay(table)


def worth(table: Any, kind: int, numbers: Any) -> Any:
    """Return valuation − bid: nobody may raise it again."""
    return float(table.private[table.turn]) - numbers if kind == RAISE else np.inf


def end(table: Any) -> End:
    """Return the end in the platform's words."""
    won = int(table.closer)
    if won < 0:
        return End("timeout_no_bids")
    rows = [{"won": seat == won} for seat in range(int(table.seats))]
    reason = "timeout_highest_bidder" if table.timeout else "last_standing"
    paid = table.number[0][won] if table.chosen[0][won] else table.standing
    return End(reason, rows, {"winner": name_of(won), "bid_paid": float(paid)})


def _equilibrium(seen: Seen) -> Any:
    return _raise(seen, 0.0)


def _jumper(seen: Seen) -> Any:
    return _raise(seen, 0.5)


def _raise(seen: Seen, jump: float) -> Any:
    """Stay in up to the valuation; `jump`: which part of the way to it a bid goes beyond the least one."""
    least = seen.standing + seen.parameter(INCREMENT)
    stays = least <= seen.private + 1e-4
    kinds = np.where(seen.owner[:, 0], WAIT, np.where(stays, RAISE, FOLD))
    return kinds, least + jump * np.maximum(seen.private - least, 0.0)


BOTS: Bots = {"random": random_bot, "equilibrium": bot(_equilibrium), "jumper": bot(_jumper)}
"""`random`: any legal action. `equilibrium`: raises by the least increment up to its valuation, then folds; the highest
bidder passes. `jumper`: the same, and a raise goes half of the way to its valuation."""
