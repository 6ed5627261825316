"""The rules of mafia over one record, compiled (mafia.md, and its notes: Set-up, Night, Day, End).

Decisions are taken one seat at a time and stay hidden where the game has them at once: at night the mafia, then the
doctors, then the sheriffs choose, in seat order; votes are cast in seat order and opened together. How many of each
role live is public, because the dead show their roles: so the order of roles at night tells nobody anything.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..core.compiled import compiled
from ..core.rng import draw
from .statements import KIND, code_of
from .suspicion import judge_votes
from .table import (
    ACCUSE,
    CLAIM_DOCTOR,
    CLAIM_MAFIA,
    CLAIM_SHERIFF,
    CLAIM_VILLAGER,
    CLEARED,
    DEFEND,
    DISCUSSION,
    DOCTOR,
    END,
    FOUND,
    GENERAL,
    MAFIA,
    MAFIA_WINS,
    NIGHT,
    NOBODY,
    SHERIFF,
    TARGET,
    TIE_NONE,
    TOWN_WINS,
    UNKNOWN,
    VILLAGER,
    VOTE,
    VOTING,
)


class Choice(NamedTuple):
    """What a seat does: a kind of `parlour.envs.mafia.table`, and the target's seat (−1: none)."""

    kind: int
    target: int


@compiled
def reset(table: Any) -> None:
    """Begin a match: deal the roles. The first night follows."""
    seats = table.seats
    for seat in range(seats):
        if seat < table.mafia:
            table.role[seat] = MAFIA
        elif seat < table.mafia + table.doctors:
            table.role[seat] = DOCTOR
        elif seat < table.mafia + table.doctors + table.sheriffs:
            table.role[seat] = SHERIFF
        else:
            table.role[seat] = VILLAGER
        table.alive[seat] = 1
        table.eliminated_round[seat] = 0
        table.voted_out[seat] = 0
        table.claimed[seat] = UNKNOWN
        table.accused[seat] = 0
        table.conduct[seat] = 0
        table.rewards[seat] = 0.0
    for last in range(seats - 1, 0, -1):
        other = draw(table, last + 1)
        role = table.role[last]
        table.role[last] = table.role[other]
        table.role[other] = role
    table.round_number = 0
    table.votings = 0
    table.living = seats
    table.living_mafia = table.mafia
    table.killed = -1
    table.prevented = 0
    table.winner = NOBODY
    table.done = False
    table.truncated = False
    _dusk(table)


@compiled
def step(table: Any, move: Any) -> None:
    """Apply the acting seat's legal move and go on to the next decision."""
    kind = move.kind
    if kind == TARGET:
        table.night[_row(table) + table.turn] = move.target
        _next_at_night(table)
    elif kind == VOTE:
        table.votes[_row(table) + table.turn] = move.target
        _next_voter(table, table.turn + 1)
    else:
        code = code_of(kind, move.target)
        table.said[(_today(table) + table.speech) * table.seats + table.turn] = code
        _note(table, table.turn, code)
        _next_speaker(table, table.turn + 1)


def teams(tables: Any) -> NDArray[np.int8]:
    """Return who is town (0) and who is mafia (1): int8[N, seats]."""
    return np.asarray(tables["role"][:, : tables["seats"][0]] == MAFIA, np.int8)


@compiled
def _row(table: Any) -> int:
    """Return where this round begins in `night` and `votes`."""
    return (table.round_number - 1) * table.seats


# The night.


@compiled
def _dusk(table: Any) -> None:
    """Begin the night of the next round."""
    table.round_number += 1
    table.phase = NIGHT
    row = _row(table)
    for seat in range(table.seats):
        table.night[row + seat] = -1
    table.turn = _living_with(table, MAFIA, 0)


@compiled
def _living_with(table: Any, role: int, seat: int) -> int:
    """Return the first of the living with `role`, from `seat` on; −1 if there is none."""
    while seat < table.seats:
        if table.role[seat] == role and table.alive[seat]:
            return seat
        seat += 1
    return -1


