"""The rules of a sealed-bid auction over one record, compiled .

The game is `first-price-auction` of agent-colosseum and Strategic Agent Games, with two more payment rules (Krishna,
Auction Theory). Seats act in turn and do not see the amounts of others. A seat that passes has another turn in the next
round. The highest bid wins when all have bid; after the last round the auction ends without a winner.
"""

from math import floor
from typing import Any, NamedTuple

from ..core.compiled import compiled
from ..core.rng import draw, uniform
from ..core.structured_talk import clear_talk, say
from .table import ALL_PAY, BID, SECOND_PRICE, TALK


class Move(NamedTuple):
    """A move: `BID` (`value` is the amount), `PASS`, or `TALK` (`value` is the index of the talk action)."""

    kind: int
    value: float


@compiled
def reset(table: Any) -> None:
    """Begin an auction: draw every seat's valuation from its distribution."""
    for seat in range(table.num_bidders):
        table.valuation[seat] = draw_valuation(table, seat)
        table.bid[seat] = 0.0
        table.bid_round[seat] = 0
        table.rewards[seat] = 0.0
    table.turn = 0
    table.round_number = 1
    table.num_bids_submitted = 0
    table.winner = -1
    table.done = False
    table.truncated = False
    if table.talk:
        clear_talk(table, table.num_bidders)


@compiled
def cents(amount: float) -> float:
    """Round to hundredths; half a hundredth rounds up."""
    return floor(100.0 * amount + 0.5) / 100.0


@compiled
def draw_valuation(table: Any, seat: int) -> float:
    """Draw a valuation from the seat's distribution: the quantile at a uniform probability."""
    place = uniform(table) * (table.points[seat] - 1)
    whole = int(place)
    k = table.first_point[seat] + whole
    low = table.quantiles[k]
    return cents(low + (place - whole) * (table.quantiles[k + 1] - low))


@compiled
def step(table: Any, move: Any) -> None:
    """Apply the acting seat's legal move, up to the next decision."""
    if move.kind == TALK:
        say(table, table.num_bidders, int(move.value))
        return
    table.spoken = 0
    if move.kind == BID:
        seat = table.turn
        table.bid[seat] = move.value
        table.bid_round[seat] = table.round_number
        table.num_bids_submitted += 1
        if table.num_bids_submitted == table.num_bidders:
            resolve(table)
            return
    _next_turn(table)


@compiled
def _next_turn(table: Any) -> None:
    """Give the turn to the next seat without a bid; end the auction after the last round."""
    seat = table.turn
    while True:
        seat += 1
        if seat == table.num_bidders:
            seat = 0
            if table.round_number == table.rounds:
                table.turn = -1
                table.done = True
                return
            table.round_number += 1
        if table.bid_round[seat] == 0:
            table.turn = seat
            return


@compiled
def resolve(table: Any) -> None:
    """Draw the winner among the highest bids, and write the utilities: valuation minus price, else 0."""
    best = table.bid[0]
    second = -1.0
    tied = 1
    winner = 0
    for seat in range(1, table.num_bidders):
        bid = table.bid[seat]
        if bid > best:
            second = best
            best = bid
            winner = seat
            tied = 1
        else:
            second = max(second, bid)
            tied += bid == best
    if tied > 1:
        winner = _nth_bidding(table, best, draw(table, tied))
    if table.rule == ALL_PAY:
        for seat in range(table.num_bidders):
            table.rewards[seat] = cents(-table.bid[seat])
    price = second if table.rule == SECOND_PRICE else best
    table.rewards[winner] = cents(table.valuation[winner] - price)
    table.winner = winner
    table.turn = -1
    table.done = True


@compiled
def _nth_bidding(table: Any, amount: float, n: int) -> int:
    """Return the `n`-th seat (from 0) that bid `amount`."""
    seat = -1
    while n >= 0:
        seat += 1
        n -= table.bid[seat] == amount
    return seat
