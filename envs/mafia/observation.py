"""What a player sees, as slices of one flat float32 vector. Seats are counted from the observer: 0 is itself.

Suspicion (mafia-notes.md, Scripted agents) is part of it: a function of what the seat may know.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..core.compiled import compiled
from ..core.layout import Layout, Slice
from .table import (
    ACCUSE,
    CLEARED,
    DEFEND,
    DOCTOR,
    FOUND,
    MAFIA,
    NIGHT,
    PHASES,
    ROLES,
    SHERIFF,
)


def layout(seats: int) -> Layout:
    """Return the slices for `seats` players."""
    pairs = (seats, seats)
    says = "1 claimed to have found it mafia, .5 accused it, −.5 defended it, −1 claimed to have found it innocent"
    return Layout(
        [
            Slice("phase", (len(PHASES),), 0, 1, "one-hot: " + ", ".join(PHASES)),
            Slice("is_my_turn", (1,), 0, 1, ""),
            Slice("current_turn_agent_id", (seats,), 0, 1, "one-hot; all 0 at night (but for oneself) and at the end"),
            Slice("game_state.dayNumber", (1,), 0, 1, "share of max_days"),
            Slice("game_state.mafiaCount", (1,), 0, 1, "living mafia, share of the seats"),
            Slice("game_state.players.alive", (seats,), 0, 1, ""),
            Slice("game_state.players.eliminatedRound", (seats,), 0, 1, "share of max_days; 0: alive"),
            Slice("game_state.players.role", (seats, 4), 0, 1, "where it is known, one-hot: " + ", ".join(ROLES[1:])),
            Slice("game_state.lastNightResult.killed", (seats,), 0, 1, "one-hot"),
            Slice("game_state.lastNightResult.prevented", (1,), 0, 1, ""),
            Slice(
                "game_state.privateKnowledge.lastProtected", (seats,), 0, 1, "doctor: one-hot, in the last full night"
            ),
            Slice("game_state.privateKnowledge.investigationResults", (seats,), -1, 1, "sheriff: 1 mafia, −1 not"),
            Slice("game_state.nightActions", (seats,), 0, 1, "mafia: tonight's choices so far, share of the seats"),
            Slice("game_state.votingHistory.eliminated", (seats,), 0, 1, "whether it was voted out"),
            Slice("game_state.votingHistory.latest", pairs, 0, 1, "[voter, target] of the latest vote"),
            Slice("game_state.votingHistory.all", pairs, 0, 1, "[voter, target], share of max_days"),
            Slice("game_state.statements.made", (seats,), 0, 1, "today, share of the discussion rounds"),
            Slice("game_state.statements.today", pairs, -1, 1, f"[speaker, target] of the latest day: {says}"),
            Slice(
                "game_state.statements.stance", pairs, -1, 1, "the same of all days, the last one counts; claims stay"
            ),
            Slice("game_state.statements.claimed", (seats, 4), 0, 1, "the role last claimed, one-hot as above"),
            Slice("suspicion", (seats,), 0, 1, "hundredths; see parlour.envs.mafia.observation.suspicion"),
            Slice("game_over", (1,), 0, 1, ""),
            Slice("outcome.payoffs", (1,), -1, 1, "one's own utility"),
        ]
    )


@compiled
def observe(table: Any, seat: int, out: Any) -> None:
    """Write what `seat` may know into `out` (float32[layout.size]), in the layout's order."""
    seats = table.seats
    phase = table.phase
    out[:] = 0
    out[phase] = 1
    k = 5
    if table.turn == seat:
        out[4] = 1
        out[k] = 1
    elif table.turn >= 0 and phase != NIGHT:
        out[k + _relative(table.turn, seat, seats)] = 1
    k += seats
    day = table.round_number - (phase == NIGHT)
    out[k] = day * table.per_day
    out[k + 1] = table.living_mafia * table.per_seat
    k += 2
    mafia = table.role[seat] == MAFIA
    voted = k + 8 * seats + 1 + 2 * seats
    roles = k + 2 * seats
    claims = voted + 2 * seats + 4 * seats * seats
    for other in range(seats):
        r = _relative(other, seat, seats)
        alive = table.alive[other]
        out[k + r] = alive
        if not alive:
            out[k + seats + r] = table.eliminated_round[other] * table.per_day
            out[voted + r] = table.voted_out[other]
        role = table.role[other]
        if role > 0 and (not alive or other == seat or table.done or (mafia and role == MAFIA)):
            out[roles + 4 * r + role - 1] = 1
        if table.claimed[other] > 0:
            out[claims + 4 * r + table.claimed[other] - 1] = 1
    k += 6 * seats
    if table.killed >= 0:
        out[k + _relative(table.killed, seat, seats)] = 1
    out[k + seats] = table.prevented
    k += seats + 1
    _observe_own(table, seat, mafia, out, k)
    k += 4 * seats
    _observe_votes(table, seat, out, k)
    k += 2 * seats * seats
    _observe_statements(table, seat, day, out, k)
    k = claims + 4 * seats
    suspicion(table, seat, out[k : k + seats])
    k += seats
    if table.done:
        out[k] = 1
        out[k + 1] = table.rewards[seat]


