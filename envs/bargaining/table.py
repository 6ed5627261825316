"""The record: the whole state of one negotiation. Names are those of the TurnState platforms, if they have one.

Amounts are in the unit of `total`. The seats act in strict alternation, seat 0 first: entry t of the log is that of
seat t mod 2.
"""

from ..core import structured_talk
from ..core.record import record

SEATS = 2
ROUNDS = 50
"""The most rounds."""

KINDS = ("submit_offer", "accept", "reject", "pass", "talk")
OFFER, ACCEPT, REJECT, PASS, TALK = range(5)

TABLE = record(
    # Small types, and the fields of every decision first: with less memory, many tables are faster.
    ("stream", "u8"),
    ("turn", "i1"),
    ("moves", "i1"),  # number of moves so far; the next one is in round moves // 2 + 1
    ("last_offer_by", "i1"),  # −1: there is no current offer
    ("done", "?"),
    ("agreed", "?"),
    ("public", "?"),  # option: both seats see both reservation values
    # options
    ("offers", "i2"),  # numbers on the grid of offers
    ("rounds", "i2"),
    ("offer_step", "f8"),
    ("total", "f8"),
    ("per_total", "f8"),  # 1 / total
    ("per_move", "f8"),  # 1 / all moves
    ("turn_discount", "f8"),  # the square root of the discount per round
    ("current_offer", "f8"),  # the proposer's share; 0 without an offer
    # the seats
    ("my_reservation_value", "f8", SEATS),
    ("rewards", "f8", SEATS),  # the utilities, once it is over
    ("low", "f8", SEATS),  # options: the range of the reservation values
    ("high", "f8", SEATS),
    *structured_talk.fields(SEATS),
    ("log_kind", "i1", 2 * ROUNDS),
    ("log_share", "f8", 2 * ROUNDS),  # of an offer: the proposer's share
)
