"""The record: the whole state of one deal of Kuhn poker. Amounts are chips; each seat has posted one."""

from ..core.record import record

SEATS = 2
RANKS = ("J", "Q", "K")
"""The deck: one card of each rank, the lowest first."""
KINDS = ("pass", "bet")
PASS, BET = range(2)
MOVES = 3
"""Most moves of a deal."""
MOST = 2.0
"""The most that a seat can win."""

TABLE = record(
    ("stream", "u8"),
    ("rewards", "f8", SEATS),
    ("card", "i1", SEATS),  # an index of RANKS; −1: not dealt, or not known
    ("log", "i1", MOVES),  # the moves in order: entry t is that of seat t mod 2
    ("moves", "i1"),
    ("turn", "i1"),
    ("done", "?"),
    ("truncated", "?"),
    ("showdown", "?"),  # it ended with both cards open
)