@compiled
def _observe_own(table: Any, seat: int, mafia: bool, out: Any, k: int) -> None:
    """Write what the nights told `seat` alone: last protected, investigation results, the mafia's choices tonight."""
    seats = table.seats
    role = table.role[seat]
    if role == DOCTOR:
        row = table.round_number - 1 - (table.phase == NIGHT)
        if row >= 0 and table.night[row, seat] >= 0:
            out[k + _relative(table.night[row, seat], seat, seats)] = 1
    elif role == SHERIFF:
        for row in range(table.round_number):
            target = table.night[row, seat]
            if target >= 0:
                out[k + seats + _relative(target, seat, seats)] = 1 if table.role[target] == MAFIA else -1
    elif mafia and table.phase == NIGHT and table.alive[seat]:
        row = table.round_number - 1
        for other in range(seats):
            if table.role[other] == MAFIA and table.night[row, other] >= 0:
                out[k + 2 * seats + _relative(table.night[row, other], seat, seats)] += table.per_seat


@compiled
def _observe_votes(table: Any, seat: int, out: Any, k: int) -> None:
    """Write the votes that are public: [voter, target] of the latest, and of all."""
    seats = table.seats
    for row in range(table.votings):
        for voter in range(seats):
            target = table.votes[row, voter]
            if target >= 0:
                at = k + _relative(voter, seat, seats) * seats + _relative(target, seat, seats)
                out[at + seats * seats] += table.per_day
                if row == table.votings - 1:
                    out[at] = 1


@compiled
def _observe_statements(table: Any, seat: int, day: int, out: Any, k: int) -> None:
    """Write who made how many statements today, and [speaker, target] of today's and of all."""
    seats = table.seats
    last = day * table.discussion_rounds
    today = last - table.discussion_rounds
    stances = k + seats + seats * seats
    for row in range(last if table.talk else 0):
        for speaker in range(seats):
            code = table.said[row, speaker]
            if code > 0:
                kind = code >> 5
                r = _relative(speaker, seat, seats)
                if row >= today:
                    out[k + r] += table.per_speech
                stance = 0.0
                if kind == ACCUSE:
                    stance = 0.5
                elif kind == DEFEND:
                    stance = -0.5
                elif kind == FOUND:
                    stance = 1.0
                elif kind == CLEARED:
                    stance = -1.0
                if stance != 0.0:
                    at = r * seats + _relative(code & 31, seat, seats)
                    if row >= today:
                        out[k + seats + at] = stance
                    before = out[stances + at]
                    if abs(before) < 1.0 or abs(stance) == 1.0:
                        out[stances + at] = stance


@compiled
def _relative(other: int, seat: int, seats: int) -> int:
    """Count seats from `seat` onwards. (A remainder would do; division is slow.)"""
    away = other - seat
    return away + seats if away < 0 else away


# Suspicion.


