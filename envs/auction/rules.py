"""The rules of a sealed-bid auction over one record, compiled.

The game is `first-price-auction` of agent-colosseum and Strategic Agent Games, with two more payment rules (Krishna,
Auction Theory). Seats act in turn and do not see the amounts of others. A seat that passes has another turn in the next
round. The highest bids win when all have bid; after the last round the auction ends without a winner. A bid below the
reserve price, or of 0 where there is an entry fee, does not take part.
"""

from math import floor
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..core import structured_talk
from ..core.compiled import compiled
from ..core.record import record
from ..core.rng import draw, uniform
from ..core.structured_talk import LIMIT, NUM_ACTIONS, clear_talk, say

SEATS = 16
"""The most bidders."""
POINTS = 32
"""The most numbers in all quantile tables together."""

RULES = ("first-price", "second-price", "all-pay")
FIRST_PRICE, SECOND_PRICE, ALL_PAY = range(3)

VALUES = ("private", "average", "common", "affiliated")
PRIVATE, AVERAGE, COMMON, AFFILIATED = range(4)

KINDS = ("submit_bid", "pass", "talk")
BID, PASS, TALK = range(3)

TABLE = record(
    # Small types, and the fields of every decision first: with less memory, many tables are faster.
    ("stream", "u8"),
    ("turn", "i2"),
    ("num_bids_submitted", "i2"),
    ("winner", "i2"),  # −1: none
    ("done", "?"),
    ("round_number", "i4"),  # from 1; in a round every seat without a bid has one turn
    # options
    ("rounds", "i4"),
    ("num_bidders", "i2"),
    ("rule", "i2"),
    ("bids", "i2"),  # numbers on the grid of bids
    ("bid_step", "f8"),
    ("per_money", "f8"),  # 1 / the highest valuation, with the noise
    ("per_round", "f8"),  # 1 / rounds
    ("values", "i2"),
    ("units", "i2"),
    ("noise", "f8"),
    ("reserve", "f8"),
    ("entry_fee", "f8"),
    ("risk_aversion", "f8"),
    ("centre", "f8"),  # what the valuations are drawn around, if they are common or affiliated
    # the seats
    ("bid_round", "i4", SEATS),  # the round in which it bid; 0: not yet
    ("valuation", "f8", SEATS),
    ("bid", "f8", SEATS),
    ("rewards", "f8", SEATS),  # the utilities, once the auction is over
    ("won", "i1", SEATS),  # 1: it is a winner
    # the valuations' distributions: quantiles at evenly spaced probabilities from 0 to 1
    ("first_point", "i1", SEATS),  # the index of the first point of the seat's table
    ("points", "i1", SEATS),
    ("quantiles", "f8", POINTS),
    *structured_talk.fields(SEATS),
)


Floats = NDArray[np.float64]

STEPS = 2_000
"""Steps of the integration above the last closed form."""


