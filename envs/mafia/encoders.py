"""The observation, version 0. Seats are relative to the observer: 0 is the observer.

A part of it is suspicion (`parlour.envs.mafia.bots`), which is computed from what the seat may know.
"""

from typing import Any

import numpy as np

from ..core.compiled import compiled, inlined
from ..core.encoder import Encoder, Layout, Slice, per_seat, relative, shares
from .bots import suspicion
from .statements import KIND
from .table import DAYS, DOCTOR, MAFIA, NIGHT, PHASES, ROLES, SHERIFF, VOTING


def v0(table: Any) -> Encoder:
    """Return the encoder for the options of `table`."""
    observe = observe_with_talk if table.talk else observe_muted
    return Encoder(Layout(slices(table)), observe)


def per_pair(path: str, who: str, seats: int, meaning: str, low: float = 0, high: float = 1) -> Slice:
    """Return a slice with one number per pair of seats: `who`, and its target."""
    return Slice(path, (seats, seats), low, high, meaning, axes=(who, "target"))


def per_role(path: str, seats: int, meaning: str) -> Slice:
    """Return a slice with the role of every seat, one-hot."""
    return shares(path, (seats, 4), meaning, axes=("relative seat", ROLES[1:]))


def slices(table: Any) -> list[Slice]:
    """Return the slices of the observation for the options of `table`."""
    seats, roles = int(table.seats), ", ".join(ROLES[1:])
    says = "1 claimed to have found it mafia, .5 accused it, −.5 defended it, −1 claimed to have found it innocent"
    today = f"[speaker, target] of the latest day: {says}"
    stance = "the same of all days: the last one, but results stay"
    return [
        shares("phase", (len(PHASES),), "one-hot: " + ", ".join(PHASES), axes=(PHASES,)),
        shares("is_my_turn", (1,), "whether the observer decides next"),
        per_seat("current_turn_agent_id", seats, "one-hot; at night only one's own turn; all 0 at the end"),
        shares("game_state.dayNumber", (1,), "share of max_days"),
        shares("game_state.mafiaCount", (1,), "living mafia, share of the seats"),
        per_seat("game_state.players.alive", seats, "whether it lives"),
        per_seat("game_state.players.eliminatedRound", seats, "share of max_days; 0: alive"),
        per_role("game_state.players.role", seats, f"where it is known, one-hot: {roles}"),
        per_seat("game_state.lastNightResult.killed", seats, "one-hot"),
        shares("game_state.lastNightResult.prevented", (1,), "whether the mafia's target was protected"),
        per_seat("game_state.privateKnowledge.lastProtected", seats, "doctor: one-hot, last night"),
        per_seat("game_state.privateKnowledge.investigationResults", seats, "sheriff: 1 mafia, −1 not", -1, 1),
        per_seat("game_state.nightActions", seats, "mafia: 0.5 for each of its choices so far tonight", 0, 5),
        per_seat("game_state.votingHistory.eliminated", seats, "whether it was voted out"),
        per_pair("game_state.votingHistory.latest", "voter", seats, "[voter, target] of the latest vote"),
        per_pair("game_state.votingHistory.all", "voter", seats, "[voter, target], 0.25 per vote", 0, DAYS / 4),
        per_seat("game_state.statements.made", seats, "0.5 for each of today's", 0, 4),
        per_pair("game_state.statements.today", "speaker", seats, today, -1, 1),
        per_pair("game_state.statements.stance", "speaker", seats, stance, -1, 1),
        per_role("game_state.statements.claimed", seats, "the role last claimed, one-hot as above"),
        per_seat("suspicion", seats, "0.01 per point; see parlour.envs.mafia.bots"),
        shares("game_over", (1,), "whether the match is over"),
        Slice("outcome.payoffs", (1,), -1, 1, "one's own utility"),
    ]


# An unpredictable branch costs as much as ten assignments, so the loops below avoid branches: where nothing is to be
# shown, they write the old value again. Offsets are read before a loop; inside it, the compiler would read them again
# after every write to `out`.


@compiled
def observe_with_talk(table: Any, seat: int, at: Any, out: Any) -> None:
    """Write what `seat` may know into `out` (float32[layout.size])."""
    observe_muted(table, seat, at, out)
    _observe_statements(table, seat, at, out)


@inlined
def observe_muted(table: Any, seat: int, at: Any, out: Any) -> None:
    """Write the same as `observe_with_talk`, for matches without discussion."""
    seats = table.seats
    phase = table.phase
    out[:] = 0
    out[at.phase + phase] = 1
    if table.turn == seat:
        out[at.is_my_turn] = 1
        out[at.current_turn_agent_id] = 1
    elif table.turn >= 0 and phase != NIGHT:
        out[at.current_turn_agent_id + relative(table.turn, seat, seats)] = 1
    out[at.dayNumber] = (table.round_number - (phase == NIGHT)) * table.per_day
    out[at.mafiaCount] = table.living_mafia * table.per_seat
    _observe_players(table, seat, at, out)
    if table.killed >= 0:
        out[at.lastNightResult_killed + relative(table.killed, seat, seats)] = 1
    out[at.lastNightResult_prevented] = table.prevented
    _observe_own(table, seat, at, out)
    _observe_votes(table, seat, at, out)
    suspicion(table, seat, out[at.suspicion : at.suspicion + seats])
    out[at.game_over] = table.done
    out[at.outcome_payoffs] = table.rewards[seat]