@compiled
def suspicion(table: Any, seat: int, out: Any) -> None:
    """Write how suspicious every player looks to `seat`: hundredths of the notes' points, 0 to 1, by relative seat.

    Of 100 points everybody starts with 50. An accusation above the average of the living adds 5, a night survived 3,
    a defence of oneself on the latest day 8. Of the latest vote: for another player than in the vote before, who was
    still there to be voted for, 15; for the one who was eliminated, whom one had not accused that day, 8 (bandwagon);
    for one whom one had accused that day, −10 (consistent). Every vote for a player who turned out to be mafia, −15.
    Found to be mafia by a sheriff 30, innocent −25: by `seat` itself, or by a credible sheriff's claims (`_results`).
    The dead, −20.

    Args:
        table: the record.
        seat: who judges.
        out: float[seats], overwritten.
    """
    seats = table.seats
    out[:] = 0
    latest = table.round_number - (table.phase == NIGHT)  # the latest day; 0: none
    rows = latest * table.discussion_rounds if table.talk else 0
    first = rows - table.discussion_rounds
    for row in range(rows):
        for speaker in range(seats):
            code = table.said[row, speaker]
            kind = code >> 5
            if kind == ACCUSE or kind == FOUND:
                out[_relative(code & 31, seat, seats)] += 1
    total = 0.0
    for other in range(seats):
        total += out[_relative(other, seat, seats)] * table.alive[other]
    average = total / table.living
    found, cleared = _results(table, seat, rows)
    for other in range(seats):
        r = _relative(other, seat, seats)
        points = 50.0 + 5.0 * max(out[r] - average, 0.0)
        if table.alive[other]:
            points += 3.0 * latest
        else:
            points += 3.0 * (table.eliminated_round[other] - 1 + table.voted_out[other]) - 20.0
        for row in range(max(first, 0), rows):
            if table.said[row, other] == 32 * DEFEND + other:
                points += 8.0
                break
        points += _voting(table, other)
        bit = 1 << other
        if found & bit:
            points += 30.0
        elif cleared & bit:
            points -= 25.0
        out[r] = min(max(0.01 * points, 0.0), 1.0)


@compiled
def _voting(table: Any, voter: int) -> float:
    """Return the points for how `voter` voted."""
    points = 0.0
    for row in range(table.votings):
        target = table.votes[row, voter]
        if target >= 0 and not table.alive[target] and table.role[target] == MAFIA:
            points -= 15.0
    row = table.votings - 1
    if row < 0 or table.votes[row, voter] < 0:
        return points
    target = table.votes[row, voter]
    if row > 0:
        before = table.votes[row - 1, voter]
        if before >= 0 and before != target:
            gone = table.eliminated_round[before]
            if gone == 0 or gone > row + 1 or (gone == row + 1 and table.voted_out[before]):
                points += 15.0
    accused = False
    for speech in range(row * table.discussion_rounds, (row + 1) * table.discussion_rounds if table.talk else 0):
        code = table.said[speech, voter]
        accused |= code == 32 * ACCUSE + target or code == 32 * FOUND + target
    if accused:
        points -= 10.0
    elif table.eliminated_round[target] == row + 1:
        points += 8.0
    return points


@compiled
def _results(table: Any, seat: int, rows: int) -> tuple[int, int]:
    """Return who was found to be mafia, and who innocent, as sets of bits (1 << seat).

    By `seat`'s own investigations, and by what others claim to have found who turned out to be sheriff, or who live
    and are no more than the living sheriffs are.
    """
    found = 0
    cleared = 0
    claimants = 0
    sheriffs = table.sheriffs
    for other in range(table.seats):
        if table.alive[other]:
            claimants += table.claimed[other] == SHERIFF
        else:
            sheriffs -= table.role[other] == SHERIFF
    for speaker in range(table.seats):
        if table.claimed[speaker] == SHERIFF and speaker != seat:
            credible = claimants <= sheriffs if table.alive[speaker] else table.role[speaker] == SHERIFF
            for row in range(rows if credible else 0):
                code = int(table.said[row, speaker])
                kind = code >> 5
                if kind == FOUND:
                    found |= 1 << (code & 31)
                elif kind == CLEARED:
                    cleared |= 1 << (code & 31)
    if table.role[seat] == SHERIFF:
        for row in range(table.round_number):
            target = int(table.night[row, seat])
            if target >= 0:
                if table.role[target] == MAFIA:
                    found |= 1 << target
                else:
                    cleared |= 1 << target
    return found, cleared


def suspicions(table: Any, seat: int) -> NDArray[np.float64]:
    """Return how suspicious every player looks to `seat`, 0 to 100: float64[seats], by seat (see `suspicion`)."""
    seats = int(table.seats)
    out = np.zeros(seats)
    suspicion(table, seat, out)
    return np.roll(100 * out, seat)
