"""The record: the whole state of one negotiation.

An outcome is one value per issue. Its index has the last issue as the fastest digit. The seats act in turn, seat 0
first: entry t of the log is that of seat t mod `seats`.
"""

from ..core.record import record

SEATS = 5
"""The most seats."""
ISSUES = 5
"""The most issues."""
VALUES = 10
"""The most values of an issue."""
OUTCOMES = 1024
"""The most outcomes: each has an action index."""
ROUNDS = 50
"""The most rounds."""

KINDS = ("submit_offer", "accept", "walk_away", "pass")
OFFER, ACCEPT, WALK_AWAY, PASS = range(4)
RANDOM, OPPOSED, FIXED = range(3)
"""How preferences are made: see `game`."""
NONE = -1

TABLE = record(
    ("stream", "u8"),
    ("turn", "i1"),
    ("last_offer_by", "i1"),  # −1: there is no current offer
    ("accepted", "u1"),  # one bit per seat that has accepted the current offer
    ("left_by", "i1"),  # who walked away; −1: nobody
    ("done", "?"),
    ("agreed", "?"),
    ("current_offer", "i2"),  # an outcome; −1: none
    ("moves", "i2"),  # number of moves so far; the next one is in round moves // seats + 1
    # options
    ("public", "?"),  # all see all preferences
    ("kind", "i1"),  # of preferences
    ("seats", "i1"),
    ("issues", "i1"),
    ("rounds", "i1"),
    ("values", "i1", ISSUES),  # numbers of values
    ("outcomes", "i2"),
    ("discount", "f8"),
    ("per_move", "f8"),  # 1 / all moves
    ("low", "f8", SEATS),  # the range of the reservation values
    ("high", "f8", SEATS),
    # the seats
    ("worth", "f8", (SEATS, ISSUES, VALUES)),  # what each value of each issue is worth; an outcome's utility is the sum
    ("reservation", "f8", SEATS),
    ("latest", "i2", SEATS),  # each seat's latest offer; −1: none
    ("rewards", "f8", SEATS),
    ("log_kind", "i1", ROUNDS * SEATS),
    ("log_offer", "i2", ROUNDS * SEATS),
)