@compiled
def _next_at_night(table: Any) -> None:
    """Give the turn to the next of the same role, or else of the next one; after the last one it dawns."""
    role = table.role[table.turn]
    seat = _living_with(table, role, table.turn + 1)
    while seat < 0 and role < SHERIFF:
        role += 1
        seat = _living_with(table, role, 0)
    if seat < 0:
        _dawn(table)
    else:
        table.turn = seat


@compiled
def _dawn(table: Any) -> None:
    """Resolve the night: who acts tonight acts also if it dies tonight. Then the day begins."""
    row = _row(table)
    target = _victim(table, row)
    table.prevented = 0
    for seat in range(table.seats):
        table.prevented |= table.role[seat] == DOCTOR and table.night[row + seat] == target
    table.killed = -1 if table.prevented else target
    _clear_day(table)
    if not table.prevented:
        _eliminate(table, target)
        if table.role[target] == MAFIA:
            judge_votes(table)
        if table.done:
            return
    if table.talk:
        table.phase = DISCUSSION
        table.speech = 0
        _next_speaker(table, table.opener)
    else:
        _open_vote(table)


@compiled
def _victim(table: Any, row: int) -> int:
    """Return the target that more than half of the living mafia chose, else that of one of them, drawn."""
    chosen = -1
    for seat in range(table.seats):
        target = table.night[row + seat]
        if table.role[seat] == MAFIA and target >= 0 and target != chosen:
            count = 0
            for other in range(table.seats):
                count += table.role[other] == MAFIA and table.night[row + other] == target
            if 2 * count > table.living_mafia:
                return target
            chosen = target
    n = draw(table, table.living_mafia)
    seat = -1
    while n >= 0:
        seat += 1
        n -= table.role[seat] == MAFIA and table.alive[seat]
    return table.night[row + seat]


# The day.


@compiled
def _clear_day(table: Any) -> None:
    """Make room for today's statements and votes."""
    first = _today(table)
    for seat in range(table.seats):
        table.votes[_row(table) + seat] = -1
        for row in range(first, first + table.discussion_rounds):
            table.said[row * table.seats + seat] = 0
    if table.round_number == 1:
        table.opener = 0
    else:
        table.opener += 2
        if table.opener >= table.seats:
            table.opener -= table.seats


@compiled
def _today(table: Any) -> int:
    """Return the row of today's first discussion round."""
    return (table.round_number - 1) * table.discussion_rounds


@compiled
def _next_speaker(table: Any, seat: int) -> None:
    """Give the word to the next of the living, from `seat` on around to today's opener; then again, or vote."""
    seats = table.seats
    while table.speech < table.discussion_rounds:
        row = _today(table) + table.speech
        for _ in range(seats):
            if seat >= seats:
                seat -= seats
            if table.alive[seat] and table.said[row * seats + seat] == 0:
                table.turn = seat
                return
            seat += 1
        table.speech += 1
        seat = table.opener
    _open_vote(table)


@compiled
def _note(table: Any, seat: int, code: int) -> None:
    """Keep in mind whom `seat` accused and what it claimed to be, with a code of `said`."""
    kind = GENERAL + (code - 1) // KIND
    if kind in (ACCUSE, FOUND):
        table.accused[(code - 1) % KIND] += 1
    if kind in (CLEARED, FOUND, CLAIM_SHERIFF):
        table.claimed[seat] = SHERIFF
    elif kind == CLAIM_DOCTOR:
        table.claimed[seat] = DOCTOR
    elif kind == CLAIM_VILLAGER:
        table.claimed[seat] = VILLAGER
    elif kind == CLAIM_MAFIA:
        table.claimed[seat] = MAFIA


@compiled
def remember(table: Any) -> None:
    """Write into a record that was loaded what follows from its log."""
    seats = table.seats
    for n in range(table.max_days * table.discussion_rounds * seats):
        if table.said[n] > 0:
            _note(table, n % seats, table.said[n])
    judge_votes(table)


@compiled
def _open_vote(table: Any) -> None:
    table.phase = VOTING
    _next_voter(table, 0)


@compiled
def _next_voter(table: Any, seat: int) -> None:
    """Give the turn to the next of the living from `seat` on; after the last one the votes are opened."""
    while seat < table.seats:
        if table.alive[seat]:
            table.turn = seat
            return
        seat += 1
    _count(table)


