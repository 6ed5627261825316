"""The record: the whole state of one match. Names are those of mafia-ai-benchmark, if it has one.

Rounds and days count from 1: round r has night r and day r. The choice of seat s in round r has the index
(r − 1) · seats + s in `night` and `votes`. Its statements of day r are at row · seats + s in `said`, where the rows of
day r begin with (r − 1) · discussion_rounds. The arrays are flat, so that a match needs few cache lines.
"""

import numpy as np

from ..core.record import record

SEATS = 20
"""The most players."""
DAYS = 40
"""The most days."""
SPEECHES = 80
"""The most discussion rounds of all days together."""

USUAL_MAFIA = np.maximum(1, 3 * np.arange(SEATS + 1) // 10)
"""The usual number of mafia, by the number of players: 3 in 10, rounded down, and at least 1."""

PHASES = ("NIGHT_ACTIONS", "DAY_DISCUSSION", "DAY_VOTING", "END")
NIGHT, DISCUSSION, VOTING, END = range(4)
"""The phases with decisions, and the end. SETUP, MORNING_REVEAL and RESOLUTION pass within a step."""

ROLES = ("unknown", "mafia", "doctor", "sheriff", "villager")
UNKNOWN, MAFIA, DOCTOR, SHERIFF, VILLAGER = range(5)
"""`UNKNOWN` is used only in records made by `load`."""

WINNERS = (None, "town", "mafia")
NOBODY, TOWN_WINS, MAFIA_WINS = range(3)

TIES = ("random", "none")
TIE_RANDOM, TIE_NONE = range(2)

# Kinds of moves: a target at night, a vote, nine kinds of statements.
TARGET, VOTE, GENERAL, ACCUSE, DEFEND, CLEARED, FOUND, CLAIM_SHERIFF, CLAIM_DOCTOR, CLAIM_VILLAGER, CLAIM_MAFIA = range(
    11
)
"""`CLEARED` and `FOUND` are claims to be sheriff with a result: the target is not mafia, or is mafia."""

TABLE = record(
    # Small types, and the fields of every decision first: with less memory, many tables are faster.
    ("stream", "u8"),
    ("turn", "i1"),
    ("players", "i1"),  # of this match, in the first seats; the seats behind them are empty. 0: not drawn yet
    ("phase", "i1"),
    ("round_number", "i1"),
    ("votings", "i1"),  # number of votes that are over and public
    ("speech", "i1"),  # discussion round of today, from 0
    ("opener", "i1"),  # the first speaker of today
    ("living", "i1"),
    ("living_mafia", "i1"),
    ("killed", "i1"),  # last night; −1: nobody
    ("prevented", "i1"),  # 1: last night's target was protected
    ("saved", "i1"),  # last night's target where it was protected; −1: nobody
    ("winner", "i1"),
    ("done", "?"),
    ("due", "i1"),  # outcomes of the next random event; 0: the next event is a decision
    # options
    ("fewest", "i1"),  # players of a match: drawn from here to `seats`
    ("seats", "i2"),  # wide enough for indices of the log and the observation, also without Numba
    ("mafia", "i1"),  # of this match where the number of players is drawn
    ("doctors", "i1"),
    ("sheriffs", "i1"),
    ("max_days", "i1"),
    ("discussion_rounds", "i1"),
    ("tie", "i1"),
    ("talk", "?"),
    ("werewolf", "?"),  # whether the rules are those of werewolf: see `parlour.envs.werewolf`
    ("per_seat", "f4"),  # 1 / seats
    ("per_day", "f4"),  # 1 / max_days
    # the seats
    ("role", "i1", SEATS),
    ("alive", "i1", SEATS),
    ("eliminated_round", "i1", SEATS),  # 0: alive
    ("voted_out", "i1", SEATS),  # 1: eliminated by vote
    ("claimed", "i1", SEATS),  # the role it claimed last; `UNKNOWN`: none
    ("accused", "i2", SEATS),  # number of accusations against it
    ("conduct", "i2", SEATS),  # points of suspicion for its votes
    # the log
    ("votes", "i1", DAYS * SEATS),  # targets; −1: abstained, or was dead
    ("night", "i1", DAYS * SEATS),  # targets; −1: none
    ("said", "u1", SPEECHES * SEATS),  # see `parlour.envs.mafia.statements`; 0: nothing (yet)
    ("rewards", "f8", SEATS),
)
