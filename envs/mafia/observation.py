"""What a player sees, as slices of one flat float32 vector. Seats are counted from the observer: 0 is itself.

Suspicion (`parlour.envs.mafia.suspicion`) is part of it: a function of what the seat may know.
"""

from typing import Any

import numpy as np

from ..core.compiled import compiled
from ..core.layout import Layout, Slice
from .statements import KIND
from .suspicion import suspicion
from .table import DAYS, DOCTOR, MAFIA, NIGHT, PHASES, ROLES, SHERIFF


def layout(seats: int) -> Layout:
    """Return the slices for `seats` players."""
    pairs = (seats, seats)
    says = "1 claimed to have found it mafia, .5 accused it, −.5 defended it, −1 claimed to have found it innocent"
    return Layout(
        [
            Slice("phase", (len(PHASES),), 0, 1, "one-hot: " + ", ".join(PHASES)),
            Slice("is_my_turn", (1,), 0, 1, "whether the observer decides next"),
            Slice("current_turn_agent_id", (seats,), 0, 1, "one-hot; all 0 at night (but for oneself) and at the end"),
            Slice("game_state.dayNumber", (1,), 0, 1, "share of max_days"),
            Slice("game_state.mafiaCount", (1,), 0, 1, "living mafia, share of the seats"),
            Slice("game_state.players.alive", (seats,), 0, 1, "whether it lives"),
            Slice("game_state.players.eliminatedRound", (seats,), 0, 1, "share of max_days; 0: alive"),
            Slice("game_state.players.role", (seats, 4), 0, 1, "where it is known, one-hot: " + ", ".join(ROLES[1:])),
            Slice("game_state.lastNightResult.killed", (seats,), 0, 1, "one-hot"),
            Slice("game_state.lastNightResult.prevented", (1,), 0, 1, "whether the mafia's target was protected"),
            Slice("game_state.privateKnowledge.lastProtected", (seats,), 0, 1, "doctor: one-hot, last night"),
            Slice("game_state.privateKnowledge.investigationResults", (seats,), -1, 1, "sheriff: 1 mafia, −1 not"),
            Slice("game_state.nightActions", (seats,), 0, 5, "mafia: 0.5 for each of its choices so far tonight"),
            Slice("game_state.votingHistory.eliminated", (seats,), 0, 1, "whether it was voted out"),
            Slice("game_state.votingHistory.latest", pairs, 0, 1, "[voter, target] of the latest vote"),
            Slice("game_state.votingHistory.all", pairs, 0, DAYS / 4, "[voter, target], 0.25 per vote"),
            Slice("game_state.statements.made", (seats,), 0, 4, "0.5 for each of today's"),
            Slice("game_state.statements.today", pairs, -1, 1, f"[speaker, target] of the latest day: {says}"),
            Slice("game_state.statements.stance", pairs, -1, 1, "the same of all days: the last one, but results stay"),
            Slice("game_state.statements.claimed", (seats, 4), 0, 1, "the role last claimed, one-hot as above"),
            Slice("suspicion", (seats,), 0, 1, "0.01 per point; see parlour.envs.mafia.suspicion"),
            Slice("game_over", (1,), 0, 1, "whether the match is over"),
            Slice("outcome.payoffs", (1,), -1, 1, "one's own utility"),
        ]
    )


# A branch that cannot be foreseen costs as much as ten assignments. So the loops below have none: what is not to be
# seen is written to the last place, which gets its own value in the end.


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
    _observe_players(table, seat, out, k, k + 10 * seats + 1, k + 12 * seats + 1 + 4 * seats * seats)
    k += 6 * seats
    if table.killed >= 0:
        out[k + _relative(table.killed, seat, seats)] = 1
    out[k + seats] = table.prevented
    k += seats + 1
    _observe_own(table, seat, out, k)
    k += 4 * seats
    _observe_votes(table, seat, out, k)
    k += 2 * seats * seats
    if table.talk:
        _observe_statements(table, seat, day, out, k)
    k += 5 * seats + 2 * seats * seats
    suspicion(table, seat, out[k : k + seats])
    k += seats
    out[k] = table.done
    out[k + 1] = table.rewards[seat]


