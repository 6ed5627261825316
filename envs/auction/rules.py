"""The rules of a sealed-bid auction over one record, compiled.

The game is `first-price-auction` of agent-colosseum and Strategic Agent Games, with two more payment rules (Krishna,
Auction Theory). Seats act in turn and do not see the amounts of others. A seat that passes has another turn in the next
round. The highest bids win when all have bid; after the last round the auction ends without a winner. A bid below the
reserve price, or of 0 where there is an entry fee, does not take part.
"""

from math import floor
from typing import Any, NamedTuple

from ..core.compiled import compiled
from ..core.rng import draw, uniform
from ..core.structured_talk import LIMIT, NUM_ACTIONS, clear_talk, say
from .table import ALL_PAY, AVERAGE, BID, COMMON, FIRST_PRICE, PASS, TALK

CLOSE = 1e-7
"""Rounding error of a bid: a bid of the grid that is the reserve price takes part."""


class Move(NamedTuple):
    """A move: `BID` (`value` is the amount), `PASS`, or `TALK` (`value` is the index of the talk action)."""

    kind: int
    value: float


@compiled
def reset(table: Any) -> None:
    """Begin an auction: draw every seat's valuation from its distribution, or around the centre."""
    if table.values >= COMMON:
        table.centre = draw_quantile(table, 0)
    for seat in range(table.num_bidders):
        table.valuation[seat] = draw_valuation(table, seat)
        table.bid[seat] = 0.0
        table.bid_round[seat] = 0
        table.rewards[seat] = 0.0
        table.won[seat] = 0
    table.turn = 0
    table.round_number = 1
    table.num_bids_submitted = 0
    table.winner = -1
    table.done = False
    if table.talk:
        clear_talk(table, table.num_bidders)


@compiled
def cents(amount: float) -> float:
    """Round to hundredths; half a hundredth rounds up."""
    return floor(100.0 * amount + 0.5) / 100.0


@compiled
def draw_valuation(table: Any, seat: int) -> float:
    """Draw a valuation: from the seat's distribution, or uniformly within the noise of the centre."""
    if table.values >= COMMON:
        return cents(table.centre + table.noise * (2.0 * uniform(table) - 1.0))
    return draw_quantile(table, seat)


@compiled
def draw_quantile(table: Any, seat: int) -> float:
    """Draw from the seat's distribution: the quantile at a uniform probability."""
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
    """Draw the winners among the highest bids, and write the utilities."""
    for _ in range(table.units):
        seat = _highest(table)
        if seat < 0:
            break
        table.won[seat] = 1
        if table.winner < 0:
            table.winner = seat
    price = table.reserve
    for seat in range(table.num_bidders):
        if takes_part(table, seat) and not table.won[seat]:
            price = max(price, table.bid[seat])
    for seat in range(table.num_bidders):
        if takes_part(table, seat):
            table.rewards[seat] = cents(utility(table, _gain(table, seat, price)))
    table.turn = -1
    table.done = True


@compiled
def takes_part(table: Any, seat: int) -> bool:
    """Return whether the seat's bid may win, and is charged."""
    return bool(table.bid[seat] >= table.reserve - CLOSE and (table.bid[seat] > 0.0 or table.entry_fee == 0.0))


@compiled
def _highest(table: Any) -> int:
    """Return the seat with the highest bid that takes part and has not won, ties drawn; −1: there is none."""
    best = -1.0
    tied = 0
    for seat in range(table.num_bidders):
        bid = table.bid[seat]
        if takes_part(table, seat) and not table.won[seat] and bid >= best:
            tied = 1 + tied * (bid == best)
            best = bid
    n = draw(table, tied) if tied > 1 else 0
    seat = -1
    while n >= 0 and tied > 0:
        seat += 1
        n -= table.bid[seat] == best and not table.won[seat]
    return seat


@compiled
def _gain(table: Any, seat: int, price: float) -> float:
    """Return what the good is worth to a winner, minus what the seat pays; `price`: the highest losing bid."""
    paid = table.entry_fee
    if table.rule == ALL_PAY or (table.rule == FIRST_PRICE and table.won[seat]):
        paid += table.bid[seat]
    elif table.won[seat]:
        paid += price
    return (worth(table, seat) if table.won[seat] else 0.0) - paid


@compiled
def worth(table: Any, seat: int) -> float:
    """Return what the good is worth to a seat."""
    if table.values == COMMON:
        return table.centre
    if table.values == AVERAGE:
        total = 0.0
        for other in range(table.num_bidders):
            total += table.valuation[other]
        return cents(total / table.num_bidders)
    return table.valuation[seat]


@compiled
def utility(table: Any, gain: float) -> float:
    """Return the utility of a gain: with risk aversion ρ it is m (gain / m)^(1 − ρ); a loss counts in full."""
    if table.risk_aversion == 0.0 or gain <= 0.0:
        return gain
    return (gain * table.per_money) ** (1.0 - table.risk_aversion) / table.per_money


@compiled
def decode(table: Any, action: int) -> Move:
    """Return the move of an action index: the grid of bids, pass, talk."""
    if action < table.bids:
        return Move(BID, action * table.bid_step)
    if action == table.bids:
        return Move(PASS, 0.0)
    return Move(TALK, float(action - table.bids - 1))


@compiled
def legal(table: Any, mask: Any) -> None:
    """Write the action mask of the acting seat: all actions are legal, except talk after `LIMIT` messages."""
    mask[:] = 1
    if table.talk and table.spoken >= LIMIT:
        mask[table.bids + 1 : table.bids + 1 + NUM_ACTIONS] = 0
