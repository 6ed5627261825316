"""Suspicion (the heuristics of mafia-ai-benchmark): how a player looks to another, 0 to 100 points. Compiled.

Everybody starts with 50. An accusation above the average of the living adds 5, a night survived 3, a defence of oneself
on the latest day 8. Of the latest vote: for another player than in the vote before, who was still there to be voted
for, 15; for the one who was eliminated, whom one had not accused that day, 8 (bandwagon); for one whom one had accused
that day, −10 (consistent). Every vote for a player who turned out to be mafia, −15. Found to be mafia by a sheriff 30,
innocent −25: by the judge itself, or by a credible sheriff's claims. The dead, −20. The sum is kept within 0 and 100.

What the votes tell is kept in the record, anew after every vote and every night (`judge_votes`).
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..core.compiled import compiled
from .statements import ACCUSES, CLEARS, DEFENDS, FINDS, KIND
from .table import MAFIA, NIGHT, SHERIFF


@compiled
def suspicion(table: Any, seat: int, out: Any) -> None:
    """Write how suspicious every player looks to `seat`, by relative seat: float[seats], 0 to 1 (hundredths)."""
    seats = table.seats
    latest = table.round_number - (table.phase == NIGHT)  # the latest day; 0: none
    rows = latest * table.discussion_rounds if table.talk else 0
    total = 0.0
    for other in range(seats):
        total += table.accused[other] * table.alive[other]
    average = total / table.living
    found, cleared = _results(table, seat, rows)
    for other in range(seats):
        points = 50.0 + 5.0 * max(table.accused[other] - average, 0.0) + table.conduct[other]
        gone = table.eliminated_round[other]
        points += 3.0 * latest if gone == 0 else 3.0 * (gone - 1 + table.voted_out[other]) - 20.0
        defended = False
        for row in range(max(rows - table.discussion_rounds, 0), rows):
            defended |= table.said[row * seats + other] == DEFENDS + other
        points += 8.0 * defended + 30.0 * (found >> other & 1) - 25.0 * ((cleared & ~found) >> other & 1)
        out[other - seat if other >= seat else other - seat + seats] = min(max(0.01 * points, 0.0), 1.0)


@compiled
def judge_votes(table: Any) -> None:
    """Write the points for how everybody voted."""
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
    """Return who was found to be mafia, and who innocent, as sets of bits (1 << seat).

    By `seat`'s own investigations, and by what others claim to have found who turned out to be sheriff, or who live
    and are no more than the living sheriffs are.
    """
    found = 0
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
                    found |= 1 << (code - FINDS)
                elif CLEARS <= code < CLEARS + KIND:
                    cleared |= 1 << (code - CLEARS)
        speaker += 1
    if table.role[seat] == SHERIFF:
        for row in range(table.round_number):
            target = int(table.night[row * seats + seat])
            if target >= 0:
                if table.role[target] == MAFIA:
                    found |= 1 << target
                else:
                    cleared |= 1 << target
    return found, cleared


def suspicions(table: Any, seat: int) -> NDArray[np.float64]:
    """Return how suspicious every player looks to `seat`, 0 to 100: float64[seats], by seat (see `suspicion`)."""
    out = np.zeros(int(table.seats))
    suspicion(table, seat, out)
    return np.roll(100 * out, seat)