@compiled
def _observe_players(table: Any, seat: int, out: Any, k: int, voted: int, claims: int) -> None:
    """Write who lives, when and how the others went, the roles that are known, and those that were claimed."""
    seats = table.seats
    nowhere = len(out) - 1
    mafia = table.role[seat] == MAFIA
    for other in range(seats):
        r = _relative(other, seat, seats)
        role = table.role[other]
        alive = table.alive[other]
        out[k + r] = alive
        out[k + seats + r] = table.eliminated_round[other] * table.per_day
        out[voted + r] = table.voted_out[other]
        known = (role > 0) & ((alive == 0) | (other == seat) | table.done | (mafia & (role == MAFIA)))
        out[k + 2 * seats + 4 * r + role - 1 if known else nowhere] = 1
        claimed = table.claimed[other]
        out[claims + 4 * r + claimed - 1 if claimed > 0 else nowhere] = 1


@compiled
def _observe_own(table: Any, seat: int, out: Any, k: int) -> None:
    """Write what the nights told `seat` alone: last protected, investigation results, the mafia's choices tonight."""
    seats = table.seats
    role = table.role[seat]
    if role == DOCTOR:
        row = table.round_number - 1 - (table.phase == NIGHT)
        if row >= 0 and table.night[row * seats + seat] >= 0:
            out[k + _relative(table.night[row * seats + seat], seat, seats)] = 1
    elif role == SHERIFF:
        for row in range(table.round_number):
            target = table.night[row * seats + seat]
            if target >= 0:
                out[k + seats + _relative(target, seat, seats)] = 1 if table.role[target] == MAFIA else -1
    elif role == MAFIA and table.phase == NIGHT and table.alive[seat]:
        row = (table.round_number - 1) * seats
        for other in range(seats):
            if table.role[other] == MAFIA and table.night[row + other] >= 0:
                out[k + 2 * seats + _relative(table.night[row + other], seat, seats)] += 0.5


@compiled
def _observe_votes(table: Any, seat: int, out: Any, k: int) -> None:
    """Write the votes that are public: [voter, target] of the latest, and of all."""
    seats = table.seats
    nowhere = len(out) - 1
    n = 0
    for row in range(table.votings):
        latest = row == table.votings - 1
        for voter in range(seats):
            target = table.votes[n]
            n += 1
            at = _relative(voter, seat, seats) * seats + _relative(target, seat, seats)
            out[k + at if latest & (target >= 0) else nowhere] = 1
            out[k + seats * seats + at if target >= 0 else nowhere] += 0.25


@compiled
def _observe_statements(table: Any, seat: int, day: int, out: Any, k: int) -> None:
    """Write who made how many statements today, and [speaker, target] of today's and of all."""
    seats = table.seats
    nowhere = len(out) - 1
    rows = day * table.discussion_rounds
    n = 0
    for row in range(rows):
        today = row >= rows - table.discussion_rounds
        for speaker in range(seats):
            code: Any = np.int64(table.said[n])  # wider than it is kept
            n += 1
            r = _relative(speaker, seat, seats)
            out[k + r if today else nowhere] += 0.5 * (code > 0)
            kind = (code + KIND - 1) // KIND  # 0: nothing, 1: GENERAL, …
            stance = STANCES[kind]
            at = k + seats + r * seats + _relative(code + KIND - 1 - kind * KIND, seat, seats)
            out[at if today & (stance != 0.0) else nowhere] = stance
            ever = at + seats * seats if stance != 0.0 else nowhere
            sticks = (abs(out[ever]) == 1.0) & (abs(stance) < 1.0)
            out[ever] = out[ever] if sticks else stance


STANCES = np.array([0, 0, 0.5, -0.5, -1, 1, 0, 0, 0, 0])
"""What nothing, and the kinds from `GENERAL` on, say about their target."""


@compiled
def _relative(other: int, seat: int, seats: int) -> int:
    """Count seats from `seat` onwards. (A remainder would do; division is slow.)"""
    away = other - seat
    return away + seats if away < 0 else away
