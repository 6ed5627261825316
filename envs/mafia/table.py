"""The record: the whole state of one match. Names are those of the AgentPolicy document where it has one.

Rounds and days count from 1: night r and day r make round r. What seat s did in round r stands in `night` and `votes`
at (r − 1) · seats + s; what it said on day r in `said` at (row · seats + s), where the rows of day r begin with
(r − 1) · discussion_rounds. (Flat and as narrow as the match is, so that a whole match lies in a few cache lines.)
"""

from ..core.record import record

SEATS = 20
"""Most players."""
DAYS = 40
"""Most days."""
SPEECHES = 80
"""Most discussion rounds of all days together."""

PHASES = ("NIGHT_ACTIONS", "DAY_DISCUSSION", "DAY_VOTING", "END")
NIGHT, DISCUSSION, VOTING, END = range(4)
"""The phases with decisions, and the end. SETUP, MORNING_REVEAL and RESOLUTION pass within a step."""

ROLES = ("unknown", "mafia", "doctor", "sheriff", "villager")
UNKNOWN, MAFIA, DOCTOR, SHERIFF, VILLAGER = range(5)
"""`UNKNOWN` stands only in a record that was loaded from what one seat may know."""

WINNERS = (None, "town", "mafia")
NOBODY, TOWN_WINS, MAFIA_WINS = range(3)

TIES = ("random", "none")
TIE_RANDOM, TIE_NONE = range(2)

# What a seat can do: a target at night, a vote, a statement of one of nine kinds.
TARGET, VOTE, GENERAL, ACCUSE, DEFEND, CLEARED, FOUND, CLAIM_SHERIFF, CLAIM_DOCTOR, CLAIM_VILLAGER, CLAIM_MAFIA = range(
    11
)
"""`CLEARED` and `FOUND` claim to be sheriff with a result: the target is not mafia, or is."""

TABLE = record(
    # Small types, and what every decision needs first: 4,096 tables are faster the less memory they take.
    ("stream", "u8"),
    ("turn", "i1"),
    ("phase", "i1"),
    ("round_number", "i1"),
    ("votings", "i1"),  # votes that are over, and public
    ("speech", "i1"),  # discussion round of today, from 0
    ("opener", "i1"),  # the seat with the first word today
    ("living", "i1"),
    ("living_mafia", "i1"),
    ("killed", "i1"),  # last night; −1: nobody
    ("prevented", "i1"),  # 1: last night's target was protected
    ("winner", "i1"),
    ("done", "?"),
    ("truncated", "?"),
    ("due", "i1"),  # how many outcomes the random event has that is due; 0: none is due
    # options
    ("seats", "i2"),  # wide enough for places in the log and the observation, also without the compiler
    ("mafia", "i1"),
    ("doctors", "i1"),
    ("sheriffs", "i1"),
    ("max_days", "i1"),
    ("discussion_rounds", "i1"),
    ("tie", "i1"),
    ("talk", "?"),
    ("per_seat", "f4"),  # 1 / seats
    ("per_day", "f4"),  # 1 / max_days
    # the seats
    ("role", "i1", SEATS),
    ("alive", "i1", SEATS),
    ("eliminated_round", "i1", SEATS),  # 0: alive
    ("voted_out", "i1", SEATS),  # 1: eliminated by vote
    ("claimed", "i1", SEATS),  # the role it claimed last; `UNKNOWN`: none
    ("accused", "i2", SEATS),  # how often it was
    ("conduct", "i2", SEATS),  # points of suspicion for its votes
    # what was done
    ("votes", "i1", DAYS * SEATS),  # targets; −1: abstained, or was dead
    ("night", "i1", DAYS * SEATS),  # targets; −1: none
    ("said", "u1", SPEECHES * SEATS),  # see `parlour.envs.mafia.statements`; 0: nothing (yet)
    ("rewards", "f8", SEATS),
)
