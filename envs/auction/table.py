"""The record: the whole state of one auction. Names are those of the TurnState platforms, if they have one.

Valuations, bids and rewards are amounts of money; valuations and rewards are rounded to hundredths.
"""

from ..core import structured_talk
from ..core.record import record

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
