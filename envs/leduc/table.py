"""The record: the whole state of one deal of Leduc hold'em. Amounts are chips.

Cards are ranks: the deck has each of them twice, and suits play no part.
"""

from ..core.record import record

SEATS = 2
RANKS = ("J", "Q", "K")
COPIES = 2
"""Cards of each rank in the deck."""
KINDS = ("fold", "call", "raise")
FOLD, CALL, RAISE = range(3)
ROUNDS = 2
RAISES = 2
"""Most raises in a round."""
MOVES = RAISES + 2
"""Most moves in a round: call, raise, raise, call."""
ANTE, FIRST_RAISE, SECOND_RAISE = 1, 2, 4
MOST = float(ANTE + RAISES * (FIRST_RAISE + SECOND_RAISE))
"""The most that a seat can win."""

TABLE = record(
    ("stream", "u8"),
    ("rewards", "f8", SEATS),
    ("card", "i1", SEATS),  # an index of RANKS; −1: not dealt, or not known
    ("board", "i1"),  # the same
    ("chips", "i1", SEATS),  # chips of each seat in the pot
    ("log", "i1", ROUNDS * MOVES),  # the moves of each round in order; seat 0 begins both
    ("moves", "i1", ROUNDS),  # how many there were
    ("round_number", "i1"),  # 0 or 1
    ("raises", "i1"),  # in this round
    ("turn", "i1"),
    ("done", "?"),
    ("truncated", "?"),
    ("showdown", "?"),  # it ended with both cards open
)