@compiled
def _observe_players(table: Any, seat: int, at: Any, out: Any) -> None:
    """Write who is alive, when and how the others were eliminated, the known roles, and the claimed roles."""
    seats = table.seats
    mafia = table.role[seat] == MAFIA
    alive_at, round_at, eliminated_at = at.players_alive, at.players_eliminatedRound, at.votingHistory_eliminated
    role_at, claimed_at = at.players_role, at.statements_claimed
    for other in range(seats):
        r = relative(other, seat, seats)
        role = table.role[other]
        alive = table.alive[other]
        out[alive_at + r] = alive
        out[round_at + r] = table.eliminated_round[other] * table.per_day
        out[eliminated_at + r] = table.voted_out[other]
        visible = (role > 0) & ((alive == 0) | (other == seat) | table.done | (mafia & (role == MAFIA)))
        out[role_at + 4 * r + (role - 1 if visible else 0)] = visible
        claimed = table.claimed[other]
        out[claimed_at + 4 * r + max(claimed - 1, 0)] = claimed > 0


@compiled
def _observe_own(table: Any, seat: int, at: Any, out: Any) -> None:
    """Write the private knowledge of `seat`: last protected, investigation results, the mafia's choices tonight."""
    seats = table.seats
    role = table.role[seat]
    if role == DOCTOR:
        row = table.round_number - 1 - (table.phase == NIGHT)
        if row >= 0 and table.night[row * seats + seat] >= 0:
            target = table.night[row * seats + seat]
            out[at.privateKnowledge_lastProtected + relative(target, seat, seats)] = 1
    elif role == SHERIFF:
        for row in range(table.round_number):
            target = table.night[row * seats + seat]
            if target >= 0:
                index = at.privateKnowledge_investigationResults + relative(target, seat, seats)
                out[index] = 1 if table.role[target] == MAFIA else -1
    elif role == MAFIA and table.phase == NIGHT and table.alive[seat]:
        row = (table.round_number - 1) * seats
        for other in range(seats):
            if table.role[other] == MAFIA and table.night[row + other] >= 0:
                out[at.nightActions + relative(table.night[row + other], seat, seats)] += 0.5


@compiled
def _observe_votes(table: Any, seat: int, at: Any, out: Any) -> None:
    """Write the public votes: [voter, target] of the latest vote, and of all votes."""
    seats = table.seats
    latest_at, all_at = at.votingHistory_latest, at.votingHistory_all
    n = 0
    for row in range(table.votings):
        latest = row == table.votings - 1
        for voter in range(seats):
            target = table.votes[n]
            n += 1
            cast = target >= 0
            pair = relative(voter, seat, seats) * seats + relative(max(target, 0), seat, seats)
            out[all_at + pair] += 0.25 * cast
            if latest:
                out[latest_at + pair] += cast


@compiled
def _observe_statements(table: Any, seat: int, at: Any, out: Any) -> None:
    """Write the number of statements of each player today, and [speaker, target] of today's and of all statements."""
    seats = table.seats
    rows = (table.round_number - (table.phase == NIGHT)) * table.discussion_rounds
    made_at, today_at, stance_at = at.statements_made, at.statements_today, at.statements_stance
    n = 0
    for row in range(rows):
        today = row >= rows - table.discussion_rounds
        for speaker in range(seats):
            code: Any = np.int64(table.said[n])  # wider than in the record
            n += 1
            stance = STANCES[code]
            r = relative(speaker, seat, seats)
            if today:
                out[made_at + r] += 0.5 * (code > 0)
            if stance != 0.0:
                pair = r * seats + relative(TARGETS[code], seat, seats)
                ever = stance_at + pair
                keeps = (abs(out[ever]) == 1.0) & (abs(stance) < 1.0)
                out[ever] = out[ever] if keeps else stance
                if today:
                    out[today_at + pair] = stance


STANCES = np.concatenate([[0], np.repeat([0, 0.5, -0.5, -1, 1, 0, 0, 0, 0], KIND)]).astype(np.float32)
"""The stance towards the target, by the code of a statement (`code_of`)."""

TARGETS = (np.arange(len(STANCES)) + KIND - 1) % KIND
"""The target's seat, by the code of a statement (0 without one)."""


def full(table: Any) -> Encoder:
    """Full information: the slices of version 0, all roles, and the choices that are still secret."""
    seats = int(table.seats)
    slices = [
        per_seat("hidden.current_turn_agent_id", seats, "one-hot, at night too; all 0 at the end"),
        per_role("hidden.players.role", seats, "of every player, one-hot: " + ", ".join(ROLES[1:])),
        per_pair("hidden.nightActions", "player", seats, "[player, target] chosen so far tonight"),
        per_pair("hidden.votes", "voter", seats, "[voter, target] of the vote that is under way"),
    ]
    return v0(table).extended(slices, observe_hidden, full_information=True)


@compiled
def observe_hidden(table: Any, seat: int, at: Any, out: Any) -> None:
    """Write the hidden slices."""
    seats = table.seats
    if table.turn >= 0:
        out[at.hidden_current_turn_agent_id + relative(table.turn, seat, seats)] = 1
    row = (table.round_number - 1) * seats
    for other in range(seats):
        place = relative(other, seat, seats)
        if table.role[other] > 0:
            out[at.hidden_players_role + 4 * place + table.role[other] - 1] = 1
        if table.phase == NIGHT and table.night[row + other] >= 0:
            out[at.hidden_nightActions + place * seats + relative(table.night[row + other], seat, seats)] = 1
        if table.phase == VOTING and table.votes[row + other] >= 0:
            out[at.hidden_votes + place * seats + relative(table.votes[row + other], seat, seats)] = 1


ENCODERS = {"v0": v0, "full": full}
