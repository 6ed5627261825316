"""The record: the whole state of one round of liar's dice."""

from ..core.record import record

SEATS = 2
DICE, FACES = 5, 6
"""Most dice of a seat, and most faces of a die."""
BIDS = SEATS * DICE * FACES
"""Most bids."""

TABLE = record(
    ("stream", "u8"),
    ("rewards", "f8", SEATS),
    ("die", "i1", SEATS * DICE),  # faces from 1; those of seat 0 first, `dice` each; 0: not rolled, or not known
    ("log", "i1", BIDS),  # the bids in order, each by its index: entry t is that of seat t mod 2
    ("bids", "i1"),  # how many there were
    ("turn", "i1"),
    ("done", "?"),
    ("truncated", "?"),
    # options
    ("dice", "i1"),  # of each seat
    ("faces", "i1"),
    ("wild", "?"),  # the highest face counts as every face
)
