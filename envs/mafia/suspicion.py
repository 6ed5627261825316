"""Suspicion: a number from 0 to 100 that one player computes about another from public facts. Compiled.

Every player starts with 50 points. These are added:

- 5 per accusation against the player above the average of the living, 3 per night survived, 8 for a defence of itself
  on the latest day;
- for its latest vote: 15 if it changed its target while the old one was still alive; 8 if the target was eliminated and
  it had not accused the target that day; −10 if it had accused the target that day;
- −15 per vote for a player who turned out to be mafia;
- 30 if found mafia and −25 if found innocent, by the observer's own investigation or by credible claims of a sheriff;
- −20 for the dead.

The sum is clipped to 0 and 100. The points for votes are stored in the record after every vote and every night
(`judge_votes`).
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..core.compiled import compiled
from .statements import ACCUSES, CLEARS, DEFENDS, FINDS, KIND
from .table import MAFIA, NIGHT, SHERIFF


@compiled
def suspicion(table: Any, seat: int, out: Any) -> None:
    """Write the suspicion of `seat` about every player, by relative seat: float[seats], 0 to 1 (points / 100)."""
    seats = table.seats
    latest = table.round_number - (table.phase == NIGHT)  # the latest day; 0: none
    rows = latest * table.discussion_rounds if table.talk else 0
    total = 0.0
    for other in range(seats):
        total += table.accused[other] * table.alive[other]
    average = total / table.living
    mafia, cleared = _results(table, seat, rows)
    defended = 0  # a set of bits, as the results are
    for row in range(max(rows - table.discussion_rounds, 0), rows):
        for other in range(seats):
            defended |= (table.said[row * seats + other] == DEFENDS + other) << other
    for other in range(table.players, seats):
        out[other - seat if other >= seat else other - seat + seats] = 0.0
    for other in range(table.players):
        points = 50.0 + 5.0 * max(table.accused[other] - average, 0.0) + table.conduct[other]
        gone = table.eliminated_round[other]
        points += 3.0 * latest if gone == 0 else 3.0 * (gone - 1 + table.voted_out[other]) - 20.0
        points += 8.0 * (defended >> other & 1) + 30.0 * (mafia >> other & 1) - 25.0 * ((cleared & ~mafia) >> other & 1)
        out[other - seat if other >= seat else other - seat + seats] = min(max(0.01 * points, 0.0), 1.0)


@compiled
def judge_votes(table: Any) -> None:
    """Write the points of every player for its votes."""
    seats = table.seats
    for voter in range(seats):
        table.conduct[voter] = _latest_vote(table, voter)
        if table.living_mafia < table.mafia:
            for row in range(table.votings):
                target = table.votes[row * seats + voter]
                if target >= 0 and not table.alive[target] and table.role[target] == MAFIA:
                    table.conduct[voter] -= 15


@compiled
def _latest_vote(table: Any, voter: int) -> int:
    seats = table.seats
    row = table.votings - 1
    if row < 0 or table.votes[row * seats + voter] < 0:
        return 0
    target = table.votes[row * seats + voter]
    points = 0
    if row > 0:
        before = table.votes[(row - 1) * seats + voter]
        if before >= 0 and before != target:
            gone = table.eliminated_round[before]
            if gone == 0 or gone > row + 1 or (gone == row + 1 and table.voted_out[before]):
                points += 15
    accused = False
    for speech in range(row * table.discussion_rounds, (row + 1) * table.discussion_rounds if table.talk else 0):
        code = table.said[speech * seats + voter]
        accused |= code == ACCUSES + target or code == FINDS + target
    if accused:
        points -= 10
    elif table.eliminated_round[target] == row + 1 and table.voted_out[target]:
        points += 8
    return points


@compiled
def _results(table: Any, seat: int, rows: int) -> tuple[int, int]:
    """Return the players found to be mafia, and those found innocent, as sets of bits (1 << seat).

    They are found by `seat`'s own investigations and by credible claims: of players who turned out to be sheriff, and
    of living ones, if no more of them claim to be sheriff than there are living sheriffs.
    """
    mafia = 0
    cleared = 0
    seats = table.seats
    claimants = 0
    sheriffs = table.sheriffs
    for other in range(seats):
        alive = table.alive[other]
        claimants += alive & (table.claimed[other] == SHERIFF)
        sheriffs -= (1 - alive) & (table.role[other] == SHERIFF)
    credible = 0
    for speaker in range(seats):
        trusted = claimants <= sheriffs if table.alive[speaker] else table.role[speaker] == SHERIFF
        credible |= (trusted & (table.claimed[speaker] == SHERIFF) & (speaker != seat)) << speaker
    speaker = 0
    while credible >> speaker:
        if credible >> speaker & 1:
            for row in range(rows):
                code = int(table.said[row * seats + speaker])
                if FINDS <= code < FINDS + KIND:
                    mafia |= 1 << (code - FINDS)
                elif CLEARS <= code < CLEARS + KIND:
                    cleared |= 1 << (code - CLEARS)
        speaker += 1
    if table.role[seat] == SHERIFF:
        for row in range(table.round_number):
            target = int(table.night[row * seats + seat])
            if target >= 0:
                if table.role[target] == MAFIA:
                    mafia |= 1 << target
                else:
                    cleared |= 1 << target
    return mafia, cleared


def suspicions(table: Any, seat: int) -> NDArray[np.float64]:
    """Return the suspicion of `seat` about every player, 0 to 100 points: float64[seats], by seat (see `suspicion`)."""
    out = np.zeros(int(table.seats))
    suspicion(table, seat, out)
    return np.roll(100 * out, seat)