@compiled
def _count(table: Any) -> None:
    """Open the votes: who has most of them goes. One vote is never enough: then all cast ones differ."""
    row = _row(table)
    table.votings += 1
    most = 1
    tied = 0
    for seat in range(table.seats):
        if table.alive[seat]:
            count = _votes_for(table, row, seat)
            if count > most:
                most = count
                tied = 1
            elif count == most:
                tied += 1
    if most > 1 and (tied == 1 or table.tie != TIE_NONE):
        n = draw(table, tied) if tied > 1 else 0
        seat = -1
        while n >= 0:
            seat += 1
            if table.alive[seat] and _votes_for(table, row, seat) == most:
                n -= 1
        table.voted_out[seat] = 1
        _eliminate(table, seat)
    judge_votes(table)
    if not table.done:
        if table.round_number == table.max_days:
            table.truncated = True
            _end(table)
        else:
            _dusk(table)


@compiled
def _votes_for(table: Any, row: int, target: int) -> int:
    count = 0
    for seat in range(table.seats):
        count += table.votes[row + seat] == target
    return count


# The end.


@compiled
def _eliminate(table: Any, seat: int) -> None:
    """Take `seat` out of the match and see who has won: the town is tested first."""
    table.alive[seat] = 0
    table.eliminated_round[seat] = table.round_number
    table.living -= 1
    table.living_mafia -= table.role[seat] == MAFIA
    if table.living_mafia == 0:
        table.winner = TOWN_WINS
        _end(table)
    elif 2 * table.living_mafia >= table.living:
        table.winner = MAFIA_WINS
        _end(table)


@compiled
def _end(table: Any) -> None:
    table.phase = END
    table.turn = -1
    table.done = True
    if table.winner != NOBODY:
        for seat in range(table.seats):
            won = (table.role[seat] == MAFIA) == (table.winner == MAFIA_WINS)
            table.rewards[seat] = 1.0 if won else -1.0


# Action indices: blocks as long as there are seats, each target at its distance from the acting seat.


@compiled
def decode(table: Any, action: int) -> Choice:
    """Return the move that an action index stands for (see `parlour.envs.mafia.actions`)."""
    seats = table.seats
    block = action // seats
    away = action - block * seats
    target = table.turn + away
    if target >= seats:
        target -= seats
    if block == 0:
        return Choice(TARGET, target)
    if block == 1:
        return Choice(VOTE, target if away > 0 else -1)
    if block == 3:
        return Choice(DEFEND, target)
    if block == 6:
        return Choice(CLAIM_VILLAGER + away, -1)
    if away > 0:
        return Choice(ACCUSE if block == 2 else CLEARED if block == 4 else FOUND, target)
    return Choice(GENERAL if block == 2 else CLAIM_SHERIFF if block == 4 else CLAIM_DOCTOR, -1)


@compiled
def legal(table: Any, mask: Any) -> None:
    """Write the acting seat's legal action indices: targets live; only a doctor may choose itself, nobody twice running."""
    seats = table.seats
    seat = table.turn
    mask[:] = 0
    if table.phase == NIGHT:
        _write_living(table, mask, 0)
        doctor = table.role[seat] == DOCTOR
        mask[0] = doctor
        if doctor and table.round_number > 1:
            last = table.night[_row(table) - seats + seat]
            if last >= 0:
                mask[last - seat if last >= seat else last - seat + seats] = 0
    elif table.phase == VOTING:
        _write_living(table, mask, seats)
    else:
        for block in range(2, 6):
            _write_living(table, mask, block * seats)
        mask[6 * seats] = 1
        mask[6 * seats + 1] = 1


@compiled
def _write_living(table: Any, mask: Any, first: int) -> None:
    """Write who lives from index `first` on, by distance from the acting seat, which lives itself."""
    turn = table.turn
    for seat in range(turn, table.seats):
        mask[first + seat - turn] = table.alive[seat]
    first += table.seats - turn
    for seat in range(turn):
        mask[first + seat] = table.alive[seat]