def affiliated_bid(
    rule: str, bidders: int, low: float, high: float, noise: float, signals: Floats, *, common: bool
) -> Floats:
    """Return the symmetric equilibrium bids.

    A number C is uniform from `low` to `high`; the n signals x are independent and uniform within ε = `noise` of C. The
    good is worth C (`common`), or to each bidder its own signal.

    In a second-price auction a bidder bids what the good is worth on average if its own signal x is also the highest of
    the others; where both ends are further than ε, x − ε (n − 2) / n for a common value. In a first-price auction the
    bid solves b′ = (that − b) f/F, with F the distribution of the highest of the others' signals given x, at x
    (Milgrom and Weber 1982). Where both ends are further than ε, it is x − ε + Y for a common value and
    x − (2ε − Y) / n for affiliated private values, with Y = 2ε / (n + 1) · exp(−n (x − low − ε) / 2ε) (Kagel, Harstad
    and Levin 1987). Below that it is linear; above that the equation is integrated.

    Args:
        rule: ``"first-price"`` or ``"second-price"``.
        bidders: n, at least 2.
        low, high, noise: of the signals.
        signals: float64, any shape; signals that cannot occur count as the nearest one that can.
        common: whether the good is worth C to everybody.

    Returns:
        float64 of the shape of `signals`.

    Raises:
        ValueError: for another rule, which has no closed form, or a number that cannot vary.
    """
    if rule == "all-pay" or not high > low or not noise > 0:
        raise ValueError(
            f"rule {rule!r} with signals within {noise:g} of a number from {low:g} to {high:g}: no closed form"
        )
    x = np.clip(signals, low - noise, high + noise)
    if rule == "second-price":
        return _worth(bidders, low, high, noise, x, common)[0]
    end = high - noise  # the closed forms hold up to here
    bids = _first_price(bidders, low, noise, np.minimum(x, end), common)
    grid = np.linspace(end, high + noise, STEPS + 1)
    start = float(_first_price(bidders, low, noise, np.asarray(end), common))
    return np.where(x > end, np.interp(x, grid, _integrated(bidders, low, high, noise, grid, start, common)), bids)


def _first_price(n: int, low: float, noise: float, x: Floats, common: bool) -> Floats:
    """Return the bids of signals up to high − noise."""
    depth = x - (low - noise)
    rest = 2 * noise / (n + 1) * np.exp(-n * np.maximum(depth - 2 * noise, 0.0) / (2 * noise))
    if common:
        return np.where(depth < 2 * noise, low + depth / (n + 1), x - noise + rest)
    return np.where(depth < 2 * noise, low - noise + depth * n / (n + 1), x - (2 * noise - rest) / n)


def _worth(n: int, low: float, high: float, noise: float, x: Floats, common: bool) -> tuple[Floats, Floats]:
    """Return the value of the good if x is also the highest signal of the others, and f/F at x given x.

    With u = (x − C + ε) / 2ε, which is uniform from t to s given x, the others are below x with the chance u^(n−1).
    """
    s = np.minimum((x - low + noise) / (2 * noise), 1.0)
    t = np.clip((x + noise - high) / (2 * noise), 0.0, 1.0 - 1e-9)
    s = np.maximum(s, 1e-9)
    density, below = (s ** (n - 1) - t ** (n - 1)) / (n - 1), (s**n - t**n) / n
    rate = (n - 1) * density / (2 * noise * below)
    return (x + noise - 2 * noise * below / density if common else np.asarray(x)), rate


def _integrated(
    n: int, low: float, high: float, noise: float, grid: Floats, start: float, common: bool
) -> NDArray[np.float64]:
    """Return the bids on an evenly spaced grid, from the first one on.

    In each step the rate is that of its middle and the worth is linear, for which the solution is exact and stable.
    """
    step = float(grid[1] - grid[0])
    worth = _worth(n, low, high, noise, grid, common)[0]
    rate = _worth(n, low, high, noise, grid[:-1] + step / 2, common)[1]
    lag = np.diff(worth) / (step * rate)  # how far bids that follow the worth stay behind it
    decay = np.exp(-step * rate)
    bids = np.empty_like(grid)
    bids[0] = start
    for k in range(len(grid) - 1):
        bids[k + 1] = worth[k + 1] - lag[k] + (bids[k] - worth[k] + lag[k]) * decay[k]
    return bids


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
    """Return True if the seat's bid may win, and is charged."""
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
    """Return the value of the good for a winner, minus the seat's payment; `price`: the highest losing bid."""
    paid = table.entry_fee
    if table.rule == ALL_PAY or (table.rule == FIRST_PRICE and table.won[seat]):
        paid += table.bid[seat]
    elif table.won[seat]:
        paid += price
    return (worth(table, seat) if table.won[seat] else 0.0) - paid


@compiled
def worth(table: Any, seat: int) -> float:
    """Return the value of the good for a seat."""
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
