"""The English auction: bidders raise an open price until one is left."""

from collections.abc import Mapping
from typing import Annotated, Any

import numpy as np

from ..core.compiled import compiled
from ..core.game import Game
from ..core.options import Options, from_options, within
from ..core.rollout import random_bot
from ..core.turn_state import amount
from ..phases import (
    Bots,
    Choices,
    Computed,
    End,
    Named,
    Number,
    Open,
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
from ..phases.fields import PARAMETER, PER_SEAT, Field, Ranges, is_resolved, name_of, parameters_of, ranges

RAISE, FOLD, WAIT = range(3)
"""The action types; the last one is `pass`."""


class EnglishAuction(Options, frozen=True, kw_only=True):
    """The options of the English auction."""

    seats: Annotated[int, within(2, 8)] = 2
    """number of bidders, {}."""
    valuations: Annotated[Ranges, PER_SEAT] = (0, 100)
    """the private valuations: uniform between a lowest and a highest value, one pair for all bidders or a pair for
    each."""
    start_price: Annotated[float, within(0, "highest"), PARAMETER] = 0.0
    """the price before the first bid, {}."""
    min_increment: Annotated[float, within(0.0001, 1e6), PARAMETER] = 5.0
    """a bid is at least the current one and this, {}."""
    highest: Annotated[float, within(0.01, 1e6)] = 100.0
    """the highest bid, {}."""
    bids: Annotated[int, within(2, 256)] = 101
    """number of bids that have an action index, evenly spaced from 0 to `highest`; {}."""
    max_rounds: Annotated[int, within(1, 1000)] = 20
    """turns of each bidder, {}. After them the highest bid wins."""
    rounds: Annotated[int, within(1, 1000)] = 1
    """number of auctions, one after the other, {}. The valuations stay the same."""


AT, PARAMETERS = parameters_of(EnglishAuction)


@from_options(EnglishAuction)
def game(given: EnglishAuction) -> Game:
    """Return the English auction with these options."""
    values = ranges("valuations", given.valuations, given.seats)
    opened = Open("bid", given.highest, given.start_price, keeps=True)
    return make(
        PhaseGame(
            name="english_auction",
            title="English auction",
            options=given,
            phases=[Phase("auction", ("raise_bid", "fold"), turns=given.max_rounds, open=opened)],
            actions=[
                Number("raise_bid", "amount", given.highest, given.bids, "bid this amount"),
                Named("fold", 0.0, "leave the auction", "leave"),
            ],
            amounts=(AT.start_price, AT.min_increment),
            private=Private("my_valuation", values),
            payoffs=(
                min(0.0, min(low for low, _ in values) - given.highest),
                max(0.0, max(high for _, high in values) - given.start_price),
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
                *PARAMETERS,
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
        return float(table.standing + table.parameter[AT.min_increment])

    def read(self, table: Any, seat: int, value: Any, seats: Mapping[str, int]) -> None:
        """Take the increment that follows."""
        if value is not None:
            table.parameter[AT.min_increment] = amount(value, self.name) - table.standing


@compiled
def follow(table: Any) -> None:
    """A bid is above the current one by the least increment."""
    table.least[RAISE] = table.standing + table.parameter[AT.min_increment]
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
    least = seen.standing + seen.parameter(AT.min_increment)
    stays = least <= seen.private + 1e-4
    kinds = np.where(seen.owner[:, 0], WAIT, np.where(stays, RAISE, FOLD))
    return kinds, least + jump * np.maximum(seen.private - least, 0.0)


BOTS: Bots = {"random": random_bot, "equilibrium": bot(_equilibrium), "jumper": bot(_jumper)}
"""`random`: any legal action. `equilibrium`: raises by the least increment up to its valuation, then folds; the highest
bidder passes. `jumper`: the same, and a raise goes half of the way to its valuation."""
